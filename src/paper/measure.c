/*
 * measure.c - turns a row's options into settings, evaluates, and returns the figures as JSON.
 */
#include "paper/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <imp/version.h>

#include "base/error.h"
#include "base/memory.h"
#include "evaluate/clustering.h"
#include "evaluate/contestant.h"
#include "paper/words.h"

/* Seed of all test episodes, and number of validation episodes for choosing lambda. */
enum { TEST_SEED = 1, LAMBDA_EPISODES = 20 };

/* The parsed options. */
typedef struct request {
    imp_settings settings; /* overriding the model's */
    imp_pool pool;
    imp_sweep sweep;
    bool unsupervised;
} request;

static bool has_word(const char *words, const char *name)
{
    imp_words list = imp_words_of(words);
    imp_option_words option;
    while (imp_words_next(&list, &option))
        if (strcmp(option.name, name) == 0)
            return true;
    return false;
}

static imp_status read_pool(const char *name, imp_pool *pool, imp_error *error)
{
    for (int i = 0; imp_pool_names[i]; i++)
        if (strcmp(imp_pool_names[i], name) == 0) {
            *pool = (imp_pool)i;
            return IMP_OK;
        }
    return imp_fail(error, IMP_EINVAL, "'%s' is not a pool of classes", name);
}

static imp_status read_option(request *wanted, const imp_option_words *option, imp_error *error)
{
    if (strcmp(option->name, "unsupervised") == 0)
        return IMP_OK;
    if (strcmp(option->name, "pool") == 0)
        return read_pool(option->value, &wanted->pool, error);
    if (strcmp(option->name, "lambda-sweep") == 0)
        return imp_sweep_parse(option->value, &wanted->sweep)
                   ? IMP_OK
                   : imp_fail(error, IMP_EINVAL, "'%s' is not FROM:TO:COUNT", option->value);
    return imp_settings_set(&wanted->settings, option->name, option->value, error);
}

/* Clear wanted->settings even on failure. */
static imp_status read_words(request *wanted, const imp_model *model, const char *words,
                             imp_error *error)
{
    *wanted = (request){.settings = imp_settings_of_model(model),
                        .unsupervised = has_word(words, "unsupervised")};
    wanted->settings.seed = TEST_SEED;
    if (wanted->unsupervised)
        imp_clustering_open(&wanted->settings);
    imp_words list = imp_words_of(words);
    imp_option_words option;
    imp_status status = IMP_OK;
    while (!status && imp_words_next(&list, &option))
        status = read_option(wanted, &option, error);
    if (!status && wanted->unsupervised && wanted->sweep.count > 0)
        status = imp_fail(error, IMP_EINVAL, "without labels lambda is chosen, not swept");
    return status;
}

/* ---- JSON ---- */

static json_t *figure_of(imp_interval interval)
{
    return imp_json_interval(interval.mean, interval.half_width);
}

static json_t *begin(const char *words, size_t episodes)
{
    return json_pack("{s:s, s:s, s:i, s:I, s:s}", "options", words, "version", imp_version(),
                     "seed", TEST_SEED, "episodes", (json_int_t)episodes, "batch_norm",
                     "running statistics");
}

/* ---- labelled episodes ---- */

static json_t *describe(const imp_evaluation *result)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "accuracy", figure_of(result->accuracy),
                     "open_accuracy", figure_of(result->open_accuracy), "clusters",
                     figure_of(result->clusters), "unlabeled_clusters",
                     imp_json_number(result->unlabeled_clusters), "lambda",
                     imp_json_number(result->lambda));
}

static imp_evaluate_options evaluate_options(const imp_model *model, const request *wanted,
                                             const imp_measure_options *options)
{
    imp_evaluate_options all = {.task = imp_settings_task(&wanted->settings, IMP_FOR_TESTING),
                                .episodes = options->episodes,
                                .threads = options->threads,
                                .network = model->network,
                                .progress = options->progress,
                                .context = options->context};
    all.task.pool = wanted->pool;
    all.task.seed = TEST_SEED;
    return all;
}

