/*
 * views.h - points described in several ways at once, such as picture and caption: the numbers of a
 * point are those of its views, one after the other.
 *
 * Each view has its own metric. Its result is divided by its spread and multiplied by the square
 * root of its weight, so that the squared distance of two points is the weighted mean over the
 * views. From then on they are ordinary points.
 */
#ifndef IMP_METHODS_VIEWS_H
#define IMP_METHODS_VIEWS_H

#include <stdbool.h>

#include "methods/metric.h"
#include "methods/point_source.h"

enum { IMP_MOST_VIEWS = 16 };

typedef struct imp_view {
    imp_metric metric; /* not whitened: whitening comes after joining */
    double weight;     /* from 0 to 1; those of all views sum to 1 */
    double gain;       /* factor after the metric */
    double loss;       /* of held-out points with this view alone; NAN: none were held out */
} imp_view;

typedef struct imp_views {
    imp_view *view; /* (count) */
    size_t count;   /* 0: a single view */
} imp_views;

/* Fails unless the views in the options are valid for points of d dimensions. */
imp_status imp_views_check(const imp_mixture_options *options, size_t d, imp_error *error);

/* Chooses metrics and weights that the options leave open, and whether to whiten the joined points,
 * by cross-validation on labelled points. Release the views even on failure. */
imp_status imp_views_choose(imp_views *views, const imp_mixture_options *options,
                            const imp_point_source *source, size_t way, imp_whitening *whitening,
                            imp_error *error);

/* out(n, d) = the points with their views joined; IMP_ENOMEM. */
imp_status imp_views_apply(const imp_views *views, const float *x, size_t n, size_t d, float *out,
                           imp_error *error);

imp_status imp_views_copy(const imp_views *from, imp_views *to, imp_error *error);
void imp_views_release(imp_views *views);

/* Whether both join points identically, to the bit. */
bool imp_views_equal(const imp_views *a, const imp_views *b);

#endif
