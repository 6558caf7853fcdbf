/*
 * updater.h - a learner in training: the sum of its episodes' gradients, and its optimizers.
 *
 * An update is imp_updater_add() for the step of each of its episodes, in order, then one
 * imp_updater_update(). The sum has the same bits whichever process computed the steps. After the
 * first update with episodes of a given size, neither allocates memory.
 */
#ifndef IMP_TRAIN_UPDATER_H
#define IMP_TRAIN_UPDATER_H

#include <imp/optimizer.h>

#include "learners/learner.h"

typedef struct imp_updater {
    imp_network *network;
    imp_learner *learner;
    imp_optimizer *network_optimizer, *value_optimizer;

    /* The learner's values. These floats are authoritative and the learner's doubles follow them,
     * so that optimizers and files treat them like any other parameter. */
    float *values;
    size_t value_count;
    bool *fixed; /* (value_count): not learned; here the learner's value is authoritative */

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

/* Excludes the learner's parameter of that name from learning; does nothing if there is none. */
void imp_updater_fix(imp_updater *updater, const char *parameter);

/* Copies `values` to the learner, after they were changed from outside. */
void imp_updater_publish(imp_updater *updater);

/* The variance whose logarithm is the parameter of that name; NAN if there is none. */
double imp_updater_sigma(const imp_updater *updater, const char *parameter);

/* Adds the gradients of a step. */
void imp_updater_add(imp_updater *updater, const imp_step *step);

/* Divides the gradients by the number of episodes, clips them to the norm `clip` (0: never) and
 * takes a step with the learning rate `rate`. *norm, if not NULL, is the norm before clipping.
 *
 * IMP_EINVAL if the norm is not finite; no step is taken then. */
imp_status imp_updater_update(imp_updater *updater, double rate, double clip, double *norm,
                              imp_error *error);

#endif
