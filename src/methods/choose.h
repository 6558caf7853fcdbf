/*
 * choose.h - metric, lambda, variance and the weight of unlabelled points, chosen by the paper's
 * loss of labelled points that are held out.
 */
#ifndef IMP_METHODS_CHOOSE_H
#define IMP_METHODS_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/mixture.h>
#include <imp/status.h>

/* What was given; the rest is open. */
typedef struct imp_choice_bounds {
    imp_metric_kind metric; /* or IMP_METRIC_AUTO */
    imp_whitening whitening;
    double lambda, sigma; /* or NAN */
    double weight;        /* of unlabelled points, or NAN */
    size_t steps;         /* with unlabelled points that count */
} imp_choice_bounds;

typedef struct imp_choice {
    imp_metric_kind metric;
    double whitening; /* its strength; 0: none */
    double lambda;    /* in parts of the median squared distance within classes: 0, 0.5, INFINITY */
    double sigma;     /* in parts of the median squared distance from the center */
    double ratio;     /* how much unlabelled points may weigh in all beside all labelled ones */
    bool propagated;  /* instead, they are given labels by their neighbours (propagate.h) */
    size_t held_out;  /* points; 0: nothing was tried, all of this is usual */
    double loss, accuracy;
    imp_mixture_candidate *candidates; /* (candidate_count), the best of each metric */
    size_t candidate_count;
    double *distance; /* (distance_count), ascending: of the points held out to the nearest cluster,
                         in parts of the median squared distance from the center */
    size_t distance_count;
} imp_choice;

/* Chooses for n points of which some have labels in 0 .. way-1. Release whatever is returned;
 * IMP_ENOMEM, or IMP_EINVAL for numbers given by which no class keeps a cluster. */
imp_status imp_choose(const imp_choice_bounds *bounds, const float *x, const int32_t *y, size_t n,
                      size_t d, size_t way, imp_choice *choice, imp_error *error);
void imp_choice_release(imp_choice *choice);

/* The metric that nothing need be said for. The center of one class is no center for those that may
 * come later; 0 classes are an unknown number. IMP_ENOMEM. */
imp_status imp_usual_metric(const float *x, size_t n, size_t d, size_t way, imp_metric_kind *usual,
                            imp_error *error);

#endif
