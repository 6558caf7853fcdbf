/*
 * npy_shards.h - many rows as one array: a .npy file, a folder of them, or a pipe.
 *
 * The files of a folder, its shards, are taken in bytewise order of their names, as Python and the
 * shell in the C locale sort them; hidden files and files that do not end in .npy are ignored. Rows
 * are read as floats. Only one shard is open at a time, so there may be any number of them.
 */
#ifndef IMP_BASE_NPY_SHARDS_H
#define IMP_BASE_NPY_SHARDS_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/status.h>

#include "base/npy.h"
#include "base/npy_ahead.h"

typedef struct imp_npy_shards {
    imp_npy_file *files; /* (count); one is open at a time */
    size_t *first;       /* (count + 1): the index of each file's first row, and the total */
    size_t count;
    size_t rows, columns;
    size_t *current; /* which one is open */
    imp_npy_ahead *ahead;
    bool once; /* a pipe: rows can be read only once, in order */
} imp_npy_shards;

/* Whether a file of that name is a shard of its folder. */
bool imp_npy_is_shard(const char *name);

/* Opens a file, a folder or a pipe. All files must have two dimensions and the same number of
 * columns; their types may differ. On failure there is nothing to close: as imp_npy_open(), and
 * IMP_EINVAL for another shape or a folder without shards. Errors name the file. */
imp_status imp_npy_shards_open(const char *path, imp_npy_shards *shards, imp_error *error);

/* Harmless on a zeroed one. */
void imp_npy_shards_close(imp_npy_shards *shards);

/* Reads rows begin .. begin + count - 1, as imp_npy_read_rows() does; one thread at a time. Errors
 * count rows within the file they name. IMP_EIO also for a shard that was changed since the folder
 * was opened. */
imp_status imp_npy_shards_read(const imp_npy_shards *shards, size_t begin, size_t count,
                               float *rows, imp_error *error);

/* The same for rows that are read in order, block after block: *rows is `room`, which must be large
 * enough, or memory that is valid until the next call, while the next block is read (npy_ahead.h).
 */
imp_status imp_npy_shards_read_ahead(const imp_npy_shards *shards, size_t begin, size_t count,
                                     float *room, const float **rows, imp_error *error);

#endif
