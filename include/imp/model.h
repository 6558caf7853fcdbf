/*
 * model.h - a trained model: embeds pictures and knows how to classify the embeddings.
 *
 * A model is what `imp train` writes: a network, the preprocessing of its pictures, the method it
 * was trained with and what that method learned. It never changes once it is open, so any number of
 * threads may use it at once. Results are those of the command `imp`, to the bit.
 *
 * To classify pictures, embed the labelled and the unlabelled ones, then fit a mixture (mixture.h)
 * with the rule in imp_model_info, or run a method (method.h).
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
    imp_ink ink; /* whether to invert pictures; IMP_INK_OWN, which is 0: as in training */

    /* ---- a program instead of a network, or before it (docs/embedders.md) ---- */
    const char *embedder; /* the shell command that starts it; NULL: none */
    double patience;      /* seconds without output after which it counts as hung; 0: 300 */
    const char *cache;    /* a folder in which vectors are kept for later calls; NULL: none */
} imp_model_options;

/* The defaults. `size` is the caller's sizeof(imp_model_options). */
IMP_API void imp_model_options_init(imp_model_options *options, size_t size);

static inline imp_model_options imp_model_defaults(void)
{
    imp_model_options options;
    imp_model_options_init(&options, sizeof options);
    return options;
}

/* Opens the model file at `path`. NULL opens the embedder that the options name or, if they name
 * none, the model of handwritten characters that is built into the library. A file that holds only
 * a network counts as trained with the defaults of `imp train`. `options` may be NULL for the
 * defaults.
 *
 * An embedder is a program of the caller's choice, which is started here and computes vectors for
 * files of any kind; they are scaled to length 1. Such a model embeds only files, and has no
 * encoder, network or image size. If `path` also names a model that was trained on vectors, the
 * embedder's vectors go through its network; the file may state by name and version which embedder
 * they must come from. The library starts a program only if these options name one.
 *
 * On success *out is a new model; free it with imp_model_free(). On failure *out is NULL, and the
 * sentence names the file: IMP_EIO, IMP_EFORMAT for a file that is not a model, IMP_EUNSUPPORTED
 * for NULL if no model is built in, IMP_EINVAL for an embedder whose vectors the model does not
 * take, IMP_ENOMEM. */
IMP_API imp_status imp_model_open(const char *path, const imp_model_options *options,
                                  imp_model **out, imp_error *error);

/* The same for a model file in memory, which messages call `name`. The bytes may be released
 * afterwards. */
IMP_API imp_status imp_model_open_bytes(const void *bytes, size_t size, const char *name,
                                        const imp_model_options *options, imp_model **out,
                                        imp_error *error);

/* NULL is allowed. */
IMP_API void imp_model_free(imp_model *model);

/* What a model knows about itself. Later versions may add members at the end. */
typedef struct imp_model_info {
    const char *name;  /* its path, or the name it was opened with */
    size_t dimensions; /* floats per embedding */

    /* ---- pictures ---- */
    size_t channels, height, width; /* of the images that the network takes; 0 for an embedder */
    imp_inversion
        inversion; /* for gray models trained on bright ink (glyphs, inverted drawings), pictures on
                      a light background are inverted; for others all or none, as in training */

    /* ---- what it was trained by ---- */
    const char *network; /* as imp_network_create() takes it */
    size_t parameters;   /* learned parameters of the network */
    const char *method;
    imp_rule rule; /* for fitting mixtures to its embeddings: as learned or used in training. If
                      that had no unlabelled pictures, sigma_u is sigma_l, so that neither kind of
                      cluster has an advantage. lambda may be open */

    /* ---- what it was trained on ---- */
    const char *data;        /* its name, as for imp_dataset_open() */
    const char *fingerprint; /* imp_dataset_fingerprint(); "" where it is not known */
    uint64_t update;         /* updates it was trained for; 0: not trained, or not known */
    double validation;       /* accuracy on validation episodes; NAN: not known */

    /* ---- name and version that an embedder gives; otherwise NULL ---- */
    const char *embedder, *embedder_version;

    const char *embedded_by; /* "NAME VERSION" of the embedder whose vectors it was trained on; ""
                                where that is not known or it takes pictures */
} imp_model_info;

/* Lives as long as the model. */
IMP_API const imp_model_info *imp_model_info_of(const imp_model *model);

/* The frozen network; it lives as long as the model. NULL for an embedder. */
IMP_API const imp_encoder *imp_model_encoder(const imp_model *model);

/* ---- embedding ---- */

/* All of these write (count, dimensions) floats, on up to `threads` threads (0: as many as the
 * machine offers). A row depends neither on their number nor on the rows beside it. */

/* Embeds images in the form that the network takes: (count, channels, height, width) floats. The
 * same as imp_encoder_encode(). */
IMP_API imp_status imp_model_embed(const imp_model *model, const float *images, size_t count,
                                   int threads, float *embeddings, imp_error *error);

/* A decoded picture. */
typedef struct imp_picture {
    size_t width, height, channels;
    const uint8_t *pixels; /* (height, width, channels) */
} imp_picture;

/* Embeds pictures of any size, gray or RGB: each is converted, resampled and inverted as the model
 * requires. Pictures that already have the model's channels, height and width are not resampled and
 * may have any number of channels. On failure the sentence names the first picture at fault and the
 * embeddings are undefined: IMP_EINVAL for an empty picture, IMP_EUNSUPPORTED for channels or a
 * model that pictures cannot be made to fit, IMP_ENOMEM. */
IMP_API imp_status imp_model_embed_pictures(const imp_model *model, const imp_picture *pictures,
                                            size_t count, int threads, float *embeddings,
                                            imp_error *error);

/* Called for every file that could not be read. */
typedef void imp_file_fault(size_t index, imp_status status, const char *sentence, void *context);

/* Embeds picture files or, by an embedder, files of any kind. If one cannot be read, the call fails
 * with IMP_EIO, IMP_EFORMAT or IMP_EUNSUPPORTED and a sentence that names it; but if `fault` is not
 * NULL, it is called for each such file instead, in order, and their rows are undefined. */
IMP_API imp_status imp_model_embed_files(const imp_model *model, const char *const *paths,
                                         size_t count, int threads, imp_file_fault *fault,
                                         void *context, float *embeddings, imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
