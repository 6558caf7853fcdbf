/*
 * embedding_cache.h - vectors that were computed before, by the content of the file and the
 * embedder, in a folder that many processes may use at once.
 *
 * Each embedder, by name, version and dimensions, has one file of records that is only ever added
 * to or replaced whole. A record that is torn or damaged does not count; what is lost is computed
 * again. All files together stay below a limit: those that were not used for longest go first, and
 * of one that is too large itself the older half.
 */
#ifndef IMP_MODEL_EMBEDDING_CACHE_H
#define IMP_MODEL_EMBEDDING_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

#include "model/embedder_process.h"

enum { IMP_CONTENT_BYTES = 32 }; /* a SHA-256 */

/* What all files of a cache may have together unless it is said otherwise. */
#define IMP_CACHE_LIMIT ((uint64_t)1 << 30)

typedef struct imp_embedding_cache imp_embedding_cache;

/* The vectors of this embedder in `folder`, which is made if need be. A cache that cannot be used
 * is an empty one: IMP_ENOMEM is the only failure, and *out is NULL then. */
imp_status imp_embedding_cache_open(const char *folder, uint64_t limit,
                                    const imp_embedder_hello *embedder, imp_embedding_cache **out,
                                    imp_error *error);

/* NULL is allowed. */
void imp_embedding_cache_free(imp_embedding_cache *cache);

/* Writes the vector of the content with that digest to `row`; false if there is none. */
bool imp_embedding_cache_find(const imp_embedding_cache *cache, const uint8_t *digest, float *row);

/* Adds vectors: digests (count, IMP_CONTENT_BYTES), and rows[i] of the embedder's dimensions. They
 * are found by those who open the cache afterwards. Nobody needs to know if it fails. */
void imp_embedding_cache_add(imp_embedding_cache *cache, const uint8_t *digests,
                             const float *const *rows, size_t count);

/* ---- what an embedder said of itself the last time ---- */

/* Of a command that was started here before, and whose files (docs/embedders.md) have not changed
 * since; false if there is nothing that holds. */
bool imp_embedder_recall(const char *folder, const char *command, imp_embedder_hello *hello);

/* Remembers it, if the embedder named the files that it depends on. */
void imp_embedder_remember(const char *folder, const char *command,
                           const imp_embedder_hello *hello);

#endif
