/*
 * embed.h - embeds a gallery of pictures with a model.
 */
#ifndef IMP_MODEL_EMBED_H
#define IMP_MODEL_EMBED_H

#include <imp/model.h>

#include "base/ranks.h"
#include "data/gallery.h"
#include "model/embedder.h"

/* Callbacks during the work; each may be NULL. */
typedef struct imp_embed_listener {
    void (*skip)(const char *fault, void *context);
    imp_embed_progress *progress;
    void *context;
} imp_embed_listener;

/* Embeds all pictures of the gallery into (count, dimensions) floats on up to `threads` threads (0:
 * one per core). All ranks have the same gallery and each embeds its share (NULL: this process
 * alone).
 *
 * A picture that cannot be read is a failure, IMP_EIO, IMP_EFORMAT or IMP_EUNSUPPORTED with an
 * error that names it. If the listener has `skip`, that is called instead, and the picture and its
 * row are left out. */
imp_status imp_embed_gallery(const imp_model *model, imp_gallery *gallery, const imp_ranks *ranks,
                             int threads, const imp_embed_listener *listener, float *embeddings,
                             imp_error *error);

#endif
