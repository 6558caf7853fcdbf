/* batch_norm.h - the parts of batch normalisation that the fused blocks and the single layer share.
 */
#ifndef IMP_NN_BATCH_NORM_H
#define IMP_NN_BATCH_NORM_H

#include "nn/layer.h"

/* Moves channel c's running statistics towards a batch's mean and variance (`deviation` is the sum
 * of squared deviations of `count` numbers; the running variance is the unbiased one, as
 * PyTorch's). */
void imp_running_update(imp_layer *layer, size_t c, double mean, double deviation, double count);

/* Evaluation mode as scale * y + shift per channel, where y still lacks `bias` (NULL: y has it). */
void imp_running_fold(const imp_layer *layer, const float *bias, float *scale, float *shift);

/* Adds `more` to `into`, exactly as if their numbers had been seen together (Chan et al. 1979). */
void imp_moments_merge(imp_moments *into, const imp_moments *more);

/* The norm of a fused block (64 channels) from the moments of its convolution, which lacks the
 * bias; running statistics move. */
void imp_norm_from_moments(imp_layer *layer, const imp_moments *moments, imp_norm *norm);

/* What backward needs of the sums of dz and dz * xhat over `count` outputs; adds the gradients of
 * gamma and beta. */
void imp_norm_backward(imp_layer *layer, const double *sum_dz, const double *sum_dz_xhat,
                       double count, imp_norm *norm);

#endif
