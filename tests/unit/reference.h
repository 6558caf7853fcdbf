/*
 * reference.h - a network computed the slow and obvious way, in double precision: what the kernels
 * are compared with. It shares with them the plan of the network, which layers read from which and
 * their shapes, and nothing else.
 */
#ifndef IMP_TEST_REFERENCE_H
#define IMP_TEST_REFERENCE_H

#include <imp/network.h>
#include <stdbool.h>

typedef struct reference reference;

/* A network with the parameters and running statistics of `network`, converted to double. */
reference *reference_create(imp_network *network);
void reference_free(reference *r);

/* Parameters and gradients, in the order of the network's flat arrays. */
double *reference_parameters(reference *r);
double *reference_gradients(reference *r);

/* Forward with batch statistics (training, running statistics move) or running ones; returns the
 * (count, output_size) output, which lives until the next call. */
const double *reference_forward(reference *r, const float *images, size_t count, bool training);

/* Adds to the gradients, after a training forward. */
void reference_backward(reference *r, const float *gradient);

/* How many ReLU and pooling decisions of the last forward are closer than `margin`, counting only
 * small layers, where one decision weighs. On such an input rounding alone can change the gradient.
 */
size_t reference_close_calls(const reference *r, double margin);

/* Running statistics, in the order of the network's. */
const double *reference_state(const reference *r);

#endif
