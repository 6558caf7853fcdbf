/*
 * evaluate.h - how well a trained model solves the episodes of a dataset: what `imp eval` does.
 *
 * Episodes are solved in parallel, and the results do not depend on the number of threads: every
 * episode is drawn by its index, and means are taken in the order of the indices.
 */
#ifndef IMP_EVALUATE_H
#define IMP_EVALUATE_H

#include <imp/episode.h>
#include <imp/metrics.h>
#include <imp/model.h>
#include <imp/settings.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct imp_evaluation {
    imp_interval accuracy;      /* closed-set: every prediction is one of the classes */
    imp_interval open_accuracy; /* open-set: a query won by an unlabelled cluster counts as wrong */
    imp_interval clusters;      /* per episode; 0 where the learner makes none */
    double clusters_per_class;
    double unlabeled_clusters; /* per episode; 0: the two accuracies are the same */
    double loss;
    double lambda; /* mean; NAN where the method has none */
} imp_evaluation;

typedef struct imp_evaluation_options {
    size_t size; /* sizeof(imp_evaluation_options), so that the struct may grow */
    imp_purpose purpose;
    imp_pool pool;
    uint64_t seed;   /* another seed gives other episodes */
    size_t episodes; /* those with indices 0 .. episodes-1 */

    /* Embeds the images of an episode as one batch and normalises by the statistics of that batch
     * instead of the running ones. Embeddings then depend on the other images, the queries
     * included, so accuracies are not comparable with those of other evaluations. */
    bool episode_statistics;
    int threads; /* 0: as many as the machine offers */

    /* Called from time to time, on the caller's thread, with the number of episodes done; returning
     * false stops the evaluation. May be NULL. */
    bool (*proceed)(size_t done, size_t total, void *context);
    void *context;
} imp_evaluation_options;

/* The defaults: 1000 test episodes, seed 1. `size` is the caller's sizeof(imp_evaluation_options).
 */
IMP_API void imp_evaluation_options_init(imp_evaluation_options *options, size_t size);

static inline imp_evaluation_options imp_evaluation_defaults(void)
{
    imp_evaluation_options options;
    imp_evaluation_options_init(&options, sizeof options);
    return options;
}

/* The settings that an evaluation of a model starts from: those it was trained with, except for the
 * number of queries. On success *out is new; free it with imp_settings_free(). IMP_ENOMEM. */
IMP_API imp_status imp_evaluation_settings(const imp_model *model, imp_settings **out,
                                           imp_error *error);

/* Solves the same episodes with each of `count` settings, which may differ in the method, the
 * learner and their options; data and task are those of the first. results[i] belongs to
 * settings[i]. A method uses what the model learned if the model was trained with it and the
 * settings have not changed its variances. `dataset` may be NULL: then the one that the first
 * settings name is opened.
 *
 * On failure the results are undefined: IMP_EINVAL for images of another size than the model's, and
 * when the caller stopped the evaluation; otherwise any failure of opening the data, drawing an
 * episode or running a method. */
IMP_API imp_status imp_evaluate_model(const imp_model *model, const imp_settings *const *settings,
                                      size_t count, const imp_dataset *dataset,
                                      const imp_evaluation_options *options,
                                      imp_evaluation *results, imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
