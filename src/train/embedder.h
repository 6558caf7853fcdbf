/*
 * embedder.h - a trained model as something that pictures go into and vectors come out of.
 *
 * Pictures of any size and kind are made what the model was trained on: its size, gray or RGB, and
 * its ink. An embedder never changes once it is made.
 */
#ifndef IMP_TRAIN_EMBEDDER_H
#define IMP_TRAIN_EMBEDDER_H

#include <imp/encoder.h>
#include <imp/model.h>

#include "data/gallery.h"
#include "train/model.h"

/* What to do about ink, in the order of imp_ink_names. */
typedef enum imp_ink {
    IMP_INK_OWN, /* as the model was trained; see imp_model_inversion() */
    IMP_INK_AS_IS,
    IMP_INK_INVERT
} imp_ink;

typedef struct imp_embedder {
    imp_encoder *encoder;
    imp_picture_format format;
    size_t dimensions;
} imp_embedder;

/* How pictures from files become like those the model has seen.
 *
 * A model of gray drawings that were inverted (Omniglot's) or made with bright ink (the glyphs)
 * wants bright ink on a dark ground. Then a picture is inverted if its ground is light, told by the
 * mean along its edges; so dark ink on paper and chalk on a board both come out right. Other gray
 * models take pictures as they are, and coloured ones invert all or none, as was done in training.
 */
imp_inversion imp_model_inversion(const imp_model *model);

/* What to fit Algorithm 1 with to embeddings of the model: what it learned or was trained with. A
 * model that was trained without unlabelled pictures has learned nothing about their variance;
 * clusters of them are then as wide as those of labelled ones, so that neither has an advantage. */
imp_mixture_options imp_model_mixture(const imp_model *model);

/* Freezes the model, which may be cleared afterwards. Release with imp_embedder_clear(); on failure
 * *embedder is zeroed: IMP_EUNSUPPORTED for a network whose images are not square, or neither gray
 * nor RGB; IMP_ENOMEM. */
imp_status imp_embedder_make(imp_embedder *embedder, const imp_model *model, imp_ink ink,
                             imp_error *error);

/* Harmless on a zeroed one. */
void imp_embedder_clear(imp_embedder *embedder);

/* Embeds all pictures of the gallery into (count, dimensions) floats on up to `threads` threads (0:
 * as many as the machine offers).
 *
 * A picture that cannot be read is a failure, IMP_EIO, IMP_EFORMAT or IMP_EUNSUPPORTED with a
 * sentence that names it; with `skip` it is told to `skip(fault, context)` and taken out of the
 * gallery instead, and its row is left out. */
typedef void imp_embed_skip(const char *fault, void *context);
imp_status imp_embed(const imp_embedder *embedder, imp_gallery *gallery, int threads,
                     imp_embed_skip *skip, void *context, float *embeddings, imp_error *error);

#endif
