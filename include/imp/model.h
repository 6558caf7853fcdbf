/*
 * model.h - what a file of `imp train` knows beside its network: how pictures become the network's
 * images, and the parameters to fit mixtures of its embeddings with.
 *
 * From pictures to classes: imp_model_images() makes images of them, an encoder (encoder.h) of the
 * network embeds these, and imp_mixture_fit() with the model's parameters does the rest. Each is
 * what the command `imp` does, to the bit.
 */
#ifndef IMP_MODEL_H
#define IMP_MODEL_H

#include <imp/mixture.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which pictures are inverted, a value v becoming 255 - v, before a network sees them. */
typedef enum imp_inversion {
    IMP_INVERT_NONE,
    IMP_INVERT_ALL,
    IMP_INVERT_LIGHT /* those on a light ground, which is told by the mean along their edges; so
                        that ink is bright in all */
} imp_inversion;

typedef struct imp_model_summary {
    size_t channels, height, width; /* of an image */
    imp_inversion inversion; /* of gray models of bright ink (glyphs, inverted drawings) those on a
                                light ground; of others all or none, as in training */
    imp_mixture_options mixture; /* what was learned or used in training. Where no unlabelled
                                    pictures were, sigma_u is sigma_l, so that neither kind of
                                    cluster has an advantage */
} imp_model_summary;

/* Reads what the model file at `path` says; a file of a network alone counts as trained with the
 * defaults of `imp train`. On failure *summary is zeroed; failures are those of imp_network_load().
 */
IMP_API imp_status imp_model_summarize(const char *path, imp_model_summary *summary,
                                       imp_error *error);

/* Makes images of pictures as decoders give them: `count` times (height, width, channels) bytes
 * become (channels, height, width) floats from 0 to 1, inverted as the summary says, whose
 * inversion may be changed before. On failure, IMP_EINVAL for IMP_INVERT_LIGHT and pictures neither
 * gray nor RGB, the images are not touched. */
IMP_API imp_status imp_model_images(const imp_model_summary *model, const uint8_t *pictures,
                                    size_t count, float *images, imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
