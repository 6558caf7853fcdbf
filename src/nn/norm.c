/*
 * norm.c - batch normalisation on its own, for any number of channels (Ioffe & Szegedy 2015), with
 * the rectifier after it if there is one.
 *
 * A batch's moments are merged from those of its blocks, each computed about an origin near the
 * mean, so that a large mean costs no precision.
 */
#include <math.h>
#include <string.h>

#include "nn/batch_norm.h"
#include "nn/onnx_node.h"
#include "nn/plan.h"

static imp_status plan(imp_plan *plan, imp_layer *layer)
{
    imp_status status = imp_take_end(plan);
    if (!status)
        status = imp_plan_norm(plan);
    if (status)
        return status;
    const size_t *shape = &layer->in.channels;
    imp_start one = {.size = 1}, zero = {.size = 0};
    layer->gamma = imp_plan_tensor(plan, "bn.weight", true, 1, shape, one);
    layer->beta = imp_plan_tensor(plan, "bn.bias", true, 1, shape, zero);
    layer->running_mean = imp_plan_tensor(plan, "bn.running_mean", false, 1, shape, zero);
    layer->running_var = imp_plan_tensor(plan, "bn.running_var", false, 1, shape, one);
    return IMP_OK;
}

/* Kept from forward to backward: floats per channel, in this order, and for the tangents, which
 * come last, four means over the batch (double). */
enum { MEAN, RSTD, SCALE, OFFSET, TILT, FLOATS = 6 }; /* an even number: doubles follow */

typedef struct kept_means {
    double *gradient, *gradient_xhat; /* of dz and dz * xhat */
    double *tangent, *tangent_xhat;   /* of the input's tangent, and that times xhat */
} kept_means;

static size_t kept(const imp_layer *layer, const imp_pass *pass)
{
    (void)pass;
    return (FLOATS + 4 * 2) * layer->in.channels;
}

static float *kept_of(const imp_job *job, size_t what)
{
    return job->kept + what * job->layer->in.channels;
}

static kept_means means_of(const imp_job *job)
{
    size_t channels = job->layer->in.channels;
    double *first = (double *)(void *)kept_of(job, FLOATS);
    return (kept_means){first, first + channels, first + 2 * channels, first + 3 * channels};
}

static imp_channel_norm norm_of(const imp_job *job)
{
    const imp_layer *layer = job->layer;
    return (imp_channel_norm){.channels = layer->in.channels,
                              .mean = kept_of(job, MEAN),
                              .scale = kept_of(job, SCALE),
                              .beta = job->pass->parameters + layer->beta,
                              .offset = kept_of(job, OFFSET),
                              .tilt = kept_of(job, TILT),
                              .slope = layer->slope};
}

/* Two sums per channel and block, in double. */
static size_t shared(const imp_layer *layer, const imp_pass *pass)
{
    return pass->blocks * 2 * layer->in.channels * 2;
}

static size_t scratch(const imp_layer *layer, const imp_kernels *kernels)
{
    (void)kernels;
    return 3 * layer->in.channels;
}

static double *sums_of(const imp_job *job, size_t block)
{
    return imp_shared_doubles(job->pass) + block * 2 * job->layer->in.channels;
}

/* Adds the blocks' sums, in order, to the first block's. */
static void total_sums(const imp_job *job)
{
    for (size_t block = 1; block < job->pass->blocks; block++)
        for (size_t i = 0; i < 2 * job->layer->in.channels; i++)
            sums_of(job, 0)[i] += sums_of(job, block)[i];
}

/* The pixels of a block of images. */
static imp_images pixels_of(const imp_job *job, size_t block)
{
    imp_images images = imp_images_of(job->pass, block);
    size_t pixels = imp_shape_pixels(job->layer->in);
    return (imp_images){images.begin * pixels, images.end * pixels};
}

static void moments_block(size_t block, int worker, void *context)
{
    const imp_job *job = context;
    size_t channels = job->layer->in.channels;
    imp_images pixels = pixels_of(job, block);
    double *mean = sums_of(job, block);
    job->pass->kernels->norm_moments(pixels.end - pixels.begin, channels,
                                     job->in[0] + pixels.begin * channels, mean, mean + channels,
                                     imp_scratch_of(job->pass, worker));
}

