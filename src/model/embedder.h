/*
 * embedder.h - files into vectors by a program of the user's own: what it computed before comes
 * from a cache, and where it crashes on a file only that file has a fault.
 *
 * The program is started when the first vector is missing, and once; a crash starts it again, a few
 * times. One thread at a time talks to it.
 */
#ifndef IMP_MODEL_EMBEDDER_H
#define IMP_MODEL_EMBEDDER_H

#include <imp/model.h>

#include "data/gallery.h"
#include "model/embedder_process.h"

typedef struct imp_embedder imp_embedder;

/* Finds out what `command` is, by starting it or by remembering. `cache` is a folder for what is
 * remembered, or NULL. On failure *out is NULL, and the sentence names the command. */
imp_status imp_embedder_open(const char *command, double patience, const char *cache,
                             imp_embedder **out, imp_error *error);

/* NULL is allowed. */
void imp_embedder_free(imp_embedder *embedder);

const imp_embedder_hello *imp_embedder_hello_of(const imp_embedder *embedder);

/* What its vectors are called in a model file: "NAME VERSION". */
typedef struct imp_embedder_title {
    char text[402];
} imp_embedder_title;

imp_embedder_title imp_embedder_title_of(const imp_embedder *embedder);

/* Is told how far it is; a failure ends the work. */
typedef imp_status imp_embed_progress(size_t done, size_t total, imp_error *error, void *context);

/* Writes a row of length 1 (or 0) for each file; one that cannot be embedded gets its fault in the
 * gallery, with its path before it. `progress` may be NULL. */
imp_status imp_embedder_embed(imp_embedder *embedder, imp_gallery *gallery, int threads,
                              imp_embed_progress *progress, void *context, float *embeddings,
                              imp_error *error);

#endif
