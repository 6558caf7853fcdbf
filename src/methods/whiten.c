/*
 * whiten.c - fits the second part of a metric: the within-class covariance, with Ledoit and Wolf's
 * (2004) shrinkage towards a multiple of the identity, and a map that whitens it.
 *
 * A class of n points gives n - 1 contrasts: each point minus the mean of those before it, scaled
 * so that the contrasts have the covariance of the class. With fewer contrasts than dimensions
 * everything is computed in their span; outside it the covariance equals the shrinkage target.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "methods/metric.h"

/* Relative to the mean variance: keeps directions without any variance from being divided by 0. */
static const double least_share = 1e-6;

/* More contrasts than this only take longer. */
enum { MOST_CONTRASTS = 4096 };

/* The memory for fitting a covariance; matrices are row-major. */
typedef struct fitting {
    size_t d, count;  /* dimensions, contrasts */
    double *contrast; /* (count, d) */
    double
        *matrix; /* (side, side): their Gram matrix, then the Cholesky factor of the covariance */
    double *inverse; /* (side, side) */
    double *basis;   /* (count, d): orthonormal rows that span the contrasts, if these are few */
    size_t side;     /* the smaller of d and count */
    double base;     /* added to the diagonal of the covariance */
    double kept;     /* the weight of the sample covariance */
} fitting;

/* ---- contrasts ---- */

static size_t count_classes(const int32_t *label, size_t n)
{
    int32_t most = -1;
    for (size_t i = 0; i < n; i++)
        most = label[i] > most ? label[i] : most;
    return (size_t)(most + 1);
}

static imp_status find_contrasts(fitting *fit, const float *rows, const int32_t *label, size_t n,
                                 imp_error *error)
{
    size_t d = fit->d, way = count_classes(label, n),
           most = n < MOST_CONTRASTS ? n : MOST_CONTRASTS;
    double *sum = imp_allocate_zeroed(way * d + 1, sizeof *sum);
    double *seen = imp_allocate_zeroed(way + 1, sizeof *seen);
    fit->contrast = imp_allocate(most * d, sizeof *fit->contrast);
    imp_status status =
        sum && seen && fit->contrast ? IMP_OK : imp_fail_memory(error, "a covariance");
    for (size_t t = 0; t < most && !status; t++) {
        size_t i = imp_block_begin(n, most, t);
        if (label[i] < 0)
            continue;
        double *of = sum + (size_t)label[i] * d, before = seen[label[i]]++;
        if (before > 0) {
            double factor = sqrt(before / (before + 1)), *to = fit->contrast + fit->count++ * d;
            for (size_t j = 0; j < d; j++)
                to[j] = factor * (rows[i * d + j] - of[j] / before);
        }
        for (size_t j = 0; j < d; j++)
            of[j] += rows[i * d + j];
    }
    imp_release(sum);
    imp_release(seen);
    return status;
}

