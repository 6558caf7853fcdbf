/*
 * embed.h - a gallery of pictures through a model.
 */
#ifndef IMP_MODEL_EMBED_H
#define IMP_MODEL_EMBED_H

#include <imp/model.h>

#include "base/ranks.h"
#include "data/gallery.h"
#include "model/embedder.h"

/* Who is told what happens meanwhile; each may be NULL. */
typedef struct imp_embed_listener {
    void (*skip)(const char *fault, void *context);
    imp_embed_progress *progress;
    void *context;
} imp_embed_listener;

/* Embeds all pictures of the gallery, of which all ranks have the same and each embeds its share
 * (NULL: this process alone), into (count, dimensions) floats on up to `threads` threads (0:
 * as many as the machine offers).
 *
 * A picture that cannot be read is a failure, IMP_EIO, IMP_EFORMAT or IMP_EUNSUPPORTED with a
 * sentence that names it; with a `skip` of the listener it is told to that and taken out of the
 * gallery instead, and its row is left out. */
imp_status imp_embed_gallery(const imp_model *model, imp_gallery *gallery, const imp_ranks *ranks,
                             int threads, const imp_embed_listener *listener, float *embeddings,
                             imp_error *error);

#endif
