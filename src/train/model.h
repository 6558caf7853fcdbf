/*
 * model.h - a trained model in one file: network, method, learned variances, and how it was made.
 *
 * The file is a safetensors file with PyTorch's names. Beside the network's tensors it holds the
 * method's as "method.NAME"; its metadata know the architecture, what was done to the pictures, the
 * method, all settings, the data's fingerprint and how well it did in validation.
 */
#ifndef IMP_TRAIN_MODEL_H
#define IMP_TRAIN_MODEL_H

#include "train/learner.h"
#include "train/settings.h"
#include "train/trained_on.h"

/* How a model came about. */
typedef struct imp_model_origin {
    imp_trained_on data;
    uint64_t update;   /* how many updates it has seen */
    double validation; /* accuracy on validation episodes; NAN if none was made */
    bool inverted;     /* whether pictures were inverted, or glyphs drawn dark on light */
} imp_model_origin;

typedef struct imp_model {
    imp_network *network;
    imp_settings settings; /* of the training; sigma_l and sigma_u are the learned ones */
    imp_model_origin origin;
    double *values; /* of the method, in the order of imp_method_values() */
    size_t value_count;
} imp_model;

/* Writes what the learner is now, atomically. */
imp_status imp_model_save(imp_learner *learner, const imp_settings *settings,
                          const imp_model_origin *origin, const char *path, imp_error *error);

/* Reads a model. Release with imp_model_clear(); on failure *model is zeroed. A file of a network
 * alone gets the default settings and the network's own input. */
imp_status imp_model_load(const char *path, int threads, imp_model *model, imp_error *error);

/* The same of a model file in memory, which is called `name` in the sentences. */
imp_status imp_model_parse(const unsigned char *bytes, size_t size, const char *name, int threads,
                           imp_model *model, imp_error *error);

/* Makes a model of a PyTorch state dict that does not say what it is: `settings` do, with
 * `channels` and `size` of its images. */
imp_status imp_model_import(const char *path, const imp_settings *settings, size_t channels,
                            size_t size, imp_model *model, imp_error *error);

/* imp_model_save() for a model that was read. */
imp_status imp_model_write(imp_model *model, const char *path, imp_error *error);

/* Harmless on a zeroed model. */
void imp_model_clear(imp_model *model);

#endif
