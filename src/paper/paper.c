/*
 * paper.c - goes through the runs of a table: train or go on training, measure what is missing,
 * write the result file and the report anew.
 */
#include "paper/paper.h"

#include <stdio.h>
#include <string.h>

#include <nettle/sha2.h>

#include "base/create.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/safetensors.h"
#include "paper/figures.h"
#include "paper/ledger.h"
#include "paper/measure.h"
#include "paper/report.h"
#include "paper/tables.h"
#include "train/model.h"
#include "train/run_folder.h"

/* ---- a run and seed under way ---- */

typedef struct job {
    const imp_paper_options *options;
    imp_paper_run run;
    int seed;
    imp_paper_name name;
    imp_run_path folder;
    imp_settings settings;
    imp_result result;
    imp_model model;
} job;

/* What stays from job to job. */
typedef struct session {
    const imp_paper_options *options;
    imp_dataset *dataset;
    imp_settings opened; /* what it was opened by */
    bool stopped;
} session;

static imp_status begin_job(job *work, const imp_paper_options *options, const imp_paper_run *run,
                            int seed, imp_error *error)
{
    *work =
        (job){.options = options, .run = *run, .seed = seed, .name = imp_paper_run_name(run, seed)};
    work->folder = imp_run_file(options->runs, work->name.text);
    imp_status status =
        imp_paper_settings(run, seed, options->data, options->updates, &work->settings, error);
    if (!status)
        status = imp_result_load(options->out, run, seed, &work->result, error);
    return status ? status
                  : imp_result_check(&work->result, &work->settings,
                                     imp_result_file(options->out, run, seed).text, error);
}

static void end_job(job *work)
{
    imp_model_clear(&work->model);
    imp_result_clear(&work->result);
    imp_settings_clear(&work->settings);
}

/* ---- what is missing ---- */

/* Whether row `index` is the first of its run that is tested in this way. */
static bool is_first(size_t index)
{
    imp_paper_row row = imp_paper_row_at(index);
    for (size_t i = 0; i < index; i++) {
        imp_paper_row other = imp_paper_row_at(i);
        if (imp_paper_rows_share(&other, &row))
            return false;
    }
    return true;
}

/* Whether a table wants this evaluation of the run. */
static bool is_wanted(const job *work, const char *words)
{
    for (size_t i = 0; imp_paper_row_at(i).table; i++) {
        imp_paper_row row = imp_paper_row_at(i);
        if (imp_paper_row_is_in(&row, work->options->table) && row.options &&
            strcmp(row.run, work->run.name) == 0 && strcmp(row.options, words) == 0)
            return true;
    }
    return false;
}

/* The words of the evaluation that row `index` begins, if it has to be made; else NULL. */
static const char *missing_at(const job *work, size_t index)
{
    imp_paper_row row = imp_paper_row_at(index);
    if (!row.options || strcmp(row.run, work->run.name) != 0 || !is_first(index) ||
        !is_wanted(work, row.options))
        return NULL;
    return work->options->again || !imp_result_evaluation(&work->result, row.options) ? row.options
                                                                                      : NULL;
}

/* A picture is made of the models themselves, and is done when its numbers are there. */
static bool is_picture_missing(const imp_paper_options *options)
{
    return options->again || !imp_run_has(options->out, "embedding.csv");
}

/* Whether the run's model is wanted for a picture; one seed will do. */
static bool is_in_picture(const job *work)
{
    if (work->seed > 1 || !is_picture_missing(work->options))
        return false;
    for (size_t i = 0; imp_paper_row_at(i).table; i++) {
        imp_paper_row row = imp_paper_row_at(i);
        if (imp_paper_row_is_in(&row, work->options->table) && !row.options &&
            strcmp(row.run, work->run.name) == 0)
            return true;
    }
    return false;
}

static bool is_done(const job *work)
{
    for (size_t i = 0; imp_paper_row_at(i).table; i++)
        if (missing_at(work, i))
            return false;
    return !is_in_picture(work);
}

/* ---- training ---- */

