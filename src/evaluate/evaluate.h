/*
 * evaluate.h - the accuracy of learners on the episodes of a dataset, with one network.
 *
 * Episodes run in parallel, and the results do not depend on the number of threads: every episode
 * is drawn by its index, and means are taken in that order.
 */
#ifndef IMP_EVALUATE_EVALUATE_H
#define IMP_EVALUATE_EVALUATE_H

#include <imp/encoder.h>
#include <imp/episode.h>
#include <imp/evaluate.h>
#include <imp/metrics.h>

#include "base/ranks.h"
#include "learners/learner.h"

/* A learner to evaluate. */
typedef struct imp_contestant {
    const char *learner; /* NULL: the default, a method on the embedding */
    imp_learner_options options;
    const double *values; /* its learned parameters besides the network; NULL: from the options */
    size_t value_count;
} imp_contestant;

typedef struct imp_evaluate_options {
    imp_episode_options task;
    size_t episodes; /* episodes 0 .. episodes-1 of the task's purpose */
    int threads;     /* 0: one per core */

    /* The ranks that share the evaluation, each taking a part of the episodes. NULL: this process
     * alone. */
    const imp_ranks *ranks;

    /* The encoder's network, for learners that do not use embeddings and for the option below; NULL
     * if neither is used. It is copied, not changed. */
    imp_network *network;

    /* Batch norm uses the statistics of each episode, embedded as one batch, instead of the running
     * ones: supports and queries then influence each other, and accuracies are not comparable. */
    bool episode_statistics;

    /* Called now and then with the number of episodes done; either may be NULL. Returning false
     * ends the evaluation with IMP_EINVAL. */
    void (*progress)(size_t done, size_t total, void *context);
    bool (*proceed)(size_t done, size_t total, void *context);
    void *context;
} imp_evaluate_options;

/* Runs every contestant on every episode; results[i] is contestant i's. On failure the results are
 * undefined; the error is that of the first episode that failed. */
imp_status imp_evaluate(const imp_encoder *encoder, const imp_dataset *dataset,
                        const imp_contestant *contestants, size_t count,
                        const imp_evaluate_options *options, imp_evaluation *results,
                        imp_error *error);

/* imp_evaluate_model() with several processes, which all get the results. */
imp_status imp_evaluate_model_together(const imp_ranks *ranks, const imp_model *model,
                                       const imp_settings *const *settings, size_t count,
                                       const imp_dataset *dataset,
                                       const imp_evaluation_options *options,
                                       imp_evaluation *results, imp_error *error);

#endif
