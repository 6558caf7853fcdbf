/*
 * metric.h - where points are compared: a map from the points as they come to a space in which
 * squared distances mean something, whatever the scale and the units of the points.
 *
 * A map has two parts. The first one looks at no labels: nothing, a scale, standardised features,
 * length 1. The second, whitening, divides by the covariance within classes, which is shrunk
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
    double scale;   /* of all features, before anything else */
    double *center; /* (dimensions), scaled; NULL where nothing is subtracted */
    double *factor; /* (dimensions), of the centred features; NULL: 1 */

    /* Whitening: x becomes rest * x + (x project) back; where there is no `back`, x project. */
    size_t rank;
    double rest;
    float *project; /* (dimensions, rank) */
    float *back;    /* (rank, dimensions), or NULL */
} imp_metric;

/* The first part, by the points, of which up to 10,000 spread evenly are looked at. It must be
 * released whatever is returned; IMP_ENOMEM. */
imp_status imp_metric_fit(imp_metric *metric, imp_metric_kind kind, const float *x, size_t n,
                          size_t d, imp_error *error);

/* The second part, by labelled points that went through the first; labels below 0 do not count.
 * The covariance counts by `strength`, above 0 and up to 1, beside what it is shrunk towards.
 * *possible becomes false, and nothing is changed, where no class has two points or all points of
 * every class coincide. */
imp_status imp_metric_whiten(imp_metric *metric, const float *rows, const int32_t *label, size_t n,
                             double strength, bool *possible, imp_error *error);

/* out(n, dimensions) = points of x in the metric's space, those whose numbers are in `order` or, if
 * that is NULL, the first n; on up to `threads` threads, 0 for as many as there are. */
imp_status imp_metric_apply(const imp_metric *metric, const float *x, const uint32_t *order,
                            size_t n, int threads, float *out, imp_error *error);

/* The same of the second part alone. */
imp_status imp_metric_apply_whitening(const imp_metric *metric, const float *rows, size_t n,
                                      int threads, float *out, imp_error *error);

imp_status imp_metric_copy(const imp_metric *from, imp_metric *to, imp_error *error);
void imp_metric_release(imp_metric *metric);

/* Whether both take points to the same place, to the bit. */
bool imp_metric_equal(const imp_metric *a, const imp_metric *b);

/* Whether points stay as they are. */
static inline bool imp_metric_is_plain(const imp_metric *metric)
{
    return metric->kind <= IMP_METRIC_AS_IS && !metric->whitened;
}

/* Whether features are so unlike in their spread that they cannot be of one unit: the widest
 * spreads 20 times as far as the median one. */
imp_status imp_features_unlike(const float *x, size_t n, size_t d, bool *unlike, imp_error *error);

/* The median of values, which are put in another order; 0 of none. */
double imp_median(double *values, size_t count);

#endif
