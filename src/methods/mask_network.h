/*
 * mask_network.h - the small network of soft-kmeans-masked: from the statistics of one class's
 * distances to that class's mask.
 */
#ifndef IMP_METHODS_MASK_NETWORK_H
#define IMP_METHODS_MASK_NETWORK_H

#include <stddef.h>
#include <stdint.h>

#include <imp/method.h>

enum {
    IMP_MASK_STATISTICS = 5, /* min, max, variance, skewness, kurtosis */
    IMP_MASK_HIDDEN = 20,
    IMP_MASK_OUTPUTS = 2, /* beta, gamma */
    IMP_MASK_VALUES =
        IMP_MASK_HIDDEN * (IMP_MASK_STATISTICS + 1) + IMP_MASK_OUTPUTS * (IMP_MASK_HIDDEN + 1)
};

/* The network's weights as the method's parameters, PyTorch's layout (outputs, inputs). */
extern const imp_method_parameter imp_mask_parameters[4];

/* Small random weights, and biases that make beta and gamma 1: initially a point at average
 * distance has a mask of one half. */
void imp_mask_initialize(uint64_t seed, double *values);

/* What the network computed for one class. */
typedef struct imp_mask_activation {
    double statistics[IMP_MASK_STATISTICS];
    double mean;
    size_t nearest, farthest; /* the points of the first two statistics */
    double hidden[IMP_MASK_HIDDEN];
    double beta, gamma;
} imp_mask_activation;

/* mask[j] = sigmoid(-gamma (distance[j] - beta)) for count >= 1 relative distances. */
void imp_mask_network(const double *values, const double *distance, size_t count,
                      imp_mask_activation *activation, double *mask);

/* Its gradient: from mask_gradient[j], adds to value_gradient and writes distance_gradient[j]. */
void imp_mask_network_gradient(const double *values, const double *distance, const double *mask,
                               size_t count, const imp_mask_activation *activation,
                               const double *mask_gradient, double *value_gradient,
                               double *distance_gradient);

#endif
