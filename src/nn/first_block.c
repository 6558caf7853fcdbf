/*
 * first_block.c - the fused first block: convolution of 1 to 4 channels to 64, batch norm, ReLU,
 * pool.
 *
 * The convolution's full-size output never exists. Over a batch of M pixels with patches p (taps
 * numbers each), y = w.p has mean w.s / M and variance w'Pw / M - mean^2, where s and P are the
 * sums of p and pp'. So the norm is known before convolving. In the backward pass, with dz routed
 * to the winners,
 *
 *   D = sum dz p,  S = sum dz,  dgamma = rstd (w.D - mean S),
 *   dw = gamma rstd (D - (S / M) s - rstd (dgamma / M) (P w - mean s)),
 *
 * and only D and S need the data again. Pixels are shifted by their channel's mean first (the zero
 * padding too), which changes nothing but keeps the sums of squares from cancelling.
 */
#include <math.h>
#include <string.h>

#include "nn/batch_norm.h"
#include "nn/layer.h"

static size_t taps_of(const imp_layer *layer)
{
    return 9 * layer->in.channels;
}

static size_t row_floats(const imp_layer *layer)
{
    return layer->in.width + 2;
}

static size_t plane_floats(const imp_layer *layer)
{
    return (layer->in.height + 2) * row_floats(layer);
}

static size_t padded_floats(const imp_layer *layer, const imp_kernels *kernels, size_t images)
{
    return imp_lines(images * layer->in.channels * plane_floats(layer) + kernels->padding_floats);
}

/* The weights as first_forward() takes them: (taps, 64) multiplied by the sign of gamma, so that
 * the maximum is right also where the norm decreases, then the norm's scale and bias, (64) each. */
typedef struct signed_weights {
    float *weights, *scale, *bias;
} signed_weights;

static size_t signed_floats(const imp_layer *layer)
{
    return (taps_of(layer) + 2) * IMP_CHANNELS;
}

static signed_weights signed_of(const imp_layer *layer, float *memory)
{
    float *scale = memory + taps_of(layer) * IMP_CHANNELS;
    return (signed_weights){memory, scale, scale + IMP_CHANNELS};
}

/* Sets output channel `out`: z = scale * w.p + bias. */
static void set_signed(const imp_layer *layer, const imp_pass *pass, signed_weights s, size_t out,
                       double scale, double bias)
{
    size_t taps = taps_of(layer);
    const float *w = pass->parameters + layer->weight + out * taps;
    float sign = scale > 0 ? 1 : scale < 0 ? -1 : 0;
    for (size_t i = 0; i < taps; i++)
        s.weights[i * IMP_CHANNELS + out] = sign * w[i];
    s.scale[out] = (float)fabs(scale);
    s.bias[out] = (float)bias;
}

/* What lies in job->kept. */
typedef struct kept_arrays {
    double *sums;     /* (taps) s */
    double *products; /* (taps, taps) P */
    double *mean;     /* (64) of w.p */
    double *rstd;     /* (64) */
    float *weights;   /* signed_weights */
    float *padded;    /* the shifted images with their border */
    uint8_t *winner;  /* (N, H/2, W/2, 64) */
} kept_arrays;

static kept_arrays arrays_of(const imp_job *job)
{
    const imp_layer *layer = job->layer;
    const imp_pass *pass = job->pass;
    size_t taps = taps_of(layer);
    kept_arrays a = {.weights = job->kept};
    a.padded = a.weights + signed_floats(layer);
    a.winner = (uint8_t *)(void *)(a.padded + padded_floats(layer, pass->kernels, pass->images));
    a.mean = (double *)(void *)(a.winner + pass->images * imp_shape_floats(layer->out));
    a.rstd = a.mean + IMP_CHANNELS;
    a.sums = a.rstd + IMP_CHANNELS;
    a.products = a.sums + taps;
    return a;
}

static size_t kept(const imp_layer *layer, const imp_pass *pass)
{
    size_t taps = taps_of(layer);
    size_t doubles = 2 * IMP_CHANNELS + taps + taps * taps;
    return signed_floats(layer) + padded_floats(layer, pass->kernels, pass->images) +
           pass->images * imp_shape_floats(layer->out) / sizeof(float) + 2 * doubles;
}

/* A block's sums, in double: patches and their Gram matrix in forward, D and S in backward. */
static size_t block_doubles(const imp_layer *layer)
{
    size_t taps = taps_of(layer);
    size_t forward = taps + taps * taps, backward = (taps + 1) * IMP_CHANNELS;
    return forward > backward ? forward : backward;
}

static size_t shared(const imp_layer *layer, const imp_pass *pass)
{
    return pass->blocks * 2 * block_doubles(layer);
}

static double *sums_of(const imp_job *job, size_t block)
{
    return imp_shared_doubles(job->pass) + block * block_doubles(job->layer);
}

