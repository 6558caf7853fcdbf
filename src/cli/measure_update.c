/*
 * measure_update.c - times the training loop itself, alternating each update with a bare network
 * step on the same images.
 *
 * Updates are the trainer's own, timed from outside: from the end of its callback to the next call.
 * Because the two alternate, a slow moment of the machine affects both.
 */
#include "cli/measure_update.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <imp/network.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "train/trainer.h"

enum { WARM_UP_UPDATES = 2, LEAST_UPDATES = 3, MOST_UPDATES = 10000 };

/* Columns of what is recorded for an update. */
enum { UPDATE, FEED, NETWORK, METHOD, OPTIMIZER, REST, BARE, OVERHEAD, BEYOND, COLUMNS };

typedef struct bench {
    const imp_update_task *task;
    imp_settings settings;
    imp_dataset *dataset;
    imp_network *network; /* of the bare steps */
    size_t images;        /* of an episode */
    float *pixels, *embeddings, *gradient;
    double *notes; /* (COLUMNS, MOST_UPDATES) */
    size_t count;
    double begin, resumed; /* when the clock started; when the trainer went on */
    imp_status status;     /* of the bare steps */
    imp_error *error;
} bench;

static imp_settings settings_of(const imp_update_task *task)
{
    imp_settings settings;
    imp_settings_init(&settings);
    settings.task = task->alphabets ? IMP_EPISODE_SUPER_CLASSES : IMP_EPISODE_CLASSES;
    settings.way = (int64_t)task->way;
    settings.modes = 10;
    settings.shot = 1;
    settings.queries = 5;
    settings.learn_sigma_u = 0;
    settings.updates = WARM_UP_UPDATES + MOST_UPDATES;
    settings.validate_every = 0;
    settings.checkpoint_every = settings.updates; /* the log is timed, other files are not */
    settings.log_every = 1;
    return settings;
}

/* ---- bare steps ---- */

static imp_status prepare(bench *b)
{
    const imp_dataset_options data = imp_settings_data(&b->settings, b->task->threads);
    imp_status status = imp_dataset_open(b->settings.data, &data, &b->dataset, b->error);
    if (status)
        return status;
    size_t side = imp_dataset_size(b->dataset);
    imp_network_options options = {.size = sizeof options,
                                   .channels = imp_dataset_channels(b->dataset),
                                   .height = side,
                                   .width = side,
                                   .threads = b->task->threads};
    status = imp_network_create(b->settings.network, &options, &b->network, b->error);
    imp_episode episode;
    imp_episode_options task = imp_settings_task(&b->settings, IMP_FOR_TRAINING);
    if (!status)
        status = imp_episode_draw(b->dataset, &task, 0, &episode, b->error);
    if (status)
        return status;
    b->images = imp_episode_size(&episode);
    imp_episode_clear(&episode);
    size_t outputs = imp_network_output_size(b->network);
    b->pixels = imp_allocate(b->images, options.channels * side * side * sizeof *b->pixels);
    b->embeddings = imp_allocate(b->images, outputs * sizeof *b->embeddings);
    b->gradient = imp_allocate(b->images, outputs * sizeof *b->gradient);
    b->notes = imp_allocate((size_t)COLUMNS * MOST_UPDATES, sizeof *b->notes);
    if (!b->pixels || !b->embeddings || !b->gradient || !b->notes)
        return imp_fail_memory(b->error, "the benchmark's images");
    imp_random random = imp_random_start(0, IMP_STREAM_DEMO, 0);
    for (size_t i = 0; i < b->images * outputs; i++)
        b->gradient[i] = (float)(imp_random_uniform(&random) - 0.5);
    return IMP_OK;
}

static void release(bench *b)
{
    imp_release(b->pixels);
    imp_release(b->embeddings);
    imp_release(b->gradient);
    imp_release(b->notes);
    imp_network_free(b->network);
    imp_dataset_free(b->dataset);
    imp_settings_clear(&b->settings);
}

