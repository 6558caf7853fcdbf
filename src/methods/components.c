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

enum { ITERATIONS = 6, Q = IMP_MOST_COMPONENTS, SWEEPS = 12 };

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

/* Orthonormalises the columns of basis (d, Q) one after the other; a linearly dependent one becomes
 * 0. */
static void orthonormalize(float *basis, size_t d)
{
    for (size_t k = 0; k < Q; k++) {
        for (int twice = 0; twice < 2; twice++)
            for (size_t l = 0; l < k; l++) {
                double product = 0;
                for (size_t j = 0; j < d; j++)
                    product += (double)basis[j * Q + k] * basis[j * Q + l];
                for (size_t j = 0; j < d; j++)
                    basis[j * Q + k] -= (float)(product * basis[j * Q + l]);
            }
        double square = 0;
        for (size_t j = 0; j < d; j++)
            square += (double)basis[j * Q + k] * basis[j * Q + k];
        double factor = square > 1e-20 ? 1 / sqrt(square) : 0;
        for (size_t j = 0; j < d; j++)
            basis[j * Q + k] = (float)(basis[j * Q + k] * factor);
    }
}

/* Jacobi rotations: matrix (Q, Q) becomes diagonal, the columns of vectors (Q, Q) its eigenvectors.
 */
static void diagonalize(double *matrix, double *vectors)
{
    memset(vectors, 0, Q * Q * sizeof *vectors);
    for (size_t i = 0; i < Q; i++)
        vectors[i * Q + i] = 1;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (size_t p = 0; p < Q; p++)
            for (size_t q = p + 1; q < Q; q++) {
                double off = matrix[p * Q + q];
                if (fabs(off) < 1e-300)
                    continue;
                double theta = (matrix[q * Q + q] - matrix[p * Q + p]) / (2 * off);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                double cosine = 1 / sqrt(t * t + 1), sine = t * cosine;
                for (size_t k = 0; k < Q; k++) {
                    double a = matrix[k * Q + p], b = matrix[k * Q + q];
                    matrix[k * Q + p] = cosine * a - sine * b;
                    matrix[k * Q + q] = sine * a + cosine * b;
                }
                for (size_t k = 0; k < Q; k++) {
                    double a = matrix[p * Q + k], b = matrix[q * Q + k];
                    matrix[p * Q + k] = cosine * a - sine * b;
                    matrix[q * Q + k] = sine * a + cosine * b;
                    a = vectors[k * Q + p];
                    b = vectors[k * Q + q];
                    vectors[k * Q + p] = cosine * a - sine * b;
                    vectors[k * Q + q] = sine * a + cosine * b;
                }
            }
}

/* The directions whose variance exceeds what noise could produce, largest first. The total variance
 * is 1. One after the other is taken, by what is left without it: the other way round, from all of
 * them to fewer, the noise would seem smaller than it is where there are fewer points than
 * dimensions, and nothing would be left out. */
static size_t choose_directions(const double *variance, size_t n, size_t d, size_t *order)
{
    for (size_t i = 0; i < Q; i++) {
        size_t place = i;
        for (; place > 0 && variance[order[place - 1]] < variance[i]; place--)
            order[place] = order[place - 1];
        order[place] = i;
    }
    double widening = pow(1 + sqrt((double)d / (double)n), 2), rest = 1;
    size_t kept = 0;
    while (kept < Q && variance[order[kept]] > fmax(rest - variance[order[kept]], 0) /
                                                   (double)(d - kept - 1) * widening)
        rest -= variance[order[kept++]];
    return kept > 2 ? kept : 2;
}

/* ---- all of it ---- */

/* Memory of one reduction. */
typedef struct reduction {
    float *rows;      /* (n, d), centred */
    float *basis;     /* (d, Q) */
    float *projected; /* (n, Q) */
    double *products, *vectors;
} reduction;

static void iterate(const imp_kernels *kernels, reduction *r, size_t n, size_t d)
{
    imp_random random = imp_random_start(1, IMP_STREAM_HELD_OUT, 1);
    for (size_t i = 0; i < d * Q; i++)
        r->basis[i] = (float)imp_random_normal(&random);
    for (int step = 0; step <= ITERATIONS; step++) {
        orthonormalize(r->basis, d);
        memset(r->projected, 0, n * Q * sizeof *r->projected);
        kernels->multiply(n, Q, d, r->rows, d, 1, r->basis, Q, r->projected, Q);
        if (step == ITERATIONS)
            return;
        memset(r->basis, 0, d * Q * sizeof *r->basis);
        kernels->multiply(d, Q, n, r->rows, 1, d, r->projected, Q, r->basis, Q);
    }
}

static imp_status reduce(reduction *r, size_t n, size_t d, float **reduced, size_t *dimensions,
                         imp_error *error)
{
    const imp_kernels *kernels;
    imp_status status = imp_kernels_choose(&kernels, error);
    if (status)
        return status;
    iterate(kernels, r, n, d);
    memset(r->products, 0, Q * Q * sizeof *r->products);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < Q; k++)
            for (size_t l = 0; l < Q; l++)
                r->products[k * Q + l] +=
                    (double)r->projected[i * Q + k] * r->projected[i * Q + l] / (double)n;
    diagonalize(r->products, r->vectors);
    double variance[Q];
    size_t order[Q];
    for (size_t k = 0; k < Q; k++)
        variance[k] = r->products[k * Q + k];
    *dimensions = choose_directions(variance, n, d, order);
    *reduced = imp_allocate(n * *dimensions, sizeof **reduced);
    if (!*reduced)
        return imp_fail_memory(error, "principal components");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < *dimensions; k++) {
            double sum = 0;
            for (size_t l = 0; l < Q; l++)
                sum += r->projected[i * Q + l] * r->vectors[l * Q + order[k]];
            (*reduced)[i * *dimensions + k] = (float)sum;
        }
    return IMP_OK;
}

imp_status imp_principal_components(const float *rows, size_t n, size_t d, float **reduced,
                                    size_t *dimensions, imp_error *error)
{
    *reduced = NULL;
    double spread = 0;
    size_t values;
    reduction r = {.rows =
                       imp_multiply(n, d, &values) ? imp_allocate(values, sizeof *r.rows) : NULL};
    imp_status status = r.rows ? center(rows, n, d, r.rows, &spread, error)
                               : imp_fail_memory(error, "principal components");
    if (!status && (d <= Q || spread <= 0)) {
        *dimensions = d;
        *reduced = r.rows;
        return IMP_OK;
    }
    if (!status) {
        r.basis = imp_allocate(d * Q, sizeof *r.basis);
        r.projected = imp_allocate(n * Q, sizeof *r.projected);
        r.products = imp_allocate(Q * Q, sizeof *r.products);
        r.vectors = imp_allocate(Q * Q, sizeof *r.vectors);
        status = r.basis && r.projected && r.products && r.vectors
                     ? reduce(&r, n, d, reduced, dimensions, error)
                     : imp_fail_memory(error, "principal components");
    }
    imp_release(r.rows);
    imp_release(r.basis);
    imp_release(r.projected);
    imp_release(r.products);
    imp_release(r.vectors);
    return status;
}
