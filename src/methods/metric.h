/*
 * metric.h - a map from points to a space in which squared distances are meaningful, independently
 * of the scale and units of the points.
 *
 * A map has two parts. The first uses no labels: identity, scaling, standardisation, or
 * normalisation to length 1. The second whitens the within-class covariance, which is shrunk
 * towards a multiple of the identity so that it works with fewer points than dimensions.
 */
#ifndef IMP_METHODS_METRIC_H
#define IMP_METHODS_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/mixture.h>
#include <imp/status.h>

typedef struct imp_metric {
    imp_metric_kind kind;
    bool whitened;
    size_t dimensions;
    double scale;   /* of all features, applied first */
    double *center; /* (dimensions), scaled; NULL: not centred */
    double *factor; /* (dimensions), of the centred features; NULL: 1 */

    /* Whitening: x becomes rest * x + (x project) back; where there is no `back`, x project. */
    size_t rank;
    double rest;
    float *project; /* (dimensions, rank) */
    float *back;    /* (rank, dimensions), or NULL */
} imp_metric;

/* Statistics need no more points than these, evenly spaced. */
enum { IMP_METRIC_ROWS = 10000 };

/* Fits the first part to the points, of which it uses up to IMP_METRIC_ROWS. Release it even on
 * failure: IMP_ENOMEM. */
imp_status imp_metric_fit(imp_metric *metric, imp_metric_kind kind, const float *x, size_t n,
                          size_t d, imp_error *error);

/* Fits the second part to labelled points that went through the first; points with labels below 0
 * are ignored. `strength`, above 0 and up to 1, is the weight of the covariance relative to its
 * shrinkage target. *possible becomes false, and nothing is changed, if no class has two points or
 * all points of every class coincide. */
imp_status imp_metric_whiten(imp_metric *metric, const float *rows, const int32_t *label, size_t n,
                             double strength, bool *possible, imp_error *error);

/* out(n, dimensions) = points of x in the metric: those whose indices are in `order` or, if that is
 * NULL, the first n; on up to `threads` threads, 0 for as many as the machine offers. */
imp_status imp_metric_apply(const imp_metric *metric, const float *x, const uint32_t *order,
                            size_t n, int threads, float *out, imp_error *error);

/* The second part alone. */
imp_status imp_metric_apply_whitening(const imp_metric *metric, const float *rows, size_t n,
                                      int threads, float *out, imp_error *error);

imp_status imp_metric_copy(const imp_metric *from, imp_metric *to, imp_error *error);
void imp_metric_release(imp_metric *metric);

/* Whether both map points identically, to the bit. */
bool imp_metric_equal(const imp_metric *a, const imp_metric *b);

/* Whether points stay as they are. */
static inline bool imp_metric_is_plain(const imp_metric *metric)
{
    return metric->kind <= IMP_METRIC_AS_IS && !metric->whitened;
}

/* Whether the spreads of features differ so much that they cannot have one unit: the largest is 20
 * times the median. */
imp_status imp_features_unlike(const float *x, size_t n, size_t d, bool *unlike, imp_error *error);

/* The median of values, which are reordered; 0 if there are none. */
double imp_median(double *values, size_t count);

#endif
