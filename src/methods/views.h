/*
 * views.h - points that are known in several ways at once: the numbers of a point are those of its
 * views, one after the other, pictures and captions for instance.
 *
 * Each view has a metric of its own. What leaves it is divided by its spread and multiplied by the
 * root of its weight, so that the squared distance of two points is the weighted mean of what the
 * views say. From there on they are points like any others.
 */
#ifndef IMP_METHODS_VIEWS_H
#define IMP_METHODS_VIEWS_H

#include <stdbool.h>

#include "methods/metric.h"

enum { IMP_MOST_VIEWS = 16 };

typedef struct imp_view {
    imp_metric metric; /* not whitened: that comes after the views are joined */
    double weight;     /* from 0 to 1; those of all views sum to 1 */
    double gain;       /* what the metric's numbers are multiplied by */
    double loss;       /* of points held out, by this view alone; NAN: none were */
} imp_view;

typedef struct imp_views {
    imp_view *view; /* (count) */
    size_t count;   /* 0: points are of one kind */
} imp_views;

/* Whether the options name views of points of d dimensions that can be. */
imp_status imp_views_check(const imp_mixture_options *options, size_t d, imp_error *error);

/* Chooses metrics and weights by the points that have labels, held out in turn, where the options
 * leave them open, and whether the joined points are whitened. Release whatever is returned. */
imp_status imp_views_choose(imp_views *views, const imp_mixture_options *options, const float *x,
                            const int32_t *y, size_t n, size_t d, size_t way,
                            imp_whitening *whitening, imp_error *error);

/* out(n, d) = the points with their views joined; IMP_ENOMEM. */
imp_status imp_views_apply(const imp_views *views, const float *x, size_t n, size_t d, float *out,
                           imp_error *error);

imp_status imp_views_copy(const imp_views *from, imp_views *to, imp_error *error);
void imp_views_release(imp_views *views);

/* Whether both join points alike, to the bit. */
bool imp_views_equal(const imp_views *a, const imp_views *b);

#endif
