/*
 * trainer.c - the loop: episodes, update, log, validation, checkpoint.
 *
 * The order within an update matters for resuming: the log is on disk before the checkpoint that
 * records its length, and a better model before the checkpoint that knows of it. So whatever a kill
 * destroys is made again from the checkpoint, to the same bits.
 */
#include "train/trainer.h"

#include <imp/encoder.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "data/checksum.h"
#include "data/dataset.h"
#include "evaluate/evaluate.h"
#include "model/model.h"
#include "train/checkpoint.h"
#include "train/events.h"
#include "train/log.h"
#include "train/rank_steps.h"
#include "train/run_folder.h"
#include "train/standardize.h"
#include "train/steps.h"

typedef struct trainer {
    const imp_trainer_options *options;
    const imp_dataset *dataset;
    imp_updater updater;
    imp_checkpoint state; /* settings, counters and the best weights for the next checkpoint */
    bool saved;           /* whether the folder's last checkpoint is intact and worth keeping */
    imp_steps *steps;
    imp_log log;
    imp_events events;
    imp_train_report report;
    imp_pace pace;
    double begin;  /* of this process's part of the run, by imp_clock() */
    double start;  /* of this update */
    double images; /* in it */
} trainer;

/* Only one of the ranks that share a run writes. */
static bool writes(const trainer *work)
{
    return work->options->folder && imp_rank_of(work->options->ranks) == 0;
}

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
    if (work->options->diverged)
        *work->options->diverged = true;
    if (work->options->folder) {
        uint64_t update;
        const char *name = imp_training_whole_checkpoint(work->options->folder, &update);
        if (name)
            snprintf(where, sizeof where,
                     "; the last intact checkpoint, of update %llu, is '%s/%s'",
                     (unsigned long long)update, work->options->folder, name);
        else
            snprintf(where, sizeof where, "; the checkpoints in '%s' are damaged",
                     work->options->folder);
    }
    return imp_fail(error, IMP_EINVAL, "update %llu: %s%s",
                    (unsigned long long)work->state.progress.update + 1, reason.message, where);
}

static imp_status add_episodes(trainer *work, imp_error *error)
{
    const imp_settings *settings = &work->state.settings;
    imp_window *window = &work->state.progress.window;
    work->images = 0;
    imp_train_times *times = &work->report.times;
    for (int64_t e = 0; e < settings->accumulate; e++) {
        imp_step step;
        const imp_outcome *outcome = &step.outcome;
        double waited = 0;
        imp_status status =
            work->steps->next(work->steps, work->updater.learner, &step, &waited, error);
        if (!status && outcome->loss > settings->loss_limit)
            status = imp_fail(error, IMP_EINVAL, "the loss is %g, above its limit of %g",
                              outcome->loss, settings->loss_limit);
        if (status)
            return status == IMP_EINVAL ? diverged(work, error) : status;
        double begin = imp_clock();
        imp_updater_add(&work->updater, &step);
        times->optimizer += imp_clock() - begin;
        times->feed += waited;
        window->episodes++;
        window->loss += outcome->loss;
        window->accuracy += outcome->accuracy;
        window->clusters += (double)outcome->clusters;
        window->images += (double)outcome->images;
        work->images += (double)outcome->images;
        times->network += outcome->network_seconds;
        times->method += outcome->method_seconds;
    }
    return IMP_OK;
}

/* Early averages are short, so that the initial weights are soon forgotten. */
static void average_weights(trainer *work)
{
    double most = work->state.settings.average_weights;
    double updates = (double)work->state.progress.update, early = (1 + updates) / (10 + updates);
    if (most > 0)
        imp_snapshot_average(&work->state.average, &work->updater, early < most ? early : most);
}

/* Swaps the averaged weights with the learner's. Does nothing without averaging. */
static void swap_average(trainer *work)
{
    imp_snapshot_swap(&work->state.average, &work->updater);
}

