/*
 * reference.c - keeps labelled points, and computes the distances of other points from them.
 */
#include "methods/reference.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/first_failure.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "methods/metric.h"

enum { TOGETHER = 64 }; /* points that one thread takes at a time */

/* A feature that varies less than this without a point, relative to its variance with it, is
 * constant. */
static const double constant_share = 1e-12;

static void multiply(const imp_reference *reference, const float *x, float *row)
{
    for (size_t j = 0; j < reference->dimensions; j++)
        row[j] = reference->factor ? x[j] * reference->factor[j] : x[j];
}

void imp_reference_enter(const imp_reference *reference, float *rows, size_t n)
{
    size_t d = reference->dimensions;
    for (size_t i = 0; i < n && reference->factor; i++)
        multiply(reference, rows + i * d, rows + i * d);
}

static double squared_distance(const float *a, const float *b, size_t d)
{
    /* Four independent sums, for instruction-level parallelism. */
    double sum[4] = {0};
    size_t j = 0;
    for (; j + 4 <= d; j += 4)
        for (size_t k = 0; k < 4; k++) {
            double difference = (double)a[j + k] - b[j + k];
            sum[k] += difference * difference;
        }
    for (; j < d; j++) {
        double difference = (double)a[j] - b[j];
        sum[0] += difference * difference;
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* The squared distance to the nearest. */
static double nearest(const imp_reference *reference, const float *row)
{
    double least = INFINITY;
    for (size_t i = 0; i < reference->count; i++)
        least = fmin(least, squared_distance(row, reference->rows + i * reference->dimensions,
                                             reference->dimensions));
    return least;
}

/* ---- many points ---- */

typedef struct search {
    const imp_reference *reference;
    const float *x;
    size_t n;
    double *far;
    imp_first_failure failure;
} search;

static void search_block(size_t block, int worker, void *context)
{
    (void)worker;
    search *all = context;
    const imp_reference *reference = all->reference;
    size_t d = reference->dimensions, begin = block * TOGETHER;
    size_t end = all->n - begin < TOGETHER ? all->n : begin + TOGETHER;
    float *row = imp_allocate(d, sizeof *row);
    imp_error error;
    imp_status status = row ? IMP_OK : imp_fail_memory(&error, "distances to labelled points");
    for (size_t i = begin; i < end && !status; i++) {
        multiply(reference, all->x + i * d, row);
        all->far[i] = nearest(reference, row);
    }
    imp_release(row);
    imp_first_failure_note(&all->failure, block, status, &error);
}

imp_status imp_reference_distances(const imp_reference *reference, const float *x, size_t n,
                                   double *far, imp_error *error)
{
    search all = {.reference = reference, .x = x, .n = n, .far = far};
    imp_first_failure_begin(&all.failure);
    imp_parallel((n + TOGETHER - 1) / TOGETHER, imp_parallel_threads(0), search_block, &all);
    return imp_first_failure_end(&all.failure, error);
}

/* ---- each of them from the others ---- */

/* The reference's own points, as if each were new. */
typedef struct own_search {
    const imp_reference *reference;
    const size_t *which; /* (n) */
    size_t n, sampled;
    const double *mean, *variance; /* of the multiplied features of the sample, (dimensions) */
    double *far;
    imp_first_failure failure;
} own_search;

/* share(d) = the variance of each feature over that without this point, which is one of the sample:
 * what multiplies its squared distances if the factors had been found without it. */
static void without(const own_search *all, const float *row, double *share)
{
    double n = (double)all->sampled;
    for (size_t j = 0; j < all->reference->dimensions; j++) {
        double away = row[j] - all->mean[j], variance = all->variance[j];
        double left = n > 2 ? n / (n - 1) * (variance - away * away / (n - 1)) : 0;
        share[j] = left > constant_share * variance ? variance / left : 0;
    }
}

static double nearest_other(const own_search *all, size_t own, const double *share)
{
    const imp_reference *reference = all->reference;
    size_t d = reference->dimensions;
    const float *row = reference->rows + own * d;
    double least = INFINITY;
    for (size_t i = 0; i < reference->count; i++) {
        const float *other = reference->rows + i * d;
        double square = 0;
        for (size_t j = 0; j < d && i != own && reference->factor; j++) {
            double difference = (double)row[j] - other[j];
            square += share[j] * difference * difference;
        }
        if (i != own)
            least = fmin(least, reference->factor ? square : squared_distance(row, other, d));
    }
    return least;
}

static void search_own(size_t index, int worker, void *context)
{
    (void)worker;
    own_search *all = context;
    const imp_reference *reference = all->reference;
    size_t d = reference->dimensions, own = all->which[index];
    double *share = imp_allocate(d, sizeof *share);
    imp_error error;
    imp_status status = share ? IMP_OK : imp_fail_memory(&error, "distances to labelled points");
    if (!status) {
        if (reference->factor)
            without(all, reference->rows + own * d, share);
        all->far[index] = nearest_other(all, own, share);
    }
    imp_release(share);
    imp_first_failure_note(&all->failure, index, status, &error);
}

/* Mean and variance of the sample's features, multiplied. */
static void find_moments(const imp_reference *reference, const imp_sample *sample, double *mean,
                         double *variance)
{
    size_t d = sample->dimensions;
    double n = (double)sample->count;
    for (size_t j = 0; j < d; j++) {
        double factor = reference->factor ? reference->factor[j] : 1;
        mean[j] = variance[j] = 0;
        for (size_t i = 0; i < sample->count; i++)
            mean[j] += sample->rows[i * d + j] * factor / n;
        for (size_t i = 0; i < sample->count; i++) {
            double away = sample->rows[i * d + j] * factor - mean[j];
            variance[j] += away * away / n;
        }
    }
}

imp_status imp_reference_own_distances(const imp_reference *reference, const imp_sample *sample,
                                       const size_t *which, size_t n, double *far, imp_error *error)
{
    size_t d = reference->dimensions;
    double *moments = imp_allocate(2 * d, sizeof *moments);
    if (!moments)
        return imp_fail_memory(error, "distances to labelled points");
    if (reference->factor)
        find_moments(reference, sample, moments, moments + d);
    own_search all = {.reference = reference,
                      .which = which,
                      .n = n,
                      .sampled = sample->count,
                      .mean = moments,
                      .variance = moments + d,
                      .far = far};
    imp_first_failure_begin(&all.failure);
    imp_parallel(n, imp_parallel_threads(0), search_own, &all);
    imp_release(moments);
    return imp_first_failure_end(&all.failure, error);
}

/* ---- taking points ---- */

/* The factors for features of different units. */
static imp_status find_factor(imp_reference *reference, const float *x, size_t n, imp_error *error)
{
    size_t d = reference->dimensions;
    bool unlike;
    imp_status status = imp_features_unlike(x, n, d, &unlike, error);
    if (status || !unlike)
        return status;
    imp_metric metric;
    status = imp_metric_fit(&metric, IMP_METRIC_STANDARD, x, n, d, error);
    reference->factor = status ? NULL : imp_allocate(d, sizeof *reference->factor);
    if (!status && !reference->factor)
        status = imp_fail_memory(error, "labelled points");
    for (size_t j = 0; j < d && !status; j++)
        reference->factor[j] = (float)(metric.scale * metric.factor[j]);
    imp_metric_release(&metric);
    return status;
}

/* Takes the labelled points of the sample, multiplied by the factors. */
imp_status imp_reference_place(imp_reference *reference, const imp_sample *sample, imp_error *error)
{
    size_t d = sample->dimensions, count = 0;
    float *rows = imp_allocate(sample->labeled_kept * d, sizeof *rows);
    if (!rows)
        return imp_fail_memory(error, "labelled points");
    for (size_t i = 0; i < sample->count; i++)
        if (sample->label[i] >= 0)
            multiply(reference, sample->rows + i * d, rows + count++ * d);
    imp_release(reference->rows);
    reference->rows = rows;
    reference->count = count;
    return IMP_OK;
}

imp_status imp_reference_take(imp_reference *reference, const imp_sample *sample, imp_error *error)
{
    *reference = (imp_reference){.dimensions = sample->dimensions};
    imp_status status = find_factor(reference, sample->rows, sample->count, error);
    return status ? status : imp_reference_place(reference, sample, error);
}

imp_status imp_reference_copy(const imp_reference *from, imp_reference *to, imp_error *error)
{
    size_t d = from->dimensions, values = from->count * d;
    *to = *from;
    to->rows = from->rows ? imp_enlarge(from->rows, values, values, sizeof *to->rows) : NULL;
    to->factor = from->factor ? imp_enlarge(from->factor, d, d, sizeof *to->factor) : NULL;
    return (from->rows && !to->rows) || (from->factor && !to->factor)
               ? imp_fail_memory(error, "labelled points")
               : IMP_OK;
}

void imp_reference_release(imp_reference *reference)
{
    imp_release(reference->rows);
    imp_release(reference->factor);
    *reference = (imp_reference){0};
}
