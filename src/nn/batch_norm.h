/* batch_norm.h - the parts of batch normalisation shared by the fused blocks and the single layer.
 */
#ifndef IMP_NN_BATCH_NORM_H
#define IMP_NN_BATCH_NORM_H

#include "nn/layer.h"

/* Records a batch's mean and unbiased variance of channel c, as PyTorch does, in the pass's
 * statistics; `deviation` is the sum of squared deviations of `count` values. */
void imp_statistics_note(const imp_layer *layer, const imp_pass *pass, size_t c, double mean,
                         double deviation, double count);

/* scale * y + shift */
typedef struct imp_affine {
    float scale, shift;
} imp_affine;

/* Folds bias and norm of channel c for evaluation, by the running statistics; without a norm (NULL)
 * only `bias`, which y still lacks. */
imp_affine imp_running_fold(const imp_layer *norm, const imp_pass *pass, size_t c, float bias);

/* Merges a mean and sum of squared deviations into those of `count` other values; the new values
 * are `share` of all. */
void imp_moment_merge(double *mean, double *deviation, double more_mean, double more_deviation,
                      double count, double share);

/* Adds `more` to `into`, as if the values had been seen together (Chan et al. 1979). */
void imp_moments_merge(imp_moments *into, const imp_moments *more);

/* The signs of gamma of a fused block (64 channels), which are needed before the rest of its norm.
 */
void imp_norm_signs(const imp_layer *layer, const imp_pass *pass, imp_norm *norm);

/* The rest, from the moments of its convolution without the bias; also records the statistics. */
void imp_norm_from_moments(const imp_layer *layer, const imp_pass *pass, const imp_moments *moments,
                           imp_norm *norm);

/* Computes the backward coefficients from the sums of dz and dz * xhat over `count` outputs; adds
 * the gradients of gamma and beta. */
void imp_norm_backward(const imp_layer *layer, const imp_pass *pass, const double *sum_dz,
                       const double *sum_dz_xhat, double count, imp_norm *norm);

#endif
