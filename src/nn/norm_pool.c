/*
 * norm_pool.c - batch norm, rectifier and 2x2 max pooling as one layer, for networks that have
 * tangents.
 *
 * All three are monotone per channel, so the winner of a window is the largest input, or the
 * smallest where gamma is negative, and only winners are normalised and receive a gradient. All
 * that is computed for the whole map is what batch norm's two means require: an affine function of
 * the input x and its tangent t. With xhat = r (x - mean), m1 and m2 the means of dz and dz xhat
 * over the batch, a and b those of t and t xhat, xhat moves by r (t - a - b xhat) and r by -r^2 b,
 * and
 *
 *   dx = gamma r (dz - m1 - xhat m2)
 *
 * follows by the product rule. (norm.c is the same without the pooling.)
 */
#include <math.h>
#include <string.h>

#include "nn/batch_norm.h"
#include "nn/layer.h"
#include "nn/pool.h"

/* What lies in job->kept: per channel, and per output. */
typedef struct kept_arrays {
    double *mean, *rstd;
    double *gradient, *gradient_xhat; /* m1, m2 */
    double *tangent, *tangent_xhat;   /* a, b */
    float *sign;                      /* of gamma */
    float *center;                    /* the mean */
    float *offset, *slope, *winner;   /* dx = offset + slope (x - mean), + winner dz */
    /* and its tangent: offset + slope (x - mean) + turn t, + winner dz + winner_turn (dz's tangent)
     */
    float *turn, *winner_turn;
    float *selected;         /* (N, H/2, W/2, C) the winning x */
    float *selected_tangent; /* and t */
} kept_arrays;

enum { DOUBLES = 6, FLOATS = 7 };

static kept_arrays arrays_of(const imp_job *job)
{
    size_t channels = job->layer->in.channels;
    double *d = (double *)(void *)job->kept;
    float *f = job->kept + imp_lines(2 * DOUBLES * channels);
    kept_arrays a = {.mean = d,
                     .rstd = d + channels,
                     .gradient = d + 2 * channels,
                     .gradient_xhat = d + 3 * channels,
                     .tangent = d + 4 * channels,
                     .tangent_xhat = d + 5 * channels,
                     .sign = f,
                     .center = f + channels,
                     .offset = f + 2 * channels,
                     .slope = f + 3 * channels,
                     .winner = f + 4 * channels,
                     .turn = f + 5 * channels,
                     .winner_turn = f + 6 * channels};
    a.selected = f + imp_lines(FLOATS * channels);
    a.selected_tangent =
        a.selected + imp_lines(job->pass->images * imp_shape_floats(job->layer->out));
    return a;
}

static size_t kept(const imp_layer *layer, const imp_pass *pass)
{
    size_t channels = layer->in.channels;
    return imp_lines(2 * DOUBLES * channels) + imp_lines(FLOATS * channels) +
           2 * imp_lines(pass->images * imp_shape_floats(layer->out));
}

/* Two sums per channel and block, in double. */
static size_t shared(const imp_layer *layer, const imp_pass *pass)
{
    return pass->blocks * 2 * layer->in.channels * 2;
}

/* The same in float, for a few pixels. */
static size_t scratch(const imp_layer *layer, const imp_kernels *kernels)
{
    (void)kernels;
    return 2 * layer->in.channels;
}

static double *sums_of(const imp_job *job, size_t block)
{
    return imp_shared_doubles(job->pass) + block * 2 * job->layer->in.channels;
}

/* Means over the batch of the blocks' sums, added up in order. */
static void means_of(const imp_job *job, double *first, double *second)
{
    size_t channels = job->layer->in.channels;
    double count = (double)(job->pass->images * imp_shape_pixels(job->layer->in));
    for (size_t c = 0; c < channels; c++) {
        double sums[2] = {0, 0};
        for (size_t block = 0; block < job->pass->blocks; block++) {
            sums[0] += sums_of(job, block)[c];
            sums[1] += sums_of(job, block)[channels + c];
        }
        first[c] = sums[0] / count;
        second[c] = sums[1] / count;
    }
}

/* ---- walking over a block ---- */

/* Two rows of an image, or an odd last one: its range of the map, and the windows in it.
 */
typedef struct band {
    size_t at, pixels;   /* of the map */
    size_t out, windows; /* of the outputs; no windows in an odd last row */
} band;

