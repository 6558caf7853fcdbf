/*
 * npy_shards.h - many rows as one array: a .npy file, a folder of them, or a pipe.
 *
 * A folder's files, its shards, follow each other in the order of their names, byte by byte, which
 * is how Python and the shell's C locale sort them; what does not end in .npy, and what is hidden,
 * is no shard. Rows are read where they are needed and become floats; memory holds no more than
 * the caller's own room. One shard is open at a time, so that there may be any number of them.
 */
#ifndef IMP_BASE_NPY_SHARDS_H
#define IMP_BASE_NPY_SHARDS_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/status.h>

#include "base/npy.h"

typedef struct imp_npy_shards {
    imp_npy_file *files; /* (count), of which one is open */
    size_t *first;       /* (count + 1): the number of each file's first row, and of all rows */
    size_t count;
    size_t rows, columns;
    size_t *current; /* which one is open */
    bool once;       /* a pipe: rows can be read once, in their order */
} imp_npy_shards;

/* Whether a file of that name in a folder is one of its shards. */
bool imp_npy_is_shard(const char *name);

/* Opens a file, a folder or a pipe. All files have two dimensions and as many columns; their types
 * may differ. On failure there is nothing to close: what imp_npy_open() says, and IMP_EINVAL for
 * another shape and a folder without shards. The sentences name the file. */
imp_status imp_npy_shards_open(const char *path, imp_npy_shards *shards, imp_error *error);

/* Harmless on a zeroed one. */
void imp_npy_shards_close(imp_npy_shards *shards);

/* Reads rows begin .. begin + count - 1, as imp_npy_read_rows() does; one thread at a time. Rows in
 * a sentence are those of the file that it names. IMP_EIO also for a shard that was changed since
 * the folder was opened. */
imp_status imp_npy_shards_read(const imp_npy_shards *shards, size_t begin, size_t count,
                               float *rows, imp_error *error);

#endif
