/*
 * simulate.h - simulates a user who knows every answer: the accuracy after each answer, in the
 * page's order and in random order.
 */
#ifndef IMP_LABEL_SIMULATE_H
#define IMP_LABEL_SIMULATE_H

#include "label/state.h"

typedef struct imp_simulated_step {
    size_t answers;
    double right;          /* fraction of the pile whose class is right */
    imp_estimate estimate; /* the page's estimate of it */
} imp_simulated_step;

typedef struct imp_simulation {
    const float *points; /* (count, dimensions) */
    size_t count, dimensions;
    const int32_t *truth; /* (count): classes from 0 */
    bool shuffled;        /* questions in random order */
    size_t answers;       /* number of answers; fewer if the pile is smaller */
    uint64_t seed;
    int threads;

    /* Called at every step; a status other than IMP_OK ends the simulation and is returned. */
    imp_status (*told)(const imp_simulated_step *step, imp_error *error, void *context);
    void *context;
} imp_simulation;

imp_status imp_simulate(const imp_simulation *simulation, imp_error *error);

#endif
