/*
 * gaussian.h - the spherical Gaussian N(x; mean, sigma I) that every method uses.
 *
 * Points are floats as they come from a network; means are doubles, because decisions depend on the
 * distances and summing over an episode costs nothing compared with the embedding.
 */
#ifndef IMP_METHODS_GAUSSIAN_H
#define IMP_METHODS_GAUSSIAN_H

#include <math.h>
#include <stddef.h>

/* |x - mean|^2. Eight partial sums, always added in the same order, so that the compiler can
 * vectorise without changing a bit. */
static inline double imp_squared_distance(const float *x, const double *mean, size_t dimensions)
{
    enum { LANES = 8 };
    double part[LANES] = {0};
    size_t whole = dimensions / LANES * LANES;
    for (size_t j = 0; j < whole; j += LANES)
        for (size_t k = 0; k < LANES; k++) {
            double difference = x[j + k] - mean[j + k];
            part[k] += difference * difference;
        }
    for (size_t j = whole; j < dimensions; j++) {
        double difference = x[j] - mean[j];
        part[j - whole] += difference * difference;
    }
    return ((part[0] + part[4]) + (part[2] + part[6])) +
           ((part[1] + part[5]) + (part[3] + part[7]));
}

/* |a - b|^2 of two points, summed in order. */
static inline double imp_distance_between(const float *a, const float *b, size_t dimensions)
{
    double sum = 0;
    for (size_t j = 0; j < dimensions; j++) {
        double difference = (double)a[j] - b[j];
        sum += difference * difference;
    }
    return sum;
}

/* The logarithm of the density's normalising constant, (2 pi sigma)^(-d/2). */
static inline double imp_log_normalizer(double sigma, size_t dimensions)
{
    static const double two_pi = 6.283185307179586476925286766559;
    return -0.5 * (double)dimensions * log(two_pi * sigma);
}

/* log N(x; mean, sigma I) of a point at that squared distance from the mean. */
static inline double imp_log_density(double squared_distance, double sigma, size_t dimensions)
{
    return imp_log_normalizer(sigma, dimensions) - squared_distance / (2 * sigma);
}

#endif
