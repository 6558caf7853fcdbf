/*
 * learner.h - what learns: a network, a method with its own parameters, and the optimizers of both.
 *
 * An update is imp_learner_add() for each of its episodes, then one imp_learner_update(). After the
 * first update on episodes of some size, neither takes memory.
 */
#ifndef IMP_TRAIN_LEARNER_H
#define IMP_TRAIN_LEARNER_H

#include <imp/episode.h>
#include <imp/method.h>
#include <imp/network.h>
#include <imp/optimizer.h>

typedef struct imp_learner {
    imp_network *network;
    imp_method *method;
    imp_optimizer *network_optimizer, *method_optimizer;

    /* The method's parameters. Floats are the truth and the method's doubles follow them, so that
     * the optimizer and the files treat them like any other parameter. */
    float *values;
    size_t value_count;
    bool *fixed; /* (value_count): not learned */

    /* Sums over the episodes of the update so far. */
    float *network_gradient, *value_gradient;
    size_t episodes;

    float *embeddings, *embedding_gradient; /* (capacity, output_size) */
    size_t capacity;
} imp_learner;

/* What one episode showed. */
typedef struct imp_outcome {
    double loss;
    double accuracy; /* share of the queries that were classified rightly before the update */
    size_t clusters;
    size_t images;
    double network_seconds, method_seconds; /* forward and backward; what lies between */
} imp_outcome;

/* Joins a network and a method, which then belong to the learner, on failure too. `options` as for
 * imp_optimizer_create(). Free with imp_learner_clear(). */
imp_status imp_learner_make(imp_learner *learner, imp_network *network, imp_method *method,
                            const imp_optimizer_options *options, imp_error *error);

/* Harmless on a zeroed learner. */
void imp_learner_clear(imp_learner *learner);

/* Excludes the method's parameter of that name from learning; nothing happens if it has none. */
void imp_learner_fix(imp_learner *learner, const char *parameter);

/* Hands `values` to the method, after they were written from outside. */
void imp_learner_publish(imp_learner *learner);

/* The variance whose logarithm is the parameter of that name; NAN if there is none. */
double imp_learner_sigma(const imp_learner *learner, const char *parameter);

/* Embeds the episode as one batch, runs the method and adds the gradients of its loss.
 *
 * IMP_EINVAL when embeddings, loss or variances are no longer finite; the learner's parameters are
 * then still those of the last update. */
imp_status imp_learner_add(imp_learner *learner, const imp_task *task, imp_outcome *outcome,
                           imp_error *error);

/* Divides the gradients by the number of episodes, shortens them to the norm `clip` (0: never) and
 * takes a step of size `rate`. *norm, if wanted, is what it was before.
 *
 * IMP_EINVAL when the norm is not finite: no step is taken then. */
imp_status imp_learner_update(imp_learner *learner, double rate, double clip, double *norm,
                              imp_error *error);

#endif
