/*
 * model.c - writing and reading trained models.
 */
#include "train/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <imp/version.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "nn/model_file.h"
#include "train/method_tensors.h"

/* ---- writing ---- */

static json_t *describe_pixels(const imp_network *network, bool inverted)
{
    const imp_network_options *input = imp_network_options_of(network);
    return json_pack("{s:I, s:I, s:I, s:s, s:b}", "channels", (json_int_t)input->channels, "height",
                     (json_int_t)input->height, "width", (json_int_t)input->width, "scale",
                     inverted ? "1 - byte / 255" : "byte / 255", "inverted", inverted);
}

/* Everything but the tensors, as texts that live as long as the two JSON texts. */
typedef struct description {
    char *settings, *pixels;
    char update[24], validation[32];
    imp_metadata metadata[9];
    size_t count;
} description;

static void add(description *text, const char *key, const char *value)
{
    text->metadata[text->count++] = (imp_metadata){key, value};
}

static imp_status describe(description *text, const imp_network *network,
                           const imp_settings *settings, const imp_model_origin *origin,
                           imp_error *error)
{
    *text = (description){0};
    json_t *object = imp_settings_to_json(settings);
    json_t *pixels = describe_pixels(network, origin->inverted);
    text->settings = imp_json_text(object);
    text->pixels = imp_json_text(pixels);
    json_decref(object);
    json_decref(pixels);
    if (!text->settings || !text->pixels)
        return imp_fail_memory(error, "the model file");

    snprintf(text->update, sizeof text->update, "%" PRIu64, origin->update);
    imp_number_write(origin->validation, 17, text->validation, sizeof text->validation);
    add(text, "version", imp_version());
    add(text, "method", settings->method);
    add(text, "preprocessing", text->pixels);
    add(text, "settings", text->settings);
    add(text, "update", text->update);
    if (origin->data.kind[0])
        add(text, "kind", origin->data.kind);
    if (origin->data.fingerprint[0])
        add(text, "data", origin->data.fingerprint);
    if (origin->data.split[0])
        add(text, "split", origin->data.split);
    if (!isnan(origin->validation))
        add(text, "validation", text->validation);
    return IMP_OK;
}

static imp_status write_model(imp_network *network, const imp_method *method, const float *values,
                              const imp_settings *settings, const imp_model_origin *origin,
                              const char *path, imp_error *error)
{
    description text;
    imp_method_tensors tensors = {0};
    imp_status status = describe(&text, network, settings, origin, error);
    if (!status)
        status = imp_method_tensors_make(&tensors, IMP_METHOD_PREFIX, method, values, error);
    if (!status) {
        imp_additions additions = {.tensors = tensors.tensors,
                                   .tensor_count = tensors.count,
                                   .metadata = text.metadata,
                                   .metadata_count = text.count};
        status = imp_network_save_with(network, &additions, path, error);
    }
    imp_method_tensors_clear(&tensors);
    imp_release(text.settings);
    imp_release(text.pixels);
    return status;
}

imp_status imp_model_save(imp_learner *learner, const imp_settings *settings,
                          const imp_model_origin *origin, const char *path, imp_error *error)
{
    return write_model(learner->network, learner->method, learner->values, settings, origin, path,
                       error);
}

/* ---- reading ---- */

static imp_status read_origin(const imp_safetensors *file, imp_model_origin *origin,
                              imp_error *error)
{
    const char *kind = imp_safetensors_metadata(file, "kind");
    const char *data = imp_safetensors_metadata(file, "data");
    const char *split = imp_safetensors_metadata(file, "split");
    const char *update = imp_safetensors_metadata(file, "update");
    const char *validation = imp_safetensors_metadata(file, "validation");
    const char *pixels = imp_safetensors_metadata(file, "preprocessing");
    *origin =
        (imp_model_origin){.update = update ? strtoull(update, NULL, 10) : 0,
                           .validation = validation ? imp_number_read(validation, NULL) : NAN};
    imp_trained_on *known = &origin->data;
    snprintf(known->kind, sizeof known->kind, "%s", kind ? kind : "");
    snprintf(known->fingerprint, sizeof known->fingerprint, "%s", data ? data : "");
    snprintf(known->split, sizeof known->split, "%s", split ? split : "");
    if (!pixels)
        return IMP_OK;
    json_t *object;
    imp_status status = imp_json_parse(pixels, strlen(pixels), &object, error);
    if (status)
        return status;
    origin->inverted = json_is_true(json_object_get(object, "inverted"));
    json_decref(object);
    return IMP_OK;
}

/* A method whose learned values replace the first ones; what the settings say of the variances
 * follows, so that any other method starts from what this one learned. */
