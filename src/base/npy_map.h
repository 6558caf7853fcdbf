/*
 * npy_map.h - rows of .npy files where they are: mapped, so that the system reads what is used and
 * forgets what is not.
 */
#ifndef IMP_BASE_NPY_MAP_H
#define IMP_BASE_NPY_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/status.h>

#include "base/npy_shards.h"

typedef struct imp_npy_map {
    struct imp_npy_mapped {
        void *address;
        size_t size;        /* of the whole file */
        const float *rows;  /* where its rows begin, */
        size_t first, next; /* and the numbers of its first row and of the row after its last */
    } * parts;              /* (count) */
    size_t count, columns;
} imp_npy_map;

/* Maps open files that hold 32-bit floats row by row. *possible becomes false, and there is nothing
 * to close, for a pipe, for other types or the other order, and where the system refuses. Values
 * are not checked. IMP_ENOMEM, and IMP_EIO for a shard that was changed since it was opened. */
imp_status imp_npy_map_open(imp_npy_map *map, const imp_npy_shards *shards, bool *possible,
                            imp_error *error);

/* Harmless on a zeroed one. */
void imp_npy_map_close(imp_npy_map *map);

/* (columns) floats. */
const float *imp_npy_map_row(const imp_npy_map *map, size_t row);

#endif
