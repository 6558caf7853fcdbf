/*
 * components.c - principal components by a few steps of subspace iteration, and how many of them
 * exceed noise.
 */
#include "methods/components.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "kernels/kernels.h"

enum {
    ITERATIONS = 6,
    Q = IMP_MOST_COMPONENTS,
    SWEEPS = 12,
    LEADING_ITERATIONS = 12, /* if but a few directions are wanted, of which */
    SPARE = 4,               /* so many more make the iteration converge faster */
};

/* The largest variance of noise in few points exceeds its limit by chance. */
static const double leading_margin = 1.1;

/* ---- centred rows ---- */

/* *spread = the mean squared length of the rows, which are centred. */
static imp_status center(const float *rows, size_t n, size_t d, float *out, double *spread,
                         imp_error *error)
{
    double *mean = imp_allocate_zeroed(d, sizeof *mean);
    if (!mean)
        return imp_fail_memory(error, "the mean of the points");
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            mean[j] += rows[i * d + j] / (double)n;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++) {
            double value = rows[i * d + j] - mean[j];
            sum += value * value;
        }
    double factor = sum > 0 ? sqrt((double)n / sum) : 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            out[i * d + j] = (float)((rows[i * d + j] - mean[j]) * factor);
    imp_release(mean);
    *spread = sum > 0 ? 1 : 0;
    return IMP_OK;
}

/* ---- directions ---- */

/* Orthonormalises the columns of basis (d, count) one after the other; a linearly dependent one
 * becomes 0. */
static void orthonormalize(float *basis, size_t d, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        for (int twice = 0; twice < 2; twice++)
            for (size_t l = 0; l < k; l++) {
                double product = 0;
                for (size_t j = 0; j < d; j++)
                    product += (double)basis[j * count + k] * basis[j * count + l];
                for (size_t j = 0; j < d; j++)
                    basis[j * count + k] -= (float)(product * basis[j * count + l]);
            }
        double square = 0;
        for (size_t j = 0; j < d; j++)
            square += (double)basis[j * count + k] * basis[j * count + k];
        double factor = square > 1e-20 ? 1 / sqrt(square) : 0;
        for (size_t j = 0; j < d; j++)
            basis[j * count + k] = (float)(basis[j * count + k] * factor);
    }
}

/* Jacobi rotations: matrix (count, count) becomes diagonal, the columns of vectors (count, count)
 * its eigenvectors. */
static void diagonalize(double *matrix, double *vectors, size_t count)
{
    memset(vectors, 0, count * count * sizeof *vectors);
    for (size_t i = 0; i < count; i++)
        vectors[i * count + i] = 1;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (size_t p = 0; p < count; p++)
            for (size_t q = p + 1; q < count; q++) {
                double off = matrix[p * count + q];
                if (fabs(off) < 1e-300)
                    continue;
                double theta = (matrix[q * count + q] - matrix[p * count + p]) / (2 * off);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                double cosine = 1 / sqrt(t * t + 1), sine = t * cosine;
                for (size_t k = 0; k < count; k++) {
                    double a = matrix[k * count + p], b = matrix[k * count + q];
                    matrix[k * count + p] = cosine * a - sine * b;
                    matrix[k * count + q] = sine * a + cosine * b;
                }
                for (size_t k = 0; k < count; k++) {
                    double a = matrix[p * count + k], b = matrix[q * count + k];
                    matrix[p * count + k] = cosine * a - sine * b;
                    matrix[q * count + k] = sine * a + cosine * b;
                    a = vectors[k * count + p];
                    b = vectors[k * count + q];
                    vectors[k * count + p] = cosine * a - sine * b;
                    vectors[k * count + q] = sine * a + cosine * b;
                }
            }
}

/* Sorts directions by their variance, the largest first. */
static void sort_directions(const double *variance, size_t count, size_t *order)
{
    for (size_t i = 0; i < count; i++) {
        size_t place = i;
        for (; place > 0 && variance[order[place - 1]] < variance[i]; place--)
            order[place] = order[place - 1];
        order[place] = i;
    }
}

/* How many of the directions, sorted, have a variance that exceeds what noise could produce. The
 * total variance is 1. One after the other is taken, by what is left without it: the other way
 * round, from all of them to fewer, the noise would seem smaller than it is where there are fewer
 * points than dimensions, and nothing would be left out. */
static size_t count_directions(const double *variance, size_t n, size_t d, const size_t *order,
                               size_t most, double margin)
{
    double widening = margin * pow(1 + sqrt((double)d / (double)n), 2), rest = 1;
    size_t kept = 0;
    while (kept < most && variance[order[kept]] > fmax(rest - variance[order[kept]], 0) /
                                                      (double)(d - kept - 1) * widening)
        rest -= variance[order[kept++]];
    return kept;
}

/* ---- all of it ---- */

/* Directions of some points. */
typedef struct reduction {
    size_t n, d, count; /* of points, dimensions and directions, up to Q */
    float *rows;        /* (n, d), centred */
    float *basis;       /* (d, count) */
    float *projected;   /* (n, count) */
    double *products, *vectors;
    double variance[Q];
    size_t order[Q]; /* by variance, the largest first */
} reduction;

