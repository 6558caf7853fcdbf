/*
 * hessian.h - exact Hessian-vector products of a network: the derivative of the gradient of a loss
 * along a direction in parameter space (Pearlmutter 1994).
 *
 * A product takes two calls around the caller's loss. imp_hessian_forward() computes the embeddings
 * and their tangent (directional derivative); the caller provides the gradient of the loss with
 * respect to them and its tangent; imp_hessian_backward() computes the parameter gradient and its
 * tangent, which is the product.
 */
#ifndef IMP_NN_HESSIAN_H
#define IMP_NN_HESSIAN_H

#include <imp/network.h>

typedef struct imp_hessian imp_hessian;

/* For the description and input of `network`, which must outlive it; forward uses only the
 * network's state, not its parameters (imp_network_take_state()). Free with imp_hessian_free().
 * IMP_ENOMEM. */
imp_status imp_hessian_create(const imp_network *network, imp_hessian **out, imp_error *error);

/* NULL is allowed. */
void imp_hessian_free(imp_hessian *hessian);

/* As imp_network_set_step(): determines what dropout drops in the next forward pass. */
void imp_hessian_set_step(imp_hessian *hessian, uint64_t step);

/* Embeds `count` images as one batch, with its own statistics, using `parameters`, as many as the
 * network has. `embeddings` and `moved` receive (count, output_size) floats: the embeddings, and
 * their derivative along `direction`, which is as long as the parameters. All arrays must stay
 * valid until backward. Memory is allocated only if `count` is larger than ever before. */
imp_status imp_hessian_forward(imp_hessian *hessian, const float *parameters,
                               const float *direction, const float *images, size_t count,
                               float *embeddings, float *moved, imp_error *error);

/* Once after each forward pass: `gradient` is the gradient of the loss with respect to the
 * embeddings, and `gradient_moved` its derivative along the direction. Adds the derivative of the
 * parameter gradient along the direction to `product` and, if `sum` is not NULL, the parameter
 * gradient itself to `sum`. */
imp_status imp_hessian_backward(imp_hessian *hessian, const float *gradient,
                                const float *gradient_moved, float *sum, float *product,
                                imp_error *error);

#endif