static imp_status make_update(trainer *work, imp_error *error)
{
    const imp_settings *settings = &work->state.settings;
    imp_progress *progress = &work->state.progress;
    work->report.times = (imp_train_times){0};
    imp_status status = add_episodes(work, error);
    if (status)
        return status;
    double norm, rate = imp_settings_rate(settings, progress->update), begin = imp_clock();
    status = imp_updater_update(&work->updater, rate, settings->clip, &norm, error);
    work->report.times.optimizer += imp_clock() - begin;
    if (status)
        return diverged(work, error);
    progress->update++;
    progress->window.updates++;
    progress->window.norm += norm;
    average_weights(work);
    return IMP_OK;
}

/* ---- validation ---- */

static imp_status save_model(trainer *work, imp_error *error)
{
    if (!writes(work))
        return IMP_OK;
    const imp_settings *settings = &work->state.settings;
    const imp_progress *progress = &work->state.progress;
    bool chosen = work->state.best.taken;
    imp_model_origin origin = {.data = work->state.data,
                               .update = chosen ? progress->best_update : progress->update,
                               .validation = progress->best,
                               .inverted = work->dataset->inverted};
    const imp_updater *updater = &work->updater;
    imp_status status =
        imp_model_save(updater->learner, updater->values, settings, &origin,
                       imp_training_file(work->options->folder, imp_model_name).text, error);
    work->report.has_model |= !status;
    return status;
}

static imp_status validate(trainer *work, double *accuracy, imp_error *error)
{
    const imp_settings *settings = &work->state.settings;
    imp_progress *progress = &work->state.progress;
    double begin = imp_clock();
    imp_encoder *encoder;
    imp_status status = imp_encoder_create(work->updater.network, &encoder, error);
    if (status)
        return status;
    const imp_learner *learner = work->updater.learner;
    imp_contestant self = {.learner = settings->learner,
                           .options = learner->options,
                           .values = learner->values,
                           .value_count = learner->value_count};
    imp_evaluate_options options = {.task = imp_settings_task(settings, IMP_FOR_VALIDATION),
                                    .episodes = (size_t)settings->validation_episodes,
                                    .threads = work->options->threads,
                                    .ranks = work->options->ranks,
                                    .network = work->updater.network};
    imp_evaluation found;
    status = imp_evaluate(encoder, work->dataset, &self, 1, &options, &found, error);
    imp_encoder_free(encoder);
    if (status)
        return status;
    imp_pace_add_validation(&work->pace, imp_clock() - begin);
    *accuracy = work->report.validation = found.accuracy.mean;
    work->report.validation_open = found.unlabeled_clusters > 0 ? found.open_accuracy.mean : NAN;
    if (!work->state.best.taken || *accuracy > progress->best) {
        progress->best = *accuracy;
        progress->best_update = progress->update;
        imp_snapshot_take(&work->state.best, &work->updater);
    }
    return IMP_OK;
}

/* ---- log and checkpoint ---- */

static imp_train_line line_of(const trainer *work, double validation)
{
    return imp_line_of(&work->state.progress, &work->state.settings, &work->updater, validation);
}

static imp_status write_line(trainer *work, double validation, imp_error *error)
{
    work->report.line = line_of(work, validation);
    if (!isnan(validation))
        work->report.line.validation_open = work->report.validation_open;
    work->report.new_line = true;
    work->state.progress.window = (imp_window){0};
    imp_status status = IMP_OK;
    if (writes(work))
        status = imp_log_write(&work->log, &work->report.line, error);
    if (!status && work->events.descriptor >= 0)
        status = imp_events_write(&work->events, &work->report.line, error);
    return status;
}

static imp_status save_checkpoint(trainer *work, imp_error *error)
{
    if (!writes(work))
        return IMP_OK;
    imp_status status = imp_log_flush(&work->log, error);
    if (status)
        return status;
    work->state.json_bytes = work->log.json_bytes;
    work->state.csv_bytes = work->log.csv_bytes;
    imp_training_path path = imp_training_file(work->options->folder, imp_checkpoint_name);
    imp_training_path kept = imp_training_file(work->options->folder, imp_kept_checkpoint_name);
    status = imp_checkpoint_save(path.text, work->saved ? kept.text : NULL, &work->updater,
                                 &work->state, error);
    if (!status)
        work->saved = true;
    return status;
}

/* ---- the loop ---- */

