/*
 * choose.h - chooses metric, lambda, variance and the use of unlabelled points by the paper's loss
 * on held-out labelled points.
 */
#ifndef IMP_METHODS_CHOOSE_H
#define IMP_METHODS_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/mixture.h>
#include <imp/status.h>

#include "methods/point_source.h"

/* What the caller gave; the rest is open. */
typedef struct imp_choice_bounds {
    imp_metric_kind metric; /* or IMP_METRIC_AUTO */
    imp_whitening whitening;
    double lambda, sigma; /* or NAN */
    double weight;        /* of unlabelled points, or NAN */
    size_t steps;         /* passes, if unlabelled points count */
} imp_choice_bounds;

typedef struct imp_choice {
    imp_metric_kind metric;
    double whitening; /* its strength; 0: none */
    double lambda;    /* relative to the median squared distance within classes: 0, 0.5, INFINITY */
    double sigma;     /* relative to the median squared distance from the center */
    double ratio;     /* total weight of unlabelled points, relative to all labelled ones */
    bool propagated;  /* instead, labels are propagated to them (propagate.h) */
    size_t held_out;  /* points; 0: nothing was tried, these are the usual values */
    double loss, accuracy;
    imp_mixture_candidate *candidates; /* (candidate_count), the best of each metric */
    size_t candidate_count;
    double *distance; /* (distance_count), ascending: of held-out points to the nearest cluster,
                         relative to the median squared distance from the center */
    size_t distance_count;
} imp_choice;

/* Chooses for points some of which have labels in 0 .. way-1. Reads some of them, evenly spaced,
 * and all only to see whether a value is negative. Release the choice even on failure: as reading
 * does, IMP_ENOMEM, or IMP_EINVAL if a class keeps no cluster with the values given. */
imp_status imp_choose(const imp_choice_bounds *bounds, const imp_point_source *source, size_t way,
                      imp_choice *choice, imp_error *error);
void imp_choice_release(imp_choice *choice);

/* The metric used without evidence for another. With one class it does not scale to length 1,
 * because the center of one class is not that of classes added later; `way` 0 means an unknown
 * number. IMP_ENOMEM. */
imp_status imp_usual_metric(const float *x, size_t n, size_t d, size_t way, imp_metric_kind *usual,
                            imp_error *error);

#endif