static double dot(const double *a, const double *b, size_t count)
{
    /* Four independent sums, for instruction-level parallelism. */
    double sum[4] = {0};
    size_t j = 0;
    for (; j + 4 <= count; j += 4)
        for (size_t k = 0; k < 4; k++)
            sum[k] += a[j + k] * b[j + k];
    for (; j < count; j++)
        sum[0] += a[j] * b[j];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void add_times(double *to, double factor, const double *from, size_t count)
{
    for (size_t j = 0; j < count; j++)
        to[j] += factor * from[j];
}

/* The Gram matrix of the contrasts or of the dimensions, whichever are fewer, divided by the number
 * of contrasts. */
static void find_products(fitting *fit)
{
    size_t d = fit->d, side = fit->side;
    double share = 1 / (double)fit->count;
    memset(fit->matrix, 0, side * side * sizeof *fit->matrix);
    if (side == fit->count && side < d) {
        for (size_t i = 0; i < side; i++)
            for (size_t k = 0; k <= i; k++)
                fit->matrix[i * side + k] =
                    share * dot(fit->contrast + i * d, fit->contrast + k * d, d);
    } else {
        for (size_t i = 0; i < fit->count; i++)
            for (size_t j = 0; j < d; j++)
                add_times(fit->matrix + j * d, share * fit->contrast[i * d + j],
                          fit->contrast + i * d, j + 1);
    }
    for (size_t i = 0; i < side; i++)
        for (size_t k = 0; k < i; k++)
            fit->matrix[k * side + i] = fit->matrix[i * side + k];
}

/* The weight of the sample covariance by Ledoit and Wolf; false if it is zero. */
static bool shrink(fitting *fit, double strength)
{
    size_t side = fit->side, count = fit->count;
    double trace = 0, fourth = 0;
    double square = dot(fit->matrix, fit->matrix, side * side);
    for (size_t i = 0; i < side; i++)
        trace += fit->matrix[i * side + i];
    for (size_t i = 0; i < count; i++) {
        double length = dot(fit->contrast + i * fit->d, fit->contrast + i * fit->d, fit->d);
        fourth += length * length / (double)count;
    }
    double apart = square - trace * trace / (double)fit->d;
    double noise = fmax(0, (fourth - square) / (double)count);
    double share = apart > 0 ? fmin(1, noise / apart) : 1;
    double mean = trace / (double)fit->d;
    fit->kept = (1 - share) * strength;
    fit->base = (1 - fit->kept + least_share) * mean;
    return mean > 0 && isfinite(mean);
}

/* ---- triangles ---- */

/* Cholesky: the lower triangle L with L L' = matrix, in place; a row whose pivot is at most `least`
 * becomes 0. */
static void factorize(double *matrix, size_t side, double least)
{
    for (size_t i = 0; i < side; i++) {
        double *row = matrix + i * side;
        for (size_t k = 0; k < i; k++) {
            double pivot = matrix[k * side + k];
            row[k] = pivot > 0 ? (row[k] - dot(row, matrix + k * side, k)) / pivot : 0;
        }
        double square = row[i] - dot(row, row, i);
        row[i] = square > least ? sqrt(square) : 0;
        if (row[i] == 0)
            memset(row, 0, i * sizeof *row);
        memset(row + i + 1, 0, (side - i - 1) * sizeof *row);
    }
}

/* inverse = L^-1, also a lower triangle. */
static void invert(const double *triangle, size_t side, double *inverse)
{
    memset(inverse, 0, side * side * sizeof *inverse);
    for (size_t i = 0; i < side; i++) {
        double pivot = triangle[i * side + i], *row = inverse + i * side;
        if (pivot <= 0)
            continue;
        for (size_t k = 0; k < i; k++)
            add_times(row, -triangle[i * side + k], inverse + k * side, k + 1);
        row[i] = 1;
        for (size_t k = 0; k <= i; k++)
            row[k] /= pivot;
    }
}

/* ---- both ways to the map ---- */

/* Covariance = kept * matrix + base, factored and inverted. */
static void invert_covariance(fitting *fit)
{
    size_t side = fit->side;
    for (size_t i = 0; i < side * side; i++)
        fit->matrix[i] *= fit->kept;
    for (size_t i = 0; i < side; i++)
        fit->matrix[i * side + i] += fit->base;
    factorize(fit->matrix, side, 0);
    invert(fit->matrix, side, fit->inverse);
}

/* In all dimensions: x becomes L^-1 x. */
static void map_fully(fitting *fit, imp_metric *metric)
{
    size_t d = fit->d;
    invert_covariance(fit);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            metric->project[j * d + i] = (float)fit->inverse[i * d + j];
}

/* The contrasts R span less than all dimensions. With R R' = L L', the rows of Q = L^-1 R are
 * orthonormal, and in that basis the contrasts are L. */
static void map_span(fitting *fit, imp_metric *metric)
{
    size_t side = fit->side, d = fit->d;
    double trace = 0;
    for (size_t i = 0; i < side; i++)
        trace += fit->matrix[i * side + i];
    factorize(fit->matrix, side, 1e-10 * trace / (double)side);
    invert(fit->matrix, side, fit->inverse);
    memset(fit->basis, 0, side * d * sizeof *fit->basis);
    double root = 1 / sqrt((double)fit->count);
    for (size_t i = 0; i < side; i++)
        for (size_t k = 0; k <= i; k++)
            add_times(fit->basis + i * d, root * fit->inverse[i * side + k], fit->contrast + k * d,
                      d);
    /* L' L, column by column of L. */
    memset(fit->inverse, 0, side * side * sizeof *fit->inverse);
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j <= i; j++)
            add_times(fit->inverse + j * side, fit->matrix[i * side + j], fit->matrix + i * side,
                      side);
    memcpy(fit->matrix, fit->inverse, side * side * sizeof *fit->matrix);
    invert_covariance(fit);
    metric->rest = 1 / sqrt(fit->base);
    for (size_t i = 0; i < side; i++)
        fit->inverse[i * side + i] -= metric->rest;
    for (size_t i = 0; i < side; i++) {
        double *row = fit->contrast; /* no longer needed */
        memset(row, 0, d * sizeof *row);
        for (size_t k = 0; k <= i; k++)
            add_times(row, fit->inverse[i * side + k], fit->basis + k * d, d);
        for (size_t j = 0; j < d; j++) {
            metric->project[j * side + i] = (float)row[j];
            metric->back[i * d + j] = (float)fit->basis[i * d + j];
        }
    }
}

static imp_status fit_map(fitting *fit, imp_metric *metric, double strength, bool *possible,
                          imp_error *error)
{
    size_t d = fit->d, side = fit->count < d ? fit->count : d;
    bool few = fit->count < d;
    fit->side = side;
    fit->matrix = imp_allocate(side * side, sizeof *fit->matrix);
    fit->inverse = imp_allocate(side * side, sizeof *fit->inverse);
    fit->basis = few ? imp_allocate(side * d, sizeof *fit->basis) : NULL;
    float *project = imp_allocate(d * side, sizeof *project);
    float *back = few ? imp_allocate(side * d, sizeof *back) : NULL;
    if (!fit->matrix || !fit->inverse || !project || (few && (!fit->basis || !back))) {
        imp_release(project);
        imp_release(back);
        return imp_fail_memory(error, "a covariance");
    }
    find_products(fit);
    *possible = shrink(fit, strength);
    if (!*possible) {
        imp_release(project);
        imp_release(back);
        return IMP_OK;
    }
    metric->whitened = true;
    metric->rank = side;
    metric->project = project;
    metric->back = back;
    if (few)
        map_span(fit, metric);
    else
        map_fully(fit, metric);
    return IMP_OK;
}

imp_status imp_metric_whiten(imp_metric *metric, const float *rows, const int32_t *label, size_t n,
                             double strength, bool *possible, imp_error *error)
{
    fitting fit = {.d = metric->dimensions};
    *possible = false;
    imp_status status = find_contrasts(&fit, rows, label, n, error);
    if (!status && fit.count > 0)
        status = fit_map(&fit, metric, strength, possible, error);
    imp_release(fit.contrast);
    imp_release(fit.matrix);
    imp_release(fit.inverse);
    imp_release(fit.basis);
    return status;
}