static void count_time(trainer *work)
{
    double seconds = imp_clock() - work->start;
    work->state.progress.seconds += seconds;
    work->state.progress.window.seconds += seconds;
    imp_pace_add_update(&work->pace, seconds, work->images);
}

static bool wants_to_proceed(trainer *work)
{
    const imp_progress *progress = &work->state.progress;
    imp_train_report *report = &work->report;
    report->update = progress->update;
    report->updates = (uint64_t)work->state.settings.updates;
    report->best = progress->best;
    report->best_update = progress->best_update;
    report->seconds_left = imp_pace_left(&work->pace, &work->state.settings, progress->update);
    if (report->line.update == 0 && progress->window.episodes > 0) {
        report->line = line_of(work, NAN);
        report->line.update = 0; /* no log line yet */
    }
    return !work->options->proceed || work->options->proceed(report, work->options->context);
}

static bool time_is_up(const trainer *work)
{
    double seconds = work->options->seconds;
    return seconds > 0 && imp_clock() - work->begin >= seconds;
}

/* Whether to write a model that validation has not chosen, because there is none yet: with every
 * checkpoint, and a first one within a minute. */
static bool wants_unproven_model(const trainer *work, bool saves)
{
    enum { FIRST = 30 };
    if (!work->options->folder || work->state.best.taken)
        return false;
    return saves || (!work->report.has_model && imp_clock() - work->begin >= FIRST);
}

/* A run continues while all ranks want it to: a signal may reach only one of them. */
static imp_status ask_to_proceed(trainer *work, bool *stop, imp_error *error)
{
    const imp_ranks *ranks = work->options->ranks;
    *stop = !wants_to_proceed(work) || time_is_up(work);
    if (!imp_ranks_any(ranks))
        return IMP_OK;
    uint64_t *all = imp_allocate((size_t)ranks->size, sizeof *all);
    imp_status status = all ? imp_ranks_exchange(ranks, *stop, all, error)
                            : imp_fail_memory(error, "the other ranks' decisions");
    for (int r = 0; r < ranks->size && !status; r++)
        *stop |= all[r] != 0;
    imp_release(all);
    return status;
}

