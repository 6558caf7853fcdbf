/*
 * trainer.c - the loop: episodes, update, log, validation, checkpoint.
 *
 * The order within an update matters for resuming: the log is on disk before the checkpoint that
 * remembers its length, and a better model before the checkpoint that knows of it; so whatever a
 * kill tears apart is made again from the checkpoint, to the same bits.
 */
#include "train/trainer.h"

#include <imp/encoder.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "data/dataset.h"
#include "train/checkpoint.h"
#include "train/evaluate.h"
#include "train/log.h"
#include "train/model.h"
#include "train/run_folder.h"

typedef struct trainer {
    const imp_train_options *options;
    const imp_dataset *dataset;
    imp_learner learner;
    imp_checkpoint state; /* settings, counters and the best weights, as the next file has them */
    uint64_t saved_update;
    bool judges_again; /* the run was over when it was resumed, and its model is chosen anew */
    imp_feed *feed;
    imp_log log;
    imp_train_report report;
    double start; /* of this update, by imp_clock() */
} trainer;

static bool is_due(uint64_t update, int64_t every)
{
    return every > 0 && update % (uint64_t)every == 0;
}

static bool is_last(const trainer *work)
{
    return work->state.progress.update >= (uint64_t)work->state.settings.updates;
}

/* ---- one update ---- */

static imp_status diverged(const trainer *work, imp_error *error)
{
    char where[4200] = "";
    imp_error reason = {0};
    if (error)
        reason = *error;
    if (work->options->folder)
        snprintf(where, sizeof where, "; the last good checkpoint, of update %llu, is '%s/%s'",
                 (unsigned long long)work->saved_update, work->options->folder,
                 imp_checkpoint_name);
    return imp_fail(error, IMP_EINVAL, "update %llu: %s%s",
                    (unsigned long long)work->state.progress.update + 1, reason.message, where);
}

static imp_status add_episodes(trainer *work, imp_error *error)
{
    const imp_settings *settings = &work->state.settings;
    imp_window *window = &work->state.progress.window;
    imp_update_times *times = &work->report.times;
    for (int64_t e = 0; e < settings->accumulate; e++) {
        const imp_task *task;
        imp_outcome outcome;
        double begin = imp_clock();
        imp_status status = imp_feed_next(work->feed, &task, error);
        times->feed += imp_clock() - begin;
        if (status)
            return status;
        status = imp_learner_add(&work->learner, task, &outcome, error);
        if (!status && outcome.loss > settings->loss_limit)
            status = imp_fail(error, IMP_EINVAL, "the loss is %g, beyond its limit of %g",
                              outcome.loss, settings->loss_limit);
        if (status)
            return status == IMP_EINVAL ? diverged(work, error) : status;
        window->episodes++;
        window->loss += outcome.loss;
        window->accuracy += outcome.accuracy;
        window->clusters += (double)outcome.clusters;
        window->images += (double)outcome.images;
        times->network += outcome.network_seconds;
        times->method += outcome.method_seconds;
    }
    return IMP_OK;
}

static imp_status make_update(trainer *work, imp_error *error)
{
    const imp_settings *settings = &work->state.settings;
    imp_progress *progress = &work->state.progress;
    work->report.times = (imp_update_times){0};
    imp_status status = add_episodes(work, error);
    if (status)
        return status;
    double norm, rate = imp_settings_rate(settings, progress->update), begin = imp_clock();
    status = imp_learner_update(&work->learner, rate, settings->clip, &norm, error);
    work->report.times.optimizer = imp_clock() - begin;
    if (status)
        return diverged(work, error);
    progress->update++;
    progress->window.updates++;
    progress->window.norm += norm;
    return IMP_OK;
}

/* ---- validation ---- */

static imp_status save_model(trainer *work, imp_error *error)
{
    if (!work->options->folder)
        return IMP_OK;
    const imp_settings *settings = &work->state.settings;
    const imp_progress *progress = &work->state.progress;
    bool chosen = work->state.best.taken;
    imp_model_origin origin = {.data = work->state.data,
                               .update = chosen ? progress->best_update : progress->update,
                               .validation = progress->best,
                               .inverted = work->dataset->inverted};
    return imp_model_save(&work->learner, settings, &origin,
                          imp_run_file(work->options->folder, imp_model_name).text, error);
}

