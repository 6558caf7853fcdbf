/*
 * shares.c - softmax: from log densities to responsibilities (shares) that sum to 1, and sums of
 * rows, weighted by them or not.
 */
#include <math.h>
#include <string.h>

#include "kernels/exponential.h"
#include "kernels/variants.h"

/* log 2 in two parts: small multiples of the first are exact */
#define LN2_HIGH 6.93147180369123816490e-01
#define LN2_LOW 1.90821492927058770002e-10

/* ---- floats ---- */

void VARIANT(shares)(size_t count, const double *score, double most, float *share)
{
    for (size_t i = 0; i < count; i += LANES) {
        wide low = *(const wide_unaligned *)(score + i) - spread(most);
        wide high = *(const wide_unaligned *)(score + i + DOUBLES) - spread(most);
        store_unaligned(share + i, exponential(to_floats(low, high)));
    }
}

size_t VARIANT(scale_shares)(size_t count, const float *share, size_t chosen, float *scaled)
{
    vec sum = zero();
    for (size_t i = 0; i < count; i += LANES)
        sum += load_first(share + i, count - i);
    vec factor = splat(1 / rough_total(sum)), least = splat(share[chosen]) * factor;
    size_t enough = 0;
    for (size_t i = 0; i < count; i += LANES) {
        vec here = load_first(share + i, count - i) * factor;
        store_first(scaled + i, here, count - i);
        enough += (size_t)__builtin_popcount(to_bits(here >= least) & first_bits(count - i));
    }
    return enough;
}

void VARIANT(write_apart)(size_t count, const float *from, float *to)
{
    size_t i = 0;
#if defined(__SSE2__)
    enum { LINE = 16 }; /* floats that are written at once, whatever the width of vectors */
    for (; i < count && (uintptr_t)(to + i) % (LINE * sizeof *to) != 0; i++)
        to[i] = from[i];
    for (; i + LINE <= count; i += LINE)
        for (size_t j = 0; j < LINE; j += 4)
            _mm_stream_ps(to + i + j, _mm_loadu_ps(from + i + j));
#endif
    for (; i < count; i++)
        to[i] = from[i];
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/* ---- doubles ---- */

/* For arguments up to 0; gives 0 where the result would be subnormal. */
INLINE wide exponential_of_doubles(wide x)
{
    static const double inverse[] = {
        /* 1 / 13!, 1 / 12!, ... */
        1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
        1.0 / 5040,       1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      0.5};
    const wide shift = spread(0x1.8p52); /* adding it rounds to an integer */
    wide_mask gone = x < spread(-708);
    x = (wide)(~gone & (wide_mask)x);
    wide n = x * spread(LOG2_E) + shift;
    wide_mask power = (wide_mask)n - (wide_mask)shift;
    n -= shift;
    wide r = x - n * spread(LN2_HIGH) - n * spread(LN2_LOW);
    wide p = spread(inverse[0]);
#pragma GCC unroll 12
    for (size_t i = 1; i < sizeof inverse / sizeof *inverse; i++)
        p = p * r + spread(inverse[i]);
    p = p * r * r + r + spread(1);
    wide scale = (wide)((power + 1023) << 52);
    return (wide)(~gone & (wide_mask)(p * scale));
}

/* score[i] = exp(score[i] - most); returns their sum, always in the same order. */
INLINE double exponentiate(size_t count, double most, double *score)
{
    wide sum = {0};
    double all = 0, lanes[DOUBLES] __attribute__((aligned(64)));
    size_t i = 0;
    for (; i + DOUBLES <= count; i += DOUBLES) {
        wide_unaligned *here = (wide_unaligned *)(score + i);
        wide e = exponential_of_doubles(*here - spread(most));
        *here = e;
        sum += e;
    }
    if (i < count) {
        for (size_t l = 0; l < DOUBLES; l++)
            lanes[l] = i + l < count ? score[i + l] : -INFINITY;
        wide e = exponential_of_doubles(*(const wide *)lanes - spread(most));
        *(wide *)lanes = e;
        memcpy(score + i, lanes, (count - i) * sizeof *lanes);
        sum += e;
    }
    *(wide *)lanes = sum;
    for (size_t l = 0; l < DOUBLES; l++)
        all += lanes[l];
    return all;
}

void VARIANT(normalize)(size_t count, double most, double *score)
{
    double all = exponentiate(count, most, score);
    for (size_t i = 0; i < count; i++)
        score[i] /= all;
}

void VARIANT(exponentials)(size_t count, double *score)
{
    exponentiate(count, 0, score);
}

/* ---- weighted sums ---- */

enum { FOURS = 4, WIDTH = 4 * FOURS }; /* dimensions summed together */

INLINE void sum_part(size_t dimensions, const float *rows, const uint32_t *which, const double *z,
                     size_t count, double *sum)
{
    four_doubles part[FOURS] = {{0}};
    for (size_t i = 0; i < count; i++) {
        const float *x = rows + which[i] * dimensions;
        four_doubles factor = z[i] - (four_doubles){0};
#pragma GCC unroll 4
        for (size_t v = 0; v < FOURS; v++)
            part[v] += factor * load_four_as_doubles(x + 4 * v);
    }
#pragma GCC unroll 4
    for (size_t v = 0; v < FOURS; v++)
        *(four_doubles *)(sum + 4 * v) += part[v];
}

void VARIANT(weighted_sum)(size_t dimensions, const float *rows, const uint32_t *which,
                           const double *z, size_t count, double *sum)
{
    size_t j = 0;
    for (; j + WIDTH <= dimensions; j += WIDTH)
        sum_part(dimensions, rows + j, which, z, count, sum + j);
    for (; j < dimensions; j++) {
        double part = 0;
        for (size_t i = 0; i < count; i++)
            part += z[i] * rows[which[i] * dimensions + j];
        sum[j] += part;
    }
}

/* ---- sums of the rows of each cluster ---- */

enum { AHEAD = 16, LINE = 16 }; /* rows prefetched ahead, and floats of a cache line */

void VARIANT(add_rows)(size_t dimensions, size_t begin, size_t end, const float *rows,
                       const int32_t *cluster, size_t count, double *sums)
{
    for (size_t i = 0; i < count; i++) {
        const float *x = rows + i * dimensions;
        const float *coming = rows + (i + AHEAD < count ? i + AHEAD : i) * dimensions;
        double *sum = sums + (size_t)cluster[i] * dimensions;
        size_t j = begin;
        for (size_t l = begin; l < end; l += LINE)
            __builtin_prefetch(coming + l);
        __builtin_prefetch(coming + end - 1); /* on another cache line if rows are not aligned */
        for (; j + DOUBLES <= end; j += DOUBLES)
            *(wide_unaligned *)(sum + j) += load_as_doubles(x + j);
        for (; j < end; j++)
            sum[j] += x[j];
    }
}
