/*
 * checkpoint.c - writing and reading checkpoints.
 *
 * Numbers are written so that they come back to the same bits: floats and doubles as tensors,
 * counters as decimal text.
 */
#include "train/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <imp/version.h>

#include "base/error.h"
#include "base/memory.h"
#include "nn/model_file.h"
#include "train/method_tensors.h"

static const char optimizer_name[] = IMP_TRAINING_PREFIX "optimizer";
static const char method_optimizer_name[] = IMP_TRAINING_PREFIX "method_optimizer";
static const char best_name[] = IMP_TRAINING_PREFIX "best";
static const char clock_name[] = IMP_TRAINING_PREFIX "clock";

enum { WINDOW = sizeof(imp_window) / sizeof(double), CLOCK = WINDOW + 2, FIXED_TENSORS = 4 };

/* ---- making a learner ---- */

/* Takes the network over, on failure too. */
static imp_status join(imp_learner *learner, imp_network *network, const imp_settings *settings,
                       imp_error *error)
{
    imp_method_options method_options = imp_settings_method(settings);
    imp_optimizer_options optimizer = imp_settings_optimizer(settings);
    imp_method *method;
    imp_status status = imp_method_create(settings->method, &method_options, &method, error);
    if (status) {
        imp_network_free(network);
        return status;
    }
    status = imp_learner_make(learner, network, method, &optimizer, error);
    if (!status && !settings->learn_sigma_u)
        imp_learner_fix(learner, "log_sigma_u");
    return status;
}

imp_status imp_learner_from_settings(imp_learner *learner, const imp_settings *settings,
                                     size_t channels, size_t size, int threads, imp_error *error)
{
    *learner = (imp_learner){0};
    imp_network_options options = {.size = sizeof options,
                                   .channels = channels,
                                   .height = size,
                                   .width = size,
                                   .seed = (uint64_t)settings->seed,
                                   .threads = threads};
    imp_network *network;
    imp_status status = imp_network_create(settings->network, &options, &network, error);
    return status ? status : join(learner, network, settings, error);
}

/* ---- writing ---- */

static imp_tensor flat(const char *name, imp_dtype dtype, const void *data, size_t count)
{
    return (imp_tensor){
        .name = name, .dtype = dtype, .rank = 1, .shape = {count}, .count = count, .data = data};
}

/* The numbers of the metadata as text. */
typedef struct counters {
    char update[24], best_update[24], steps[24], json[24], csv[24];
} counters;

static void format(char text[24], uint64_t value)
{
    snprintf(text, 24, "%" PRIu64, value);
}

static imp_status write_file(const char *path, imp_learner *learner,
                             const imp_checkpoint *checkpoint, const char *settings,
                             const imp_method_tensors *method, imp_error *error)
{
    const imp_progress *progress = &checkpoint->progress;
    counters text;
    format(text.update, progress->update);
    format(text.best_update, progress->best_update);
    format(text.steps, imp_optimizer_steps(learner->network_optimizer));
    format(text.json, checkpoint->json_bytes);
    format(text.csv, checkpoint->csv_bytes);
    const imp_metadata metadata[] = {{"version", imp_version()},
                                     {"settings", settings},
                                     {"data", checkpoint->data.fingerprint},
                                     {"split", checkpoint->data.split},
                                     {"update", text.update},
                                     {"best_update", text.best_update},
                                     {"optimizer_steps", text.steps},
                                     {"log_jsonl_bytes", text.json},
                                     {"log_csv_bytes", text.csv}};

    double clock[CLOCK];
    memcpy(clock, &progress->window, sizeof progress->window);
    clock[WINDOW] = progress->seconds;
    clock[WINDOW + 1] = progress->best;

    imp_tensor *tensors = imp_allocate(method->count + FIXED_TENSORS, sizeof *tensors);
    if (!tensors)
        return imp_fail_memory(error, "the checkpoint");
    size_t count = method->count, states, method_states;
    if (count > 0)
        memcpy(tensors, method->tensors, count * sizeof *tensors);
    const float *state = imp_optimizer_state(learner->network_optimizer, &states);
    const float *method_state = imp_optimizer_state(learner->method_optimizer, &method_states);
    tensors[count++] = flat(optimizer_name, IMP_FLOAT32, state, states);
    tensors[count++] = flat(method_optimizer_name, IMP_FLOAT32, method_state, method_states);
    tensors[count++] = flat(clock_name, IMP_FLOAT64, clock, CLOCK);
    if (checkpoint->best.taken)
        tensors[count++] =
            flat(best_name, IMP_FLOAT32, checkpoint->best.values, checkpoint->best.count);
    imp_additions additions = {.tensors = tensors,
                               .tensor_count = count,
                               .metadata = metadata,
                               .metadata_count = sizeof metadata / sizeof *metadata};
    imp_status status = imp_network_save_with(learner->network, &additions, path, error);
    imp_release(tensors);
    return status;
}

