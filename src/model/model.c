/*
 * model.c - opens models, from a file, from memory or from an embedder.
 */
#include "model/model.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "methods/method.h"
#include "model/built_in_model.h"

/* ---- its description ---- */

/* Which pictures to invert, to make them like those the model was trained on.
 *
 * A model of gray drawings that were inverted (Omniglot) or drawn with bright ink (glyphs) expects
 * bright ink on a dark background. Then a picture is inverted if its background is light, judged by
 * the mean along its edges, so dark ink on paper and chalk on a board both work. Other gray models
 * leave pictures as they are, and colour models invert all or none, as in training. */
static imp_inversion inversion_of(const imp_model *model, imp_ink ink)
{
    if (ink != IMP_INK_OWN)
        return ink == IMP_INK_INVERT ? IMP_INVERT_ALL : IMP_INVERT_NONE;
    if (imp_network_options_of(model->network)->channels != 1)
        return model->origin.inverted ? IMP_INVERT_ALL : IMP_INVERT_NONE;
    /* Pictures have dark ink before they are inverted, glyphs afterwards. */
    const char *kind = model->origin.data.kind;
    bool glyphs = strcmp(kind[0] ? kind : model->settings.data, "glyphs") == 0;
    bool bright_ink = model->origin.inverted != glyphs;
    return bright_ink ? IMP_INVERT_LIGHT : IMP_INVERT_NONE;
}

/* Parameters for fitting Algorithm 1 to the model's embeddings: those it learned or was trained
 * with. A model trained without unlabelled pictures has learned nothing about their variance; their
 * clusters then get the labelled ones' variance, so that neither has an advantage. */
static imp_rule rule_of(const imp_model *model)
{
    const imp_settings *settings = &model->settings;
    imp_rule rule = imp_rule_for_mixture(&settings->rule, settings->method);
    if (settings->unlabeled == 0)
        rule.sigma_u = rule.sigma_l;
    return rule;
}

/* The description of a model whose network is an external program. */
static imp_model_info embedder_info(const imp_model *model)
{
    const imp_embedder_hello *hello = imp_embedder_hello_of(model->embedder);
    return (imp_model_info){.name = model->name,
                            .dimensions = hello->dimensions,
                            .network = "",
                            .method = model->settings.method,
                            .rule = rule_of(model),
                            .data = "",
                            .fingerprint = "",
                            .validation = NAN,
                            .embedder = hello->name,
                            .embedder_version = hello->version,
                            .embedded_by = ""};
}

static imp_model_info info_of(const imp_model *model, imp_ink ink)
{
    const imp_network_options *input = imp_network_options_of(model->network);
    const imp_embedder_hello *hello =
        model->embedder ? imp_embedder_hello_of(model->embedder) : NULL;
    return (imp_model_info){.name = model->name,
                            .dimensions = imp_encoder_output_size(model->encoder),
                            .channels = input->channels,
                            .height = input->height,
                            .width = input->width,
                            .inversion = inversion_of(model, ink),
                            .network = imp_network_description(model->network),
                            .parameters = imp_network_parameter_count(model->network),
                            .method = model->settings.method,
                            .rule = rule_of(model),
                            .data = model->settings.data,
                            .fingerprint = model->origin.data.fingerprint,
                            .update = model->origin.update,
                            .validation = model->origin.validation,
                            .embedder = hello ? hello->name : NULL,
                            .embedder_version = hello ? hello->version : NULL,
                            .embedded_by = model->settings.embedded_by};
}

const imp_model_info *imp_model_info_of(const imp_model *model)
{
    return &model->info;
}

const imp_encoder *imp_model_encoder(const imp_model *model)
{
    return model->encoder;
}

/* ---- making ---- */

static imp_status begin(const char *name, imp_model **out, imp_error *error)
{
    size_t length = strlen(name) + 1;
    imp_model *model = imp_allocate_zeroed(1, sizeof *model);
    char *copy = imp_allocate(length, 1);
    if (!model || !copy) {
        imp_release(model);
        imp_release(copy);
        return imp_fail_memory(error, "the model");
    }
    memcpy(copy, name, length);
    model->name = copy;
    imp_settings_init(&model->settings);
    *out = model;
    return IMP_OK;
}

/* Starts the embedder for the model's vectors. What a model learned about one embedder's vectors
 * says nothing about another's. */
static imp_status put_embedder_before(imp_model *model, const imp_model_options *options,
                                      imp_error *error)
{
    const imp_network_options *input = imp_network_options_of(model->network);
    const char *known = model->settings.embedded_by;
    if (input->height != 1 || input->width != 1)
        return imp_fail(error, IMP_EINVAL,
                        "the model embeds pictures of %zux%zu itself, and there is an embedder as "
                        "well; give one of them",
                        input->height, input->width);
    imp_status status = imp_embedder_open(options->embedder, options->patience, options->cache,
                                          &model->embedder, error);
    if (status)
        return status;
    size_t dimensions = imp_embedder_hello_of(model->embedder)->dimensions;
    imp_embedder_title title = imp_embedder_title_of(model->embedder);
    if (known[0] && strcmp(known, title.text) != 0)
        return imp_fail(
            error, IMP_EINVAL,
            "the model was trained on vectors from '%.200s', but the embedder is '%.200s'", known,
            title.text);
    if (dimensions != input->channels)
        return imp_fail(error, IMP_EINVAL,
                        "the model needs vectors of %zu dimensions, but those of the embedder "
                        "'%.200s' have %zu",
                        input->channels, title.text, dimensions);
    return IMP_OK;
}

/* Freezes the network that was read. The settings name a network even if the file, a bare state
 * dict, did not. */