typedef struct walk {
    const imp_layer *layer;
    imp_images images;
    size_t row;
} walk;

static walk walk_over(const imp_job *job, size_t block)
{
    return (walk){.layer = job->layer, .images = imp_images_of(job->pass, block)};
}

static bool next_band(walk *w, band *b)
{
    imp_shape in = w->layer->in, out = w->layer->out;
    if (w->row >= in.height) {
        w->row = 0;
        w->images.begin++;
    }
    if (w->images.begin >= w->images.end)
        return false;
    size_t rows = in.height - w->row < 2 ? 1 : 2, n = w->images.begin;
    *b = (band){.at = (n * in.height + w->row) * in.width * in.channels,
                .pixels = rows * in.width,
                .out = (n * out.height + w->row / 2) * out.width * in.channels,
                .windows = rows == 2 ? out.width : 0};
    w->row += 2;
    return true;
}

/* Adds a band's float sums to the block's doubles. */
static void flush(size_t count, float *restrict few, double *restrict sums)
{
    for (size_t i = 0; i < count; i++) {
        sums[i] += few[i];
        few[i] = 0;
    }
}

typedef struct sums_at {
    float *few;
    double *all;
} sums_at;

static sums_at begin_sums(const imp_job *job, size_t block, int worker)
{
    size_t count = 2 * job->layer->in.channels;
    sums_at s = {imp_scratch_of(job->pass, worker), sums_of(job, block)};
    memset(s.few, 0, count * sizeof *s.few);
    memset(s.all, 0, count * sizeof *s.all);
    return s;
}

/* ---- forward ---- */

static void select_window(size_t channels, size_t line, const float *restrict x,
                          const float *restrict sign, float *restrict selected)
{
    for (size_t c = 0; c < channels; c++) {
        float s = sign[c], best = x[c], value = x[channels + c];
        best = s * value > s * best ? value : best;
        value = x[line + c];
        best = s * value > s * best ? value : best;
        value = x[line + channels + c];
        selected[c] = s * value > s * best ? value : best;
    }
}

static void add_up(size_t pixels, size_t channels, const float *restrict x, float *restrict sum)
{
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < channels; c++)
            sum[c] += x[p * channels + c];
}

static void select_block(size_t block, int worker, void *context)
{
    const imp_job *job = context;
    size_t channels = job->layer->in.channels, line = job->layer->in.width * channels;
    kept_arrays a = arrays_of(job);
    sums_at sums = begin_sums(job, block, worker);
    walk w = walk_over(job, block);
    for (band b; next_band(&w, &b);) {
        const float *x = job->in[0] + b.at;
        add_up(b.pixels, channels, x, sums.few);
        for (size_t i = 0; i < b.windows; i++)
            select_window(channels, line, x + 2 * i * channels, a.sign,
                          a.selected + b.out + i * channels);
        flush(channels, sums.few, sums.all);
    }
}

static void add_deviations(size_t pixels, size_t channels, const float *restrict x,
                           const float *restrict center, float *restrict sum,
                           float *restrict squares)
{
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < channels; c++) {
            float d = x[p * channels + c] - center[c];
            sum[c] += d;
            squares[c] += d * d;
        }
}

static void deviation_block(size_t block, int worker, void *context)
{
    const imp_job *job = context;
    size_t channels = job->layer->in.channels;
    kept_arrays a = arrays_of(job);
    sums_at sums = begin_sums(job, block, worker);
    walk w = walk_over(job, block);
    for (band b; next_band(&w, &b);) {
        add_deviations(b.pixels, channels, job->in[0] + b.at, a.center, sums.few,
                       sums.few + channels);
        flush(2 * channels, sums.few, sums.all);
    }
}

/* The numbers of a block's outputs. */
static imp_images outputs_of(const imp_job *job, size_t block)
{
    imp_images images = imp_images_of(job->pass, block);
    size_t size = imp_shape_floats(job->layer->out);
    return (imp_images){images.begin * size, images.end * size};
}

