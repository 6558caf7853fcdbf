/*
 * held_out.h - how well labelled points classify others of their kind that are held out: the trials
 * by which numbers that nobody gave are chosen (choose.h).
 */
#ifndef IMP_METHODS_HELD_OUT_H
#define IMP_METHODS_HELD_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/mixture.h>
#include <imp/status.h>

/* The labelled points that take part, and some unlabelled ones. */
typedef struct imp_trial_points {
    size_t dimensions, way;
    size_t count;     /* labelled */
    uint32_t *number; /* (count + unlabeled_count): which of all points they are */
    int32_t *label;   /* (count): 0 .. way-1, numbered anew where classes were left out */
    size_t unlabeled_count;
    size_t repeats;
    int8_t
        *fold; /* (repeats, count): when a point is held out; -1: never, its class has no other */
    size_t held_out; /* points that are held out once in every repeat */
} imp_trial_points;

enum { IMP_FOLDS = 5 };

/* Takes up to 500 labelled points of up to 100 classes, evenly, and up to 500 unlabelled ones, and
 * deals them out to folds. It must be released whatever is returned; IMP_ENOMEM. */
imp_status imp_trial_points_take(imp_trial_points *points, const int32_t *y, size_t n, size_t d,
                                 size_t way, imp_error *error);
void imp_trial_points_release(imp_trial_points *points);

/* One way to classify. Numbers with a unit are in parts of what the points themselves show, or as
 * given where `given_...` is a number. */
typedef struct imp_trial {
    double whitening; /* its strength; 0: none */
    double lambda;    /* times the median squared distance within classes */
    double sigma;     /* times the median squared distance from the center */
    double ratio;     /* how much all unlabelled points weigh beside all labelled ones */
    bool propagated;  /* unlabelled points are given labels by their neighbours (propagate.h) */
    double given_lambda, given_sigma;
    size_t steps; /* with unlabelled points; without, 1 */
} imp_trial;

/* What a fold showed. */
typedef struct imp_trial_scores {
    bool possible;    /* false: a covariance was wanted where no class has two points */
    size_t count;     /* points held out */
    int32_t *label;   /* (count) */
    double *distance; /* (trials, count, way): squared, to each class's nearest cluster, in parts
                         of the median squared distance from the center */
    double spread;    /* that median */
} imp_trial_scores;

/* Classifies the points of one fold by the others, with several trials that agree in `whitening`.
 * `rows` are all points, labelled first, in the first part of a metric. Release whatever is
 * returned. */
imp_status imp_try_fold(const imp_trial_points *points, const float *rows, size_t repeat,
                        size_t fold, const imp_trial *trials, size_t trial_count,
                        imp_trial_scores *scores, imp_error *error);
void imp_trial_scores_release(imp_trial_scores *scores);

/* The median squared distance from the mean of the rows, of up to 1000 of them; and of labelled
 * rows from the mean of their class, made up for the mean being theirs. 0 where there is none.
 * IMP_ENOMEM. */
imp_status imp_spread_of(const float *rows, size_t n, size_t d, double *spread, imp_error *error);
imp_status imp_spread_within(const float *rows, const int32_t *label, size_t n, size_t d,
                             size_t way, double *spread, imp_error *error);

#endif
