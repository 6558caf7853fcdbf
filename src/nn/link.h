/*
 * link.h - a network that is part of a larger computation: its backward pass also gives the
 * gradient by its inputs, for whatever those were computed from.
 */
#ifndef IMP_NN_LINK_H
#define IMP_NN_LINK_H

#include <imp/network.h>

/* imp_network_create() of a network whose backward pass can reach its inputs. That takes memory and
 * time, so that it is said beforehand. */
imp_status imp_network_create_link(const char *description, const imp_network_options *options,
                                   imp_network **out, imp_error *error);

/* imp_network_backward() that also writes the loss's gradient by the images of the last forward
 * pass, in their order. NULL: not wanted. */
imp_status imp_network_backward_link(imp_network *network, const float *gradient,
                                     float *input_gradient, imp_error *error);

#endif