static void output_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    size_t channels = job->layer->in.channels;
    const float *gamma = job->pass->parameters + job->layer->gamma;
    const float *beta = job->pass->parameters + job->layer->beta;
    kept_arrays a = arrays_of(job);
    imp_images outputs = outputs_of(job, block);
    for (size_t i = outputs.begin; i < outputs.end; i += channels)
        for (size_t c = 0; c < channels; c++) {
            double xhat = a.rstd[c] * (a.selected[i + c] - a.mean[c]);
            job->out[i + c] = imp_rectify((float)(gamma[c] * xhat + beta[c]), job->layer->slope);
        }
}

static void forward(const imp_job *job)
{
    const imp_layer *layer = job->layer;
    const imp_pass *pass = job->pass;
    size_t channels = layer->in.channels;
    double count = (double)(pass->images * imp_shape_pixels(layer->in));
    kept_arrays a = arrays_of(job);
    for (size_t c = 0; c < channels; c++) {
        float gamma = pass->parameters[layer->gamma + c];
        a.sign[c] = gamma > 0 ? 1 : gamma < 0 ? -1 : 0;
    }
    imp_each_block(job, select_block);
    means_of(job, a.mean, a.rstd);
    for (size_t c = 0; c < channels; c++)
        a.center[c] = (float)a.mean[c];

    imp_each_block(job, deviation_block);
    means_of(job, a.gradient, a.rstd);
    for (size_t c = 0; c < channels; c++) {
        double rest = a.gradient[c]; /* the error of rounding the mean to float */
        double variance = a.rstd[c] - rest * rest;
        a.mean[c] = a.center[c] + rest;
        a.rstd[c] = 1 / sqrt(variance + IMP_NORM_EPS);
        imp_statistics_note(layer, pass, c, a.mean[c], variance * count, count);
    }
    imp_each_block(job, output_block);
}

/* ---- backward ---- */

static inline float slope_at(const imp_job *job, float out)
{
    return out > 0 ? 1 : job->layer->slope;
}

static void gradient_sum_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    size_t channels = job->layer->in.channels;
    kept_arrays a = arrays_of(job);
    imp_images outputs = outputs_of(job, block);
    double *sum = sums_of(job, block);
    memset(sum, 0, 2 * channels * sizeof *sum);
    for (size_t i = outputs.begin; i < outputs.end; i += channels)
        for (size_t c = 0; c < channels; c++) {
            double dz = slope_at(job, job->out[i + c]) * job->dout[i + c];
            sum[c] += dz;
            sum[channels + c] += dz * (a.rstd[c] * (a.selected[i + c] - a.mean[c]));
        }
}

/* to = offset + slope (x - center) + turn t; without a tangent t is NULL */
static void write_affine(size_t pixels, size_t channels, const kept_arrays *a,
                         const float *restrict x, const float *restrict t, float *restrict to)
{
    const float *restrict offset = a->offset, *restrict slope = a->slope;
    const float *restrict center = a->center, *restrict turn = a->turn;
    for (size_t p = 0; p < pixels; p++, x += channels, to += channels) {
        for (size_t c = 0; c < channels; c++)
            to[c] = offset[c] + slope[c] * (x[c] - center[c]);
        for (size_t c = 0; t && c < channels; c++)
            to[c] += turn[c] * t[c];
        t = t ? t + channels : NULL;
    }
}

/* Adds a window's gradient to its winner, the first element equal to it. */
static void add_to_winner(size_t channels, size_t line, const float *restrict x,
                          const float *restrict selected, const float *restrict gradient,
                          float *restrict to)
{
    for (size_t c = 0; c < channels; c++) {
        float best = selected[c], left = gradient[c];
        to[c] += x[c] == best ? left : 0;
        left = x[c] == best ? 0 : left;
        to[channels + c] += x[channels + c] == best ? left : 0;
        left = x[channels + c] == best ? 0 : left;
        to[line + c] += x[line + c] == best ? left : 0;
        left = x[line + c] == best ? 0 : left;
        to[line + channels + c] += x[line + channels + c] == best ? left : 0;
    }
}

