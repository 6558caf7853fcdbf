/*
 * distance.c - squared distances in double precision, to the same bits in every variant.
 *
 * Decisions hang on these, and they must not depend on the instruction set or on whether many are
 * computed together: the sums are those of imp_squared_distance() (methods/gaussian.h), and this
 * file is compiled without fused multiplications (src/CMakeLists.txt).
 */
#include <string.h>

#include "kernels/variants.h"

enum { PARTS = 8, TOGETHER = 4 }; /* partial sums; distances that are computed side by side */

/* All partial sums, and the sum of each and the one four places on. */
#if LANES == 16 && defined(__AVX512F__)
typedef __m512d parts;

INLINE parts add_squares(parts sum, const float *x, const double *mean)
{
    __m512d difference = _mm512_cvtps_pd(_mm256_loadu_ps(x)) - _mm512_loadu_pd(mean);
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

INLINE four_doubles square_of_difference(const float *x, const double *mean)
{
    four_doubles difference = load_four_as_doubles(x) - *(const four_doubles *)mean;
    return difference * difference;
}

INLINE parts add_squares(parts sum, const float *x, const double *mean)
{
    return (parts){sum.low + square_of_difference(x, mean),
                   sum.high + square_of_difference(x + PARTS / 2, mean + PARTS / 2)};
}

INLINE four_doubles add_halves(parts sum)
{
    return sum.low + sum.high;
}
#endif

/* distance[i] = |x[i] - mean[i]|^2 for up to TOGETHER of them. */
INLINE void measure(size_t count, size_t dimensions, const float *const *x,
                    const double *const *mean, double *distance)
{
    size_t whole = dimensions / PARTS * PARTS;
    parts sum[TOGETHER];
    memset(sum, 0, sizeof sum);
    for (size_t j = 0; j < whole; j += PARTS)
#pragma GCC unroll 4
        for (size_t i = 0; i < count; i++)
            sum[i] = add_squares(sum[i], x[i] + j, mean[i] + j);
    if (whole < dimensions) /* the rest, and zeros */
#pragma GCC unroll 4
        for (size_t i = 0; i < count; i++) {
            float rest[PARTS] = {0};
            double of_mean[PARTS] = {0};
            memcpy(rest, x[i] + whole, (dimensions - whole) * sizeof *rest);
            memcpy(of_mean, mean[i] + whole, (dimensions - whole) * sizeof *of_mean);
            sum[i] = add_squares(sum[i], rest, of_mean);
        }
#pragma GCC unroll 4
    for (size_t i = 0; i < count; i++) {
        four_doubles four = add_halves(sum[i]);
        distance[i] = (four[0] + four[2]) + (four[1] + four[3]);
    }
}

/* Of `count` pairs of a point and a mean, of which the one or the other is always the same. */
INLINE void measure_all(size_t dimensions, const float *rows, bool one_row, const double *means,
                        bool one_mean, const uint32_t *which, size_t count, double *distances)
{
    const float *x[TOGETHER];
    const double *mean[TOGETHER];
    size_t i = 0;
    for (; i + TOGETHER <= count; i += TOGETHER) {
        for (size_t k = 0; k < TOGETHER; k++) {
            x[k] = one_row ? rows : rows + which[i + k] * dimensions;
            mean[k] = one_mean ? means : means + which[i + k] * dimensions;
        }
        measure(TOGETHER, dimensions, x, mean, distances + i);
    }
    for (; i < count; i++) {
        x[0] = one_row ? rows : rows + which[i] * dimensions;
        mean[0] = one_mean ? means : means + which[i] * dimensions;
        measure(1, dimensions, x, mean, distances + i);
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
