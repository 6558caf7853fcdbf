/*
 * embedding_cache.h - a cache of vectors by file content and embedder, in a folder that many
 * processes may use at once.
 *
 * Each embedder, identified by name, version and dimensions, has one file of records, which is only
 * ever appended to or replaced. Torn or damaged records are ignored and computed again. All files
 * together stay below a limit: the least recently used go first, and a file that is too large by
 * itself loses its older half.
 */
#ifndef IMP_MODEL_EMBEDDING_CACHE_H
#define IMP_MODEL_EMBEDDING_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

#include "model/embedder_process.h"

enum { IMP_CONTENT_BYTES = 32 }; /* a SHA-256 */

/* The default limit on all files of a cache together. */
#define IMP_CACHE_LIMIT ((uint64_t)1 << 30)

typedef struct imp_embedding_cache imp_embedding_cache;

/* The vectors of this embedder in `folder`, which is made if necessary. A cache that cannot be used
 * counts as empty: IMP_ENOMEM is the only failure, and *out is NULL then. */
imp_status imp_embedding_cache_open(const char *folder, uint64_t limit,
                                    const imp_embedder_hello *embedder, imp_embedding_cache **out,
                                    imp_error *error);

/* NULL is allowed. */
void imp_embedding_cache_free(imp_embedding_cache *cache);

/* Writes the vector of the content with that digest to `row`; false if there is none. */
bool imp_embedding_cache_find(const imp_embedding_cache *cache, const uint8_t *digest, float *row);

/* Adds vectors: digests (count, IMP_CONTENT_BYTES), and rows[i] of the embedder's dimensions.
 * Caches opened afterwards find them. Failures are ignored: the vectors would be computed again. */
void imp_embedding_cache_add(imp_embedding_cache *cache, const uint8_t *digests,
                             const float *const *rows, size_t count);

/* ---- embedders' greetings ---- */

/* The greeting of a command that was started here before and whose files (docs/embedders.md) have
 * not changed since; false if there is none. */
bool imp_embedder_recall(const char *folder, const char *command, imp_embedder_hello *hello);

/* Stores a greeting, if the embedder named the files it depends on. */
void imp_embedder_remember(const char *folder, const char *command,
                           const imp_embedder_hello *hello);

#endif