static imp_status read_method(const imp_safetensors *file, imp_model *model, imp_error *error)
{
    imp_method *method;
    imp_method_options options = imp_settings_method(&model->settings);
    imp_status status = imp_method_create(model->settings.method, &options, &method, error);
    if (status)
        return status;
    double *values = imp_method_values(method, &model->value_count);
    model->values = imp_allocate(model->value_count, sizeof *model->values);
    if (!model->values)
        status = imp_fail_memory(error, "the method's parameters");
    if (!status)
        status = imp_method_tensors_read(file, IMP_METHOD_PREFIX, method, NULL, error);
    if (!status) {
        size_t count;
        const imp_method_parameter *parameters = imp_method_parameters(method, &count);
        memcpy(model->values, values, model->value_count * sizeof *values);
        for (size_t p = 0; p < count; p++) {
            double value = values[parameters[p].offset];
            if (strcmp(parameters[p].name, "log_sigma_u") != 0 &&
                strncmp(parameters[p].name, "log_sigma", 9) == 0)
                model->settings.sigma_l = exp(value);
            if (strcmp(parameters[p].name, "log_sigma_l") != 0 &&
                strncmp(parameters[p].name, "log_sigma", 9) == 0)
                model->settings.sigma_u = exp(value);
        }
    }
    imp_method_free(method);
    return status;
}

static imp_status read_model(const imp_safetensors *file, int threads, imp_model *model,
                             imp_error *error)
{
    imp_network_options options = {.size = sizeof options, .threads = threads};
    const char *settings = imp_safetensors_metadata(file, "settings");
    imp_status status = read_origin(file, &model->origin, error);
    if (!status && settings)
        status = imp_settings_parse(&model->settings, settings, error);
    if (!status)
        status = imp_network_from_file(file, NULL, &options, &model->network, error);
    if (!status && settings)
        status = read_method(file, model, error);
    return status;
}

/* Makes the model of a file that is read, and frees the file. */
static imp_status make_model(imp_safetensors *file, const char *name, int threads, imp_model *model,
                             imp_error *error)
{
    imp_settings_init(&model->settings);
    imp_status status = read_model(file, threads, model, error);
    /* a file of a network alone says what that is, but has no settings */
    if (!status)
        status = imp_settings_set(&model->settings, "network",
                                  imp_network_description(model->network), error);
    if (status) {
        imp_error_prefix(error, name);
        imp_model_clear(model);
    }
    imp_safetensors_free(file);
    return status;
}

imp_status imp_model_load(const char *path, int threads, imp_model *model, imp_error *error)
{
    *model = (imp_model){0};
    imp_safetensors *file;
    imp_status status = imp_safetensors_load(path, &file, error);
    return status ? status : make_model(file, path, threads, model, error);
}

imp_status imp_model_parse(const unsigned char *bytes, size_t size, const char *name, int threads,
                           imp_model *model, imp_error *error)
{
    *model = (imp_model){0};
    unsigned char *copy = imp_allocate(size, 1); /* which belongs to the file then */
    if (!copy)
        return imp_fail_memory(error, "the model");
    memcpy(copy, bytes, size);
    imp_safetensors *file;
    imp_status status = imp_safetensors_parse(copy, size, &file, error);
    if (!status)
        return make_model(file, name, threads, model, error);
    imp_error_prefix(error, name);
    return status;
}

/* ---- from elsewhere ---- */

imp_status imp_model_import(const char *path, const imp_settings *settings, size_t channels,
                            size_t size, imp_model *model, imp_error *error)
{
    *model = (imp_model){.origin.validation = NAN, .origin.inverted = settings->ink == 2};
    imp_network_options options = {
        .size = sizeof options, .channels = channels, .height = size, .width = size};
    imp_settings_init(&model->settings);
    json_t *all = imp_settings_to_json(settings);
    imp_status status = all ? imp_settings_from_json(&model->settings, all, error)
                            : imp_fail_memory(error, "the settings");
    json_decref(all);
    if (!status)
        status = imp_network_load(path, settings->network, &options, &model->network, error);
    imp_method *method = NULL;
    imp_method_options method_options = imp_settings_method(&model->settings);
    if (!status)
        status = imp_method_create(settings->method, &method_options, &method, error);
    if (!status) {
        const double *values = imp_method_values(method, &model->value_count);
        model->values = imp_allocate(model->value_count, sizeof *values);
        if (model->values)
            memcpy(model->values, values, model->value_count * sizeof *values);
        else
            status = imp_fail_memory(error, "the method's parameters");
    }
    imp_method_free(method);
    if (status)
        imp_model_clear(model);
    return status;
}

imp_status imp_model_write(imp_model *model, const char *path, imp_error *error)
{
    imp_method *method;
    imp_method_options options = imp_settings_method(&model->settings);
    imp_status status = imp_method_create(model->settings.method, &options, &method, error);
    if (status)
        return status;
    float *values = imp_allocate(model->value_count, sizeof *values);
    if (values) {
        for (size_t i = 0; i < model->value_count; i++)
            values[i] = (float)model->values[i];
        status = write_model(model->network, method, values, &model->settings, &model->origin, path,
                             error);
    } else {
        status = imp_fail_memory(error, "the method's parameters");
    }
    imp_release(values);
    imp_method_free(method);
    return status;
}

void imp_model_clear(imp_model *model)
{
    imp_network_free(model->network);
    imp_settings_clear(&model->settings);
    imp_release(model->values);
    *model = (imp_model){0};
}
