/*
 * affinity.c - finds each point's Gaussian by Newton's method on the log of its precision, with
 * bisection where Newton would leave the bracket.
 */
#include "draw/affinity.h"

#include <math.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"

enum { LANES = IMP_AFFINITY_LANES };

/* ---- one row ---- */

/* Sums over the weights exp(-precision * distance) of all others. */
typedef struct moments {
    double sum, entropy, variance; /* the last of the distances */
} moments;

static moments moments_at(const double *distance, size_t count, size_t self, double precision)
{
    double sum = 0, first = 0, second = 0;
    for (size_t j = 0; j < count; j++) {
        if (j == self)
            continue;
        double weight = exp(-precision * distance[j]);
        sum += weight;
        first += weight * distance[j];
        second += weight * distance[j] * distance[j];
    }
    double mean = first / sum;
    return (moments){sum, log(sum) + precision * mean, second / sum - mean * mean};
}

/* Shifts the nearest distance to 0, which changes no probability and keeps the weights from
 * underflowing, and returns the mean of the others. */
static double shift(double *distance, size_t count, size_t self)
{
    double nearest = INFINITY, sum = 0;
    for (size_t j = 0; j < count; j++)
        if (j != self)
            nearest = fmin(nearest, distance[j]);
    for (size_t j = 0; j < count; j++) {
        distance[j] = j == self ? 0 : distance[j] - nearest;
        sum += distance[j];
    }
    return sum / (double)(count - 1);
}

/* The entropy falls as the precision grows. */
static double find_precision(const double *distance, size_t count, size_t self, double wanted,
                             double mean)
{
    enum { MOST_STEPS = 200 };
    const double tolerance = 1e-10, widest = 60; /* e^60 to either side is flat or a single point */
    double start = -log(mean), low = start - widest, high = start + widest, at = start;
    for (int step = 0; step < MOST_STEPS; step++) {
        double precision = exp(at);
        moments found = moments_at(distance, count, self, precision);
        double excess = found.entropy - wanted;
        if (fabs(excess) < tolerance || high - low < tolerance)
            break;
        if (excess > 0)
            low = at;
        else
            high = at;
        double newton = at + excess / (precision * precision * found.variance);
        at = newton > low && newton < high ? newton : 0.5 * (low + high);
    }
    return exp(at);
}

void imp_affinity_row(double *row, size_t count, size_t self, double perplexity)
{
    double mean = shift(row, count, self);
    double precision = mean > 0 ? find_precision(row, count, self, log(perplexity), mean) : 0;
    double sum = moments_at(row, count, self, precision).sum;
    for (size_t j = 0; j < count; j++)
        row[j] = j == self ? 0 : exp(-precision * row[j]) / sum;
}

/* ---- all rows ---- */

typedef struct work {
    const float *points;
    size_t d;
    double perplexity;
    imp_affinity *to;
} work;

static double squared_distance(const float *a, const float *b, size_t d)
{
    double sums[LANES] = {0}, sum = 0; /* several, so that they can be vectors */
    size_t whole = d - d % LANES;
    for (size_t i = 0; i < whole; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++) {
            double difference = (double)a[i + lane] - b[i + lane];
            sums[lane] += difference * difference;
        }
    for (size_t i = whole; i < d; i++) {
        double difference = (double)a[i] - b[i];
        sum += difference * difference;
    }
    for (size_t lane = 0; lane < LANES; lane++)
        sum += sums[lane];
    return sum;
}

static void fill_row(size_t self, int worker, void *context)
{
    (void)worker;
    const work *all = context;
    size_t count = all->to->count, d = all->d;
    double *row = all->to->pairs + self * all->to->stride;
    for (size_t j = 0; j < count; j++)
        row[j] = squared_distance(all->points + self * d, all->points + j * d, d);
    imp_affinity_row(row, count, self, all->perplexity);
}

static void make_symmetric(imp_affinity *affinity)
{
    double *pairs = affinity->pairs;
    size_t count = affinity->count, stride = affinity->stride;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            double mean = (pairs[i * stride + j] + pairs[j * stride + i]) / (2 * (double)count);
            pairs[i * stride + j] = pairs[j * stride + i] = mean;
        }
}

imp_status imp_affinity_create(imp_affinity *affinity, const float *points, size_t count, size_t d,
                               double perplexity, int threads, imp_error *error)
{
    *affinity = (imp_affinity){0};
    size_t stride, size;
    if (!imp_add(count, LANES - 1, &stride) ||
        !imp_multiply(count, stride -= stride % LANES, &size))
        return imp_fail_memory(error, "the distances of all pairs of points");
    double *pairs = imp_allocate_zeroed(size, sizeof *pairs);
    if (!pairs)
        return imp_fail_memory(error, "the distances of all pairs of points");
    *affinity = (imp_affinity){.count = count, .stride = stride, .pairs = pairs};
    work all = {points, d, perplexity, affinity};
    if (count > 1)
        imp_parallel(count, threads, fill_row, &all);
    make_symmetric(affinity);
    return IMP_OK;
}

void imp_affinity_clear(imp_affinity *affinity)
{
    imp_release(affinity->pairs);
    *affinity = (imp_affinity){0};
}
