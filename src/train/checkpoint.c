/*
 * checkpoint.c - writes and reads checkpoints.
 *
 * Numbers keep all their bits: floats and doubles are tensors, counters decimal text.
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
#include "model/learner_tensors.h"
#include "nn/model_file.h"

/* A tensor besides the model's, and its name in older files. */
typedef struct entry {
    const char *name, *old_name;
} entry;

#define ENTRY(name, old)                                  \
    {                                                     \
        IMP_TRAINING_PREFIX name, IMP_TRAINING_PREFIX old \
    }

static const entry network_optimizer = ENTRY("optimizer.network", "optimizer");
static const entry value_optimizer = ENTRY("optimizer.method", "method_optimizer");
static const entry best_weights = ENTRY("best.weights", "best");
static const entry average_weights = ENTRY("average.weights", "average.weights");
/* These three were one: the window, then the seconds, then the accuracy. */
static const entry window_sums = ENTRY("window", "clock");
static const entry run_seconds = ENTRY("seconds", "clock");
static const entry best_accuracy = ENTRY("best.accuracy", "clock");

enum { WINDOW = sizeof(imp_window) / sizeof(double), OLD_CLOCK = WINDOW + 2, MOST_ENTRIES = 7 };

/* ---- making an updater ---- */

/* Takes ownership of the network, even on failure. */
static imp_status join(imp_updater *updater, imp_network *network, const imp_settings *settings,
                       imp_error *error)
{
    imp_learner_options options = imp_settings_learner(settings);
    imp_optimizer_options optimizer = imp_settings_optimizer(settings);
    imp_learner *learner;
    imp_status status =
        imp_learner_create(settings->learner, &options, network, 0, &learner, error);
    if (status) {
        imp_network_free(network);
        return status;
    }
    status = imp_updater_make(updater, network, learner, &optimizer, error);
    if (!status && !settings->learn_sigma_u)
        imp_updater_fix(updater, "log_sigma_u");
    return status;
}

imp_status imp_updater_from_settings(imp_updater *updater, const imp_settings *settings,
                                     size_t channels, size_t size, int threads, imp_error *error)
{
    *updater = (imp_updater){0};
    imp_network_options options = {.size = sizeof options,
                                   .channels = channels,
                                   .height = size,
                                   .width = size,
                                   .seed = (uint64_t)settings->seed,
                                   .threads = threads};
    imp_network *network;
    imp_status status = imp_network_create(settings->network, &options, &network, error);
    return status ? status : join(updater, network, settings, error);
}

/* ---- writing ---- */

static imp_tensor flat(const entry *what, imp_dtype dtype, const void *data, size_t count)
{
    return (imp_tensor){.name = what->name,
                        .dtype = dtype,
                        .rank = 1,
                        .shape = {count},
                        .count = count,
                        .data = data};
}

/* The numbers of the metadata as text. */
typedef struct counters {
    char update[24], best_update[24], steps[24], json[24], csv[24];
} counters;

static void format(char text[24], uint64_t value)
{
    snprintf(text, 24, "%" PRIu64, value);
}

