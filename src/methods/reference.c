/*
 * reference.c - keeps labelled points, and computes the distances of other points from them.
 */
#include "methods/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare_doubles.h"
#include "base/error.h"
#include "base/first_failure.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "methods/metric.h"

enum {
    TOGETHER = 64,      /* points that one thread takes at a time */
    MOST_MEASURED = 500 /* labelled points, evenly spaced, whose distances are measured */
};

static void multiply(const imp_reference *reference, const float *x, float *row)
{
    for (size_t j = 0; j < reference->dimensions; j++)
        row[j] = reference->factor ? x[j] * reference->factor[j] : x[j];
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

/* The squared distance to the nearest, except number `own`. */
static double nearest(const imp_reference *reference, const float *row, size_t own)
{
    double least = INFINITY;
    for (size_t i = 0; i < reference->count; i++)
        if (i != own)
            least = fmin(least, squared_distance(row, reference->rows + i * reference->dimensions,
                                                 reference->dimensions));
    return least;
}

/* ---- many points ---- */

typedef struct search {
    const imp_reference *reference;
    const float *x; /* NULL: n of the reference's own points, each without itself */
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
        size_t own = all->x ? SIZE_MAX : imp_block_begin(reference->count, all->n, i);
        if (all->x)
            multiply(reference, all->x + i * d, row);
        all->far[i] = nearest(reference, all->x ? row : reference->rows + own * d, own);
    }
    imp_release(row);
    imp_first_failure_note(&all->failure, block, status, &error);
}

static imp_status run(search *all, imp_error *error)
{
    imp_first_failure_begin(&all->failure);
    imp_parallel((all->n + TOGETHER - 1) / TOGETHER, imp_parallel_threads(0), search_block, all);
    return imp_first_failure_end(&all->failure, error);
}

imp_status imp_reference_distances(const imp_reference *reference, const float *x, size_t n,
                                   double *far, imp_error *error)
{
    search all = {.reference = reference, .x = x, .n = n, .far = far};
    return run(&all, error);
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

/* Of the first `measured` distances keeps those of points whose class has another point, in
 * ascending order; returns their number. */
static size_t keep_known(const int32_t *label, size_t count, double *distance, size_t measured)
{
    size_t known = 0;
    for (size_t i = 0; i < measured; i++) {
        size_t own = imp_block_begin(count, measured, i);
        bool another = false;
        for (size_t k = 0; k < count && !another; k++)
            another = k != own && label[k] == label[own];
        if (another)
            distance[known++] = distance[i];
    }
    qsort(distance, known, sizeof *distance, imp_compare_doubles);
    return known;
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

imp_status imp_reference_take(imp_reference *reference, const imp_sample *sample, double **distance,
                              size_t *known, imp_error *error)
{
    *reference = (imp_reference){.dimensions = sample->dimensions};
    *known = 0;
    size_t labeled = 0;
    int32_t *label = imp_allocate(sample->labeled_kept, sizeof *label);
    *distance = imp_allocate(sample->labeled_kept, sizeof **distance);
    imp_status status = label && *distance
                            ? find_factor(reference, sample->rows, sample->count, error)
                            : imp_fail_memory(error, "labelled points");
    if (!status)
        status = imp_reference_place(reference, sample, error);
    for (size_t i = 0; i < sample->count && !status; i++)
        if (sample->label[i] >= 0)
            label[labeled++] = sample->label[i];
    size_t measured = labeled < MOST_MEASURED ? labeled : MOST_MEASURED;
    search own = {.reference = reference, .n = measured, .far = *distance};
    if (!status)
        status = run(&own, error);
    if (!status)
        *known = keep_known(label, labeled, *distance, measured);
    imp_release(label);
    return status;
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
