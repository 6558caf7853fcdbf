/*
 * hessian.h - products of a network's Hessian with a direction, exactly: how the gradient of a loss
 * changes while the parameters move along that direction (Pearlmutter 1994).
 *
 * A product is two calls around the caller's loss. imp_hessian_forward() gives the embeddings and
 * how they move; the caller says the loss's gradient by them and how that moves;
 * imp_hessian_backward() gives the parameters' gradient and how it moves, the product.
 */
#ifndef IMP_NN_HESSIAN_H
#define IMP_NN_HESSIAN_H

#include <imp/network.h>

typedef struct imp_hessian imp_hessian;

/* For networks of that description and input; of `network`, which must outlive it, forward takes no
 * more than what it knows of the data (imp_network_take_state()). Free with imp_hessian_free().
 * IMP_ENOMEM. */
imp_status imp_hessian_create(const imp_network *network, imp_hessian **out, imp_error *error);

/* NULL is allowed. */
void imp_hessian_free(imp_hessian *hessian);

/* As imp_network_set_step(): which numbers the next forward pass drops. */
void imp_hessian_set_step(imp_hessian *hessian, uint64_t step);

/* Embeds `count` images as one batch, with its own statistics, by `parameters`, as many as the
 * network's. `embeddings` and `moved` receive (count, output_size) floats: the embeddings, and
 * their derivative along `direction`, which is as long as the parameters. All of them must stay
 * until backward. Memory is taken when count is larger than ever before. */
imp_status imp_hessian_forward(imp_hessian *hessian, const float *parameters,
                               const float *direction, const float *images, size_t count,
                               float *embeddings, float *moved, imp_error *error);

/* After a forward, once: adds to `product` the derivative along the direction of the parameters'
 * gradient of a loss whose gradient by the embeddings is `gradient`, which itself moves by
 * `gradient_moved`. `sum`, if not NULL, gets the parameters' gradient added. */
imp_status imp_hessian_backward(imp_hessian *hessian, const float *gradient,
                                const float *gradient_moved, float *sum, float *product,
                                imp_error *error);

#endif