/* The bare network on the images of an episode; only the step is timed. */
static imp_status step_bare(bench *b, uint64_t index, double *seconds)
{
    imp_episode episode;
    imp_episode_options task = imp_settings_task(&b->settings, IMP_FOR_TRAINING);
    imp_status status = imp_episode_draw(b->dataset, &task, index, &episode, b->error);
    if (status)
        return status;
    imp_episode_pixels(b->dataset, &episode, b->pixels);
    imp_episode_clear(&episode);
    double begin = imp_clock();
    imp_network_clear_gradients(b->network);
    status = imp_network_forward(b->network, b->pixels, b->images, b->embeddings, b->error);
    if (!status)
        status = imp_network_backward(b->network, b->gradient, b->error);
    *seconds = imp_clock() - begin;
    return status;
}

/* ---- updates ---- */

static void note(bench *b, const imp_train_times *times, double update, double bare)
{
    const double row[COLUMNS] = {
        [UPDATE] = update,
        [FEED] = times->feed,
        [NETWORK] = times->network,
        [METHOD] = times->method,
        [OPTIMIZER] = times->optimizer,
        [REST] = update - times->feed - times->network - times->method - times->optimizer,
        [BARE] = bare,
        [OVERHEAD] = update / bare - 1,
        [BEYOND] = update / times->network - 1,
    };
    for (size_t column = 0; column < COLUMNS; column++)
        b->notes[column * MOST_UPDATES + b->count] = row[column];
    b->count++;
}

/* The trainer's callback. */
static bool after_update(const imp_train_report *report, void *context)
{
    bench *b = context;
    double update = imp_clock() - b->resumed, bare;
    b->status = step_bare(b, report->update - 1, &bare);
    if (b->status)
        return false;
    if (report->update > WARM_UP_UPDATES)
        note(b, &report->times, update, bare);
    else
        b->begin = imp_clock();
    b->resumed = imp_clock();
    return b->count < MOST_UPDATES &&
           (b->count < LEAST_UPDATES || b->resumed - b->begin < b->task->seconds);
}

/* ---- results ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A quantile of the values. */
static double quantile(const bench *b, int column, double share)
{
    double *values = b->notes + (size_t)column * MOST_UPDATES;
    qsort(values, b->count, sizeof *values, compare);
    return values[(size_t)(share * (double)(b->count - 1) + 0.5)];
}

static imp_update_result summarize(const bench *b)
{
    imp_update_result result = {
        .images = b->images,
        .updates = b->count,
        .update = quantile(b, UPDATE, 0.5),
        .feed = quantile(b, FEED, 0.5),
        .network = quantile(b, NETWORK, 0.5),
        .method = quantile(b, METHOD, 0.5),
        .optimizer = quantile(b, OPTIMIZER, 0.5),
        .rest = quantile(b, REST, 0.5),
        .bare = quantile(b, BARE, 0.5),
        .overhead = quantile(b, OVERHEAD, 0.5),
        .least_overhead = quantile(b, OVERHEAD, 0.1),
        .most_overhead = quantile(b, OVERHEAD, 0.9),
        .beyond = quantile(b, BEYOND, 0.5),
        .threads = imp_network_options_of(b->network)->threads,
    };
    snprintf(result.isa, sizeof result.isa, "%s", imp_network_isa(b->network));
    return result;
}

imp_status imp_measure_update(const imp_update_task *task, imp_update_result *result,
                              imp_error *error)
{
    bench b = {.task = task, .settings = settings_of(task), .error = error};
    imp_status status = prepare(&b);
    imp_trainer_options options = {
        .folder = task->folder, .threads = task->threads, .proceed = after_update, .context = &b};
    imp_train_result trained;
    b.resumed = imp_clock();
    if (!status)
        status = imp_trainer_run(&b.settings, b.dataset, &options, &trained, error);
    if (!status)
        status = b.status;
    if (!status)
        *result = summarize(&b);
    release(&b);
    return status;
}
