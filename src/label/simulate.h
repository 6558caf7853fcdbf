/*
 * simulate.h - somebody who knows every answer sits before the page: how good the labels are after
 * each, in the order that the page asks and in random order.
 */
#ifndef IMP_LABEL_SIMULATE_H
#define IMP_LABEL_SIMULATE_H

#include "label/state.h"

typedef struct imp_simulated_step {
    size_t answers;
    double right;          /* the share of the pile whose class is right by now */
    imp_estimate estimate; /* what the page says of that */
} imp_simulated_step;

typedef struct imp_simulation {
    const float *points; /* (count, dimensions) */
    size_t count, dimensions;
    const int32_t *truth; /* (count): classes from 0 on */
    bool shuffled;        /* questions in random order */
    size_t answers;       /* how many are given; fewer if the pile is smaller */
    uint64_t seed;
    int threads;

    /* Is told every step; a status other than IMP_OK ends the simulation with it. */
    imp_status (*told)(const imp_simulated_step *step, imp_error *error, void *context);
    void *context;
} imp_simulation;

imp_status imp_simulate(const imp_simulation *simulation, imp_error *error);

#endif
