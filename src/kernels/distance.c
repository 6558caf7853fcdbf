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

enum { PARTS = 8 }; /* partial sums */

/* All partial sums; distances computed together, and their sums of those sums. */
#if LANES == 16 && defined(__AVX512F__)
typedef __m512d parts;
enum { TOGETHER = 8 };

INLINE parts load_parts(const float *x)
{
    return _mm512_cvtps_pd(_mm256_loadu_ps(x));
}

INLINE parts add_squares(parts sum, parts x, const double *mean)
{
    __m512d difference = x - _mm512_loadu_pd(mean);
    return sum + difference * difference;
}

INLINE void add_up(const parts sum[TOGETHER], double *distance)
{
    __m512d four[4], two[2]; /* sums of each, two or four of them side by side */
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        __m512d a = sum[2 * i], b = sum[2 * i + 1];
        four[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) +
                  __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
    }
#pragma GCC unroll 2
    for (size_t i = 0; i < 2; i++) {
        __m512d a = four[2 * i], b = four[2 * i + 1];
        two[i] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13) +
                 __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    }
    _mm512_storeu_pd(distance,
                     __builtin_shufflevector(two[0], two[1], 0, 4, 2, 6, 8, 12, 10, 14) +
                         __builtin_shufflevector(two[0], two[1], 1, 5, 3, 7, 9, 13, 11, 15));
}
#else
typedef struct parts {
    four_doubles low, high;
} parts;
enum { TOGETHER = 4 };

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

INLINE void add_up(const parts sum[TOGETHER], double *distance)
{
    four_doubles two[2]; /* sums of each, two of them side by side */
#pragma GCC unroll 2
    for (size_t i = 0; i < 2; i++) {
        four_doubles a = sum[2 * i].low + sum[2 * i].high;
        four_doubles b = sum[2 * i + 1].low + sum[2 * i + 1].high;
        two[i] =
            __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
    }
    *(four_doubles *)distance = __builtin_shufflevector(two[0], two[1], 0, 2, 4, 6) +
                                __builtin_shufflevector(two[0], two[1], 1, 3, 5, 7);
}
#endif

/* distance[i] = |x[i] - mean[i]|^2 for the first `some` of TOGETHER, of which `alike` in a row have
 * one x. What the others get does not matter. */
INLINE void measure(size_t some, size_t dimensions, const float *const *x, size_t alike,
                    const double *const *mean, double *distance)
{
    size_t whole = dimensions / PARTS * PARTS;
    parts sum[TOGETHER], row = {0};
#pragma GCC unroll 8
    for (size_t i = 0; i < some; i++)
        sum[i] = (parts){0};
    for (size_t j = 0; j < whole; j += PARTS) {
#pragma GCC unroll 8
        for (size_t i = 0; i < some; i++) {
            row = i % alike == 0 ? load_parts(x[i] + j) : row;
            sum[i] = add_squares(sum[i], row, mean[i] + j);
        }
    }
    if (whole < dimensions) /* the rest, padded with zeros */
#pragma GCC unroll 8
        for (size_t i = 0; i < some; i++) {
            float rest[PARTS] = {0};
            double of_mean[PARTS] = {0};
            memcpy(rest, x[i] + whole, (dimensions - whole) * sizeof *rest);
            memcpy(of_mean, mean[i] + whole, (dimensions - whole) * sizeof *of_mean);
            sum[i] = add_squares(sum[i], load_parts(rest), of_mean);
        }
#pragma GCC unroll 8
    for (size_t i = some; i < TOGETHER; i++)
        sum[i] = sum[i - some];
    add_up(sum, distance);
}

/* Distances of `count` pairs of a point and a mean, one of which is the same in all pairs. */
INLINE void measure_all(size_t dimensions, const float *rows, bool one_row, const double *means,
                        bool one_mean, const uint32_t *which, size_t count, double *distances)
{
    const float *x[TOGETHER];
    const double *mean[TOGETHER];
    for (size_t i = 0; i < count; i += TOGETHER) {
        size_t left = count - i;
        double last[TOGETHER], *to = left < TOGETHER ? last : distances + i;
#pragma GCC unroll 8
        for (size_t k = 0; k < TOGETHER; k++) {
            size_t pair = which[k < left ? i + k : i]; /* the first instead of those beyond */
            x[k] = one_row ? rows : rows + pair * dimensions;
            mean[k] = one_mean ? means : means + pair * dimensions;
        }
        if (left > TOGETHER / 2)
            measure(TOGETHER, dimensions, x, one_row ? TOGETHER : 1, mean, to);
        else
            measure(TOGETHER / 2, dimensions, x, one_row ? TOGETHER : 1, mean, to);
        for (size_t k = 0; to == last && k < left; k++)
            distances[i + k] = last[k];
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

void VARIANT(distances_in_fours)(size_t dimensions, const float *rows, const uint32_t *row,
                                 const double *means, const uint32_t *which, size_t fours,
                                 double *distances)
{
    enum { AT_ONCE = TOGETHER / 4 };
    for (size_t f = 0; f < fours; f += AT_ONCE) {
        const float *x[TOGETHER];
        const double *mean[TOGETHER];
        bool all = fours - f >= AT_ONCE;
        for (size_t k = 0; k < TOGETHER; k++) {
            size_t four = all ? f + k / 4 : f;
            x[k] = rows + row[four] * dimensions;
            mean[k] = means + which[4 * four + k % 4] * dimensions;
        }
        if (all)
            measure(TOGETHER, dimensions, x, 4, mean, distances + 4 * f);
        else
            measure(4, dimensions, x, 4, mean, distances + 4 * f);
    }
}

void VARIANT(densities)(size_t count, const double *distance, double offset, double divisor,
                        double *density)
{
    for (size_t i = 0; i < count; i += DOUBLES) {
        wide here = spread(offset) - *(const wide *)(distance + i) / spread(divisor);
        *(wide *)(density + i) = larger_double(here, spread(-DBL_MAX));
    }
}

/* Vectors at a time: mostly all there are, so that the end of a loop can be predicted. */
enum { AT_A_TIME = 4 };

size_t VARIANT(largest)(size_t count, const double *value, size_t *first)
{
    wide most = spread(-INFINITY);
    for (size_t i = 0; i < count; i += AT_A_TIME * DOUBLES)
#pragma GCC unroll 4
        for (size_t v = 0; v < AT_A_TIME; v++) {
            size_t from = i + v * DOUBLES, left = count > from ? count - from : 0;
            wide here = *(const wide_unaligned *)(value + from);
            most = larger_double(first_doubles(here, left, -INFINITY), most);
        }
    double best = largest_double(most);
    size_t found = 0;
    *first = SIZE_MAX;
    for (size_t i = 0; i < count; i += AT_A_TIME * DOUBLES) {
        uint32_t bits = 0;
#pragma GCC unroll 4
        for (size_t v = 0; v < AT_A_TIME; v++) {
            size_t from = i + v * DOUBLES, left = count > from ? count - from : 0;
            wide here = first_doubles(*(const wide_unaligned *)(value + from), left, NAN);
            bits |= to_bits_of_doubles(here == spread(best)) << v * DOUBLES;
        }
        if (bits != 0 && found == 0)
            *first = i + (size_t)__builtin_ctz(bits);
        found += (size_t)__builtin_popcount(bits);
    }
    return found;
}
