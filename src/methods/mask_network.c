/*
 * mask_network.c - Ren et al.'s mask for one class: five statistics of the relative distances, one
 * hidden layer of 20 tanh units, then a threshold beta and a slope gamma. Each forward function has
 * its gradient below it.
 *
 * Moments are those of the population; kurtosis is the excess over a Gaussian's 3.
 */
#include "methods/mask_network.h"

#include <math.h>
#include <string.h>

#include "base/random.h"

enum {
    WEIGHT_0 = 0, /* (hidden, statistics) */
    BIAS_0 = WEIGHT_0 + IMP_MASK_HIDDEN * IMP_MASK_STATISTICS,
    WEIGHT_2 = BIAS_0 + IMP_MASK_HIDDEN, /* (outputs, hidden) */
    BIAS_2 = WEIGHT_2 + IMP_MASK_OUTPUTS * IMP_MASK_HIDDEN
};

/* Distances that differ only by rounding have no shape: skewness and kurtosis are 0 then. */
static const double least_variance = 1e-12;

const imp_method_parameter imp_mask_parameters[4] = {
    {.name = "mask.0.weight",
     .rank = 2,
     .shape = {IMP_MASK_HIDDEN, IMP_MASK_STATISTICS},
     .offset = WEIGHT_0,
     .count = BIAS_0 - WEIGHT_0},
    {.name = "mask.0.bias",
     .rank = 1,
     .shape = {IMP_MASK_HIDDEN},
     .offset = BIAS_0,
     .count = WEIGHT_2 - BIAS_0},
    {.name = "mask.2.weight",
     .rank = 2,
     .shape = {IMP_MASK_OUTPUTS, IMP_MASK_HIDDEN},
     .offset = WEIGHT_2,
     .count = BIAS_2 - WEIGHT_2},
    {.name = "mask.2.bias",
     .rank = 1,
     .shape = {IMP_MASK_OUTPUTS},
     .offset = BIAS_2,
     .count = IMP_MASK_VALUES - BIAS_2},
};

void imp_mask_initialize(uint64_t seed, double *values)
{
    static const double deviation = 0.01;
    imp_random random = imp_random_start(seed, IMP_STREAM_MASK, 0);
    for (size_t i = 0; i < IMP_MASK_VALUES; i++)
        values[i] = 0;
    for (size_t i = WEIGHT_0; i < BIAS_0; i++)
        values[i] = deviation * imp_random_normal(&random);
    for (size_t i = WEIGHT_2; i < BIAS_2; i++)
        values[i] = deviation * imp_random_normal(&random);
    for (size_t i = BIAS_2; i < IMP_MASK_VALUES; i++)
        values[i] = 1;
}

/* ---- the statistics ---- */

static void find_statistics(const double *distance, size_t count, imp_mask_activation *activation)
{
    double sum = 0, square = 0, cube = 0, fourth = 0;
    activation->nearest = activation->farthest = 0;
    for (size_t j = 0; j < count; j++) {
        sum += distance[j];
        if (distance[j] < distance[activation->nearest])
            activation->nearest = j;
        if (distance[j] > distance[activation->farthest])
            activation->farthest = j;
    }
    activation->mean = sum / (double)count;
    for (size_t j = 0; j < count; j++) {
        double deviation = distance[j] - activation->mean, squared = deviation * deviation;
        square += squared / (double)count;
        cube += squared * deviation / (double)count;
        fourth += squared * squared / (double)count;
    }
    bool has_shape = square > least_variance;
    activation->statistics[0] = distance[activation->nearest];
    activation->statistics[1] = distance[activation->farthest];
    activation->statistics[2] = square;
    activation->statistics[3] = has_shape ? cube / (square * sqrt(square)) : 0;
    activation->statistics[4] = has_shape ? fourth / (square * square) - 3 : 0;
}

