/*
 * updater.h - a learner in training: the sum of its episodes' gradients, and the optimizers that
 * follow it.
 *
 * An update is imp_updater_add() for the step of each of its episodes, in their order, then one
 * imp_updater_update(). Whoever made the steps, here or in another process, the sum has the same
 * bits. After the first update on episodes of some size, neither takes memory.
 */
#ifndef IMP_TRAIN_UPDATER_H
#define IMP_TRAIN_UPDATER_H

#include <imp/optimizer.h>

#include "learners/learner.h"

typedef struct imp_updater {
    imp_network *network;
    imp_learner *learner;
    imp_optimizer *network_optimizer, *value_optimizer;

    /* The learner's values. Floats are the truth and the learner's doubles follow them, so that
     * the optimizer and the files treat them like any other parameter. */
    float *values;
    size_t value_count;
    bool *fixed; /* (value_count): not learned, but what the learner has is the truth */

    /* Sums over the episodes of the update so far. */
    float *network_gradient, *value_gradient;
    size_t episodes;
} imp_updater;

/* Joins a network and a learner on it, which then belong to the updater, on failure too. `options`
 * as for imp_optimizer_create(); weight decay applies to the network only. Free with
 * imp_updater_clear(). */
imp_status imp_updater_make(imp_updater *updater, imp_network *network, imp_learner *learner,
                            const imp_optimizer_options *options, imp_error *error);

/* Harmless on a zeroed one. */
void imp_updater_clear(imp_updater *updater);

/* Excludes the learner's parameter of that name from learning; nothing happens if it has none. */
void imp_updater_fix(imp_updater *updater, const char *parameter);

/* Hands `values` to the learner, after they were written from outside. */
void imp_updater_publish(imp_updater *updater);

/* The variance whose logarithm is the parameter of that name; NAN if there is none. */
double imp_updater_sigma(const imp_updater *updater, const char *parameter);

/* Adds the gradients of a step. */
void imp_updater_add(imp_updater *updater, const imp_step *step);

/* Divides the gradients by the number of episodes, shortens them to the norm `clip` (0: never) and
 * takes a step of size `rate`. *norm, if wanted, is what it was before.
 *
 * IMP_EINVAL when the norm is not finite: no step is taken then. */
imp_status imp_updater_update(imp_updater *updater, double rate, double clip, double *norm,
                              imp_error *error);

#endif
