/*
 * metric.c - fits the part of a metric that uses no labels, and maps points through both parts.
 * Whitening is fitted in whiten.c.
 *
 * All statistics are relative to the points' own scale, so the result is the same if all points are
 * scaled, but for rounding.
 */
#include "methods/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare_doubles.h"
#include "base/error.h"
#include "base/first_failure.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "kernels/kernels.h"

enum { TOGETHER = 64 }; /* rows whitened together */

static const double unlike_spreads = 20;

static const char *const names[] = {
    [IMP_METRIC_AUTO] = "auto",     [IMP_METRIC_AS_IS] = "as-is",
    [IMP_METRIC_SCALED] = "scaled", [IMP_METRIC_STANDARD] = "standard",
    [IMP_METRIC_UNIT] = "unit",     [IMP_METRIC_ROOT] = "root",
    [IMP_METRIC_COSINE] = "cosine",
};

const char *imp_metric_name(imp_metric_kind kind)
{
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

double imp_median(double *values, size_t count)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, imp_compare_doubles);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

/* ---- statistics ---- */

/* The rows used: `count` of all, evenly spaced. */
typedef struct sample {
    const float *x;
    size_t n, d, count;
} sample;

static sample look_at(const float *x, size_t n, size_t d)
{
    return (sample){x, n, d, n < IMP_METRIC_ROWS ? n : IMP_METRIC_ROWS};
}

static const float *row_of(const sample *rows, size_t i)
{
    return rows->x + imp_block_begin(rows->n, rows->count, i) * rows->d;
}

/* mean(d) and spread(d), the standard deviation of each feature. */
static void find_moments(const sample *rows, double *mean, double *spread)
{
    double count = (double)rows->count;
    memset(mean, 0, rows->d * sizeof *mean);
    memset(spread, 0, rows->d * sizeof *spread);
    for (size_t i = 0; i < rows->count; i++)
        for (size_t j = 0; j < rows->d; j++)
            mean[j] += row_of(rows, i)[j] / count;
    for (size_t i = 0; i < rows->count; i++)
        for (size_t j = 0; j < rows->d; j++) {
            double difference = row_of(rows, i)[j] - mean[j];
            spread[j] += difference * difference / count;
        }
    for (size_t j = 0; j < rows->d; j++)
        spread[j] = sqrt(spread[j]);
}

imp_status imp_features_unlike(const float *x, size_t n, size_t d, bool *unlike, imp_error *error)
{
    double *mean = imp_allocate(2 * d, sizeof *mean);
    if (!mean)
        return imp_fail_memory(error, "the spread of features");
    double *spread = mean + d, widest = 0;
    sample rows = look_at(x, n, d);
    find_moments(&rows, mean, spread);
    size_t varying = 0;
    for (size_t j = 0; j < d; j++)
        if (spread[j] > 0) {
            widest = fmax(widest, spread[j]);
            mean[varying++] = spread[j];
        }
    *unlike = widest > unlike_spreads * imp_median(mean, varying);
    imp_release(mean);
    return IMP_OK;
}

static void to_length_one(double *v, size_t d)
{
    double square = 0;
    for (size_t j = 0; j < d; j++)
        square += v[j] * v[j];
    double factor = square > 0 ? 1 / sqrt(square) : 0;
    for (size_t j = 0; j < d; j++)
        v[j] *= factor;
}

/* The first part of the map, for one point. */
static void prepare(const imp_metric *metric, const float *x, double *v)
{
    size_t d = metric->dimensions;
    for (size_t j = 0; j < d; j++)
        v[j] = x[j] * metric->scale;
    if (metric->kind == IMP_METRIC_ROOT) {
        for (size_t j = 0; j < d; j++)
            v[j] = sqrt(fmax(v[j], 0));
        to_length_one(v, d);
    }
    for (size_t j = 0; j < d && metric->center; j++)
        v[j] -= metric->center[j];
    for (size_t j = 0; j < d && metric->factor; j++)
        v[j] *= metric->factor[j];
    if (metric->kind == IMP_METRIC_UNIT || metric->kind == IMP_METRIC_ROOT ||
        metric->kind == IMP_METRIC_COSINE)
        to_length_one(v, d);
}

