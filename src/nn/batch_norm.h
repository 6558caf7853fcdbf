/* batch_norm.h - the parts of batch normalisation that the fused blocks and the single layer share.
 */
#ifndef IMP_NN_BATCH_NORM_H
#define IMP_NN_BATCH_NORM_H

#include "nn/layer.h"

/* Notes a batch's mean and variance of channel c in the pass's statistics (`deviation` is the sum
 * of squared deviations of `count` numbers; the variance is the unbiased one, as PyTorch's running
 * one). */
void imp_statistics_note(const imp_layer *layer, const imp_pass *pass, size_t c, double mean,
                         double deviation, double count);

/* scale * y + shift */
typedef struct imp_affine {
    float scale, shift;
} imp_affine;

/* Evaluation mode of channel c of a norm, or of none (norm is NULL), where y still lacks `bias`. */
imp_affine imp_running_fold(const imp_layer *norm, const imp_pass *pass, size_t c, float bias);

/* Adds numbers with a mean and a sum of squared deviations to `count` others; they are `share` of
 * all. */
void imp_moment_merge(double *mean, double *deviation, double more_mean, double more_deviation,
                      double count, double share);

/* Adds `more` to `into`, exactly as if their numbers had been seen together (Chan et al. 1979). */
void imp_moments_merge(imp_moments *into, const imp_moments *more);

/* The signs of gamma of a fused block (64 channels), which are wanted before the rest of its norm.
 */
void imp_norm_signs(const imp_layer *layer, const imp_pass *pass, imp_norm *norm);

/* The rest, from the moments of its convolution, which lacks the bias; notes the statistics. */
void imp_norm_from_moments(const imp_layer *layer, const imp_pass *pass, const imp_moments *moments,
                           imp_norm *norm);

/* What backward needs of the sums of dz and dz * xhat over `count` outputs; adds the gradients of
 * gamma and beta. */
void imp_norm_backward(const imp_layer *layer, const imp_pass *pass, const double *sum_dz,
                       const double *sum_dz_xhat, double count, imp_norm *norm);

#endif