static bool is_same_data(const imp_settings *a, const imp_settings *b)
{
    return a->rotations == b->rotations && a->size == b->size && a->colour == b->colour &&
           a->ink == b->ink && a->split_seed == b->split_seed && strcmp(a->split, b->split) == 0;
}

/* The dataset of a job. Loading takes a while and most runs share one, so it is kept. */
static imp_status open_data(session *all, const job *work, imp_error *error)
{
    if (all->dataset && is_same_data(&all->opened, &work->settings))
        return IMP_OK;
    imp_dataset_free(all->dataset);
    imp_settings_clear(&all->opened);
    all->dataset = NULL;
    imp_settings_init(&all->opened);
    json_t *copy = imp_settings_to_json(&work->settings);
    imp_status status = copy ? imp_settings_from_json(&all->opened, copy, error)
                             : imp_fail_memory(error, "the settings");
    json_decref(copy);
    if (status)
        return status;
    imp_dataset_options options = imp_settings_data(&all->opened, all->options->threads);
    return imp_dataset_open(all->options->data, &options, &all->dataset, error);
}

/* Goes on with a run that is not trained yet, until it is or the listener stops it. */
static imp_status train(session *all, const job *work, imp_run_state *state, imp_error *error)
{
    const imp_paper_listener *listener = &work->options->listener;
    imp_status status = open_data(all, work, error);
    if (status)
        return status;
    char what[120] = "training begins";
    /* Figures that are there are kept only for the same model, which another machine may not make.
     */
    if (work->result.file)
        snprintf(what, sizeof what, "training begins again, to measure what its result lacks");
    if (state->stage == IMP_RUN_BEGUN)
        snprintf(what, sizeof what, "training goes on at update %llu",
                 (unsigned long long)state->update);
    listener->begin(work->name.text, what, listener->context);
    imp_train_options options = {.folder = work->folder.text,
                                 .threads = work->options->threads,
                                 .proceed = listener->training,
                                 .context = listener->context};
    imp_train_result result;
    status = state->stage == IMP_RUN_BEGUN
                 ? imp_train_resume(&work->settings, all->dataset, &options, &result, error)
                 : imp_train(&work->settings, all->dataset, &options, &result, error);
    if (status)
        return status;
    all->stopped = !result.finished;
    return imp_run_look(work->folder.text, &work->settings, state, error);
}

/* ---- measuring ---- */

/* Of all numbers of a model and their names. What a file says beside them, like where the data lay,
 * differs from machine to machine. */
static imp_status find_checksum(const char *path, char text[65], imp_error *error)
{
    imp_safetensors *file;
    imp_status status = imp_safetensors_load(path, &file, error);
    if (status)
        return status;
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx state;
    sha256_init(&state);
    for (size_t i = 0; i < imp_safetensors_count(file); i++) {
        const imp_tensor *tensor = imp_safetensors_at(file, i);
        sha256_update(&state, strlen(tensor->name) + 1, (const uint8_t *)tensor->name);
        sha256_update(&state, tensor->count * imp_dtype_size(tensor->dtype), tensor->data);
    }
    sha256_digest(&state, sizeof digest, digest);
    imp_safetensors_free(file);
    imp_hex(digest, sizeof digest, text);
    return IMP_OK;
}

/* Reads the model and begins the result file, unless that is already about this model. */
static imp_status take_model(const session *all, job *work, const imp_run_state *state,
                             imp_error *error)
{
    imp_run_path path = imp_run_file(work->folder.text, imp_model_name);
    imp_training_record record = {.settings = work->settings,
                                  .seconds = state->seconds,
                                  .images_per_second = state->images_per_second};
    imp_status status = imp_model_load(path.text, work->options->threads, &work->model, error);
    if (!status)
        status = find_checksum(path.text, record.model, error);
    if (status)
        return status;
    const imp_model_origin *origin = &work->model.origin;
    status = imp_trained_on_check(&origin->data, all->dataset, error);
    if (status) {
        imp_error_prefix(error, path.text);
        return status;
    }
    if (work->result.file && strcmp(work->result.model, record.model) == 0)
        return IMP_OK;
    if (work->result.file && !work->options->again)
        return imp_fail(error, IMP_EINVAL,
                        "'%s' is not the model that '%s' was measured on; --again measures anew",
                        path.text,
                        imp_result_file(work->options->out, &work->run, work->seed).text);
    record.best_update = origin->update;
    record.validation = origin->validation;
    snprintf(record.fingerprint, sizeof record.fingerprint, "%s", origin->data.fingerprint);
    return imp_result_begin(&work->result, &work->run, work->seed, &record, error);
}

