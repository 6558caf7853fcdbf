/*
 * model_file.c - writes and reads trained models.
 */
#include "model/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <imp/version.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/tensor_checksum.h"
#include "methods/method.h"
#include "methods/rule.h"
#include "model/learner_tensors.h"
#include "nn/model_file.h"

/* ---- writing ---- */

static json_t *describe_pixels(const imp_network *network, bool inverted)
{
    const imp_network_options *input = imp_network_options_of(network);
    if (input->height == 1 && input->width == 1)
        return json_pack("{s:I, s:I, s:I}", "channels", (json_int_t)input->channels, "height",
                         (json_int_t)1, "width", (json_int_t)1);
    return json_pack("{s:I, s:I, s:I, s:s, s:b}", "channels", (json_int_t)input->channels, "height",
                     (json_int_t)input->height, "width", (json_int_t)input->width, "scale",
                     inverted ? "1 - byte / 255" : "byte / 255", "inverted", inverted);
}

/* Everything except the tensors, as strings that live as long as the two JSON strings. */
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

imp_status imp_model_save(const imp_learner *learner, const float *values,
                          const imp_settings *settings, const imp_model_origin *origin,
                          const char *path, imp_error *error)
{
    description text;
    imp_learner_tensors tensors = {0};
    imp_status status = describe(&text, learner->network, settings, origin, error);
    if (!status)
        status = imp_learner_tensors_make(&tensors, learner, values, error);
    if (!status) {
        imp_additions additions = {.tensors = tensors.tensors,
                                   .tensor_count = tensors.count,
                                   .metadata = text.metadata,
                                   .metadata_count = text.count};
        status = imp_network_save_with(learner->network, &additions, path, error);
    }
    imp_learner_tensors_clear(&tensors);
    imp_release(text.settings);
    imp_release(text.pixels);
    return status;
}

imp_status imp_model_learner(const imp_model *model, imp_learner **out, imp_error *error)
{
    imp_learner_options options = imp_settings_learner(&model->settings);
    return imp_learner_create(model->settings.learner, &options, model->network, 0, out, error);
}

imp_status imp_model_write(const imp_model *model, const char *path, imp_error *error)
{
    imp_learner *learner;
    imp_status status = imp_model_learner(model, &learner, error);
    if (status)
        return status;
    float *values = imp_allocate(model->value_count, sizeof *values);
    if (values) {
        for (size_t i = 0; i < model->value_count; i++)
            values[i] = (float)model->values[i];
        status = imp_model_save(learner, values, &model->settings, &model->origin, path, error);
    } else {
        status = imp_fail_memory(error, "the learner's parameters");
    }
    imp_release(values);
    imp_learner_free(learner);
    return status;
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
    const char *checksum = imp_safetensors_metadata(file, IMP_CHECKSUM_KEY);
    *origin =
        (imp_model_origin){.update = update ? strtoull(update, NULL, 10) : 0,
                           .validation = validation ? imp_number_read(validation, NULL) : NAN};
    imp_trained_on *known = &origin->data;
    snprintf(known->kind, sizeof known->kind, "%s", kind ? kind : "");
    snprintf(known->fingerprint, sizeof known->fingerprint, "%s", data ? data : "");
    snprintf(known->split, sizeof known->split, "%s", split ? split : "");
    snprintf(origin->sha256, sizeof origin->sha256, "%s", checksum ? checksum : "");
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

imp_status imp_model_take(imp_model *model, const imp_learner *learner, imp_error *error)
{
    imp_release(model->values);
    model->value_count = learner->value_count;
    model->values = imp_allocate(model->value_count, sizeof *model->values);
    if (!model->values)
        return imp_fail_memory(error, "the learner's parameters");
    if (model->value_count > 0)
        memcpy(model->values, learner->values, model->value_count * sizeof *model->values);
    return IMP_OK;
}

/* A learner whose learned values replace the initial ones; the variances in the settings follow, so
 * that any other method starts from what this one learned. */
static imp_status read_learner(const imp_safetensors *file, imp_model *model, imp_error *error)
{
    imp_learner *learner;
    imp_status status = imp_model_learner(model, &learner, error);
    if (status)
        return status;
    status = imp_learner_tensors_read(file, learner, NULL, error);
    if (!status)
        status = imp_model_take(model, learner, error);
    if (!status) {
        imp_rule learned = imp_learner_rule(learner);
        model->settings.rule = imp_rule_over(&learned, &model->settings.rule);
    }
    imp_learner_free(learner);
    return status;
}

imp_status imp_model_read(imp_model *model, const imp_safetensors *file, imp_error *error)
{
    imp_network_options options = {.size = sizeof options, .threads = 1};
    const char *settings = imp_safetensors_metadata(file, "settings");
    imp_status status = read_origin(file, &model->origin, error);
    if (!status && settings)
        status = imp_settings_parse(&model->settings, settings, error);
    if (!status)
        status = imp_network_from_file(file, NULL, &options, &model->network, error);
    if (!status && settings)
        status = read_learner(file, model, error);
    return status;
}
