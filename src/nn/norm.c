/*
 * norm.c - batch normalisation on its own, any number of channels (Ioffe & Szegedy 2015).
 *
 * Two passes over the batch, mean first, both summed in double, so that a large mean costs no
 * digits.
 */
#include <math.h>
#include <string.h>

#include "nn/batch_norm.h"
#include "nn/layer.h"

/* Kept from forward to backward, per channel: mean and 1 / std of the batch (float). */
static size_t kept(const imp_layer *layer, const imp_pass *pass)
{
    (void)pass;
    return 2 * layer->in.channels;
}

/* Two sums per channel and block, in double. */
static size_t shared(const imp_layer *layer, const imp_pass *pass)
{
    return pass->blocks * 2 * layer->in.channels * 2;
}

static double *sums_of(const imp_job *job, size_t block)
{
    return imp_shared_doubles(job->pass) + block * 2 * job->layer->in.channels;
}

static size_t pixels_of(const imp_layer *layer)
{
    return layer->in.height * layer->in.width;
}

/* Adds the blocks' sums up in order into the first block's. */
static void total_sums(const imp_job *job)
{
    for (size_t block = 1; block < job->pass->blocks; block++)
        for (size_t i = 0; i < 2 * job->layer->in.channels; i++)
            sums_of(job, 0)[i] += sums_of(job, block)[i];
}

static void sum_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    size_t channels = job->layer->in.channels, pixels = pixels_of(job->layer);
    imp_images images = imp_images_of(job->pass, block);
    double *sum = sums_of(job, block);
    memset(sum, 0, 2 * channels * sizeof *sum);
    for (size_t p = images.begin * pixels; p < images.end * pixels; p++)
        for (size_t c = 0; c < channels; c++)
            sum[c] += job->in[p * channels + c];
}

static void deviation_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    size_t channels = job->layer->in.channels, pixels = pixels_of(job->layer);
    imp_images images = imp_images_of(job->pass, block);
    const float *mean = job->layer->kept;
    double *sum = sums_of(job, block);
    memset(sum, 0, 2 * channels * sizeof *sum);
    for (size_t p = images.begin * pixels; p < images.end * pixels; p++)
        for (size_t c = 0; c < channels; c++) {
            double d = (double)job->in[p * channels + c] - mean[c];
            sum[c] += d;
            sum[channels + c] += d * d;
        }
}

static void normalise_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    size_t channels = layer->in.channels, pixels = pixels_of(layer);
    imp_images images = imp_images_of(job->pass, block);
    const float *mean = layer->kept, *rstd = layer->kept + channels;
    const float *gamma = layer->parameters + layer->gamma, *beta = layer->parameters + layer->beta;
    for (size_t p = images.begin * pixels; p < images.end * pixels; p++)
        for (size_t c = 0; c < channels; c++)
            job->out[p * channels + c] =
                gamma[c] * ((job->in[p * channels + c] - mean[c]) * rstd[c]) + beta[c];
}

static void forward(imp_layer *layer, const imp_pass *pass, const float *in, float *out)
{
    imp_job job = {.layer = layer, .pass = pass, .in = in, .out = out};
    size_t channels = layer->in.channels;
    double count = (double)(pass->images * pixels_of(layer));
    float *mean = layer->kept, *rstd = layer->kept + channels;

    imp_each_block(pass, sum_block, &job);
    total_sums(&job);
    for (size_t c = 0; c < channels; c++)
        mean[c] = (float)(sums_of(&job, 0)[c] / count);

    imp_each_block(pass, deviation_block, &job);
    total_sums(&job);
    for (size_t c = 0; c < channels; c++) {
        double rest = sums_of(&job, 0)[c] / count; /* what rounding the mean to float left over */
        double deviation = sums_of(&job, 0)[channels + c] - count * rest * rest;
        rstd[c] = (float)(1 / sqrt(deviation / count + IMP_NORM_EPS));
        imp_running_update(layer, c, mean[c] + rest, deviation, count);
    }
    imp_each_block(pass, normalise_block, &job);
}

static void backward_sum_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    size_t channels = layer->in.channels, pixels = pixels_of(layer);
    imp_images images = imp_images_of(job->pass, block);
    const float *mean = layer->kept, *rstd = layer->kept + channels;
    double *sum = sums_of(job, block);
    memset(sum, 0, 2 * channels * sizeof *sum);
    for (size_t p = images.begin * pixels; p < images.end * pixels; p++)
        for (size_t c = 0; c < channels; c++) {
            double dz = job->dout[p * channels + c];
            sum[c] += dz;
            sum[channels + c] += dz * ((job->in[p * channels + c] - mean[c]) * rstd[c]);
        }
}

static void backward_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    size_t channels = layer->in.channels, pixels = pixels_of(layer);
    double count = (double)(job->pass->images * pixels);
    imp_images images = imp_images_of(job->pass, block);
    const float *mean = layer->kept, *rstd = layer->kept + channels;
    const float *gamma = layer->parameters + layer->gamma;
    const double *sum = sums_of(job, 0);
    for (size_t p = images.begin * pixels; p < images.end * pixels; p++)
        for (size_t c = 0; c < channels; c++) {
            size_t i = p * channels + c;
            double xhat = (job->in[i] - mean[c]) * rstd[c];
            double centred = job->dout[i] - sum[c] / count - xhat * (sum[channels + c] / count);
            job->din[i] = (float)(gamma[c] * rstd[c] * centred);
        }
}

static void backward(imp_layer *layer, const imp_pass *pass, const float *in, const float *out,
                     const float *dout, float *din)
{
    (void)out;
    imp_job job = {.layer = layer, .pass = pass, .in = in, .dout = dout, .din = din};
    size_t channels = layer->in.channels;
    imp_each_block(pass, backward_sum_block, &job);
    total_sums(&job);
    for (size_t c = 0; c < channels; c++) {
        layer->gradients[layer->beta + c] += (float)sums_of(&job, 0)[c];
        layer->gradients[layer->gamma + c] += (float)sums_of(&job, 0)[channels + c];
    }
    if (din)
        imp_each_block(pass, backward_block, &job);
}

/* Frozen: scale and shift of the running statistics. */
static size_t frozen(const imp_layer *layer)
{
    return 2 * layer->in.channels;
}

static void freeze(const imp_layer *layer, const imp_kernels *kernels, float *frozen)
{
    (void)kernels;
    imp_running_fold(layer, NULL, frozen, frozen + layer->in.channels);
}

static void infer(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                  size_t images, const float *in, float *out, float *scratch)
{
    (void)kernels, (void)scratch;
    size_t channels = layer->in.channels;
    for (size_t p = 0; p < images * pixels_of(layer); p++)
        for (size_t c = 0; c < channels; c++)
            out[p * channels + c] = frozen[c] * in[p * channels + c] + frozen[channels + c];
}

const imp_layer_kind imp_layer_norm = {.kept = kept,
                                       .shared = shared,
                                       .forward = forward,
                                       .backward = backward,
                                       .frozen = frozen,
                                       .freeze = freeze,
                                       .infer = infer};
