/*
 * evaluate.h - how well learners classify the episodes of a dataset, with one network.
 *
 * Episodes run side by side, and the numbers do not depend on the threads: every episode is drawn
 * by its index, and the means are taken in that order.
 */
#ifndef IMP_EVALUATE_EVALUATE_H
#define IMP_EVALUATE_EVALUATE_H

#include <imp/encoder.h>
#include <imp/episode.h>
#include <imp/evaluate.h>
#include <imp/metrics.h>

#include "base/ranks.h"
#include "learners/learner.h"

/* A learner that takes part. */
typedef struct imp_contestant {
    const char *learner; /* NULL: the first, by a method on the embedding */
    imp_learner_options options;
    const double *values; /* what it has learned beside the network; NULL: what the options say */
    size_t value_count;
} imp_contestant;

typedef struct imp_evaluate_options {
    imp_episode_options task;
    size_t episodes; /* numbers 0 .. episodes-1 of the task's purpose */
    int threads;     /* 0: as many as the machine offers */

    /* Who evaluates the same together: each its share of the episodes. NULL: this process alone. */
    const imp_ranks *ranks;

    /* What the encoder is made of, for learners that do not embed and for the option below; NULL
     * where neither is wanted. It is copied and stays as it is. */
    imp_network *network;

    /* Batch norm uses the statistics of each episode, whose images the network embeds as one batch,
     * not the running ones: supports and queries then know of each other, and accuracies are not
     * comparable. */
    bool episode_statistics;

    /* Called now and then with how many episodes are done; either may be NULL. False ends the
     * evaluation, which is a failure then, IMP_EINVAL. */
    void (*progress)(size_t done, size_t total, void *context);
    bool (*proceed)(size_t done, size_t total, void *context);
    void *context;
} imp_evaluate_options;

/* Runs every contestant on every episode; results[i] is contestant i's. On failure the results are
 * undefined: what drawing or a learner says about the first episode that failed. */
imp_status imp_evaluate(const imp_encoder *encoder, const imp_dataset *dataset,
                        const imp_contestant *contestants, size_t count,
                        const imp_evaluate_options *options, imp_evaluation *results,
                        imp_error *error);

/* imp_evaluate_model() by several processes, who all get the results. */
imp_status imp_evaluate_model_together(const imp_ranks *ranks, const imp_model *model,
                                       const imp_settings *const *settings, size_t count,
                                       const imp_dataset *dataset,
                                       const imp_evaluation_options *options,
                                       imp_evaluation *results, imp_error *error);

#endif
