/*
 * batch_norm.c - from sums to the coefficients of batch normalisation.
 */
#include "nn/batch_norm.h"

#include <math.h>

void imp_statistics_note(const imp_layer *layer, const imp_pass *pass, size_t c, double mean,
                         double deviation, double count)
{
    pass->statistics[layer->running_mean + c] = mean;
    pass->statistics[layer->running_var + c] = deviation / (count > 1 ? count - 1 : 1);
}

imp_affine imp_running_fold(const imp_layer *norm, const imp_pass *pass, size_t c, float bias)
{
    if (!norm)
        return (imp_affine){1, bias};
    double variance = pass->state[norm->running_var + c];
    double factor = pass->parameters[norm->gamma + c] / sqrt(variance + IMP_NORM_EPS);
    double offset = bias - (double)pass->state[norm->running_mean + c];
    return (imp_affine){(float)factor, (float)(pass->parameters[norm->beta + c] + offset * factor)};
}

void imp_moment_merge(double *mean, double *deviation, double more_mean, double more_deviation,
                      double count, double share)
{
    double apart = more_mean - *mean;
    *mean += apart * share;
    *deviation += more_deviation + apart * apart * count * share;
}

void imp_moments_merge(imp_moments *into, const imp_moments *more)
{
    double count = into->count + more->count, share = more->count / count;
    for (size_t c = 0; c < IMP_CHANNELS; c++)
        imp_moment_merge(&into->mean[c], &into->deviation[c], more->mean[c], more->deviation[c],
                         into->count, share);
    into->count = count;
}

void imp_norm_signs(const imp_layer *layer, const imp_pass *pass, imp_norm *norm)
{
    const float *gamma = pass->parameters + layer->gamma;
    for (size_t c = 0; c < IMP_CHANNELS; c++)
        norm->sign[c] = gamma[c] > 0 ? 1 : gamma[c] < 0 ? -1 : 0;
}

void imp_norm_from_moments(const imp_layer *layer, const imp_pass *pass, const imp_moments *moments,
                           imp_norm *norm)
{
    const float *gamma = pass->parameters + layer->gamma, *beta = pass->parameters + layer->beta;
    const float *bias = imp_bias_of(layer, pass);
    for (size_t c = 0; c < IMP_CHANNELS; c++) {
        double deviation =
            moments->deviation[c] < 0 ? 0 : moments->deviation[c]; /* NaN stays NaN */
        double rstd = 1 / sqrt(deviation / moments->count + IMP_NORM_EPS);
        norm->mean[c] = (float)moments->mean[c];
        norm->rstd[c] = (float)rstd;
        norm->scale[c] = (float)(gamma[c] * rstd);
        norm->beta[c] = beta[c];
        imp_statistics_note(layer, pass, c, moments->mean[c] + (bias ? bias[c] : 0), deviation,
                            moments->count);
    }
}

void imp_norm_backward(const imp_layer *layer, const imp_pass *pass, const double *sum_dz,
                       const double *sum_dz_xhat, double count, imp_norm *norm)
{
    for (size_t c = 0; c < IMP_CHANNELS; c++) {
        pass->gradients[layer->beta + c] += (float)sum_dz[c];
        pass->gradients[layer->gamma + c] += (float)sum_dz_xhat[c];
        norm->offset[c] = (float)(-norm->scale[c] * sum_dz[c] / count);
        norm->slope[c] = (float)(-norm->scale[c] * norm->rstd[c] * sum_dz_xhat[c] / count);
    }
}