static imp_status find_accuracy(trainer *work, double *accuracy, imp_error *error)
{
    const imp_settings *settings = &work->state.settings;
    imp_encoder *encoder;
    imp_status status = imp_encoder_create(work->learner.network, &encoder, error);
    if (status)
        return status;
    imp_contestant self = {.method = settings->method,
                           .options = imp_settings_method(settings),
                           .values = imp_method_values(work->learner.method, NULL)};
    imp_evaluate_options options = {.task = imp_settings_task(settings, IMP_FOR_VALIDATION),
                                    .episodes = (size_t)settings->validation_episodes,
                                    .threads = work->options->threads};
    imp_evaluation found;
    status = imp_evaluate(encoder, work->dataset, &self, 1, &options, &found, error);
    imp_encoder_free(encoder);
    if (!status)
        *accuracy = found.accuracy.mean;
    return status;
}

static imp_status validate(trainer *work, double *accuracy, imp_error *error)
{
    imp_progress *progress = &work->state.progress;
    imp_status status = find_accuracy(work, accuracy, error);
    if (status)
        return status;
    work->report.validation = *accuracy;
    if (!work->state.best.taken || *accuracy > progress->best) {
        progress->best = *accuracy;
        progress->best_update = progress->update;
        imp_snapshot_take(&work->state.best, &work->learner);
    }
    return IMP_OK;
}

/* ---- log and checkpoint ---- */

static imp_line line_of(const trainer *work, double validation)
{
    return imp_line_of(&work->state.progress, &work->state.settings, &work->learner, validation);
}

static imp_status write_line(trainer *work, double validation, imp_error *error)
{
    work->report.line = line_of(work, validation);
    work->report.new_line = true;
    work->state.progress.window = (imp_window){0};
    return work->options->folder ? imp_log_write(&work->log, &work->report.line, error) : IMP_OK;
}

static imp_status save_checkpoint(trainer *work, imp_error *error)
{
    if (!work->options->folder)
        return IMP_OK;
    imp_status status = imp_log_flush(&work->log, error);
    if (status)
        return status;
    work->state.json_bytes = work->log.json_bytes;
    work->state.csv_bytes = work->log.csv_bytes;
    imp_run_path path = imp_run_file(work->options->folder, imp_checkpoint_name);
    status = imp_checkpoint_save(path.text, &work->learner, &work->state, error);
    if (!status)
        work->saved_update = work->state.progress.update;
    return status;
}

/* ---- the loop ---- */

static void count_time(trainer *work)
{
    double seconds = imp_clock() - work->start;
    work->state.progress.seconds += seconds;
    work->state.progress.window.seconds += seconds;
}

static bool wants_to_proceed(trainer *work)
{
    const imp_progress *progress = &work->state.progress;
    imp_train_report *report = &work->report;
    report->update = progress->update;
    report->updates = (uint64_t)work->state.settings.updates;
    report->best = progress->best;
    report->best_update = progress->best_update;
    report->seconds_left =
        progress->seconds / (double)progress->update * (double)(report->updates - progress->update);
    if (report->line.update == 0 && progress->window.episodes > 0) {
        report->line = line_of(work, NAN);
        report->line.update = 0; /* not a line yet */
    }
    return !work->options->proceed || work->options->proceed(report, work->options->context);
}

