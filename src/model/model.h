/*
 * model.h - a trained model inside: the network, what its learner learned beside it, and how they
 * came about; and the file it is kept in.
 *
 * The file is a safetensors file with PyTorch's names. Beside the network's tensors it holds the
 * learner's, as "method.NAME" or "learner.NAME"; its metadata know the architecture, what was done
 * to the pictures, the method, all settings, the data's fingerprint and how well it did in
 * validation.
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

/* How a model came about. */
typedef struct imp_model_origin {
    imp_trained_on data;
    uint64_t update;   /* how many updates it has seen */
    double validation; /* accuracy on validation episodes; NAN if none was made */
    bool inverted;     /* whether pictures were inverted, or glyphs drawn dark on light */
    char sha256[65];   /* the file's checksum, which was right; empty if it has none */
} imp_model_origin;

/* Never changes once it is made, and not the network either, which is not `const` only because
 * saving and copying one are not. */
struct imp_model {
    imp_model_info info;    /* its texts are those of the members below */
    imp_embedder *embedder; /* instead of an encoder and a network, or before them; or NULL */
    imp_encoder *encoder;
    imp_network *network;  /* what the encoder is made of */
    imp_settings settings; /* of the training; sigma_l and sigma_u are the learned ones */
    imp_model_origin origin;
    double *values; /* of the learner, in its order; NULL: not known */
    size_t value_count;
    char *name;
};

/* Makes a model of a PyTorch state dict that does not say what it is: `settings` do, with
 * `channels` and `size` of its images. As imp_model_open() otherwise. */
imp_status imp_model_import(const char *path, const imp_settings *settings, size_t channels,
                            size_t size, imp_model **out, imp_error *error);

/* Whether it was trained on vectors, which are images of one pixel. With an embedder before it, it
 * takes files. */
static inline bool imp_model_takes_vectors(const imp_model *model)
{
    return !model->embedder && model->info.height == 1 && model->info.width == 1;
}

/* ---- model files ---- */

/* Writes a learner with its network and its values, in its order, atomically. */
imp_status imp_model_save(const imp_learner *learner, const float *values,
                          const imp_settings *settings, const imp_model_origin *origin,
                          const char *path, imp_error *error);

/* A learner as the settings say, on the model's network. */
imp_status imp_model_learner(const imp_model *model, imp_learner **out, imp_error *error);

/* Takes over the values of a learner. */
imp_status imp_model_take(imp_model *model, const imp_learner *learner, imp_error *error);

/* imp_model_save() of a model. */
imp_status imp_model_write(const imp_model *model, const char *path, imp_error *error);

/* Reads settings, origin, network and values into a model whose settings are the defaults. After a
 * failure the model holds a part of it. */
imp_status imp_model_read(imp_model *model, const imp_safetensors *file, imp_error *error);

#endif
