/*
 * paper.c - goes through the runs of a table: trains or continues training, measures what is
 * missing, and rewrites the result file and the report.
 */
#include "paper/paper.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <nettle/sha2.h>

#include "base/create.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/memory.h"
#include "base/safetensors.h"
#include "model/model.h"
#include "paper/figures.h"
#include "paper/ledger.h"
#include "paper/measure.h"
#include "paper/report.h"
#include "paper/tables.h"
#include "train/run_folder.h"

/* ---- a run and seed in progress ---- */

typedef struct job {
    const imp_paper_options *options;
    imp_paper_run run;
    int seed;
    imp_paper_name name;
    imp_training_path folder;
    imp_paper_folder results;
    imp_settings settings;
    imp_result result;
    imp_model *model;
} job;

/* State kept from job to job. */
typedef struct session {
    const imp_paper_options *options;
    imp_dataset *dataset;
    imp_settings opened; /* the settings it was opened with */
    size_t jobs;         /* jobs assigned so far */
    bool stopped;
} session;

static imp_status begin_job(job *work, const imp_paper_options *options, const imp_paper_run *run,
                            int seed, imp_error *error)
{
    *work =
        (job){.options = options, .run = *run, .seed = seed, .name = imp_paper_run_name(run, seed)};
    size_t dataset = imp_paper_dataset_of(run->recipe);
    work->folder = imp_training_file(options->runs, work->name.text);
    work->results = imp_paper_results(options->out, dataset);
    imp_status status = imp_paper_settings(run, seed, options->data[dataset], options->updates,
                                           &work->settings, error);
    if (!status)
        status = imp_result_load(work->results.text, run, seed, &work->result, error);
    return status ? status
                  : imp_result_check(&work->result, &work->settings,
                                     imp_result_file(work->results.text, run, seed).text, error);
}

static void end_job(job *work)
{
    imp_model_free(work->model);
    imp_result_clear(&work->result);
    imp_settings_clear(&work->settings);
}

/* ---- what is missing ---- */

/* Whether row `index` is the first of its run with this evaluation. */
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

/* Whether a requested table needs this evaluation of the run. */
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

/* The options of the evaluation that row `index` introduces, if it must be made; else NULL. */
static const char *missing_at(const job *work, size_t index)
{
    imp_paper_row row = imp_paper_row_at(index);
    if (!row.options || strcmp(row.run, work->run.name) != 0 || !is_first(index) ||
        !is_wanted(work, row.options))
        return NULL;
    const json_t *found = imp_result_evaluation(&work->result, row.options);
    bool whole = found && (!imp_paper_row_is_open(&row) || imp_result_is_open(found));
    return work->options->again || !whole ? row.options : NULL;
}

/* A picture needs the models themselves, and is done when its numbers exist. */
static bool is_picture_missing(const imp_paper_options *options, const char *results)
{
    return options->again || !imp_training_has(results, "embedding.csv");
}

/* Whether the run's model is needed for a picture; one seed is enough. */
static bool is_in_picture(const job *work)
{
    if (work->seed > 1 || !is_picture_missing(work->options, work->results.text))
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
    if (work->result.unstable_at > 0 && !work->options->again)
        return true;
    for (size_t i = 0; imp_paper_row_at(i).table; i++)
        if (missing_at(work, i))
            return false;
    return !is_in_picture(work);
}

/* ---- training ---- */

static bool is_same_data(const imp_settings *a, const imp_settings *b)
{
    return strcmp(a->data, b->data) == 0 && a->rotations == b->rotations && a->size == b->size &&
           a->colour == b->colour && a->ink == b->ink && a->split_seed == b->split_seed &&
           strcmp(a->split, b->split) == 0;
}

/* The dataset of a job. Loading takes a while and most runs share it, so it is kept. */
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
    return imp_dataset_open(all->opened.data, &options, &all->dataset, error);
}