imp_status imp_checkpoint_save(const char *path, imp_learner *learner,
                               const imp_checkpoint *checkpoint, imp_error *error)
{
    json_t *object = imp_settings_to_json(&checkpoint->settings);
    char *settings = imp_json_text(object);
    json_decref(object);
    if (!settings)
        return imp_fail_memory(error, "the checkpoint");
    imp_method_tensors method;
    imp_status status = imp_method_tensors_make(&method, IMP_METHOD_PREFIX, learner->method,
                                                learner->values, error);
    if (!status) {
        status = write_file(path, learner, checkpoint, settings, &method, error);
        imp_method_tensors_clear(&method);
    }
    imp_release(settings);
    return status;
}

/* ---- reading ---- */

static imp_status read_counter(const imp_safetensors *file, const char *key, uint64_t *value,
                               imp_error *error)
{
    const char *text = imp_safetensors_metadata(file, key);
    char *end = NULL;
    errno = 0;
    if (text && text[0] >= '0' && text[0] <= '9')
        *value = strtoull(text, &end, 10);
    if (!end || *end || errno)
        return imp_fail(error, IMP_EFORMAT, "its metadata '%s' should be a number, not '%.40s'",
                        key, text ? text : "");
    return IMP_OK;
}

static imp_status read_tensor(const imp_safetensors *file, const char *name, imp_dtype dtype,
                              void *values, size_t count, imp_error *error)
{
    const imp_tensor *tensor = imp_safetensors_find(file, name);
    if (!tensor || tensor->dtype != dtype || tensor->count != count)
        return imp_fail(error, IMP_EFORMAT, "its tensor '%s' is missing or not %s of %zu numbers",
                        name, imp_dtype_name(dtype), count);
    if (count > 0)
        memcpy(values, tensor->data, count * imp_dtype_size(dtype));
    return IMP_OK;
}

static imp_status read_settings(const imp_safetensors *file, imp_settings *settings,
                                imp_error *error)
{
    imp_settings_init(settings);
    const char *text = imp_safetensors_metadata(file, "settings");
    if (!text || !imp_safetensors_metadata(file, "data"))
        return imp_fail(error, IMP_EFORMAT, "it is not a checkpoint: it holds no settings");
    return imp_settings_parse(settings, text, error);
}

imp_status imp_checkpoint_glance(const char *path, imp_settings *settings, uint64_t *update,
                                 imp_error *error)
{
    imp_safetensors *file;
    imp_settings_init(settings);
    imp_status status = imp_safetensors_load(path, &file, error);
    if (status)
        return status;
    status = read_settings(file, settings, error);
    if (!status)
        status = read_counter(file, "update", update, error);
    if (status)
        imp_error_prefix(error, path);
    imp_safetensors_free(file);
    return status;
}