/* Backpropagates the gradient of the statistics and adds it to distance_gradient. */
static void differentiate_statistics(const double *distance, size_t count,
                                     const imp_mask_activation *activation, const double *gradient,
                                     double *distance_gradient)
{
    double variance = activation->statistics[2];
    bool has_shape = variance > least_variance;
    distance_gradient[activation->nearest] += gradient[0];
    distance_gradient[activation->farthest] += gradient[1];
    for (size_t j = 0; j < count; j++) {
        double deviation = distance[j] - activation->mean;
        double slope = 2 * gradient[2] * deviation;
        if (has_shape) {
            /* In units of the standard deviation, skewness m3 has the gradient
             * 3 (u^2 - 1 - m3 u) / std and kurtosis m4 - 3 has 4 (u^3 - m3 - m4 u) / std. */
            double std = sqrt(variance), u = deviation / std;
            double skewness = activation->statistics[3], m4 = activation->statistics[4] + 3;
            slope += 3 * gradient[3] * (u * u - 1 - skewness * u) / std;
            slope += 4 * gradient[4] * (u * u * u - skewness - m4 * u) / std;
        }
        distance_gradient[j] += slope / (double)count;
    }
}

/* ---- the network ---- */

static void find_outputs(const double *values, imp_mask_activation *activation)
{
    double output[IMP_MASK_OUTPUTS];
    for (size_t h = 0; h < IMP_MASK_HIDDEN; h++) {
        double sum = values[BIAS_0 + h];
        for (size_t i = 0; i < IMP_MASK_STATISTICS; i++)
            sum += values[WEIGHT_0 + h * IMP_MASK_STATISTICS + i] * activation->statistics[i];
        activation->hidden[h] = tanh(sum);
    }
    for (size_t o = 0; o < IMP_MASK_OUTPUTS; o++) {
        output[o] = values[BIAS_2 + o];
        for (size_t h = 0; h < IMP_MASK_HIDDEN; h++)
            output[o] += values[WEIGHT_2 + o * IMP_MASK_HIDDEN + h] * activation->hidden[h];
    }
    activation->beta = output[0];
    activation->gamma = output[1];
}

/* From the gradient of (beta, gamma): adds to that of the values, writes that of the statistics. */
static void differentiate_outputs(const double *values, const imp_mask_activation *activation,
                                  const double *output_gradient, double *value_gradient,
                                  double *statistics_gradient)
{
    memset(statistics_gradient, 0, IMP_MASK_STATISTICS * sizeof *statistics_gradient);
    for (size_t o = 0; o < IMP_MASK_OUTPUTS; o++) {
        value_gradient[BIAS_2 + o] += output_gradient[o];
        for (size_t h = 0; h < IMP_MASK_HIDDEN; h++)
            value_gradient[WEIGHT_2 + o * IMP_MASK_HIDDEN + h] +=
                output_gradient[o] * activation->hidden[h];
    }
    for (size_t h = 0; h < IMP_MASK_HIDDEN; h++) {
        double slope = 0;
        for (size_t o = 0; o < IMP_MASK_OUTPUTS; o++)
            slope += output_gradient[o] * values[WEIGHT_2 + o * IMP_MASK_HIDDEN + h];
        slope *= 1 - activation->hidden[h] * activation->hidden[h]; /* tanh' = 1 - tanh^2 */
        value_gradient[BIAS_0 + h] += slope;
        for (size_t i = 0; i < IMP_MASK_STATISTICS; i++) {
            size_t weight = WEIGHT_0 + h * IMP_MASK_STATISTICS + i;
            value_gradient[weight] += slope * activation->statistics[i];
            statistics_gradient[i] += slope * values[weight];
        }
    }
}

/* ---- the mask ---- */

void imp_mask_network(const double *values, const double *distance, size_t count,
                      imp_mask_activation *activation, double *mask)
{
    find_statistics(distance, count, activation);
    find_outputs(values, activation);
    for (size_t j = 0; j < count; j++)
        mask[j] = 1 / (1 + exp(activation->gamma * (distance[j] - activation->beta)));
}

void imp_mask_network_gradient(const double *values, const double *distance, const double *mask,
                               size_t count, const imp_mask_activation *activation,
                               const double *mask_gradient, double *value_gradient,
                               double *distance_gradient)
{
    double output_gradient[IMP_MASK_OUTPUTS] = {0}, statistics_gradient[IMP_MASK_STATISTICS];
    for (size_t j = 0; j < count; j++) {
        double slope = mask_gradient[j] * mask[j] * (1 - mask[j]); /* sigmoid' */
        output_gradient[0] += slope * activation->gamma;
        output_gradient[1] -= slope * (distance[j] - activation->beta);
        distance_gradient[j] = -slope * activation->gamma;
    }
    differentiate_outputs(values, activation, output_gradient, value_gradient, statistics_gradient);
    differentiate_statistics(distance, count, activation, statistics_gradient, distance_gradient);
}
