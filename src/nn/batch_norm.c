/*
 * batch_norm.c - from sums to the numbers batch normalisation multiplies and adds.
 */
#include "nn/batch_norm.h"

#include <math.h>

void imp_running_update(imp_layer *layer, size_t c, double mean, double deviation, double count)
{
    float *running_mean = layer->state + layer->running_mean + c;
    float *running_var = layer->state + layer->running_var + c;
    double unbiased = deviation / (count > 1 ? count - 1 : 1);
    *running_mean += (float)(IMP_NORM_MOMENTUM * (mean - *running_mean));
    *running_var += (float)(IMP_NORM_MOMENTUM * (unbiased - *running_var));
}

void imp_running_fold(const imp_layer *layer, const float *bias, float *scale, float *shift)
{
    for (size_t c = 0; c < layer->out.channels; c++) {
        double variance = layer->state[layer->running_var + c];
        double factor = layer->parameters[layer->gamma + c] / sqrt(variance + IMP_NORM_EPS);
        double offset = (bias ? bias[c] : 0) - (double)layer->state[layer->running_mean + c];
        scale[c] = (float)factor;
        shift[c] = (float)(layer->parameters[layer->beta + c] + offset * factor);
    }
}

void imp_moments_merge(imp_moments *into, const imp_moments *more)
{
    double count = into->count + more->count, share = more->count / count;
    for (size_t c = 0; c < IMP_CHANNELS; c++) {
        double apart = more->mean[c] - into->mean[c];
        into->mean[c] += apart * share;
        into->deviation[c] += more->deviation[c] + apart * apart * into->count * share;
    }
    into->count = count;
}

void imp_norm_from_moments(imp_layer *layer, const imp_moments *moments, imp_norm *norm)
{
    const float *gamma = layer->parameters + layer->gamma, *beta = layer->parameters + layer->beta;
    const float *bias = layer->parameters + layer->bias;
    for (size_t c = 0; c < IMP_CHANNELS; c++) {
        double deviation =
            moments->deviation[c] < 0 ? 0 : moments->deviation[c]; /* NaN stays NaN */
        double rstd = 1 / sqrt(deviation / moments->count + IMP_NORM_EPS);
        norm->mean[c] = (float)moments->mean[c];
        norm->rstd[c] = (float)rstd;
        norm->scale[c] = (float)(gamma[c] * rstd);
        norm->beta[c] = beta[c];
        norm->sign[c] = gamma[c] > 0 ? 1 : gamma[c] < 0 ? -1 : 0;
        imp_running_update(layer, c, moments->mean[c] + bias[c], deviation, moments->count);
    }
}

void imp_norm_backward(imp_layer *layer, const double *sum_dz, const double *sum_dz_xhat,
                       double count, imp_norm *norm)
{
    for (size_t c = 0; c < IMP_CHANNELS; c++) {
        layer->gradients[layer->beta + c] += (float)sum_dz[c];
        layer->gradients[layer->gamma + c] += (float)sum_dz_xhat[c];
        norm->offset[c] = (float)(-norm->scale[c] * sum_dz[c] / count);
        norm->slope[c] = (float)(-norm->scale[c] * norm->rstd[c] * sum_dz_xhat[c] / count);
    }
}
