/*
 * held_out.h - cross-validation on labelled points: the trials by which open options are chosen
 * (choose.h).
 */
#ifndef IMP_METHODS_HELD_OUT_H
#define IMP_METHODS_HELD_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/mixture.h>
#include <imp/status.h>

#include "methods/point_source.h"

/* The labelled points used, and some unlabelled ones. */
typedef struct imp_trial_points {
    size_t dimensions, way;
    size_t count;     /* labelled */
    uint32_t *number; /* (count + unlabeled_count): their indices among all points */
    int32_t *label;   /* (count): 0 .. way-1, renumbered if classes were left out */
    size_t unlabeled_count;
    size_t repeats;
    int8_t *fold; /* (repeats, count): the fold in which a point is held out; -1: never, because it
                     is the only one of its class */
    size_t held_out; /* points held out in every repeat */
} imp_trial_points;

enum { IMP_FOLDS = 5 };

/* Selects up to 500 labelled points of up to 100 classes, evenly, and up to 500 unlabelled ones,
 * and distributes them over folds. Release it even on failure: IMP_ENOMEM. */
imp_status imp_trial_points_take(imp_trial_points *points, const imp_point_source *source,
                                 size_t way, imp_error *error);
void imp_trial_points_release(imp_trial_points *points);

/* One configuration. Values with a unit are relative to the scale of the points, or as given where
 * `given_...` is a number. */
typedef struct imp_trial {
    double whitening; /* its strength; 0: none */
    double lambda;    /* times the median squared distance within classes */
    double sigma;     /* times the median squared distance from the center */
    double ratio;     /* total weight of unlabelled points, relative to all labelled ones */
    bool propagated;  /* labels are propagated to unlabelled points (propagate.h) */
    double given_lambda, given_sigma;
    size_t steps; /* if unlabelled points are used; otherwise 1 */
} imp_trial;

/* The result of a fold. */
typedef struct imp_trial_scores {
    bool possible;    /* false: whitening was wanted, but no class has two points */
    size_t count;     /* points held out */
    int32_t *label;   /* (count) */
    double *distance; /* (trials, count, way): squared distance to each class's nearest cluster,
                         relative to the median squared distance from the center */
    double spread;    /* that median */
} imp_trial_scores;

/* Classifies the points of one fold by the others, with several trials that have the same
 * `whitening`. `rows` are all points, labelled first, in the first part of a metric. Release the
 * scores even on failure. */
imp_status imp_try_fold(const imp_trial_points *points, const float *rows, size_t repeat,
                        size_t fold, const imp_trial *trials, size_t trial_count,
                        imp_trial_scores *scores, imp_error *error);
void imp_trial_scores_release(imp_trial_scores *scores);

/* The spread of points needs no more of them than these, evenly spaced. */
enum { IMP_SPREAD_ROWS = 1000 };

/* The median squared distance of up to IMP_SPREAD_ROWS rows from their mean; and of labelled rows
 * from the mean of their class, corrected for the mean being estimated. 0 if there is none.
 * IMP_ENOMEM. */
imp_status imp_spread_of(const float *rows, size_t n, size_t d, double *spread, imp_error *error);
imp_status imp_spread_within(const float *rows, const int32_t *label, size_t n, size_t d,
                             size_t way, double *spread, imp_error *error);

#endif
