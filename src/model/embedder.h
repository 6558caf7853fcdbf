/*
 * embedder.h - turns files into vectors with a program of the user's. Earlier results come from a
 * cache, and if it crashes on a file, only that file has a fault.
 *
 * The program is started once, when the first vector is missing, and restarted a few times after
 * crashes. One thread at a time talks to it.
 */
#ifndef IMP_MODEL_EMBEDDER_H
#define IMP_MODEL_EMBEDDER_H

#include <imp/model.h>

#include "data/gallery.h"
#include "model/embedder_process.h"

typedef struct imp_embedder imp_embedder;

/* Opens the embedder `command`, by starting it or from the cache. `cache` is a folder, or NULL for
 * none. On failure *out is NULL, and the error names the command. */
imp_status imp_embedder_open(const char *command, double patience, const char *cache,
                             imp_embedder **out, imp_error *error);

/* NULL is allowed. */
void imp_embedder_free(imp_embedder *embedder);

const imp_embedder_hello *imp_embedder_hello_of(const imp_embedder *embedder);

/* The name of its vectors in a model file: "NAME VERSION". */
typedef struct imp_embedder_title {
    char text[402];
} imp_embedder_title;

imp_embedder_title imp_embedder_title_of(const imp_embedder *embedder);

/* Reports progress; returning a failure ends the work. */
typedef imp_status imp_embed_progress(size_t done, size_t total, imp_error *error, void *context);

/* Writes a row of length 1 (or 0) for each file; a file that cannot be embedded gets its fault in
 * the gallery, prefixed with its path. `progress` may be NULL. */
imp_status imp_embedder_embed(imp_embedder *embedder, imp_gallery *gallery, int threads,
                              imp_embed_progress *progress, void *context, float *embeddings,
                              imp_error *error);

#endif