/* The reciprocal of the overall spread of the points or, if that is 0, of their distance from 0. */
static double find_scale(const sample *rows, const double *mean, const double *spread, bool centred)
{
    double variance = 0, square = 0;
    for (size_t j = 0; j < rows->d; j++) {
        variance += spread[j] * spread[j];
        square += mean[j] * mean[j];
    }
    double length = sqrt(centred && variance > 0 ? variance : variance + square);
    return length > 0 ? 1 / length : 1;
}

/* The mean of the rows after the part prepared so far. */
static void find_center(imp_metric *metric, const sample *rows, double *v, double *center)
{
    memset(center, 0, rows->d * sizeof *center);
    for (size_t i = 0; i < rows->count; i++) {
        prepare(metric, row_of(rows, i), v);
        for (size_t j = 0; j < rows->d; j++)
            center[j] += v[j] / (double)rows->count;
    }
}

imp_status imp_metric_fit(imp_metric *metric, imp_metric_kind kind, const float *x, size_t n,
                          size_t d, imp_error *error)
{
    *metric = (imp_metric){.kind = kind, .dimensions = d, .scale = 1};
    if (kind == IMP_METRIC_AS_IS)
        return IMP_OK;
    double *mean = imp_allocate(2 * d, sizeof *mean);
    metric->center = imp_allocate(d, sizeof *metric->center);
    if (kind == IMP_METRIC_STANDARD)
        metric->factor = imp_allocate(d, sizeof *metric->factor);
    if (!mean || !metric->center || (kind == IMP_METRIC_STANDARD && !metric->factor)) {
        imp_release(mean);
        return imp_fail_memory(error, "a metric");
    }
    double *spread = mean + d, *center = metric->center, widest = 0;
    sample rows = look_at(x, n, d);
    find_moments(&rows, mean, spread);
    bool centred = kind != IMP_METRIC_ROOT && kind != IMP_METRIC_COSINE;
    metric->scale = find_scale(&rows, mean, spread, centred);
    for (size_t j = 0; j < d; j++) {
        widest = fmax(widest, spread[j]);
        center[j] = mean[j] * metric->scale;
    }
    /* A feature that hardly varies compared with the others is only rounding. */
    for (size_t j = 0; j < d && metric->factor; j++)
        metric->factor[j] =
            spread[j] > 1e-6 * widest ? 1 / (spread[j] * metric->scale * sqrt((double)d)) : 0;
    if (kind == IMP_METRIC_ROOT) {
        metric->center = NULL;
        find_center(metric, &rows, mean, center);
        metric->center = center;
    }
    if (kind == IMP_METRIC_COSINE) {
        imp_release(metric->center);
        metric->center = NULL;
    }
    imp_release(mean);
    return IMP_OK;
}

/* ---- mapping points ---- */

typedef struct passage {
    const imp_metric *metric;
    const imp_kernels *kernels;
    const float *x;
    const uint32_t *order; /* of x's rows; NULL: as they are */
    float *out;
    size_t n;
    bool first, second; /* parts to apply */
    imp_first_failure failure;
} passage;

static imp_status pass(const passage *way, size_t begin, size_t end, imp_error *error)
{
    const imp_metric *metric = way->metric;
    size_t d = metric->dimensions, rank = metric->rank, count = end - begin;
    bool whiten = way->second && metric->whitened;
    double *v = imp_allocate(d, sizeof *v);
    float *rows = imp_allocate(TOGETHER * d, sizeof *rows);
    float *part = imp_allocate(TOGETHER * rank, sizeof *part);
    imp_status status = v && rows && part ? IMP_OK : imp_fail_memory(error, "points in a metric");
    for (size_t i = begin; i < end && !status; i++) {
        const float *x = way->x + (way->order ? way->order[i] : i) * d;
        float *to = whiten ? rows + (i - begin) * d : way->out + i * d;
        if (way->first)
            prepare(metric, x, v);
        for (size_t j = 0; j < d; j++)
            to[j] = way->first ? (float)v[j] : x[j];
    }
    if (whiten && !status) {
        float *out = way->out + begin * d;
        for (size_t i = 0; i < count * d; i++)
            out[i] = metric->back ? (float)metric->rest * rows[i] : 0;
        float *product = metric->back ? part : out;
        if (metric->back)
            memset(part, 0, count * rank * sizeof *part);
        way->kernels->multiply(count, rank, d, rows, d, 1, metric->project, rank, product, rank);
        if (metric->back)
            way->kernels->multiply(count, d, rank, part, rank, 1, metric->back, d, out, d);
    }
    imp_release(v);
    imp_release(rows);
    imp_release(part);
    return status;
}

