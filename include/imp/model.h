/*
 * model.h - a trained model: opened once, it embeds pictures and tells how to classify by them.
 *
 * A model is what `imp train` writes: a network, how pictures become its images, the method it was
 * trained with and what that learned. It never changes once it is open, so any number of threads
 * may use it at once. All of it is what the command `imp` does, to the bit.
 *
 * From pictures to classes: embed those with labels and those without, then fit a mixture
 * (mixture.h) with the rule that imp_model_info has, or run a method (method.h) on them.
 */
#ifndef IMP_MODEL_H
#define IMP_MODEL_H

#include <imp/dataset.h>
#include <imp/encoder.h>
#include <imp/rule.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct imp_model imp_model;

typedef struct imp_model_options {
    size_t size; /* sizeof(imp_model_options), so that the struct may grow */
    imp_ink ink; /* of pictures that are embedded; IMP_INK_OWN, which is 0: as in training */

    /* ---- a program instead of a network, or before it (docs/embedders.md) ---- */
    const char *embedder; /* a line for the shell that starts it; NULL: none */
    double patience;      /* seconds without a word from it that count as a hang; 0: 300 */
    const char *cache;    /* a folder, in which vectors are kept for the next time; NULL: none */
} imp_model_options;

/* The defaults. `size` is the caller's sizeof(imp_model_options). */
IMP_API void imp_model_options_init(imp_model_options *options, size_t size);

static inline imp_model_options imp_model_defaults(void)
{
    imp_model_options options;
    imp_model_options_init(&options, sizeof options);
    return options;
}

/* Opens the model file at `path`; NULL is the model of handwritten characters that is built into
 * the library or, if the options name one, an embedder. A file of a network alone counts as trained
 * with the defaults of `imp train`. `options` may be NULL for the defaults.
 *
 * An embedder is a program of the caller's own choice, which is started here and gives vectors for
 * files of any kind; they are scaled to length 1. Such a model embeds files alone, and has no
 * encoder, no network and no images of its own. With a path as well, of a model that was trained on
 * vectors, those of the embedder go through its network; the file may say of which embedder they
 * must be, by name and version. Nothing but the options can make the library start a program.
 *
 * On success *out is a new model; free it with imp_model_free(). On failure *out is NULL, and the
 * sentence names the file: IMP_EIO, IMP_EFORMAT for what is no model, IMP_EUNSUPPORTED for NULL
 * where no model was built in, IMP_EINVAL for an embedder whose vectors the model does not take,
 * IMP_ENOMEM.
 */
IMP_API imp_status imp_model_open(const char *path, const imp_model_options *options,
                                  imp_model **out, imp_error *error);

/* The same of a model file in memory, which is called `name` in sentences. The bytes may be
 * released afterwards. */
IMP_API imp_status imp_model_open_bytes(const void *bytes, size_t size, const char *name,
                                        const imp_model_options *options, imp_model **out,
                                        imp_error *error);

/* NULL is allowed. */
IMP_API void imp_model_free(imp_model *model);

/* What a model is. Later versions may add members at the end. */
typedef struct imp_model_info {
    const char *name;  /* its path, or what it was called when it was opened */
    size_t dimensions; /* floats per embedding */

    /* ---- pictures ---- */
    size_t channels, height, width; /* of the images that the network takes; 0 of an embedder */
    imp_inversion inversion; /* of gray models of bright ink (glyphs, inverted drawings) those
                                on a light ground; of others all or none, as in training */

    /* ---- what it was trained by ---- */
    const char *network; /* as imp_network_create() takes it */
    size_t parameters;   /* of the network, that are learned */
    const char *method;
    imp_rule rule; /* to fit mixtures of its embeddings with: what was learned or used. Where no
                      unlabelled pictures were, sigma_u is sigma_l, so that neither kind of cluster
                      has an advantage. lambda may be open */

    /* ---- what it was trained on ---- */
    const char *data;        /* as it was named then, for imp_dataset_open() */
    const char *fingerprint; /* imp_dataset_fingerprint(); "" where it is not known */
    uint64_t update;         /* after so many updates; 0: not trained, or not known */
    double validation;       /* accuracy on validation episodes; NAN: not known */

    /* ---- what the embedder says of itself, if there is one, else NULL ---- */
    const char *embedder, *embedder_version;

    const char *embedded_by; /* "NAME VERSION" of the embedder whose vectors it was trained on; ""
                                where that is not known or it takes pictures */
} imp_model_info;

/* Lives as long as the model. */
IMP_API const imp_model_info *imp_model_info_of(const imp_model *model);

/* The network, frozen; it lives as long as the model. NULL of an embedder. */
IMP_API const imp_encoder *imp_model_encoder(const imp_model *model);

/* ---- embedding ---- */

/* All of these write (count, dimensions) floats, on up to `threads` threads (0: as many as the
 * machine offers). A row depends neither on their number nor on the rows beside it. */

/* Embeds images as the network takes them: (count, channels, height, width) floats. The same as
 * imp_encoder_encode(). */
IMP_API imp_status imp_model_embed(const imp_model *model, const float *images, size_t count,
                                   int threads, float *embeddings, imp_error *error);

/* A decoded picture. */
typedef struct imp_picture {
    size_t width, height, channels;
    const uint8_t *pixels; /* (height, width, channels) */
} imp_picture;

/* Embeds pictures of any size, gray or RGB: each is made gray or RGB, resampled and inverted as the
 * model wants it. Pictures of just its channels, height and width need no resampling and may have
 * any number of channels. On failure, which names the first picture that is wrong, the embeddings
 * are undefined: IMP_EINVAL for an empty picture, IMP_EUNSUPPORTED for channels or a model that
 * pictures cannot be made to fit, IMP_ENOMEM. */
IMP_API imp_status imp_model_embed_pictures(const imp_model *model, const imp_picture *pictures,
                                            size_t count, int threads, float *embeddings,
                                            imp_error *error);

/* Is told that file number `index` could not be read. */
typedef void imp_file_fault(size_t index, imp_status status, const char *sentence, void *context);

/* Embeds picture files or, by an embedder, files of any kind. One that cannot be read is a failure,
 * IMP_EIO, IMP_EFORMAT or IMP_EUNSUPPORTED with a sentence that names it; with `fault` each is told
 * to it instead, in order, and its row is undefined. */
IMP_API imp_status imp_model_embed_files(const imp_model *model, const char *const *paths,
                                         size_t count, int threads, imp_file_fault *fault,
                                         void *context, float *embeddings, imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
