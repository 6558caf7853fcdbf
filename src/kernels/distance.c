/*
 * distance.c - squared distances in double precision, and log densities of them, to the same bits
 * in every variant.
 *
 * Decisions depend on these distances, so they must not depend on the instruction set or on how
 * many are computed together: the sums are those of imp_squared_distance() (methods/gaussian.h),
 * and this file is compiled without fused multiplications (src/CMakeLists.txt).
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/variants.h"

enum { PARTS = 8, TOGETHER = 4 }; /* partial sums; distances computed together */

/* All partial sums, and the sums of those four places apart. */
#if LANES == 16 && defined(__AVX512F__)
typedef __m512d parts;

INLINE parts load_parts(const float *x)
{
    return _mm512_cvtps_pd(_mm256_loadu_ps(x));
}

INLINE parts add_squares(parts sum, parts x, const double *mean)
{
    __m512d difference = x - _mm512_loadu_pd(mean);
    return sum + difference * difference;
}

INLINE four_doubles add_halves(parts sum)
{
    return (four_doubles)(_mm512_castpd512_pd256(sum) + _mm512_extractf64x4_pd(sum, 1));
}
#else
typedef struct parts {
    four_doubles low, high;
} parts;

INLINE parts load_parts(const float *x)
{
    return (parts){load_four_as_doubles(x), load_four_as_doubles(x + PARTS / 2)};
}

INLINE parts add_squares(parts sum, parts x, const double *mean)
{
    four_doubles low = x.low - *(const four_doubles *)mean;
    four_doubles high = x.high - *(const four_doubles *)(mean + PARTS / 2);
    return (parts){sum.low + low * low, sum.high + high * high};
}

INLINE four_doubles add_halves(parts sum)
{
    return sum.low + sum.high;
}
#endif

/* distance[i] = |x[i] - mean[i]|^2 for TOGETHER of them, whose x may be one. */
INLINE void measure(size_t dimensions, const float *const *x, bool one_row,
                    const double *const *mean, double *distance)
{
    size_t whole = dimensions / PARTS * PARTS;
    parts sum[TOGETHER];
    memset(sum, 0, sizeof sum);
    for (size_t j = 0; j < whole; j += PARTS) {
        parts row = load_parts(x[0] + j);
#pragma GCC unroll 4
        for (size_t i = 0; i < TOGETHER; i++)
            sum[i] = add_squares(sum[i], one_row ? row : load_parts(x[i] + j), mean[i] + j);
    }
    if (whole < dimensions) /* the rest, padded with zeros */
#pragma GCC unroll 4
        for (size_t i = 0; i < TOGETHER; i++) {
            float rest[PARTS] = {0};
            double of_mean[PARTS] = {0};
            memcpy(rest, x[i] + whole, (dimensions - whole) * sizeof *rest);
            memcpy(of_mean, mean[i] + whole, (dimensions - whole) * sizeof *of_mean);
            sum[i] = add_squares(sum[i], load_parts(rest), of_mean);
        }
    /* (first + third) + (second + fourth) of each, two of them side by side */
    four_doubles two[2];
#pragma GCC unroll 2
    for (size_t i = 0; i < 2; i++) {
        four_doubles a = add_halves(sum[2 * i]), b = add_halves(sum[2 * i + 1]);
        two[i] =
            __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
    }
    *(four_doubles *)distance = __builtin_shufflevector(two[0], two[1], 0, 2, 4, 6) +
                                __builtin_shufflevector(two[0], two[1], 1, 3, 5, 7);
}

/* Distances of `count` pairs of a point and a mean, one of which is the same in all pairs. */
INLINE void measure_all(size_t dimensions, const float *rows, bool one_row, const double *means,
                        bool one_mean, const uint32_t *which, size_t count, double *distances)
{
    const float *x[TOGETHER];
    const double *mean[TOGETHER];
    for (size_t i = 0; i < count; i += TOGETHER) {
        size_t left = count - i;
        double four[TOGETHER];
        for (size_t k = 0; k < TOGETHER; k++) {
            size_t pair = which[k < left ? i + k : i]; /* the first instead of those beyond */
            x[k] = one_row ? rows : rows + pair * dimensions;
            mean[k] = one_mean ? means : means + pair * dimensions;
        }
        measure(dimensions, x, one_row, mean, left < TOGETHER ? four : distances + i);
        for (size_t k = 0; left < TOGETHER && k < left; k++)
            distances[i + k] = four[k];
    }
}

void VARIANT(distances)(size_t dimensions, const float *x, const double *means,
                        const uint32_t *which, size_t count, double *distances)
{
    measure_all(dimensions, x, true, means, false, which, count, distances);
}

void VARIANT(distances_from)(size_t dimensions, const double *mean, const float *rows,
                             const uint32_t *which, size_t count, double *distances)
{
    measure_all(dimensions, rows, false, mean, true, which, count, distances);
}

INLINE wide larger_double(wide a, wide b)
{
    wide_mask first = a > b;
    return (wide)(((wide_mask)a & first) | ((wide_mask)b & ~first));
}

size_t VARIANT(log_densities)(size_t count, const double *distance, double offset, double divisor,
                              double *density, size_t *first)
{
    wide most = spread(-INFINITY), least = spread(-DBL_MAX);
    double best = -INFINITY, lanes[DOUBLES] __attribute__((aligned(64)));
    size_t whole = count / DOUBLES * DOUBLES, ties = 0;
    for (size_t i = 0; i < whole; i += DOUBLES) {
        wide here = spread(offset) - *(const wide_unaligned *)(distance + i) / spread(divisor);
        here = larger_double(here, least);
        *(wide_unaligned *)(density + i) = here;
        most = larger_double(here, most);
    }
    for (size_t i = whole; i < count; i++) {
        double here = offset - distance[i] / divisor;
        density[i] = here > -DBL_MAX ? here : -DBL_MAX;
        best = density[i] > best ? density[i] : best;
    }
    *(wide *)lanes = most;
    for (size_t l = 0; l < DOUBLES; l++)
        best = lanes[l] > best ? lanes[l] : best;
    for (size_t i = 0; i < count; i++)
        ties += density[i] == best;
    for (*first = 0; *first < count && density[*first] != best;)
        ++*first;
    return ties;
}