static imp_status read_state(const imp_safetensors *file, imp_checkpoint *checkpoint,
                             imp_error *error)
{
    imp_status status = read_settings(file, &checkpoint->settings, error);
    if (status)
        return status;
    imp_trained_on *data = &checkpoint->data;
    const char *split = imp_safetensors_metadata(file, "split");
    snprintf(data->fingerprint, sizeof data->fingerprint, "%s",
             imp_safetensors_metadata(file, "data"));
    snprintf(data->split, sizeof data->split, "%s", split ? split : "");
    imp_progress *progress = &checkpoint->progress;
    status = read_counter(file, "update", &progress->update, error);
    if (!status)
        status = read_counter(file, "best_update", &progress->best_update, error);
    if (!status)
        status = read_counter(file, "log_jsonl_bytes", &checkpoint->json_bytes, error);
    if (!status)
        status = read_counter(file, "log_csv_bytes", &checkpoint->csv_bytes, error);
    double clock[CLOCK];
    if (!status)
        status = read_tensor(file, clock_name, IMP_FLOAT64, clock, CLOCK, error);
    if (!status) {
        memcpy(&progress->window, clock, sizeof progress->window);
        progress->seconds = clock[WINDOW];
        progress->best = clock[WINDOW + 1];
    }
    return status;
}

static imp_status read_optimizers(const imp_safetensors *file, imp_learner *learner,
                                  imp_error *error)
{
    uint64_t steps = 0;
    size_t count;
    imp_status status = read_counter(file, "optimizer_steps", &steps, error);
    float *state = imp_optimizer_state(learner->network_optimizer, &count);
    if (!status)
        status = read_tensor(file, optimizer_name, IMP_FLOAT32, state, count, error);
    state = imp_optimizer_state(learner->method_optimizer, &count);
    if (!status)
        status = read_tensor(file, method_optimizer_name, IMP_FLOAT32, state, count, error);
    imp_optimizer_set_steps(learner->network_optimizer, steps);
    imp_optimizer_set_steps(learner->method_optimizer, steps);
    return status;
}

static imp_status read_learner(const imp_safetensors *file, int threads,
                               const imp_settings *settings, imp_learner *learner, imp_error *error)
{
    imp_network_options options = {.size = sizeof options, .threads = threads};
    imp_network *network;
    imp_status status = imp_network_from_file(file, settings->network, &options, &network, error);
    if (!status)
        status = join(learner, network, settings, error);
    if (!status)
        status = imp_method_tensors_read(file, IMP_METHOD_PREFIX, learner->method, learner->values,
                                         error);
    if (!status)
        status = read_optimizers(file, learner, error);
    return status;
}

static imp_status read_best(const imp_safetensors *file, const imp_learner *learner,
                            imp_snapshot *best, imp_error *error)
{
    imp_status status = imp_snapshot_make(best, learner, error);
    if (status || !imp_safetensors_find(file, best_name))
        return status;
    best->taken = true;
    return read_tensor(file, best_name, IMP_FLOAT32, best->values, best->count, error);
}

imp_status imp_checkpoint_load(const char *path, int threads, imp_learner *learner,
                               imp_checkpoint *checkpoint, imp_error *error)
{
    *learner = (imp_learner){0};
    *checkpoint = (imp_checkpoint){0};
    imp_safetensors *file;
    imp_status status = imp_safetensors_load(path, &file, error);
    if (status)
        return status;
    status = read_state(file, checkpoint, error);
    if (!status)
        status = read_learner(file, threads, &checkpoint->settings, learner, error);
    if (!status)
        status = read_best(file, learner, &checkpoint->best, error);
    imp_safetensors_free(file);
    if (status) {
        imp_error_prefix(error, path);
        imp_learner_clear(learner);
        imp_checkpoint_clear(checkpoint);
    }
    return status;
}

void imp_checkpoint_clear(imp_checkpoint *checkpoint)
{
    imp_settings_clear(&checkpoint->settings);
    imp_snapshot_clear(&checkpoint->best);
    *checkpoint = (imp_checkpoint){0};
}
