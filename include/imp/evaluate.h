/*
 * evaluate.h - how well a trained model solves the episodes of a dataset: what `imp eval` does.
 *
 * Episodes run side by side, and the numbers do not depend on the threads: every episode is drawn
 * by its index, and the means are taken in that order.
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
    imp_interval accuracy;      /* closed: predictions are among the classes */
    imp_interval open_accuracy; /* open: a query that an unlabelled cluster won is wrong */
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
    uint64_t seed;   /* another one gives other episodes */
    size_t episodes; /* numbers 0 .. episodes-1 of the purpose */

    /* Batch norm uses the statistics of each episode, whose images are embedded as one batch, not
     * the running ones of the training: supports and queries then know of each other, and
     * accuracies are not comparable. */
    bool episode_statistics;
    int threads; /* 0: as many as the machine offers */

    /* Called now and then, on the caller's thread, with how many episodes are done; false ends the
     * evaluation. May be NULL. */
    bool (*proceed)(size_t done, size_t total, void *context);
    void *context;
} imp_evaluation_options;

/* The defaults: 1000 test episodes of seed 1. `size` is the caller's
 * sizeof(imp_evaluation_options). */
IMP_API void imp_evaluation_options_init(imp_evaluation_options *options, size_t size);

static inline imp_evaluation_options imp_evaluation_defaults(void)
{
    imp_evaluation_options options;
    imp_evaluation_options_init(&options, sizeof options);
    return options;
}

/* What an evaluation of a model begins with: the settings it was trained with, but for the queries.
 * On success *out is new; free it with imp_settings_free(). IMP_ENOMEM. */
IMP_API imp_status imp_evaluation_settings(const imp_model *model, imp_settings **out,
                                           imp_error *error);

/* Solves the same episodes with each of `count` settings, which differ in the method, the learner
 * or their options; data and task are those of the first. results[i] is that of settings[i]. A
 * method has what the model learned if it is the one that the model was trained with and the
 * variances are still the model's. `dataset` may be NULL: then it is opened as the first settings
 * say.
 *
 * On failure the results are undefined: IMP_EINVAL for images of another size than the model's, and
 * when the caller ended the evaluation; else what opening, drawing or a method says. */
IMP_API imp_status imp_evaluate_model(const imp_model *model, const imp_settings *const *settings,
                                      size_t count, const imp_dataset *dataset,
                                      const imp_evaluation_options *options,
                                      imp_evaluation *results, imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
