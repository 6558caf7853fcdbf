/*
 * link.h - a network as part of a larger computation: its backward pass also gives the gradient
 * with respect to its inputs.
 */
#ifndef IMP_NN_LINK_H
#define IMP_NN_LINK_H

#include <imp/network.h>

/* imp_network_create() for a network whose backward pass can reach its inputs. That costs memory
 * and time, so it has to be requested. */
imp_status imp_network_create_link(const char *description, const imp_network_options *options,
                                   imp_network **out, imp_error *error);

/* imp_network_backward() that also writes the gradient of the loss with respect to the images of
 * the last forward pass. NULL: not wanted. */
imp_status imp_network_backward_link(imp_network *network, const float *gradient,
                                     float *input_gradient, imp_error *error);

#endif