static imp_status measure_labeled(const imp_model *model, const imp_dataset *dataset,
                                  request *wanted, const imp_measure_options *options,
                                  json_t *evaluation, imp_error *error)
{
    size_t count = wanted->sweep.count > 0 ? wanted->sweep.count : 1;
    imp_contestant *contestants = imp_allocate(count, sizeof *contestants);
    imp_evaluation *results = imp_allocate(count, sizeof *results);
    imp_status status = contestants && results ? IMP_OK : imp_fail_memory(error, "an evaluation");
    for (size_t i = 0; i < count && !status; i++) {
        if (wanted->sweep.count > 0)
            wanted->settings.rule.lambda = imp_sweep_at(&wanted->sweep, i);
        contestants[i] = imp_contestant_of(model, &wanted->settings);
    }
    imp_evaluate_options all = evaluate_options(model, wanted, options);
    if (!status)
        status = imp_evaluate(model->encoder, dataset, contestants, count, &all, results, error);
    if (!status && wanted->sweep.count > 0) {
        json_t *list = json_array();
        json_object_set_new(evaluation, "sweep", list);
        for (size_t i = 0; i < count; i++)
            json_array_append_new(list, describe(&results[i]));
    } else if (!status) {
        json_t *figures = describe(&results[0]);
        json_object_update(evaluation, figures);
        json_decref(figures);
    }
    imp_release(contestants);
    imp_release(results);
    return status;
}

/* ---- episodes without labels ---- */

static imp_status measure_clusters(const imp_model *model, const imp_dataset *dataset,
                                   const request *wanted, const imp_measure_options *options,
                                   json_t *evaluation, imp_error *error)
{
    imp_cluster_options by;
    imp_clustering_evaluation found;
    imp_evaluate_options all = {.task = imp_clustering_task(&wanted->settings, IMP_FOR_VALIDATION),
                                .episodes = LAMBDA_EPISODES,
                                .threads = options->threads,
                                .progress = options->progress,
                                .context = options->context};
    imp_status status = imp_clustering_options(&wanted->settings, &by, error);
    bool chooses = !status && isnan(by.rule.lambda);
    if (chooses)
        status = imp_tune_clustering(model->encoder, dataset, &by, &all, &by.rule.lambda, error);
    all.task = imp_clustering_task(&wanted->settings, IMP_FOR_TESTING);
    all.task.pool = wanted->pool;
    all.episodes = options->episodes;
    if (!status)
        status = imp_evaluate_clustering(model->encoder, dataset, &by, 1, &all, &found, error);
    if (status)
        return status;
    if (chooses)
        json_object_set_new(evaluation, "lambda_episodes", json_integer(LAMBDA_EPISODES));
    json_object_set_new(evaluation, "lambda", json_real(by.rule.lambda));
    json_object_set_new(evaluation, "purity", figure_of(found.purity));
    json_object_set_new(evaluation, "nmi", figure_of(found.nmi));
    json_object_set_new(evaluation, "ami", figure_of(found.ami));
    json_object_set_new(evaluation, "clusters", figure_of(found.clusters));
    return IMP_OK;
}

imp_status imp_paper_evaluate(const imp_model *model, const imp_dataset *dataset, const char *words,
                              const imp_measure_options *options, json_t **evaluation,
                              imp_error *error)
{
    request wanted;
    *evaluation = begin(words, options->episodes);
    imp_status status = *evaluation ? IMP_OK : imp_fail_memory(error, "an evaluation");
    if (status)
        return status;
    status = read_words(&wanted, model, words, error);
    const imp_learner_info *learner = imp_learner_find(wanted.settings.learner);
    if (!status && learner && !learner->embeds)
        json_object_set_new(*evaluation, "batch_norm", json_string(learner->batch_norm));
    if (!status)
        status = wanted.unsupervised
                     ? measure_clusters(model, dataset, &wanted, options, *evaluation, error)
                     : measure_labeled(model, dataset, &wanted, options, *evaluation, error);
    imp_settings_clear(&wanted.settings);
    if (status) {
        json_decref(*evaluation);
        *evaluation = NULL;
    }
    return status;
}

void imp_paper_eval_command(const char *folder, const char *words, size_t episodes, char *text,
                            size_t size)
{
    char lambda[40] = "";
    if (has_word(words, "unsupervised"))
        snprintf(lambda, sizeof lambda, " --lambda-episodes %d", LAMBDA_EPISODES);
    snprintf(text, size,
             "imp eval --model %s/model.safetensors --data DATA%s%s%s --episodes %zu --seed %d",
             folder, words[0] ? " " : "", words, lambda, episodes, TEST_SEED);
}