static imp_status finish(imp_model *model, const imp_model_options *options, imp_error *error)
{
    imp_status status = imp_settings_set(&model->settings, "network",
                                         imp_network_description(model->network), error);
    if (!status)
        status = imp_encoder_create(model->network, &model->encoder, error);
    if (!status && options->embedder)
        status = put_embedder_before(model, options, error);
    if (!status)
        model->info = info_of(model, options->ink);
    return status;
}

/* Makes the model from a file in memory, and frees the file. */
static imp_status make(imp_safetensors *file, const char *name, const imp_model_options *options,
                       imp_model **out, imp_error *error)
{
    imp_model *model = NULL;
    imp_status status = begin(name, &model, error);
    if (!status) {
        status = imp_model_read(model, file, error);
        if (!status)
            status = finish(model, options, error);
        if (status)
            imp_error_prefix(error, name);
    }
    imp_safetensors_free(file);
    if (status)
        imp_model_free(model);
    else
        *out = model;
    return status;
}

static const imp_model_options model_defaults = {.size = sizeof model_defaults};

void imp_model_options_init(imp_model_options *options, size_t size)
{
    imp_give_options(options, size, &model_defaults, sizeof model_defaults);
}

static imp_status check_options(const imp_model_options *given, imp_model_options *options,
                                imp_error *error)
{
    *options = model_defaults;
    imp_status status =
        imp_take_options(options, sizeof *options, given, "imp_model_options", error);
    if (!status && (options->ink < IMP_INK_OWN || options->ink > IMP_INK_INVERT))
        status =
            imp_fail(error, IMP_EINVAL, "ink is %d, which is not an imp_ink", (int)options->ink);
    if (!status && !(options->patience >= 0 && options->patience <= 1e6))
        status =
            imp_fail(error, IMP_EINVAL, "patience is %g; it must be a positive number of seconds",
                     options->patience);
    if (options->patience == 0)
        options->patience = 300;
    return status;
}

/* The initial values of the learner that the settings name. */
static imp_status take_first_values(imp_model *model, imp_error *error)
{
    imp_learner *learner;
    imp_status status = imp_model_learner(model, &learner, error);
    if (status)
        return status;
    status = imp_model_take(model, learner, error);
    imp_learner_free(learner);
    return status;
}

/* Defaults for vectors of length 1 without training: a cluster starts where the cosine falls below
 * one half, and the variance gives calibrated probabilities with a few labels per class
 * (docs/embedders.md). */
static const double embedder_lambda = 1, embedder_variance = 0.02;

static imp_status open_embedder(const imp_model_options *options, imp_model **out, imp_error *error)
{
    imp_model *model = NULL;
    imp_status status = begin(options->embedder, &model, error);
    if (status)
        return status;
    model->settings.rule.sigma_l = model->settings.rule.sigma_u = embedder_variance;
    model->settings.rule.lambda = embedder_lambda;
    model->origin.validation = NAN;
    status = imp_embedder_open(options->embedder, options->patience, options->cache,
                               &model->embedder, error);
    if (!status)
        status = take_first_values(model, error);
    if (status) {
        imp_model_free(model);
        return status;
    }
    model->info = embedder_info(model);
    *out = model;
    return IMP_OK;
}

imp_status imp_model_open(const char *path, const imp_model_options *options, imp_model **out,
                          imp_error *error)
{
    *out = NULL;
    imp_model_options known;
    imp_status status = check_options(options, &known, error);
    if (status)
        return status;
    if (!path && known.embedder)
        return open_embedder(&known, out, error);
    if (!path && imp_built_in_model_size == 0)
        return imp_fail(error, IMP_EUNSUPPORTED, "no model is built in; give a model file");
    if (!path)
        return imp_model_open_bytes(imp_built_in_model, imp_built_in_model_size,
                                    imp_built_in_model_name, options, out, error);
    imp_safetensors *file;
    status = imp_safetensors_load(path, &file, error);
    return status ? status : make(file, path, &known, out, error);
}

imp_status imp_model_open_bytes(const void *bytes, size_t size, const char *name,
                                const imp_model_options *options, imp_model **out, imp_error *error)
{
    *out = NULL;
    imp_model_options known;
    imp_status status = check_options(options, &known, error);
    if (status)
        return status;
    unsigned char *copy = imp_allocate(size, 1); /* which the file then owns */
    if (!copy)
        return imp_fail_memory(error, "the model");
    memcpy(copy, bytes, size);
    imp_safetensors *file;
    status = imp_safetensors_parse(copy, size, &file, error);
    if (!status)
        return make(file, name, &known, out, error);
    imp_error_prefix(error, name);
    return status;
}

imp_status imp_model_import(const char *path, const imp_settings *settings, size_t channels,
                            size_t size, imp_model **out, imp_error *error)
{
    *out = NULL;
    imp_model *model = NULL;
    imp_network_options options = {
        .size = sizeof options, .channels = channels, .height = size, .width = size};
    imp_status status = begin(path, &model, error);
    if (!status) {
        model->origin.validation = NAN;
        model->origin.inverted = settings->ink == IMP_INK_INVERT;
        status = imp_settings_copy(&model->settings, settings, error);
    }
    if (!status)
        status = imp_network_load(path, settings->network, &options, &model->network, error);
    if (!status)
        status = take_first_values(model, error);
    if (!status)
        status = finish(model, &(imp_model_options){0}, error);
    if (status)
        imp_model_free(model);
    else
        *out = model;
    return status;
}

void imp_model_free(imp_model *model)
{
    if (!model)
        return;
    imp_embedder_free(model->embedder);
    imp_encoder_free(model->encoder);
    imp_network_free(model->network);
    imp_settings_clear(&model->settings);
    imp_release(model->values);
    imp_release(model->name);
    imp_release(model);
}