/* The gradient of the map, or its tangent if `tangent` is given, from the coefficients in `a`. */
static void write_gradient(const imp_job *job, size_t block, int worker, const imp_tangent *tangent)
{
    size_t channels = job->layer->in.channels, line = job->layer->in.width * channels;
    kept_arrays a = arrays_of(job);
    float *to = tangent ? tangent->din[0] : job->din[0];
    float *dx = imp_scratch_of(job->pass, worker);
    walk w = walk_over(job, block);
    for (band b; next_band(&w, &b);) {
        const float *x = job->in[0] + b.at;
        write_affine(b.pixels, channels, &a, x, tangent ? tangent->in[0] + b.at : NULL, to + b.at);
        for (size_t i = 0; i < b.windows; i++) {
            size_t out = b.out + i * channels;
            for (size_t c = 0; c < channels; c++) {
                float moved = tangent ? a.winner_turn[c] * tangent->dout[out + c] : 0;
                dx[c] =
                    slope_at(job, job->out[out + c]) * (a.winner[c] * job->dout[out + c] + moved);
            }
            add_to_winner(channels, line, x + 2 * i * channels, a.selected + out, dx,
                          to + b.at + 2 * i * channels);
        }
    }
}

static void gradient_block(size_t block, int worker, void *context)
{
    write_gradient(context, block, worker, NULL);
}

static void backward(const imp_job *job)
{
    const imp_layer *layer = job->layer;
    double count = (double)(job->pass->images * imp_shape_pixels(layer->in));
    kept_arrays a = arrays_of(job);
    imp_each_block(job, gradient_sum_block);
    means_of(job, a.gradient, a.gradient_xhat);
    for (size_t c = 0; c < layer->in.channels; c++) {
        job->pass->gradients[layer->beta + c] += (float)(count * a.gradient[c]);
        job->pass->gradients[layer->gamma + c] += (float)(count * a.gradient_xhat[c]);
        double factor = job->pass->parameters[layer->gamma + c] * a.rstd[c];
        double rest = a.mean[c] - a.center[c];
        double slope = -factor * a.gradient_xhat[c] * a.rstd[c];
        a.winner[c] = (float)factor;
        a.slope[c] = (float)slope;
        a.offset[c] = (float)(-factor * a.gradient[c] - slope * rest);
    }
    if (job->din[0])
        imp_each_block(job, gradient_block);
}

/* ---- tangents ---- */

static void select_tangent(size_t channels, size_t line, const float *restrict x,
                           const float *restrict t, const float *restrict selected,
                           float *restrict tangent)
{
    for (size_t c = 0; c < channels; c++) {
        float best = selected[c], found = t[line + channels + c];
        found = x[line + c] == best ? t[line + c] : found;
        found = x[channels + c] == best ? t[channels + c] : found;
        tangent[c] = x[c] == best ? t[c] : found;
    }
}

static void add_products(size_t pixels, size_t channels, const float *restrict x,
                         const float *restrict t, const float *restrict center, float *restrict sum,
                         float *restrict products)
{
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < channels; c++) {
            sum[c] += t[p * channels + c];
            products[c] += t[p * channels + c] * (x[p * channels + c] - center[c]);
        }
}

static void tangent_sum_block(size_t block, int worker, void *context)
{
    const imp_job *job = context;
    size_t channels = job->layer->in.channels, line = job->layer->in.width * channels;
    kept_arrays a = arrays_of(job);
    sums_at sums = begin_sums(job, block, worker);
    walk w = walk_over(job, block);
    for (band b; next_band(&w, &b);) {
        const float *x = job->in[0] + b.at, *t = job->tangent->in[0] + b.at;
        add_products(b.pixels, channels, x, t, a.center, sums.few, sums.few + channels);
        for (size_t i = 0; i < b.windows; i++)
            select_tangent(channels, line, x + 2 * i * channels, t + 2 * i * channels,
                           a.selected + b.out + i * channels,
                           a.selected_tangent + b.out + i * channels);
        flush(2 * channels, sums.few, sums.all);
    }
}

/* The tangent of xhat of the winner at output i, and xhat itself. */
static inline double moved_xhat(const kept_arrays *a, size_t i, size_t c, double *xhat)
{
    *xhat = a->rstd[c] * (a->selected[i + c] - a->mean[c]);
    return a->rstd[c] * (a->selected_tangent[i + c] - a->tangent[c] - a->tangent_xhat[c] * *xhat);
}

