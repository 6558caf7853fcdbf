/*
 * adapting.h - a small task and a learner that adapts a classifier to it, beside the same
 * classifier in double precision (reference.h): what the tests of such learners begin with.
 */
#ifndef ADAPTING_H
#define ADAPTING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/random.h"
#include "learners/learner.h"
#include "reference.h"

enum { ADAPTING_WAY = 3 };

typedef struct adapting {
    imp_network *network; /* the learner's */
    imp_learner *learner;
    imp_task task;
    size_t support_count, query_count;
    const float *supports, *queries; /* pixels */

    imp_network *whole; /* the network with its head, for the reference */
    size_t body, count; /* parameters of the network, and with the head's */
    double *theta;      /* (count): as the learner has them */
    int32_t *predictions;
} adapting;

adapting adapting_begin(const char *learner, const imp_learner_options *options, int threads);
void adapting_end(adapting *a);

/* The mean cross-entropy of supports or queries by theta, its gradient, and predictions if not
 * NULL.
 */
double adapting_loss(adapting *a, const double *theta, const float *pixels, size_t images,
                     double *gradient, int32_t *predictions);

/* A step's two gradients in one array, to be freed. */
double *adapting_join(const adapting *a, const imp_step *step);

/* A step gives the same bits on any number of threads, and again after one of another task. Fails
 * also if that one's are the same, where `others` says that they are not. */
void adapting_same_bits(const char *learner, const imp_learner_options *options, bool others);

/* Makes, steps and predicts with every allocation failing in turn. */
void adapting_memory(const char *learner, const imp_learner_options *options);

#endif
