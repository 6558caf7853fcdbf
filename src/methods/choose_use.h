/*
 * choose_use.h - the two parts of a choice: by labelled points alone (choose.c), and then how to
 * use unlabelled ones (choose_use.c).
 */
#ifndef IMP_METHODS_CHOOSE_USE_H
#define IMP_METHODS_CHOOSE_USE_H

#include "base/first_failure.h"
#include "methods/choose.h"
#include "methods/held_out.h"

enum { IMP_METRICS = 4, IMP_STRENGTHS = 3, IMP_THRESHOLDS = 3, IMP_SIGMAS = 17, IMP_FINALISTS = 3 };

/* A metric to try. */
typedef struct imp_candidate {
    imp_metric_kind metric;
    double whitening;
    double price;
    const float *rows; /* the points in the first part of the metric */
    bool possible;
    double loss[IMP_THRESHOLDS][IMP_SIGMAS]; /* mean over the held-out points */
} imp_candidate;

/* The state of a choice in progress. */
typedef struct imp_choosing {
    const imp_choice_bounds *bounds;
    const float *sample; /* (sampled, dimensions): of all points, for metrics */
    size_t sampled;
    imp_trial_points points;
    float *taken; /* these as they are, labelled ones first */
    float *rows[IMP_METRICS];
    imp_candidate candidates[IMP_METRICS * IMP_STRENGTHS];
    size_t metric_count, candidate_count;
    bool may_propagate; /* labels may be propagated */
    struct imp_trial_sums {
        bool possible;
        size_t count;
        double loss[IMP_THRESHOLDS][IMP_SIGMAS];
    } * sums; /* (candidates, repeats, folds) */
    imp_first_failure failure;
} imp_choosing;

/* A metric with the best threshold and variance for it, by labelled points alone. */
typedef struct imp_finalist {
    const imp_candidate *of;
    double lambda, sigma, loss;
    double value; /* the loss plus its penalty */
} imp_finalist;

/* The variances tried, relative to the median squared distance from the center, and the penalty of
 * one, in total for all points. */
double imp_sigma_at(size_t index);
double imp_price_of_sigma(double sigma);

/* How many are tried: only one if it was given. */
size_t imp_sigma_count(const imp_choosing *at);

/* The cross-entropy of a class by its squared distances. */
double imp_loss_of(const double *distance, size_t way, int32_t label, double sigma);

/* Chooses among the finalists, which come best first, and a use of unlabelled points; without such
 * points it only measures how far held-out points are from clusters. IMP_ENOMEM. */
imp_status imp_choose_use(const imp_choosing *at, const imp_finalist *finalists, size_t count,
                          imp_choice *choice, imp_error *error);

#endif