/* Adds the first `count` sums of all blocks, in order, to the first block's. */
static const double *total_sums(const imp_job *job, size_t count)
{
    double *total = sums_of(job, 0);
    for (size_t block = 1; block < job->pass->blocks; block++)
        for (size_t i = 0; i < count; i++)
            total[i] += sums_of(job, block)[i];
    return total;
}

static imp_padded padded_of(const imp_layer *layer, const float *padded, imp_images images)
{
    imp_padded p = {.images = images.end - images.begin,
                    .channels = layer->in.channels,
                    .height = layer->in.height,
                    .width = layer->in.width,
                    .row = row_floats(layer)};
    p.pixels = padded + images.begin * p.channels * (p.height + 2) * p.row;
    return p;
}

/* Copies images into the padded array, each channel shifted by -mean[channel]. */
static void pad(const imp_layer *layer, imp_images images, const float *in, const double *mean,
                float *padded)
{
    size_t height = layer->in.height, width = layer->in.width, row = row_floats(layer);
    for (size_t n = images.begin; n < images.end; n++)
        for (size_t c = 0; c < layer->in.channels; c++) {
            size_t plane = n * layer->in.channels + c;
            const float *from = in + plane * height * width;
            float *to = padded + plane * (height + 2) * row;
            float shift = (float)mean[c];
            for (size_t i = 0; i < (height + 2) * row; i++)
                to[i] = -shift;
            for (size_t y = 0; y < height; y++)
                for (size_t x = 0; x < width; x++)
                    to[(y + 1) * row + x + 1] = from[y * width + x] - shift;
        }
}

static void mean_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    imp_shape in = job->layer->in;
    imp_images images = imp_images_of(job->pass, block);
    double *sum = sums_of(job, block);
    memset(sum, 0, in.channels * sizeof *sum);
    for (size_t n = images.begin; n < images.end; n++)
        for (size_t c = 0; c < in.channels; c++) {
            const float *plane = job->in[0] + (n * in.channels + c) * in.height * in.width;
            for (size_t i = 0; i < in.height * in.width; i++)
                sum[c] += plane[i];
        }
}

typedef struct pad_job {
    imp_job job;
    double mean[IMP_FIRST_MAX_CHANNELS];
} pad_job;

static void pad_block(size_t block, int worker, void *context)
{
    (void)worker;
    const pad_job *padding = context;
    const imp_job *job = &padding->job;
    pad(job->layer, imp_images_of(job->pass, block), job->in[0], padding->mean,
        arrays_of(job).padded);
}

/* Separate from the padding loop, because the kernel reads slightly past its last image, into the
 * next block. */
static void moments_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    imp_padded in = padded_of(job->layer, arrays_of(job).padded, imp_images_of(job->pass, block));
    double *sums = sums_of(job, block);
    job->pass->kernels->first_moments(&in, sums, sums + taps_of(job->layer));
}

/* The norm from s and P. */
static void normalise(const imp_job *job, const double *channel_mean)
{
    const imp_layer *layer = job->layer;
    const imp_pass *pass = job->pass;
    const float *bias = imp_bias_of(layer, pass);
    kept_arrays a = arrays_of(job);
    size_t taps = taps_of(layer);
    double count = (double)(pass->images * layer->in.height * layer->in.width);
    for (size_t out = 0; out < IMP_CHANNELS; out++) {
        const float *w = pass->parameters + layer->weight + out * taps;
        double mean = 0, squares = 0, shifted = 0;
        for (size_t i = 0; i < taps; i++) {
            double row = 0;
            for (size_t j = 0; j < taps; j++)
                row += a.products[i * taps + j] * w[j];
            mean += w[i] * a.sums[i] / count;
            squares += w[i] * row;
            shifted += w[i] * channel_mean[i / 9];
        }
        double deviation = squares - count * mean * mean;
        if (deviation < 0)
            deviation = 0;
        a.mean[out] = mean;
        a.rstd[out] = 1 / sqrt(deviation / count + IMP_NORM_EPS);
        double scale = pass->parameters[layer->gamma + out] * a.rstd[out];
        set_signed(layer, pass, signed_of(layer, a.weights), out, scale,
                   pass->parameters[layer->beta + out] - mean * scale);
        imp_statistics_note(layer, pass, out, mean + shifted + (bias ? bias[out] : 0), deviation,
                            count);
    }
}

static void forward_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    kept_arrays a = arrays_of(job);
    imp_images images = imp_images_of(job->pass, block);
    imp_padded in = padded_of(job->layer, a.padded, images);
    size_t at = images.begin * imp_shape_floats(job->layer->out);
    signed_weights s = signed_of(job->layer, a.weights);
    job->pass->kernels->first_forward(&in, s.weights, s.scale, s.bias, job->out + at,
                                      a.winner + at);
}

