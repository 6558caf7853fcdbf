/*
 * unpacked.h - an archive whose files can be read in any order, and more than once.
 *
 * Archives can only be read from front to back. A small one is kept in memory by its source; the
 * files of a larger one go to an unnamed temporary file, which disappears with the process, however
 * that ends.
 */
#ifndef IMP_DATA_UNPACKED_H
#define IMP_DATA_UNPACKED_H

#include "data/source.h"

typedef struct imp_unpacked imp_unpacked;

/* Lists the archive, which is kept in memory if it unpacks to at most `kept_limit` bytes; free it
 * with imp_unpacked_free(). On failure, as for imp_source_open(), *out is NULL. */
imp_status imp_unpacked_open(const char *path, size_t kept_limit, imp_unpacked **out,
                             imp_error *error);

/* NULL is allowed. */
void imp_unpacked_free(imp_unpacked *archive);

const imp_source *imp_unpacked_source(const imp_unpacked *archive);

/* Unpacks the files whose `wanted`, (count of the source), is true. Call it once, before
 * imp_unpacked_read(). A file that cannot be unpacked is reported when it is read. */
imp_status imp_unpacked_take(imp_unpacked *archive, const bool *wanted, int threads,
                             imp_error *error);

/* A copy of a wanted file; release it with imp_release(). Any number of threads may read. On
 * failure *bytes is NULL. */
imp_status imp_unpacked_read(const imp_unpacked *archive, size_t member, uint8_t **bytes,
                             size_t *size, imp_error *error);

#endif
