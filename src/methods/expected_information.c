/*
 * expected_information.c - the mutual information that two labelings of given sizes have by chance
 * (Vinh, Epps and Bailey, 2010, Equation 24a), which adjusted mutual information subtracts.
 *
 * If every point is its own cluster, expectation and entropy are equal, and only their rounding
 * errors remain after the adjustment. To agree with scikit-learn there too, sums are in its order
 * and use its logarithms of factorials: those of Cephes for sizes and totals, the C library's for
 * the rest.
 */
#define _DEFAULT_SOURCE /* lgamma_r */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "methods/contingency.h"

/* log (x-1)! for an integer x >= 1, as Cephes' lgam() computes it: from the factorial itself while
 * that is small, then by Stirling's series with fitted or, from 1000 on, exact coefficients. */
static double cephes_log_gamma(double x)
{
    if (x < 13) {
        double factorial = 1;
        for (double factor = x - 1; factor > 1; factor--)
            factorial *= factor;
        return log(factorial);
    }
    static const double half_log_two_pi = 0.91893853320467274178;
    static const double fitted[] = {8.11614167470508450300e-4, -5.95061904284301438324e-4,
                                    7.93650340457716943945e-4, -2.77777777730099687205e-3,
                                    8.33333333333331927722e-2};
    double value = (x - 0.5) * log(x) - x + half_log_two_pi, p = 1 / (x * x);
    if (x > 1e8)
        return value;
    if (x >= 1000)
        return value + ((7.9365079365079365079365e-4 * p - 2.7777777777777777777778e-3) * p +
                        0.0833333333333333333333) /
                           x;
    double series = fitted[0];
    for (size_t i = 1; i < sizeof fitted / sizeof *fitted; i++)
        series = series * p + fitted[i];
    return value + series / x;
}

/* lgamma() writes to a global, so use the variant that does not. */
static double log_factorial(double n)
{
    int sign;
    return lgamma_r(n + 1, &sign);
}

/* Tables of what the terms have in common. */
typedef struct tables {
    double points;
    double *log_factorial; /* (points + 1) */
    double *log_shared;    /* (points + 1): log(points * shared) */
    double *log_gamma;     /* (points + 1): log shared! + log points! */
} tables;

/* Adds the terms of one class of a points and one cluster of b points to *sum, one by one, to round
 * as scikit-learn does. */
static void add_terms(const tables *t, double a, double b, double *sum)
{
    double n = t->points, log_a = log(a), log_b = log(b);
    double sizes = cephes_log_gamma(a + 1) + cephes_log_gamma(b + 1) + cephes_log_gamma(n - a + 1) +
                   cephes_log_gamma(n - b + 1);
    size_t last = (size_t)(a < b ? a : b);
    for (size_t shared = a + b - n > 1 ? (size_t)(a + b - n) : 1; shared <= last; shared++) {
        double information = t->log_shared[shared] - log_a - log_b;
        double log_probability = sizes - t->log_gamma[shared] -
                                 t->log_factorial[(size_t)a - shared] -
                                 t->log_factorial[(size_t)b - shared] -
                                 t->log_factorial[(size_t)(n - a - b + (double)shared)];
        *sum += (double)shared / n * information * exp(log_probability);
    }
}

static int compare_sizes(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* The sizes sorted, each once, followed by how often it occurs. */
static uint32_t *group_sizes(const uint32_t *size, size_t count, size_t *groups)
{
    uint32_t *group = imp_allocate(count, 2 * sizeof *group);
    if (!group)
        return NULL;
    for (size_t i = 0; i < count; i++)
        group[i] = size[i];
    qsort(group, count, sizeof *group, compare_sizes);
    *groups = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || group[i] != group[*groups - 1]) {
            group[*groups] = group[i];
            group[count + *groups] = 0;
            ++*groups;
        }
        group[count + *groups - 1]++;
    }
    return group;
}

/* With very many classes and clusters, those of equal size are taken together: the order of the sum
 * differs, but it ends in reasonable time. */
static imp_status add_grouped(const imp_contingency *c, const tables *t, double *sum,
                              imp_error *error)
{
    size_t rows = 0, columns = 0;
    uint32_t *row = group_sizes(c->class_size, c->classes, &rows);
    uint32_t *column = group_sizes(c->cluster_size, c->clusters, &columns);
    for (size_t i = 0; row && column && i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            double part = 0;
            add_terms(t, row[i], column[j], &part);
            *sum += part * row[c->classes + i] * column[c->clusters + j];
        }
    bool done = row && column;
    imp_release(row);
    imp_release(column);
    return done ? IMP_OK : imp_fail_memory(error, "the sizes of clusters");
}

imp_status imp_expected_information(const imp_contingency *contingency, double *information,
                                    imp_error *error)
{
    enum { MANY_PAIRS = 1 << 22 };
    *information = 0;
    /* A labeling with a single label carries no information. */
    if (contingency->classes <= 1 || contingency->clusters <= 1)
        return IMP_OK;

    size_t count = contingency->points + 1;
    double *memory = imp_allocate(count, 3 * sizeof *memory);
    if (!memory)
        return imp_fail_memory(error, "logarithms of factorials");
    double n = (double)contingency->points, log_gamma_n = cephes_log_gamma(n + 1);
    tables t = {n, memory, memory + count, memory + 2 * count};
    for (size_t i = 0; i < count; i++) {
        t.log_factorial[i] = log_factorial((double)i);
        t.log_shared[i] = i > 0 ? log(n) + log((double)i) : 0; /* 0 is never looked up */
        t.log_gamma[i] = cephes_log_gamma((double)i + 1) + log_gamma_n;
    }

    imp_status status = IMP_OK;
    if (contingency->classes > MANY_PAIRS / contingency->clusters)
        status = add_grouped(contingency, &t, information, error);
    else
        for (size_t i = 0; i < contingency->classes; i++)
            for (size_t j = 0; j < contingency->clusters; j++)
                add_terms(&t, contingency->class_size[i], contingency->cluster_size[j],
                          information);
    imp_release(memory);
    return status;
}