/* What happens at the end of an update; *stop is set when the caller wants to end. */
static imp_status conclude_update(trainer *work, bool *stop, imp_error *error)
{
    const imp_settings *settings = &work->state.settings;
    uint64_t update = work->state.progress.update;
    bool last = is_last(work), saves = last || is_due(update, settings->checkpoint_every);
    double validation = NAN;
    imp_status status = IMP_OK;
    work->report.new_line = false;

    count_time(work);
    if (settings->validate_every > 0 && (last || is_due(update, settings->validate_every))) {
        swap_average(work);
        status = validate(work, &validation, error);
        swap_average(work);
    }
    bool improved = !isnan(validation) && work->state.progress.best_update == update;
    if (!status && (last || !isnan(validation) || is_due(update, settings->log_every)))
        status = write_line(work, validation, error);
    if (status)
        return status;
    status = ask_to_proceed(work, stop, error);
    /* The model comes first: if a checkpoint says that the run is over, the model must be final. */
    if (!status && (improved || wants_unproven_model(work, saves || *stop))) {
        swap_average(work);
        status = save_model(work, error);
        swap_average(work);
    }
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

/* The model of a finished run: the best in validation, or else the last or the averaged one. */
static imp_status finish(trainer *work, imp_error *error)
{
    if (!is_last(work))
        return IMP_OK;
    imp_snapshot_restore(work->state.best.taken ? &work->state.best : &work->state.average,
                         &work->updater);
    return save_model(work, error);
}

static imp_status run(trainer *work, imp_train_result *result, imp_error *error)
{
    const imp_settings *settings = &work->state.settings;
    imp_progress *progress = &work->state.progress;
    imp_episode_options task = imp_settings_task(settings, IMP_FOR_TRAINING);
    uint64_t first = progress->update * (uint64_t)settings->accumulate;
    size_t ahead = settings->accumulate > 1 ? 4 : 2;
    work->begin = imp_clock();
    imp_own_steps own = {.feed = NULL};
    imp_rank_steps *shared = NULL;
    bool together =
        imp_ranks_any(work->options->ranks) && imp_rank_steps_suit(work->updater.learner);
    imp_status status = IMP_OK;
    if (writes(work) && work->options->tensorboard)
        status = imp_events_open(&work->events, work->options->folder, progress->update, error);
    if (!status && !work->options->steps && together)
        status = imp_rank_steps_open(work->options->ranks, work->updater.learner, work->dataset,
                                     &task, first, (size_t)settings->accumulate, &shared, error);
    else if (!status && !work->options->steps)
        status = imp_own_steps_open(&own, work->dataset, &task, first, ahead, error);
    work->steps = work->options->steps ? work->options->steps
                  : shared             ? imp_rank_steps_of(shared)
                                       : &own.steps;
    if (!status)
        status = loop(work, error);
    imp_own_steps_close(&own);
    imp_rank_steps_close(shared);
    if (!status)
        status = finish(work, error);
    if (!status && work->options->updater) {
        *work->options->updater = work->updater;
        work->updater = (imp_updater){0};
    }
    if (work->options->pace)
        *work->options->pace = work->pace;
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
    imp_events_close(&work->events);
    imp_updater_clear(&work->updater);
    imp_checkpoint_clear(&work->state);
}

/* ---- beginnings ---- */

/* Settings whose strings the caller owns: they outlive the run. */
static imp_settings borrowed(const imp_settings *settings)
{
    imp_settings copy = *settings;
    copy.texts = NULL;
    return copy;
}

static trainer make_trainer(const imp_dataset *dataset, const imp_trainer_options *options)
{
    return (trainer){.options = options,
                     .dataset = dataset,
                     .log = {.json = -1, .csv = -1},
                     .events = {.descriptor = -1},
                     .report = {.validation = NAN, .validation_open = NAN}};
}

/* Before anything is trained or written: an impossible episode should not fail after an hour. */
static imp_status check_episodes(trainer *work, imp_error *error)
{
    const imp_settings *settings = &work->state.settings;
    imp_episode episode;
    imp_episode_options task = imp_settings_task(settings, IMP_FOR_TRAINING);
    imp_status status = imp_episode_draw(work->dataset, &task, 0, &episode, error);
    imp_episode_clear(&episode);
    if (status || settings->validate_every == 0)
        return status;
    task = imp_settings_task(settings, IMP_FOR_VALIDATION);
    status = imp_episode_draw(work->dataset, &task, 0, &episode, error);
    if (status)
        imp_error_prefix(error, "validation episodes cannot be drawn (--validation-way makes them "
                                "smaller, --validate-every 0 turns validation off)");
    else
        work->pace.validation_images = (double)imp_episode_size(&episode);
    imp_episode_clear(&episode);
    return status;
}

static uint64_t checksum_of(const char *text)
{
    return imp_checksum(text, strlen(text));
}

/* Ranks with other data, settings or weights would spoil the run. */
static imp_status agree(const trainer *work, imp_error *error)
{
    const imp_ranks *ranks = work->options->ranks;
    const imp_trained_on *data = &work->state.data;
    imp_network *network = work->updater.network;
    if (!imp_ranks_any(ranks))
        return IMP_OK;
    json_t *settings = imp_settings_to_json(&work->state.settings);
    char *text = imp_json_text(settings);
    imp_status status = text ? IMP_OK : imp_fail_memory(error, "the settings");
    if (!status)
        status = imp_ranks_agree(ranks, "data", checksum_of(data->fingerprint), error);
    if (!status)
        status = imp_ranks_agree(ranks, "split of the data", checksum_of(data->split), error);
    if (!status)
        status = imp_ranks_agree(ranks, "recipe", checksum_of(text), error);
    if (!status)
        status = imp_ranks_agree(ranks, "checkpoint",
                                 imp_checksum(imp_network_parameters(network),
                                              imp_network_parameter_count(network) * sizeof(float)),
                                 error);
    json_decref(settings);
    imp_release(text);
    return status;
}

/* `fresh`: makes the folder, which must not hold a run. */
static imp_status start(const imp_settings *settings, const imp_dataset *dataset,
                        const imp_trainer_options *options, bool fresh, imp_train_result *result,
                        imp_error *error)
{
    trainer work = make_trainer(dataset, options);
    work.state.settings = borrowed(settings);
    work.state.progress.best = NAN;
    work.state.data = imp_trained_on_of(dataset);
    imp_status status = check_episodes(&work, error);
    if (!status)
        status = imp_updater_from_settings(&work.updater, settings, imp_dataset_channels(dataset),
                                           imp_dataset_size(dataset), options->threads, error);
    if (!status)
        status = imp_standardize(work.updater.network, dataset, error);
    if (!status)
        status = agree(&work, error);
    if (!status)
        status = imp_snapshot_make(&work.state.best, &work.updater, error);
    if (!status && settings->average_weights > 0)
        status = imp_snapshot_make(&work.state.average, &work.updater, error);
    if (!status && writes(&work) && fresh)
        status = imp_training_begin(options->folder, settings, error);
    if (!status && writes(&work))
        status = imp_log_open(&work.log, options->folder, 0, 0, error);
    if (!status)
        status = save_checkpoint(&work, error);
    if (!status)
        status = run(&work, result, error);
    clear(&work);
    return status;
}

imp_status imp_trainer_run(const imp_settings *settings, const imp_dataset *dataset,
                           const imp_trainer_options *options, imp_train_result *result,
                           imp_error *error)
{
    return start(settings, dataset, options, true, result, error);
}

/* Whether a run can continue with these settings and this data. A run keeps its validation
 * settings, so that all its models are compared on the same episodes. */
static imp_status check_resumed(const trainer *work, const imp_settings *settings, imp_error *error)
{
    const imp_settings *begun = &work->state.settings;
    uint64_t made = work->state.progress.update;
    const char *conflict = imp_settings_conflict(begun, settings);
    if (conflict)
        return imp_fail(error, IMP_EINVAL, "'%s' cannot be changed in the middle of a run",
                        conflict);
    if (settings->updates != begun->updates && (uint64_t)settings->updates <= made)
        return imp_fail(
            error, IMP_EINVAL,
            "the run has made %llu updates and cannot end at %lld; 'updates' can only be raised",
            (unsigned long long)made, (long long)settings->updates);
    return imp_trained_on_check(&work->state.data, work->dataset, error);
}

/* Warns whoever resumes a run; `damage` may be empty. */
static void give_notice(const trainer *work, const char *damage)
{
    const imp_trainer_options *options = work->options;
    const char *then = work->state.isa, *now = imp_network_isa(work->updater.network);
    if (!options->notice)
        return;
    if (damage[0])
        options->notice(damage, options->context);
    if (then[0] && strcmp(then, now) != 0) {
        char sentence[300];
        snprintf(sentence, sizeof sentence,
                 "the run was computed with %s and continues with %s, so its result will have "
                 "different bits; IMP_ISA=%s continues as it began",
                 then, now, then);
        options->notice(sentence, options->context);
    }
}

imp_status imp_trainer_resume(const imp_settings *settings, const imp_dataset *dataset,
                              const imp_trainer_options *options, imp_train_result *result,
                              imp_error *error)
{
    /* A run killed before its first checkpoint starts over from its settings. */
    if (!imp_training_has_checkpoint(options->folder))
        return start(settings, dataset, options, false, result, error);

    trainer work = make_trainer(dataset, options);
    imp_error damage;
    imp_status status = imp_training_load(options->folder, options->threads, &work.updater,
                                          &work.state, &damage, error);
    if (status)
        return status;
    status = check_resumed(&work, settings, error);
    if (!status)
        status = check_episodes(&work, error);
    if (!status) {
        give_notice(&work, damage.message);
        imp_settings_clear(&work.state.settings);
        work.state.settings = borrowed(settings);
        work.state.data = imp_trained_on_of(dataset);
        work.saved = !damage.message[0];
        work.report.has_model = imp_training_has(options->folder, imp_model_name);
        status = agree(&work, error);
        if (!status && writes(&work))
            status = imp_log_open(&work.log, options->folder, work.state.json_bytes,
                                  work.state.csv_bytes, error);
    }
    if (!status && writes(&work))
        status = imp_training_write_settings(options->folder, settings, error);
    if (!status)
        status = run(&work, result, error);
    clear(&work);
    return status;
}