/* A run that diverged is a result: the method is unstable. */
static imp_status record_end(const session *all, job *work, int64_t update, imp_error *error)
{
    const imp_paper_listener *listener = &work->options->listener;
    imp_training_record record = {.settings = work->settings, .validation = NAN};
    char what[80];
    snprintf(what, sizeof what, "unstable: it diverged at update %lld", (long long)update);
    listener->begin(work->name.text, what, listener->context);
    snprintf(record.fingerprint, sizeof record.fingerprint, "%s",
             imp_trained_on_of(all->dataset).fingerprint);
    imp_status status = imp_result_begin(&work->result, &work->run, work->seed, &record, error);
    if (!status)
        status = imp_result_end_unstable(&work->result, update, error);
    return status
               ? status
               : imp_result_save(&work->result, work->results.text, &work->run, work->seed, error);
}

/* Trains a run until it is finished or the listener stops it. */
static imp_status train(session *all, job *work, imp_training_state *state, imp_error *error)
{
    const imp_paper_listener *listener = &work->options->listener;
    imp_status status = open_data(all, work, error);
    if (status)
        return status;
    char what[120] = "training begins";
    /* Existing figures are valid only for the same model, which another machine may not
     * reproduce. */
    if (work->result.file)
        snprintf(what, sizeof what, "training begins again, to measure what its result lacks");
    if (state->stage == IMP_RUN_BEGUN)
        snprintf(what, sizeof what, "training continues at update %llu",
                 (unsigned long long)state->update);
    listener->begin(work->name.text, what, listener->context);
    bool diverged = false;
    imp_trainer_options options = {.folder = work->folder.text,
                                   .diverged = &diverged,
                                   .threads = work->options->threads,
                                   .proceed = listener->training,
                                   .notice = listener->notice,
                                   .context = listener->context};
    imp_train_result result;
    status = state->stage == IMP_RUN_BEGUN
                 ? imp_trainer_resume(&work->settings, all->dataset, &options, &result, error)
                 : imp_trainer_run(&work->settings, all->dataset, &options, &result, error);
    if (status && diverged)
        return record_end(all, work, (int64_t)result.update + 1, error);
    if (status)
        return status;
    all->stopped = !result.finished;
    return imp_training_look(work->folder.text, &work->settings, state, error);
}

/* ---- measuring ---- */

/* A digest of a model's tensors and their names. Other contents of the file, such as the path of
 * the data, differ between machines. */
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

/* Reads the model and begins the result file, unless it already is about this model. */
static imp_status take_model(const session *all, job *work, const imp_training_state *state,
                             imp_error *error)
{
    imp_training_path path = imp_training_file(work->folder.text, imp_model_name);
    imp_training_record record = {.settings = work->settings,
                                  .seconds = state->seconds,
                                  .images_per_second = state->images_per_second};
    imp_status status = imp_model_open(path.text, NULL, &work->model, error);
    if (!status)
        status = find_checksum(path.text, record.model, error);
    if (status)
        return status;
    const imp_model_origin *origin = &work->model->origin;
    status = imp_trained_on_check(&origin->data, all->dataset, error);
    if (status) {
        imp_error_prefix(error, path.text);
        return status;
    }
    if (work->result.file && strcmp(work->result.model, record.model) == 0)
        return IMP_OK;
    if (work->result.file && !work->options->again)
        return imp_fail(
            error, IMP_EINVAL,
            "'%s' is not the model that '%s' was measured on; measure again with --again",
            path.text, imp_result_file(work->results.text, &work->run, work->seed).text);
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
        imp_paper_evaluate(work->model, all->dataset, words, &measure_options, &evaluation, error);
    if (status)
        return status;
    imp_paper_eval_command(work->name.text, words, options->episodes, command, sizeof command);
    json_object_set_new(evaluation, "command", json_string(command));
    json_object_set_new(evaluation, "rows", rows_of(work, words));
    status = imp_result_add(&work->result, evaluation, error);
    return status
               ? status
               : imp_result_save(&work->result, work->results.text, &work->run, work->seed, error);
}