/* Merges the blocks' moments in order into the first block's. */
static void merge_moments(const imp_job *job)
{
    size_t channels = job->layer->in.channels;
    double *mean = sums_of(job, 0), *deviation = mean + channels;
    for (size_t block = 1; block < job->pass->blocks; block++) {
        const double *more = sums_of(job, block);
        imp_images pixels = pixels_of(job, block);
        double before = (double)pixels.begin, count = (double)pixels.end;
        double share = (count - before) / count;
        for (size_t c = 0; c < channels; c++)
            imp_moment_merge(&mean[c], &deviation[c], more[c], more[channels + c], before, share);
    }
}

static void normalise_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    imp_images pixels = pixels_of(job, block);
    imp_channel_norm norm = norm_of(job);
    size_t at = pixels.begin * norm.channels;
    job->pass->kernels->norm_forward(&norm, pixels.end - pixels.begin, job->in[0] + at,
                                     job->out + at);
}

static void forward(const imp_job *job)
{
    const imp_layer *layer = job->layer;
    size_t channels = layer->in.channels;
    double count = (double)(job->pass->images * imp_shape_pixels(layer->in));
    const double *mean = sums_of(job, 0), *deviations = mean + channels;
    imp_each_block(job, moments_block);
    merge_moments(job);
    for (size_t c = 0; c < channels; c++) {
        double deviation = deviations[c] < 0 ? 0 : deviations[c]; /* NaN stays NaN */
        double rstd = 1 / sqrt(deviation / count + IMP_NORM_EPS);
        kept_of(job, MEAN)[c] = (float)mean[c];
        kept_of(job, RSTD)[c] = (float)rstd;
        kept_of(job, SCALE)[c] = (float)(job->pass->parameters[layer->gamma + c] * rstd);
        imp_statistics_note(layer, job->pass, c, mean[c], deviation, count);
    }
    imp_each_block(job, normalise_block);
}

static void backward_sum_block(size_t block, int worker, void *context)
{
    const imp_job *job = context;
    imp_images pixels = pixels_of(job, block);
    imp_channel_norm norm = norm_of(job);
    size_t at = pixels.begin * norm.channels;
    double *sum = sums_of(job, block);
    job->pass->kernels->norm_backward_sums(&norm, pixels.end - pixels.begin, job->in[0] + at,
                                           job->dout + at, sum, sum + norm.channels,
                                           imp_scratch_of(job->pass, worker));
}

static void backward_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    imp_images pixels = pixels_of(job, block);
    imp_channel_norm norm = norm_of(job);
    size_t at = pixels.begin * norm.channels;
    job->pass->kernels->norm_backward(&norm, pixels.end - pixels.begin, job->in[0] + at,
                                      job->dout + at, job->din[0] + at);
}

static void backward(const imp_job *job)
{
    const imp_layer *layer = job->layer;
    size_t channels = layer->in.channels;
    double count = (double)(job->pass->images * imp_shape_pixels(layer->in));
    imp_each_block(job, backward_sum_block);
    total_sums(job);
    const double *sum = sums_of(job, 0);
    for (size_t c = 0; c < channels; c++) {
        double rstd = kept_of(job, RSTD)[c], scale = kept_of(job, SCALE)[c];
        double sum_dz_xhat = sum[channels + c] * rstd;
        job->pass->gradients[layer->beta + c] += (float)sum[c];
        job->pass->gradients[layer->gamma + c] += (float)sum_dz_xhat;
        means_of(job).gradient[c] = sum[c] / count;
        means_of(job).gradient_xhat[c] = sum_dz_xhat / count;
        kept_of(job, OFFSET)[c] = (float)(-scale * sum[c] / count);
        kept_of(job, TILT)[c] = (float)(-scale * rstd * sum_dz_xhat / count);
    }
    if (job->din[0])
        imp_each_block(job, backward_block);
}