/* What happens at the end of an update; *stop is set when the caller wants no more. */
static imp_status conclude_update(trainer *work, bool *stop, imp_error *error)
{
    const imp_settings *settings = &work->state.settings;
    uint64_t update = work->state.progress.update;
    bool last = is_last(work), saves = last || is_due(update, settings->checkpoint_every);
    double validation = NAN;
    imp_status status = IMP_OK;
    work->report.new_line = false;

    count_time(work);
    if (settings->validate_every > 0 && (last || is_due(update, settings->validate_every)))
        status = validate(work, &validation, error);
    bool improved = !isnan(validation) && work->state.progress.best_update == update;
    if (!status && (last || !isnan(validation) || is_due(update, settings->log_every)))
        status = write_line(work, validation, error);
    if (status)
        return status;
    *stop = !wants_to_proceed(work);
    /* The model goes first: where a checkpoint says that a run is over, its model is the best. */
    if (improved)
        status = save_model(work, error);
    if (!status && (saves || *stop || improved))
        status = save_checkpoint(work, error);
    return status;
}

static imp_status loop(trainer *work, imp_error *error)
{
    bool stop = false;
    imp_status status = IMP_OK;
    while (!status && !stop && !is_last(work)) {
        work->start = imp_clock();
        status = make_update(work, error);
        if (!status)
            status = conclude_update(work, &stop, error);
    }
    return status;
}

/* Puts the best weights, if there are any, into the learner, or takes them out again. */
static void swap_best(trainer *work)
{
    if (work->state.best.taken)
        imp_snapshot_swap(&work->state.best, &work->learner);
}

/* The model of a finished run: the best in validation, or the last. One that was over before has no
 * updates left at whose end it is validated and saved, and the model goes first here, too. */
static imp_status finish(trainer *work, imp_error *error)
{
    if (!is_last(work))
        return IMP_OK;
    double validation;
    imp_status status = IMP_OK;
    if (work->judges_again && work->state.settings.validate_every > 0)
        status = validate(work, &validation, error);
    swap_best(work);
    if (!status)
        status = save_model(work, error);
    if (!status && work->judges_again) {
        swap_best(work);
        status = save_checkpoint(work, error);
        swap_best(work);
    }
    return status;
}

static imp_status run(trainer *work, imp_train_result *result, imp_error *error)
{
    const imp_settings *settings = &work->state.settings;
    imp_progress *progress = &work->state.progress;
    imp_episode_options task = imp_settings_task(settings, IMP_FOR_TRAINING);
    uint64_t first = progress->update * (uint64_t)settings->accumulate;
    size_t ahead = settings->accumulate > 1 ? 4 : 2;
    imp_status status = imp_feed_open(work->dataset, &task, first, ahead, &work->feed, error);
    if (!status)
        status = loop(work, error);
    imp_feed_close(work->feed);
    if (!status)
        status = finish(work, error);
    if (!status && work->options->learner) {
        *work->options->learner = work->learner;
        work->learner = (imp_learner){0};
    }
    *result = (imp_train_result){.update = progress->update,
                                 .finished = is_last(work),
                                 .best = progress->best,
                                 .best_update = progress->best_update,
                                 .seconds = progress->seconds};
    return status;
}

static void clear(trainer *work)
{
    imp_log_close(&work->log);
    imp_learner_clear(&work->learner);
    imp_checkpoint_clear(&work->state);
}

/* ---- beginnings ---- */

/* Settings whose texts are the caller's: they outlive the run. */
static imp_settings borrowed(const imp_settings *settings)
{
    imp_settings copy = *settings;
    copy.texts = NULL;
    return copy;
}

static trainer make_trainer(const imp_dataset *dataset, const imp_train_options *options)
{
    return (trainer){.options = options,
                     .dataset = dataset,
                     .log = {.json = -1, .csv = -1},
                     .report.validation = NAN};
}

/* Before anything is trained or written: an impossible validation should not surprise after an
 * hour. */
static imp_status check_validation(const trainer *work, imp_error *error)
{
    const imp_settings *settings = &work->state.settings;
    if (settings->validate_every == 0)
        return IMP_OK;
    imp_episode episode;
    imp_episode_options task = imp_settings_task(settings, IMP_FOR_VALIDATION);
    imp_status status = imp_episode_draw(work->dataset, &task, 0, &episode, error);
    if (status)
        imp_error_prefix(error, "validation episodes cannot be drawn (--validation-way makes them "
                                "smaller, --validate-every 0 does without)");
    imp_episode_clear(&episode);
    return status;
}