static imp_status measure_missing(session *all, job *work, const imp_training_state *state,
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
    imp_training_state state;
    imp_status status = imp_training_look(work->folder.text, &work->settings, &state, error);
    if (!status && state.stage != IMP_RUN_TRAINED && !all->options->train_nothing)
        status = train(all, work, &state, error);
    if (status || state.stage != IMP_RUN_TRAINED)
        return status;
    status = measure_missing(all, work, &state, error);
    /* so that the caller stops, too */
    imp_paper_report(work->results.text, imp_paper_dataset_of(work->run.recipe), NULL);
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

/* Draws the models of the rows that need them, if all of them are trained. */
static imp_status draw_embedding(session *all, size_t dataset, const char *results,
                                 imp_error *error)
{
    enum { MOST = 4 };
    job work[MOST];
    imp_paper_panel panels[MOST];
    size_t count = 0;
    bool trained = true;
    imp_status status = IMP_OK;
    for (size_t i = 0; imp_paper_row_at(i).table && !status && trained && count < MOST; i++) {
        imp_paper_row row = imp_paper_row_at(i);
        if (row.options || imp_paper_row_dataset(&row) != dataset)
            continue;
        imp_paper_run run = imp_paper_run_at(imp_paper_run_find(row.run));
        imp_training_state state = {0};
        job *one = &work[count++];
        status = begin_job(one, all->options, &run, 1, error);
        if (!status)
            status = imp_training_look(one->folder.text, &one->settings, &state, error);
        trained = state.stage == IMP_RUN_TRAINED;
        if (!status && trained)
            status = imp_model_open(imp_training_file(one->folder.text, imp_model_name).text, NULL,
                                    &one->model, error);
        if (!status && trained)
            status = open_data(all, one, error);
        panels[count - 1] = (imp_paper_panel){.title = row.method, .model = one->model};
    }
    if (!status && trained && count > 0) {
        all->options->listener.begin("embedding", "drawing test characters",
                                     all->options->listener.context);
        status = imp_paper_draw_embedding(all->dataset, panels, count, all->options->threads,
                                          results, error);
    }
    for (size_t i = 0; i < count; i++)
        end_job(&work[i]);
    return status;
}

/* Whether the dataset has that table and it is requested. */
static bool is_asked_for(const imp_paper_options *options, const char *table, size_t dataset)
{
    return (!options->table || strcmp(options->table, table) == 0) &&
           imp_paper_table_is_about(table, dataset);
}

static void draw(session *all, size_t dataset, const char *results, imp_paper_outcome *outcome)
{
    const imp_paper_options *options = all->options;
    const imp_paper_listener *listener = &options->listener;
    imp_error error;
    if (is_asked_for(options, "lambda", dataset) &&
        imp_paper_draw_lambda(results, &error) != IMP_OK) {
        listener->fail("lambda", error.message, listener->context);
        outcome->failed++;
    }
    if (is_asked_for(options, "embedding", dataset) && is_picture_missing(options, results) &&
        draw_embedding(all, dataset, results, &error) != IMP_OK) {
        listener->fail("embedding", error.message, listener->context);
        outcome->failed++;
    }
}

/* ---- all of it ---- */

int imp_paper_seeds(const imp_paper_options *options, const imp_paper_run *run)
{
    return options->seeds > 0 && options->seeds < run->seeds ? (int)options->seeds : run->seeds;
}

bool imp_paper_wants(const imp_paper_options *options, const imp_paper_run *run, int seed)
{
    bool wanted = options->only_count == 0;
    for (size_t i = 0; i < options->only_count && !wanted; i++) {
        wanted = strcmp(options->only[i], run->name) == 0;
        for (int s = 1; s <= run->seeds && !wanted; s++)
            wanted = (seed == 0 || seed == s) &&
                     strcmp(options->only[i], imp_paper_run_name(run, s).text) == 0;
    }
    return wanted && imp_paper_table_needs(options->table, run->name);
}

bool imp_paper_is_about(const imp_paper_options *options, size_t dataset)
{
    for (size_t r = 0; imp_paper_run_at(r).name; r++) {
        imp_paper_run run = imp_paper_run_at(r);
        if (imp_paper_dataset_of(run.recipe) == dataset && imp_paper_wants(options, &run, 0))
            return true;
    }
    return false;
}

/* Whether the next job belongs to this rank. */
static bool is_own_turn(session *all)
{
    const imp_ranks *ranks = all->options->ranks;
    size_t turn = all->jobs++;
    return !imp_ranks_any(ranks) || turn % (size_t)ranks->size == (size_t)ranks->rank;
}

/* Waits for the other ranks' runs, and collects their outcomes. */
static imp_status meet(session *all, imp_paper_outcome *outcome, imp_error *error)
{
    const imp_ranks *ranks = all->options->ranks;
    if (!imp_ranks_any(ranks))
        return IMP_OK;
    enum { STOPPED = 1, FAILED = 2 }; /* a bit, and how often */
    uint64_t *others = imp_allocate((size_t)ranks->size, sizeof *others);
    imp_status status =
        others ? imp_ranks_exchange(ranks, (all->stopped ? STOPPED : 0) + FAILED * outcome->failed,
                                    others, error)
               : imp_fail_memory(error, "the outcomes of the other ranks' runs");
    outcome->failed = 0;
    for (int r = 0; r < ranks->size && !status; r++) {
        all->stopped |= others[r] % FAILED != 0;
        outcome->failed += others[r] / FAILED;
    }
    imp_release(others);
    return status;
}

static void do_runs(session *all, size_t dataset, imp_paper_outcome *outcome)
{
    const imp_paper_options *options = all->options;
    const imp_paper_listener *listener = &options->listener;
    for (size_t r = 0; imp_paper_run_at(r).name && !all->stopped; r++) {
        imp_paper_run run = imp_paper_run_at(r);
        if (imp_paper_dataset_of(run.recipe) != dataset)
            continue;
        for (int seed = 1; seed <= imp_paper_seeds(options, &run) && !all->stopped; seed++) {
            imp_error reason;
            if (!imp_paper_wants(options, &run, seed) || !is_own_turn(all))
                continue;
            if (do_job(all, &run, seed, &reason) != IMP_OK) {
                listener->fail(imp_paper_run_name(&run, seed).text, reason.message,
                               listener->context);
                outcome->failed++;
            }
        }
    }
}

/* All jobs of a dataset, and its report. */
static imp_status do_dataset(session *all, size_t dataset, imp_paper_outcome *outcome,
                             imp_error *error)
{
    imp_paper_folder results = imp_paper_results(all->options->out, dataset);
    imp_status status = imp_make_folders(results.text, error);
    if (status)
        return status;
    do_runs(all, dataset, outcome);
    status = meet(all, outcome, error);
    if (status || imp_rank_of(all->options->ranks) > 0)
        return status;
    if (!all->stopped)
        draw(all, dataset, results.text, outcome);
    return imp_paper_report(results.text, dataset, error);
}

imp_status imp_paper_reproduce(const imp_paper_options *options, imp_paper_outcome *outcome,
                               imp_error *error)
{
    session all = {.options = options};
    *outcome = (imp_paper_outcome){0};
    imp_status status = imp_make_folders(options->runs, error);
    for (size_t d = 0; d < IMP_PAPER_DATASETS && !status && !all.stopped; d++)
        if (options->data[d] && imp_paper_is_about(options, d))
            status = do_dataset(&all, d, outcome, error);
    imp_dataset_free(all.dataset);
    imp_settings_clear(&all.opened);
    outcome->stopped = all.stopped;
    return status;
}

/* ---- state ---- */

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
        status = imp_training_look(work.folder.text, &work.settings, &state->run, error);
    if (!status && !state->done && state->run.update < state->updates)
        state->images =
            imp_paper_images(&work.settings) * (double)(state->updates - state->run.update);
    end_job(&work);
    return status;
}