static void iterate(const imp_kernels *kernels, reduction *r, int iterations)
{
    size_t n = r->n, d = r->d, count = r->count;
    imp_random random = imp_random_start(1, IMP_STREAM_HELD_OUT, 1);
    for (size_t i = 0; i < d * count; i++)
        r->basis[i] = (float)imp_random_normal(&random);
    for (int step = 0; step <= iterations; step++) {
        orthonormalize(r->basis, d, count);
        memset(r->projected, 0, n * count * sizeof *r->projected);
        kernels->multiply(n, count, d, r->rows, d, 1, r->basis, count, r->projected, count);
        if (step == iterations)
            return;
        memset(r->basis, 0, d * count * sizeof *r->basis);
        kernels->multiply(d, count, n, r->rows, 1, d, r->projected, count, r->basis, count);
    }
}

/* Finds the directions of the centred rows, with their variances. */
static imp_status find_directions(reduction *r, int iterations, imp_error *error)
{
    size_t n = r->n, count = r->count;
    const imp_kernels *kernels;
    r->basis = imp_allocate(r->d * count, sizeof *r->basis);
    r->projected = imp_allocate(n * count, sizeof *r->projected);
    r->products = imp_allocate_zeroed(count * count, sizeof *r->products);
    r->vectors = imp_allocate(count * count, sizeof *r->vectors);
    if (!r->basis || !r->projected || !r->products || !r->vectors)
        return imp_fail_memory(error, "principal components");
    imp_status status = imp_kernels_choose(&kernels, error);
    if (status)
        return status;
    iterate(kernels, r, iterations);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < count; k++)
            for (size_t l = 0; l < count; l++)
                r->products[k * count + l] +=
                    (double)r->projected[i * count + k] * r->projected[i * count + l] / (double)n;
    diagonalize(r->products, r->vectors, count);
    for (size_t k = 0; k < count; k++)
        r->variance[k] = r->products[k * count + k];
    sort_directions(r->variance, count, r->order);
    return IMP_OK;
}

/* Where point i lies in the k-th direction. */
static double score_of(const reduction *r, size_t i, size_t k)
{
    double sum = 0;
    for (size_t l = 0; l < r->count; l++)
        sum += r->projected[i * r->count + l] * r->vectors[l * r->count + r->order[k]];
    return sum;
}

static void release(reduction *r)
{
    imp_release(r->rows);
    imp_release(r->basis);
    imp_release(r->projected);
    imp_release(r->products);
    imp_release(r->vectors);
}

/* Centres the points into r->rows. */
static imp_status begin(reduction *r, const float *rows, double *spread, imp_error *error)
{
    size_t values;
    if (imp_multiply(r->n, r->d, &values))
        r->rows = imp_allocate(values, sizeof *r->rows);
    return r->rows ? center(rows, r->n, r->d, r->rows, spread, error)
                   : imp_fail_memory(error, "principal components");
}

/* Projects the centred rows of r to the directions that exceed noise, at least 2. */
static imp_status project(reduction *r, float **reduced, size_t *dimensions, imp_error *error)
{
    imp_status status = find_directions(r, ITERATIONS, error);
    if (!status) {
        size_t most = r->d - 2 < Q ? r->d - 2 : Q; /* noise has two at least */
        size_t found = count_directions(r->variance, r->n, r->d, r->order, most, 1);
        *dimensions = found > 2 ? found : 2;
        *reduced = imp_allocate(r->n * *dimensions, sizeof **reduced);
        status = *reduced ? IMP_OK : imp_fail_memory(error, "principal components");
    }
    for (size_t i = 0; i < r->n && !status; i++)
        for (size_t k = 0; k < *dimensions; k++)
            (*reduced)[i * *dimensions + k] = (float)score_of(r, i, k);
    return status;
}

imp_status imp_principal_components(const float *rows, size_t n, size_t d, size_t few,
                                    float **reduced, size_t *dimensions, imp_error *error)
{
    *reduced = NULL;
    double spread = 0;
    reduction r = {.n = n, .d = d, .count = d < Q ? d : Q};
    imp_status status = begin(&r, rows, &spread, error);
    if (!status && (d <= few || spread <= 0)) {
        *dimensions = d;
        *reduced = r.rows;
        return IMP_OK;
    }
    if (!status)
        status = project(&r, reduced, dimensions, error);
    release(&r);
    return status;
}

imp_status imp_leading_scores(const float *rows, size_t n, size_t d, size_t most, double *scores,
                              size_t *count, imp_error *error)
{
    double spread = 0;
    reduction r = {.n = n, .d = d, .count = most + SPARE};
    imp_status status = begin(&r, rows, &spread, error);
    if (!status)
        status = find_directions(&r, LEADING_ITERATIONS, error);
    *count = status ? 0 : count_directions(r.variance, n, d, r.order, most, leading_margin);
    for (size_t k = 0; k < *count; k++)
        for (size_t i = 0; i < n; i++)
            scores[k * n + i] = score_of(&r, i, k);
    release(&r);
    return status;
}