/* `fresh`: the folder is made, and must hold no run. */
static imp_status start(const imp_settings *settings, const imp_dataset *dataset,
                        const imp_train_options *options, bool fresh, imp_train_result *result,
                        imp_error *error)
{
    trainer work = make_trainer(dataset, options);
    work.state.settings = borrowed(settings);
    work.state.progress.best = NAN;
    work.state.data = imp_trained_on_of(dataset);
    imp_status status = check_validation(&work, error);
    if (!status)
        status = imp_learner_from_settings(&work.learner, settings, imp_dataset_channels(dataset),
                                           imp_dataset_size(dataset), options->threads, error);
    if (!status)
        status = imp_snapshot_make(&work.state.best, &work.learner, error);
    if (!status && options->folder && fresh)
        status = imp_run_begin(options->folder, settings, error);
    if (!status && options->folder)
        status = imp_log_open(&work.log, options->folder, 0, 0, error);
    if (!status)
        status = save_checkpoint(&work, error);
    if (!status)
        status = run(&work, result, error);
    clear(&work);
    return status;
}

imp_status imp_train(const imp_settings *settings, const imp_dataset *dataset,
                     const imp_train_options *options, imp_train_result *result, imp_error *error)
{
    return start(settings, dataset, options, true, result, error);
}

/* From here on the run has these settings. A best model is forgotten that these would not have
 * validated; *compares tells whether its accuracy was found on as many episodes. */
static void adopt(trainer *work, const imp_settings *settings, bool *compares)
{
    imp_progress *progress = &work->state.progress;
    *compares = settings->validation_episodes == work->state.settings.validation_episodes;
    imp_settings_clear(&work->state.settings);
    work->state.settings = borrowed(settings);
    work->saved_update = progress->update;
    bool ends_here = is_last(work) && progress->best_update == progress->update;
    if (settings->validate_every == 0 ||
        !(ends_here || is_due(progress->best_update, settings->validate_every))) {
        work->state.best.taken = false;
        progress->best = NAN;
        progress->best_update = 0;
    }
    work->judges_again = is_last(work) && !(work->state.best.taken && *compares);
}

/* The accuracy of the best model so far on the episodes that the next will be judged by. */
static imp_status judge_best(trainer *work, imp_error *error)
{
    swap_best(work);
    imp_status status = find_accuracy(work, &work->state.progress.best, error);
    swap_best(work);
    return status;
}

imp_status imp_train_resume(const imp_settings *settings, const imp_dataset *dataset,
                            const imp_train_options *options, imp_train_result *result,
                            imp_error *error)
{
    /* A run that was killed before its first checkpoint has lost nothing. */
    if (!imp_run_has(options->folder, imp_checkpoint_name))
        return start(settings, dataset, options, false, result, error);

    trainer work = make_trainer(dataset, options);
    imp_run_path path = imp_run_file(options->folder, imp_checkpoint_name);
    imp_status status =
        imp_checkpoint_load(path.text, options->threads, &work.learner, &work.state, error);
    if (status)
        return status;
    const char *conflict = imp_settings_conflict(&work.state.settings, settings);
    if (conflict)
        status =
            imp_fail(error, IMP_EINVAL, "'%s' cannot be changed in the middle of a run", conflict);
    else
        status = imp_trained_on_check(&work.state.data, dataset, error);
    work.state.data = imp_trained_on_of(dataset);
    bool compares = true;
    if (!status) {
        adopt(&work, settings, &compares);
        status = check_validation(&work, error);
    }
    if (!status)
        status = imp_log_open(&work.log, options->folder, work.state.json_bytes,
                              work.state.csv_bytes, error);
    if (!status) {
        imp_run_sweep(options->folder);
        status = imp_run_write_settings(options->folder, settings, error);
    }
    if (!status && work.state.best.taken && !compares)
        status = judge_best(&work, error);
    if (!status)
        status = run(&work, result, error);
    clear(&work);
    return status;
}