/* ---- tangents ----
 *
 * Let t be the input's tangent, a its mean over the batch and b the mean of t * xhat. Then xhat
 * moves by r (t - a - b xhat), where r is 1 / std, and r itself by -r^2 b. */

/* slope of the rectifier, by the output */
static inline double slope_at(const imp_job *job, size_t i)
{
    return job->out[i] > 0 ? 1 : job->layer->slope;
}

static void tangent_sum_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    size_t channels = job->layer->in.channels, pixels = imp_shape_pixels(job->layer->in);
    imp_images images = imp_images_of(job->pass, block);
    const float *mean = job->kept, *rstd = job->kept + channels, *in = job->in[0];
    const float *tangent = job->tangent->in[0];
    double *sum = sums_of(job, block);
    memset(sum, 0, 2 * channels * sizeof *sum);
    for (size_t p = images.begin * pixels; p < images.end * pixels; p++)
        for (size_t c = 0; c < channels; c++) {
            size_t i = p * channels + c;
            sum[c] += tangent[i];
            sum[channels + c] += (double)tangent[i] * ((in[i] - mean[c]) * rstd[c]);
        }
}

static void tangent_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    size_t channels = layer->in.channels, pixels = imp_shape_pixels(layer->in);
    imp_images images = imp_images_of(job->pass, block);
    const float *mean = job->kept, *rstd = job->kept + channels, *in = job->in[0];
    const float *gamma = job->pass->parameters + layer->gamma;
    const float *dgamma = job->tangent->parameters + layer->gamma;
    const float *dbeta = job->tangent->parameters + layer->beta;
    const float *tangent = job->tangent->in[0];
    kept_means means = means_of(job);
    for (size_t p = images.begin * pixels; p < images.end * pixels; p++)
        for (size_t c = 0; c < channels; c++) {
            size_t i = p * channels + c;
            double xhat = (in[i] - mean[c]) * rstd[c], moved = 0;
            if (tangent)
                moved = rstd[c] * (tangent[i] - means.tangent[c] - xhat * means.tangent_xhat[c]);
            job->tangent->out[i] =
                (float)(slope_at(job, i) * (dgamma[c] * xhat + gamma[c] * moved + dbeta[c]));
        }
}

static void forward_tangent(const imp_job *job)
{
    size_t channels = job->layer->in.channels;
    double count = (double)(job->pass->images * imp_shape_pixels(job->layer->in));
    if (job->tangent->in[0]) {
        imp_each_block(job, tangent_sum_block);
        total_sums(job);
    } else {
        memset(sums_of(job, 0), 0, 2 * channels * sizeof(double));
    }
    for (size_t c = 0; c < channels; c++) {
        means_of(job).tangent[c] = sums_of(job, 0)[c] / count;
        means_of(job).tangent_xhat[c] = sums_of(job, 0)[channels + c] / count;
    }
    imp_each_block(job, tangent_block);
}

/* The tangents of the two sums of backward. */
static void backward_tangent_sum_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    size_t channels = layer->in.channels, pixels = imp_shape_pixels(layer->in);
    imp_images images = imp_images_of(job->pass, block);
    const float *mean = job->kept, *rstd = job->kept + channels, *in = job->in[0];
    const float *tangent = job->tangent->in[0];
    kept_means means = means_of(job);
    double *sum = sums_of(job, block);
    memset(sum, 0, 2 * channels * sizeof *sum);
    for (size_t p = images.begin * pixels; p < images.end * pixels; p++)
        for (size_t c = 0; c < channels; c++) {
            size_t i = p * channels + c;
            double slope = slope_at(job, i), xhat = (in[i] - mean[c]) * rstd[c], moved = 0;
            if (tangent)
                moved = rstd[c] * (tangent[i] - means.tangent[c] - xhat * means.tangent_xhat[c]);
            sum[c] += slope * job->tangent->dout[i];
            sum[channels + c] += slope * (job->tangent->dout[i] * xhat + job->dout[i] * moved);
        }
}