static void forward(const imp_job *job)
{
    const imp_layer *layer = job->layer;
    const imp_pass *pass = job->pass;
    pad_job padding = {.job = *job};
    kept_arrays a = arrays_of(job);
    size_t taps = taps_of(layer);

    imp_each_block(job, mean_block);
    const double *total = total_sums(job, layer->in.channels);
    for (size_t c = 0; c < layer->in.channels; c++)
        padding.mean[c] =
            (float)(total[c] / (double)(pass->images * layer->in.height * layer->in.width));

    /* the kernels read slightly past the last image, and multiply that by zero */
    size_t used = pass->images * layer->in.channels * plane_floats(layer);
    size_t floats = padded_floats(layer, pass->kernels, pass->images);
    memset(a.padded + used, 0, (floats - used) * sizeof(float));
    imp_parallel(pass->blocks, pass->threads, pad_block, &padding);
    imp_each_block(job, moments_block);
    total = total_sums(job, taps + taps * taps);
    memcpy(a.sums, total, taps * sizeof *total);
    memcpy(a.products, total + taps, taps * taps * sizeof *total);

    normalise(job, padding.mean);
    imp_each_block(job, forward_block);
}

static void backward_block(size_t block, int worker, void *context)
{
    const imp_job *job = context;
    kept_arrays a = arrays_of(job);
    imp_images images = imp_images_of(job->pass, block);
    imp_padded in = padded_of(job->layer, a.padded, images);
    size_t at = images.begin * imp_shape_floats(job->layer->out);
    double *sums = sums_of(job, block);
    job->pass->kernels->first_backward(&in, job->dout + at, a.winner + at, sums,
                                       sums + IMP_CHANNELS, imp_scratch_of(job->pass, worker));
}

/* This is always the first layer, so the gradient of the images is not needed. */
static void backward(const imp_job *job)
{
    const imp_layer *layer = job->layer;
    const imp_pass *pass = job->pass;
    size_t taps = taps_of(layer);
    kept_arrays a = arrays_of(job);
    imp_each_block(job, backward_block);
    const double *sum_dz = total_sums(job, (taps + 1) * IMP_CHANNELS);
    const double *patches = sum_dz + IMP_CHANNELS; /* D, (taps, 64) */
    double count = (double)(pass->images * layer->in.height * layer->in.width);
    for (size_t c = 0; c < IMP_CHANNELS; c++) {
        const float *w = pass->parameters + layer->weight + c * taps;
        float *dw = pass->gradients + layer->weight + c * taps;
        double mean = a.mean[c], rstd = a.rstd[c],
               scale = pass->parameters[layer->gamma + c] * rstd;
        double dgamma = -mean * sum_dz[c];
        for (size_t i = 0; i < taps; i++)
            dgamma += w[i] * patches[i * IMP_CHANNELS + c];
        dgamma *= rstd;
        for (size_t i = 0; i < taps; i++) {
            double covariance = -mean * a.sums[i];
            for (size_t j = 0; j < taps; j++)
                covariance += a.products[i * taps + j] * w[j];
            dw[i] +=
                (float)(scale * (patches[i * IMP_CHANNELS + c] - sum_dz[c] / count * a.sums[i] -
                                 rstd * dgamma / count * covariance));
        }
        pass->gradients[layer->gamma + c] += (float)dgamma;
        pass->gradients[layer->beta + c] += (float)sum_dz[c];
    }
}

/* backward: for first_backward() */
static size_t scratch(const imp_layer *layer, const imp_kernels *kernels)
{
    (void)kernels;
    return 12 * row_floats(layer);
}

static size_t frozen(const imp_layer *layer)
{
    return signed_floats(layer);
}

static void freeze(const imp_layer *layer, const imp_layer *norm, const imp_pass *pass,
                   float *frozen)
{
    (void)norm;
    const float *bias = imp_bias_of(layer, pass);
    for (size_t out = 0; out < IMP_CHANNELS; out++) {
        imp_affine f = imp_running_fold(layer, pass, out, bias ? bias[out] : 0);
        set_signed(layer, pass, signed_of(layer, frozen), out, f.scale, f.shift);
    }
}

/* the images with their border */
static size_t infer_scratch(const imp_layer *layer, const imp_kernels *kernels, size_t images)
{
    return padded_floats(layer, kernels, images);
}

static void infer(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                  size_t images, const float *const *in, float *out, float *padded)
{
    static const double no_shift[IMP_FIRST_MAX_CHANNELS];
    imp_images all = {0, images};
    pad(layer, all, in[0], no_shift, padded);
    imp_padded p = padded_of(layer, padded, all);
    signed_weights s = signed_of(layer, (float *)frozen);
    kernels->first_forward(&p, s.weights, s.scale, s.bias, out, NULL);
}

const imp_layer_kind imp_layer_first = {.kept = kept,
                                        .shared = shared,
                                        .scratch = scratch,
                                        .infer_scratch = infer_scratch,
                                        .forward = forward,
                                        .backward = backward,
                                        .frozen = frozen,
                                        .freeze = freeze,
                                        .infer = infer};