static imp_status write_file(const char *path, const char *kept, imp_updater *updater,
                             const imp_checkpoint *checkpoint, const char *settings,
                             const imp_learner_tensors *learner, imp_error *error)
{
    const imp_progress *progress = &checkpoint->progress;
    counters text;
    format(text.update, progress->update);
    format(text.best_update, progress->best_update);
    format(text.steps, imp_optimizer_steps(updater->network_optimizer));
    format(text.json, checkpoint->json_bytes);
    format(text.csv, checkpoint->csv_bytes);
    const imp_metadata metadata[] = {{"version", imp_version()},
                                     {"settings", settings},
                                     {"isa", imp_network_isa(updater->network)},
                                     {"data", checkpoint->data.fingerprint},
                                     {"split", checkpoint->data.split},
                                     {"update", text.update},
                                     {"best_update", text.best_update},
                                     {"optimizer_steps", text.steps},
                                     {"log_jsonl_bytes", text.json},
                                     {"log_csv_bytes", text.csv}};

    imp_tensor *tensors = imp_allocate(learner->count + MOST_ENTRIES, sizeof *tensors);
    if (!tensors)
        return imp_fail_memory(error, "the checkpoint");
    size_t count = learner->count, states, value_states;
    if (count > 0)
        memcpy(tensors, learner->tensors, count * sizeof *tensors);
    const float *state = imp_optimizer_state(updater->network_optimizer, &states);
    const float *value_state = imp_optimizer_state(updater->value_optimizer, &value_states);
    tensors[count++] = flat(&network_optimizer, IMP_FLOAT32, state, states);
    tensors[count++] = flat(&value_optimizer, IMP_FLOAT32, value_state, value_states);
    tensors[count++] = flat(&window_sums, IMP_FLOAT64, &progress->window, WINDOW);
    tensors[count++] = flat(&run_seconds, IMP_FLOAT64, &progress->seconds, 1);
    tensors[count++] = flat(&best_accuracy, IMP_FLOAT64, &progress->best, 1);
    if (checkpoint->best.taken)
        tensors[count++] =
            flat(&best_weights, IMP_FLOAT32, checkpoint->best.values, checkpoint->best.count);
    if (checkpoint->average.taken)
        tensors[count++] = flat(&average_weights, IMP_FLOAT32, checkpoint->average.values,
                                checkpoint->average.count);
    imp_additions additions = {.tensors = tensors,
                               .tensor_count = count,
                               .metadata = metadata,
                               .metadata_count = sizeof metadata / sizeof *metadata,
                               .kept = kept};
    imp_status status = imp_network_save_with(updater->network, &additions, path, error);
    imp_release(tensors);
    return status;
}

