/*
 * choose_use.h - the two parts of a choice: what labelled points choose by themselves (choose.c),
 * and what is then done with unlabelled ones (choose_use.c).
 */
#ifndef IMP_METHODS_CHOOSE_USE_H
#define IMP_METHODS_CHOOSE_USE_H

#include "base/first_failure.h"
#include "methods/choose.h"
#include "methods/held_out.h"

enum { IMP_METRICS = 4, IMP_STRENGTHS = 3, IMP_THRESHOLDS = 3, IMP_SIGMAS = 17, IMP_FINALISTS = 3 };

/* A metric to be tried. */
typedef struct imp_candidate {
    imp_metric_kind metric;
    double whitening;
    double price;
    const float *rows; /* the points in the first part of the metric */
    bool possible;
    double loss[IMP_THRESHOLDS][IMP_SIGMAS]; /* mean over the points held out */
} imp_candidate;

/* All that is needed while choosing. */
typedef struct imp_choosing {
    const imp_choice_bounds *bounds;
    imp_trial_points points;
    float *rows[IMP_METRICS];
    imp_candidate candidates[IMP_METRICS * IMP_STRENGTHS];
    size_t metric_count, candidate_count;
    bool may_propagate; /* unlabelled points may be given labels */
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
    double value; /* the loss with what it pays */
} imp_finalist;

/* The variances that are tried, in parts of the median squared distance from the center, and what
 * one pays for all points together. */
double imp_sigma_at(size_t index);
double imp_price_of_sigma(double sigma);

/* How many are tried: one where it was given. */
size_t imp_sigma_count(const imp_choosing *at);

/* The cross-entropy of a class by its squared distances. */
double imp_loss_of(const double *distance, size_t way, int32_t label, double sigma);

/* Chooses among the finalists, best first, and what is done with unlabelled points; without such
 * points this only finds how far points held out are from clusters. IMP_ENOMEM. */
imp_status imp_choose_use(const imp_choosing *at, const imp_finalist *finalists, size_t count,
                          imp_choice *choice, imp_error *error);

#endif