/* The rows of all tables that show this evaluation of the run. */
static json_t *rows_of(const job *work, const char *words)
{
    json_t *list = json_array();
    for (size_t i = 0; imp_paper_row_at(i).table; i++) {
        imp_paper_row row = imp_paper_row_at(i);
        char text[200];
        if (!row.options || strcmp(row.run, work->run.name) != 0 || strcmp(row.options, words) != 0)
            continue;
        snprintf(text, sizeof text, "%s: %s, %s", row.table, row.setting, row.method);
        json_array_append_new(list, json_string(text));
    }
    return list;
}

static imp_status measure(const session *all, job *work, const char *words, imp_error *error)
{
    const imp_paper_options *options = work->options;
    const imp_paper_listener *listener = &options->listener;
    char what[200], command[500];
    snprintf(what, sizeof what, "measuring%s%s", words[0] ? " " : "", words);
    listener->begin(work->name.text, what, listener->context);
    imp_measure_options measure_options = {.episodes = options->episodes,
                                           .threads = options->threads,
                                           .progress = listener->measuring,
                                           .context = listener->context};
    json_t *evaluation;
    imp_status status =
        imp_paper_evaluate(&work->model, all->dataset, words, &measure_options, &evaluation, error);
    if (status)
        return status;
    imp_paper_eval_command(work->name.text, words, options->episodes, command, sizeof command);
    json_object_set_new(evaluation, "command", json_string(command));
    json_object_set_new(evaluation, "rows", rows_of(work, words));
    status = imp_result_add(&work->result, evaluation, error);
    return status ? status
                  : imp_result_save(&work->result, options->out, &work->run, work->seed, error);
}

static imp_status measure_missing(session *all, job *work, const imp_run_state *state,
                                  imp_error *error)
{
    imp_status status = open_data(all, work, error);
    if (!status)
        status = take_model(all, work, state, error);
    for (size_t i = 0; imp_paper_row_at(i).table && !status; i++) {
        const char *words = missing_at(work, i);
        if (words)
            status = measure(all, work, words, error);
    }
    return status;
}

/* ---- one job ---- */

static imp_status advance(session *all, job *work, imp_error *error)
{
    imp_run_state state;
    imp_status status = imp_run_look(work->folder.text, &work->settings, &state, error);
    if (!status && state.stage != IMP_RUN_TRAINED && !all->options->train_nothing)
        status = train(all, work, &state, error);
    if (status || state.stage != IMP_RUN_TRAINED)
        return status;
    status = measure_missing(all, work, &state, error);
    imp_paper_report(all->options->out, NULL); /* for whoever stops the rest */
    return status;
}

static imp_status do_job(session *all, const imp_paper_run *run, int seed, imp_error *error)
{
    job work;
    imp_status status = begin_job(&work, all->options, run, seed, error);
    if (!status && !is_done(&work))
        status = advance(all, &work, error);
    end_job(&work);
    return status;
}

/* ---- pictures ---- */

