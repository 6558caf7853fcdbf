/*
 * shares.c - from scores, which are logarithms, to shares that sum to 1, and sums of rows weighted
 * by them.
 *
 * Exponentials are a power of two, put together from its bits, times a polynomial of what is left.
 */
#include <math.h>
#include <string.h>

#include "kernels/variants.h"

#define LOG2_E 1.44269504088896340736
/* log 2 in two pieces: multiples of the first are exact */
#define LN2_HIGH_F 0.693359375F
#define LN2_LOW_F -2.12194440e-4F
#define LN2_HIGH 6.93147180369123816490e-01
#define LN2_LOW 1.90821492927058770002e-10

/* ---- floats ---- */

/* Of numbers up to 0; 0 where a float would lose digits. */
INLINE vec exponential(vec x)
{
    mask power = round_to_whole(larger(x, splat(-100)) * splat((float)LOG2_E));
    vec n = __builtin_convertvector(power, vec);
    vec r = x - n * splat(LN2_HIGH_F) - n * splat(LN2_LOW_F);
    vec p = splat(1.9875691500e-4F);
    p = p * r + splat(1.3981999507e-3F);
    p = p * r + splat(8.3334519073e-3F);
    p = p * r + splat(4.1665795894e-2F);
    p = p * r + splat(1.6666665459e-1F);
    p = p * r + splat(5.0000001201e-1F);
    p = p * r * r + r + splat(1);
    vec scale = (vec)((power + 127) << 23);
    return keep(x > splat(-87), p * scale);
}

/* LANES scores, or the `rest` that there are, less the largest. */
INLINE vec load_scores(const double *score, size_t rest, double most)
{
#if LANES == 16 && defined(__AVX512F__)
    if (rest >= LANES) {
        __m512d largest = _mm512_set1_pd(most);
        __m256 low = _mm512_cvtpd_ps(_mm512_loadu_pd(score) - largest);
        __m256 high = _mm512_cvtpd_ps(_mm512_loadu_pd(score + 8) - largest);
        return (vec)_mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
    }
#endif
    float lanes[LANES] __attribute__((aligned(64)));
    for (size_t l = 0; l < LANES; l++)
        lanes[l] = l < rest ? (float)(score[l] - most) : -INFINITY;
    return load(lanes);
}

void VARIANT(probabilities)(size_t count, const double *score, double most, float *probability)
{
    vec sum = zero();
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        vec e = exponential(load_scores(score + i, LANES, most));
        *(vec_unaligned *)(probability + i) = e;
        sum += e;
    }
    if (i < count) {
        float lanes[LANES] __attribute__((aligned(64)));
        vec e = exponential(load_scores(score + i, count - i, most));
        store(lanes, e);
        memcpy(probability + i, lanes, (count - i) * sizeof *lanes);
        sum += e;
    }
    float factor = 1 / rough_total(sum);
    for (i = 0; i < count; i++)
        probability[i] *= factor;
}

unsigned VARIANT(tail)(size_t count, const double *score, double most, double limit)
{
    vec sum[IMP_TAIL_STEPS], largest[IMP_TAIL_STEPS];
    for (unsigned s = 0; s < IMP_TAIL_STEPS; s++) {
        sum[s] = zero();
        largest[s] = splat((float)(limit / (1U << (2 * s))));
    }
    for (size_t i = 0; i < count; i += LANES) {
        vec e = exponential(load_scores(score + i, count - i, most));
#pragma GCC unroll 4
        for (size_t s = 0; s < IMP_TAIL_STEPS; s++)
            sum[s] += keep(e <= largest[s], e);
    }
    unsigned steps = 0;
    while (steps < IMP_TAIL_STEPS && rough_total(sum[steps]) > (float)limit)
        steps++;
    return steps;
}

/* ---- doubles ---- */

/* Of numbers up to 0; 0 where a double would lose digits. */
INLINE wide exponential_of_doubles(wide x)
{
    static const double inverse[] = {
        /* of 13!, 12!, ... */
        1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
        1.0 / 5040,       1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      0.5};
    const wide shift = spread(0x1.8p52); /* adding it leaves no bits behind the point */
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

enum { FOURS = 4, WIDTH = 4 * FOURS }; /* dimensions of rows that are summed together */

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
