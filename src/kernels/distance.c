/*
 * distance.c - squared distances in double precision, to the same bits in every variant.
 *
 * Decisions hang on these, and they must not depend on the instruction set or on whether many are
 * computed together: the sums are those of imp_squared_distance() (methods/gaussian.h), and this
 * file is compiled without fused multiplications (src/CMakeLists.txt).
 */
#include "kernels/variants.h"

enum { HALF = 4 }; /* of eight partial sums */

INLINE four_doubles square_of_difference(const float *x, const double *mean)
{
    four_doubles difference = load_four_as_doubles(x) - *(const four_doubles *)mean;
    return difference * difference;
}

INLINE double distance(size_t dimensions, const float *x, const double *mean)
{
    size_t whole = dimensions / (2 * HALF) * (2 * HALF);
    four_doubles low = {0}, high = {0};
    for (size_t j = 0; j < whole; j += 2 * HALF) {
        low += square_of_difference(x + j, mean + j);
        high += square_of_difference(x + j + HALF, mean + j + HALF);
    }
    double part[2 * HALF];
    *(four_doubles *)part = low;
    *(four_doubles *)(part + HALF) = high;
    for (size_t j = whole; j < dimensions; j++) {
        double difference = x[j] - mean[j];
        part[j - whole] += difference * difference;
    }
    return ((part[0] + part[4]) + (part[2] + part[6])) +
           ((part[1] + part[5]) + (part[3] + part[7]));
}

void VARIANT(distances)(size_t dimensions, const float *x, const double *means,
                        const uint32_t *which, size_t count, double *distances)
{
    for (size_t i = 0; i < count; i++)
        distances[i] = distance(dimensions, x, means + which[i] * dimensions);
}

void VARIANT(distances_from)(size_t dimensions, const double *mean, const float *rows,
                             const uint32_t *which, size_t count, double *distances)
{
    for (size_t i = 0; i < count; i++)
        distances[i] = distance(dimensions, rows + which[i] * dimensions, mean);
}