static void pass_block(size_t block, int worker, void *context)
{
    (void)worker;
    passage *way = context;
    size_t begin = block * TOGETHER, end = way->n - begin < TOGETHER ? way->n : begin + TOGETHER;
    imp_error error;
    imp_status status = pass(way, begin, end, &error);
    imp_first_failure_note(&way->failure, block, status, &error);
}

static imp_status go(passage *way, int threads, imp_error *error)
{
    imp_status status = imp_kernels_choose(&way->kernels, error);
    if (status)
        return status;
    imp_first_failure_begin(&way->failure);
    imp_parallel((way->n + TOGETHER - 1) / TOGETHER, imp_parallel_threads(threads), pass_block,
                 way);
    return imp_first_failure_end(&way->failure, error);
}

imp_status imp_metric_apply(const imp_metric *metric, const float *x, const uint32_t *order,
                            size_t n, int threads, float *out, imp_error *error)
{
    passage way = {.metric = metric,
                   .x = x,
                   .order = order,
                   .n = n,
                   .out = out,
                   .first = true,
                   .second = true};
    return go(&way, threads, error);
}

imp_status imp_metric_apply_whitening(const imp_metric *metric, const float *rows, size_t n,
                                      int threads, float *out, imp_error *error)
{
    passage way = {.metric = metric, .x = rows, .n = n, .out = out, .second = true};
    return go(&way, threads, error);
}

/* ---- copies ---- */

static bool copy_part(void *to, const void *from, size_t count, size_t size)
{
    void **copy = to;
    *copy = from ? imp_allocate(count, size) : NULL;
    if (from && *copy)
        memcpy(*copy, from, count * size);
    return !from || *copy;
}

imp_status imp_metric_copy(const imp_metric *from, imp_metric *to, imp_error *error)
{
    size_t d = from->dimensions;
    *to = *from;
    bool all = copy_part(&to->center, from->center, d, sizeof *from->center);
    all = copy_part(&to->factor, from->factor, d, sizeof *from->factor) && all;
    all = copy_part(&to->project, from->project, d * from->rank, sizeof *from->project) && all;
    all = copy_part(&to->back, from->back, d * from->rank, sizeof *from->back) && all;
    return all ? IMP_OK : imp_fail_memory(error, "a metric");
}

static bool same_part(const void *a, const void *b, size_t count, size_t size)
{
    return (!a && !b) || (a && b && memcmp(a, b, count * size) == 0);
}

bool imp_metric_equal(const imp_metric *a, const imp_metric *b)
{
    if (imp_metric_is_plain(a) && imp_metric_is_plain(b))
        return true;
    size_t d = a->dimensions, rank = a->rank;
    return a->kind == b->kind && a->whitened == b->whitened && d == b->dimensions &&
           rank == b->rank && a->scale == b->scale && a->rest == b->rest &&
           same_part(a->center, b->center, d, sizeof *a->center) &&
           same_part(a->factor, b->factor, d, sizeof *a->factor) &&
           same_part(a->project, b->project, d * rank, sizeof *a->project) &&
           same_part(a->back, b->back, d * rank, sizeof *a->back);
}

void imp_metric_release(imp_metric *metric)
{
    imp_release(metric->center);
    imp_release(metric->factor);
    imp_release(metric->project);
    imp_release(metric->back);
    *metric = (imp_metric){0};
}