static void backward_tangent_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    size_t channels = layer->in.channels, pixels = imp_shape_pixels(layer->in);
    double count = (double)(job->pass->images * pixels);
    imp_images images = imp_images_of(job->pass, block);
    const float *mean = job->kept, *rstd = job->kept + channels, *in = job->in[0];
    const float *gamma = job->pass->parameters + layer->gamma;
    const float *dgamma = job->tangent->parameters + layer->gamma;
    const float *tangent = job->tangent->in[0];
    kept_means means = means_of(job);
    const double *sum = sums_of(job, 0);
    for (size_t p = images.begin * pixels; p < images.end * pixels; p++)
        for (size_t c = 0; c < channels; c++) {
            size_t i = p * channels + c;
            double slope = slope_at(job, i), xhat = (in[i] - mean[c]) * rstd[c];
            double moved = rstd[c] * (tangent[i] - means.tangent[c] - xhat * means.tangent_xhat[c]);
            double factor = rstd[c] * (dgamma[c] - gamma[c] * rstd[c] * means.tangent_xhat[c]);
            double centred =
                slope * job->dout[i] - means.gradient[c] - xhat * means.gradient_xhat[c];
            double centred_moved = slope * job->tangent->dout[i] - sum[c] / count -
                                   moved * means.gradient_xhat[c] -
                                   xhat * (sum[channels + c] / count);
            job->tangent->din[0][i] =
                (float)(factor * centred + gamma[c] * rstd[c] * centred_moved);
        }
}

static void backward_tangent(const imp_job *job)
{
    const imp_layer *layer = job->layer;
    size_t channels = layer->in.channels;
    imp_each_block(job, backward_tangent_sum_block);
    total_sums(job);
    for (size_t c = 0; c < channels; c++) {
        job->tangent->gradients[layer->beta + c] += (float)sums_of(job, 0)[c];
        job->tangent->gradients[layer->gamma + c] += (float)sums_of(job, 0)[channels + c];
    }
    if (job->tangent->din[0])
        imp_each_block(job, backward_tangent_block);
}

/* Frozen: scale and shift of the running statistics. */
static size_t frozen(const imp_layer *layer)
{
    return 2 * layer->in.channels;
}

static void freeze(const imp_layer *layer, const imp_layer *norm, const imp_pass *pass,
                   float *frozen)
{
    (void)norm;
    for (size_t c = 0; c < layer->in.channels; c++) {
        imp_affine f = imp_running_fold(layer, pass, c, 0);
        frozen[c] = f.scale;
        frozen[layer->in.channels + c] = f.shift;
    }
}

static void infer(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                  size_t images, const float *const *in, float *out, float *scratch)
{
    (void)kernels, (void)scratch;
    size_t channels = layer->in.channels;
    for (size_t p = 0; p < images * imp_shape_pixels(layer->in); p++)
        for (size_t c = 0; c < channels; c++)
            out[p * channels + c] = imp_rectify(
                frozen[c] * in[0][p * channels + c] + frozen[channels + c], layer->slope);
}

static void write_onnx(const imp_layer *layer, const imp_layer *norm, imp_onnx *onnx)
{
    (void)norm;
    imp_onnx_node node = imp_onnx_begin(onnx, layer);
    imp_onnx_parameter(&node, layer->gamma);
    imp_onnx_parameter(&node, layer->beta);
    imp_onnx_statistic(&node, layer->running_mean);
    imp_onnx_statistic(&node, layer->running_var);
    imp_onnx_float(&node, "epsilon", (float)IMP_NORM_EPS);
    imp_onnx_end(&node, "BatchNormalization");
}

const imp_layer_kind imp_layer_norm = {
    .word = "bn",
    .usage = "'bn', which takes no number",
    .plan = plan,
    .kept = kept,
    .shared = shared,
    .scratch = scratch,
    .forward = forward,
    .backward = backward,
    .forward_tangent = forward_tangent,
    .backward_tangent = backward_tangent,
    .frozen = frozen,
    .freeze = freeze,
    .infer = infer,
    .write_onnx = write_onnx,
};
