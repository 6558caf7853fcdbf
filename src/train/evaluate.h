/*
 * evaluate.h - how well methods classify the episodes of a dataset, on one frozen embedding.
 *
 * Episodes run side by side, and the numbers do not depend on the threads: every episode is drawn
 * by its index, and the means are taken in that order.
 */
#ifndef IMP_TRAIN_EVALUATE_H
#define IMP_TRAIN_EVALUATE_H

#include <imp/encoder.h>
#include <imp/episode.h>
#include <imp/method.h>
#include <imp/metrics.h>

/* A method that takes part. */
typedef struct imp_contestant {
    const char *method;
    imp_method_options options;
    const double *values; /* what it has learned; NULL: what the options say */
} imp_contestant;

typedef struct imp_evaluation {
    imp_interval accuracy;
    imp_interval clusters; /* per episode */
    double clusters_per_class;
    double loss;
    double lambda; /* mean; NAN where the method has none */
} imp_evaluation;

typedef struct imp_evaluate_options {
    imp_episode_options task;
    size_t episodes; /* numbers 0 .. episodes-1 of the task's purpose */
    int threads;     /* 0: as many as the machine offers */

    /* NULL: batch norm uses the running statistics. Else it uses those of each episode, whose
     * images this network, the encoder's, embeds as one batch: supports and queries then know of
     * each other, and accuracies are not comparable. The network is copied and stays as it is. */
    imp_network *network;

    /* Called now and then with how many episodes are done; may be NULL. */
    void (*progress)(size_t done, size_t total, void *context);
    void *context;
} imp_evaluate_options;

/* Runs every contestant on every episode; results[i] is contestant i's. On failure the results are
 * undefined: what drawing or a method says about the first episode that failed. */
imp_status imp_evaluate(const imp_encoder *encoder, const imp_dataset *dataset,
                        const imp_contestant *contestants, size_t count,
                        const imp_evaluate_options *options, imp_evaluation *results,
                        imp_error *error);

#endif