/* Shows the models of the rows that want them, as far as they are trained: all or nothing. */
static imp_status draw_embedding(session *all, imp_error *error)
{
    enum { MOST = 4 };
    job work[MOST];
    imp_paper_panel panels[MOST];
    size_t count = 0;
    bool trained = true;
    imp_status status = IMP_OK;
    for (size_t i = 0; imp_paper_row_at(i).table && !status && trained && count < MOST; i++) {
        imp_paper_row row = imp_paper_row_at(i);
        if (row.options)
            continue;
        imp_paper_run run = imp_paper_run_at(imp_paper_run_find(row.run));
        imp_run_state state = {0};
        job *one = &work[count++];
        status = begin_job(one, all->options, &run, 1, error);
        if (!status)
            status = imp_run_look(one->folder.text, &one->settings, &state, error);
        trained = state.stage == IMP_RUN_TRAINED;
        if (!status && trained)
            status = imp_model_load(imp_run_file(one->folder.text, imp_model_name).text,
                                    all->options->threads, &one->model, error);
        if (!status && trained)
            status = open_data(all, one, error);
        panels[count - 1] = (imp_paper_panel){.title = row.method, .model = &one->model};
    }
    if (!status && trained && count > 0) {
        all->options->listener.begin("embedding", "drawing test characters in the plane",
                                     all->options->listener.context);
        status = imp_paper_draw_embedding(all->dataset, panels, count, all->options->threads,
                                          all->options->out, error);
    }
    for (size_t i = 0; i < count; i++)
        end_job(&work[i]);
    return status;
}

static bool is_asked_for(const imp_paper_options *options, const char *table)
{
    return !options->table || strcmp(options->table, table) == 0;
}

static void draw(session *all, imp_paper_outcome *outcome)
{
    const imp_paper_options *options = all->options;
    const imp_paper_listener *listener = &options->listener;
    imp_error error;
    if (is_asked_for(options, "lambda") && imp_paper_draw_lambda(options->out, &error) != IMP_OK) {
        listener->fail("lambda", error.message, listener->context);
        outcome->failed++;
    }
    if (is_asked_for(options, "embedding") && is_picture_missing(options) &&
        draw_embedding(all, &error) != IMP_OK) {
        listener->fail("embedding", error.message, listener->context);
        outcome->failed++;
    }
}

/* ---- all of it ---- */

int imp_paper_seeds(const imp_paper_options *options, const imp_paper_run *run)
{
    return options->seeds > 0 && options->seeds < run->seeds ? (int)options->seeds : run->seeds;
}

imp_status imp_paper_reproduce(const imp_paper_options *options, imp_paper_outcome *outcome,
                               imp_error *error)
{
    const imp_paper_listener *listener = &options->listener;
    session all = {.options = options};
    *outcome = (imp_paper_outcome){0};
    imp_status status = imp_make_folders(options->out, error);
    if (!status)
        status = imp_make_folders(options->runs, error);
    if (status)
        return status;
    for (size_t r = 0; imp_paper_run_at(r).name && !all.stopped; r++) {
        imp_paper_run run = imp_paper_run_at(r);
        if (!imp_paper_table_needs(options->table, run.name))
            continue;
        for (int seed = 1; seed <= imp_paper_seeds(options, &run) && !all.stopped; seed++) {
            imp_error reason;
            if (do_job(&all, &run, seed, &reason) != IMP_OK) {
                listener->fail(imp_paper_run_name(&run, seed).text, reason.message,
                               listener->context);
                outcome->failed++;
            }
        }
    }
    if (!all.stopped)
        draw(&all, outcome);
    imp_dataset_free(all.dataset);
    imp_settings_clear(&all.opened);
    outcome->stopped = all.stopped;
    return imp_paper_report(options->out, error);
}

/* ---- looking ---- */

imp_status imp_paper_look(const imp_paper_options *options, const imp_paper_run *run, int seed,
                          imp_paper_state *state, imp_error *error)
{
    job work;
    *state = (imp_paper_state){0};
    imp_status status = begin_job(&work, options, run, seed, error);
    if (!status) {
        state->updates = (uint64_t)work.settings.updates;
        state->done = is_done(&work);
        state->in_part = !state->done && work.result.file;
    }
    if (!status && !state->done)
        status = imp_run_look(work.folder.text, &work.settings, &state->run, error);
    if (!status && !state->done && state->run.update < state->updates)
        state->images =
            imp_paper_images(&work.settings) * (double)(state->updates - state->run.update);
    end_job(&work);
    return status;
}
