/*
 * model.h - the inside of a trained model: the network, what its learner learned beside it, and how
 * it was trained; and its file.
 *
 * The file is a safetensors file with PyTorch's names. Besides the network's tensors it holds the
 * learner's, as "method.NAME" or "learner.NAME"; its metadata record the architecture, the
 * preprocessing, the method, all settings, the data's fingerprint and the validation accuracy.
 */
#ifndef IMP_MODEL_MODEL_H
#define IMP_MODEL_MODEL_H

#include <imp/method.h>
#include <imp/model.h>
#include <imp/network.h>

#include "base/safetensors.h"
#include "model/embedder.h"
#include "model/trained_on.h"
#include "settings/settings.h"

/* How a model was trained. */
typedef struct imp_model_origin {
    imp_trained_on data;
    uint64_t update;   /* number of updates */
    double validation; /* accuracy on validation episodes; NAN without validation */
    bool inverted;     /* whether pictures were inverted, or glyphs drawn dark on light */
    char sha256[65];   /* the file's verified checksum; empty if it has none */
} imp_model_origin;

/* Immutable, including the network, which is not `const` only because saving and copying one are
 * not. */
struct imp_model {
    imp_model_info info;    /* its strings belong to the members below */
    imp_embedder *embedder; /* replaces encoder and network, or comes before them; or NULL */
    imp_encoder *encoder;
    imp_network *network;  /* what the encoder was frozen from */
    imp_settings settings; /* of the training, with learned sigma_l and sigma_u */
    imp_model_origin origin;
    double *values; /* of the learner, in its order; NULL: unknown */
    size_t value_count;
    char *name;
};

/* Makes a model from a bare PyTorch state dict, described by `settings` and the `channels` and
 * `size` of its images. Otherwise like imp_model_open(). */
imp_status imp_model_import(const char *path, const imp_settings *settings, size_t channels,
                            size_t size, imp_model **out, imp_error *error);

/* Whether it was trained on vectors, which are images of one pixel. With an embedder before it, its
 * input is files. */
static inline bool imp_model_takes_vectors(const imp_model *model)
{
    return !model->embedder && model->info.height == 1 && model->info.width == 1;
}

/* ---- model files ---- */

/* Writes a learner with its network and its values, in its order; atomic. */
imp_status imp_model_save(const imp_learner *learner, const float *values,
                          const imp_settings *settings, const imp_model_origin *origin,
                          const char *path, imp_error *error);

/* The learner that the settings describe, on the model's network. */
imp_status imp_model_learner(const imp_model *model, imp_learner **out, imp_error *error);

/* Copies the values of a learner. */
imp_status imp_model_take(imp_model *model, const imp_learner *learner, imp_error *error);

/* imp_model_save() of the inside of a model. */
imp_status imp_model_write(const imp_model *model, const char *path, imp_error *error);

/* Reads settings, origin, network and values into a model whose settings are the defaults. After a
 * failure the model holds part of them. */
imp_status imp_model_read(imp_model *model, const imp_safetensors *file, imp_error *error);

#endif