imp_status imp_checkpoint_save(const char *path, const char *kept, imp_updater *updater,
                               const imp_checkpoint *checkpoint, imp_error *error)
{
    json_t *object = imp_settings_to_json(&checkpoint->settings);
    char *settings = imp_json_text(object);
    json_decref(object);
    if (!settings)
        return imp_fail_memory(error, "the checkpoint");
    imp_learner_tensors learner;
    imp_status status =
        imp_learner_tensors_make(&learner, updater->learner, updater->values, error);
    if (!status) {
        status = write_file(path, kept, updater, checkpoint, settings, &learner, error);
        imp_learner_tensors_clear(&learner);
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

static const imp_tensor *find(const imp_safetensors *file, const entry *what)
{
    const imp_tensor *tensor = imp_safetensors_find(file, what->name);
    return tensor ? tensor : imp_safetensors_find(file, what->old_name);
}

static imp_status check_tensor(const imp_tensor *tensor, const entry *what, imp_dtype dtype,
                               size_t count, imp_error *error)
{
    if (tensor && tensor->dtype == dtype && tensor->count == count)
        return IMP_OK;
    return imp_fail(error, IMP_EFORMAT, "its tensor '%s' is missing or not %s of %zu numbers",
                    what->name, imp_dtype_name(dtype), count);
}

static imp_status read_floats(const imp_safetensors *file, const entry *what, float *values,
                              size_t count, imp_error *error)
{
    const imp_tensor *tensor = find(file, what);
    imp_status status = check_tensor(tensor, what, IMP_FLOAT32, count, error);
    if (!status && count > 0)
        memcpy(values, tensor->data, count * sizeof *values);
    return status;
}

/* `old_offset`: where they are in the tensor with the old name. */
static imp_status read_doubles(const imp_safetensors *file, const entry *what, size_t old_offset,
                               double *values, size_t count, imp_error *error)
{
    const imp_tensor *tensor = find(file, what);
    bool old = tensor && strcmp(tensor->name, what->old_name) == 0;
    imp_status status = check_tensor(tensor, what, IMP_FLOAT64, old ? OLD_CLOCK : count, error);
    if (!status)
        memcpy(values, (const double *)tensor->data + (old ? old_offset : 0),
               count * sizeof *values);
    return status;
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
    const char *isa = imp_safetensors_metadata(file, "isa");
    snprintf(data->fingerprint, sizeof data->fingerprint, "%s",
             imp_safetensors_metadata(file, "data"));
    snprintf(data->split, sizeof data->split, "%s", split ? split : "");
    snprintf(checkpoint->isa, sizeof checkpoint->isa, "%s", isa ? isa : "");
    imp_progress *progress = &checkpoint->progress;
    status = read_counter(file, "update", &progress->update, error);
    if (!status)
        status = read_counter(file, "best_update", &progress->best_update, error);
    if (!status)
        status = read_counter(file, "log_jsonl_bytes", &checkpoint->json_bytes, error);
    if (!status)
        status = read_counter(file, "log_csv_bytes", &checkpoint->csv_bytes, error);
    double window[WINDOW];
    if (!status)
        status = read_doubles(file, &window_sums, 0, window, WINDOW, error);
    if (!status)
        status = read_doubles(file, &run_seconds, WINDOW, &progress->seconds, 1, error);
    if (!status)
        status = read_doubles(file, &best_accuracy, WINDOW + 1, &progress->best, 1, error);
    if (!status)
        memcpy(&progress->window, window, sizeof window);
    return status;
}

static imp_status read_optimizers(const imp_safetensors *file, imp_updater *updater,
                                  imp_error *error)
{
    uint64_t steps = 0;
    size_t count;
    imp_status status = read_counter(file, "optimizer_steps", &steps, error);
    float *state = imp_optimizer_state(updater->network_optimizer, &count);
    if (!status)
        status = read_floats(file, &network_optimizer, state, count, error);
    state = imp_optimizer_state(updater->value_optimizer, &count);
    if (!status)
        status = read_floats(file, &value_optimizer, state, count, error);
    imp_optimizer_set_steps(updater->network_optimizer, steps);
    imp_optimizer_set_steps(updater->value_optimizer, steps);
    return status;
}

static imp_status read_learner(const imp_safetensors *file, int threads,
                               const imp_settings *settings, imp_updater *updater, imp_error *error)
{
    imp_network_options options = {
        .size = sizeof options, .seed = (uint64_t)settings->seed, .threads = threads};
    imp_network *network;
    imp_status status = imp_network_from_file(file, settings->network, &options, &network, error);
    if (!status)
        status = join(updater, network, settings, error);
    if (!status)
        status = imp_learner_tensors_read(file, updater->learner, updater->values, error);
    if (!status)
        status = read_optimizers(file, updater, error);
    return status;
}

/* If there is no snapshot, none had been taken. */
static imp_status read_snapshot(const imp_safetensors *file, const entry *what,
                                const imp_updater *updater, imp_snapshot *snapshot,
                                imp_error *error)
{
    imp_status status = imp_snapshot_make(snapshot, updater, error);
    if (status || !find(file, what))
        return status;
    snapshot->taken = true;
    return read_floats(file, what, snapshot->values, snapshot->count, error);
}

imp_status imp_checkpoint_load(const char *path, int threads, imp_updater *updater,
                               imp_checkpoint *checkpoint, imp_error *error)
{
    *updater = (imp_updater){0};
    *checkpoint = (imp_checkpoint){0};
    imp_safetensors *file;
    imp_status status = imp_safetensors_load(path, &file, error);
    if (status)
        return status;
    status = read_state(file, checkpoint, error);
    if (!status)
        status = read_learner(file, threads, &checkpoint->settings, updater, error);
    if (!status)
        status = read_snapshot(file, &best_weights, updater, &checkpoint->best, error);
    if (!status && checkpoint->settings.average_weights > 0)
        status = read_snapshot(file, &average_weights, updater, &checkpoint->average, error);
    imp_safetensors_free(file);
    if (status) {
        imp_error_prefix(error, path);
        imp_updater_clear(updater);
        imp_checkpoint_clear(checkpoint);
    }
    return status;
}

void imp_checkpoint_clear(imp_checkpoint *checkpoint)
{
    imp_settings_clear(&checkpoint->settings);
    imp_snapshot_clear(&checkpoint->best);
    imp_snapshot_clear(&checkpoint->average);
    *checkpoint = (imp_checkpoint){0};
}