static void tangent_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    size_t channels = job->layer->in.channels;
    const float *gamma = job->pass->parameters + job->layer->gamma;
    const float *dgamma = job->tangent->parameters + job->layer->gamma;
    const float *dbeta = job->tangent->parameters + job->layer->beta;
    kept_arrays a = arrays_of(job);
    imp_images outputs = outputs_of(job, block);
    for (size_t i = outputs.begin; i < outputs.end; i += channels)
        for (size_t c = 0; c < channels; c++) {
            double xhat, moved = moved_xhat(&a, i, c, &xhat);
            job->tangent->out[i + c] = (float)(slope_at(job, job->out[i + c]) *
                                               (dgamma[c] * xhat + gamma[c] * moved + dbeta[c]));
        }
}

static void forward_tangent(const imp_job *job)
{
    kept_arrays a = arrays_of(job);
    size_t channels = job->layer->in.channels;
    if (job->tangent->in[0]) {
        imp_each_block(job, tangent_sum_block);
        means_of(job, a.tangent, a.tangent_xhat);
        for (size_t c = 0; c < channels; c++)
            a.tangent_xhat[c] =
                a.rstd[c] * (a.tangent_xhat[c] - (a.mean[c] - a.center[c]) * a.tangent[c]);
    } else {
        memset(a.tangent, 0, channels * sizeof *a.tangent);
        memset(a.tangent_xhat, 0, channels * sizeof *a.tangent_xhat);
        memset(a.selected_tangent, 0,
               job->pass->images * imp_shape_floats(job->layer->out) * sizeof(float));
    }
    imp_each_block(job, tangent_block);
}

static void moved_sum_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    size_t channels = job->layer->in.channels;
    kept_arrays a = arrays_of(job);
    imp_images outputs = outputs_of(job, block);
    double *sum = sums_of(job, block);
    memset(sum, 0, 2 * channels * sizeof *sum);
    for (size_t i = outputs.begin; i < outputs.end; i += channels)
        for (size_t c = 0; c < channels; c++) {
            double slope = slope_at(job, job->out[i + c]), xhat;
            double moved = moved_xhat(&a, i, c, &xhat), turned = job->tangent->dout[i + c];
            sum[c] += slope * turned;
            sum[channels + c] += slope * (turned * xhat + job->dout[i + c] * moved);
        }
}

static void moved_block(size_t block, int worker, void *context)
{
    const imp_job *job = context;
    write_gradient(job, block, worker, job->tangent);
}

/* dx = f (dz - m1 - xhat m2) with f = gamma r moves by f's tangent times the bracket, and f times
 * the bracket's: (dz's tangent) - m1' - (xhat's tangent) m2 - xhat m2'. */
static void backward_tangent(const imp_job *job)
{
    const imp_layer *layer = job->layer;
    const imp_pass *pass = job->pass;
    double count = (double)(pass->images * imp_shape_pixels(layer->in));
    kept_arrays a = arrays_of(job);
    imp_each_block(job, moved_sum_block);
    /* once read, the sums of the first block make room for the means, channel by channel
     */
    double *m1 = sums_of(job, 0), *m2 = m1 + layer->in.channels;
    means_of(job, m1, m2);
    for (size_t c = 0; c < layer->in.channels; c++) {
        job->tangent->gradients[layer->beta + c] += (float)(count * m1[c]);
        job->tangent->gradients[layer->gamma + c] += (float)(count * m2[c]);
        double r = a.rstd[c], gamma = pass->parameters[layer->gamma + c];
        double factor = gamma * r, m2_before = a.gradient_xhat[c];
        double turned =
            r * (job->tangent->parameters[layer->gamma + c] - gamma * r * a.tangent_xhat[c]);
        /* offset + of_xhat xhat + turn t */
        double turn = -factor * m2_before * r;
        double of_xhat = -turned * m2_before - factor * m2[c] - turn * a.tangent_xhat[c];
        double offset = -turned * a.gradient[c] - factor * m1[c] - turn * a.tangent[c];
        a.winner[c] = (float)turned;
        a.winner_turn[c] = (float)factor;
        a.turn[c] = (float)turn;
        a.slope[c] = (float)(of_xhat * r);
        a.offset[c] = (float)(offset - of_xhat * r * (a.mean[c] - a.center[c]));
    }
    if (job->tangent->din[0])
        imp_each_block(job, moved_block);
}

const imp_layer_kind imp_layer_norm_pool = {
    .kept = kept,
    .shared = shared,
    .scratch = scratch,
    .forward = forward,
    .backward = backward,
    .forward_tangent = forward_tangent,
    .backward_tangent = backward_tangent,
};
