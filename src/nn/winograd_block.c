/*
 * winograd_block.c - the fused block convolution, batch norm, ReLU, pool from 64 to 64 channels.
 *
 * Forward is two passes over the batch: convolve, compute the moments and select the winners of
 * pooling windows, then normalise and rectify these. Backward is two passes as well: the two sums
 * batch norm needs, then everything else tile by tile. The convolution's bias is never added,
 * because batch norm would cancel it.
 */
#include "nn/batch_norm.h"
#include "nn/layer.h"

/* What lies in job->kept. */
typedef struct kept_arrays {
    float *y;        /* (N, H, W, 64) the convolution */
    float *selected; /* (N, H/2, W/2, 64) its window maxima */
    float *forward;  /* transformed weights */
    float *adjoint;
    imp_norm *norm;
} kept_arrays;

static size_t in_floats(const imp_layer *layer)
{
    return imp_shape_floats(layer->in);
}

static size_t out_floats(const imp_layer *layer)
{
    return imp_shape_floats(layer->out);
}

static kept_arrays arrays_of(const imp_job *job)
{
    kept_arrays a = {.forward = job->kept};
    a.adjoint = a.forward + imp_winograd_floats(job->layer);
    a.norm = (imp_norm *)(void *)(a.adjoint + imp_winograd_floats(job->layer));
    a.selected = (float *)(void *)(a.norm + 1);
    a.y = a.selected + job->pass->images * out_floats(job->layer);
    return a;
}

static size_t kept(const imp_layer *layer, const imp_pass *pass)
{
    return 2 * imp_winograd_floats(layer) + sizeof(imp_norm) / sizeof(float) +
           pass->images * (out_floats(layer) + in_floats(layer));
}

/* A block's part of the weight gradient in backward; before that, its moments or sums are there. */
static size_t shared(const imp_layer *layer, const imp_pass *pass)
{
    return pass->blocks * imp_winograd_floats(layer);
}

static size_t scratch(const imp_layer *layer, const imp_kernels *kernels)
{
    return imp_winograd_of(layer, kernels)->scratch_floats;
}

static size_t infer_scratch(const imp_layer *layer, const imp_kernels *kernels, size_t images)
{
    (void)images;
    return scratch(layer, kernels);
}

static imp_maps maps_of(const imp_layer *layer, imp_images images)
{
    return (imp_maps){images.end - images.begin, layer->in.height, layer->in.width};
}

/* Weights are transformed by rows of the 64x64 matrices, a few rows to a block. */
enum { ROW_BLOCKS = 8 };

static void transform_weights(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    kept_arrays a = arrays_of(job);
    imp_winograd_of(layer, job->pass->kernels)
        ->weights(job->pass->parameters + layer->weight, layer->inputs, NULL,
                  imp_block_begin(IMP_CHANNELS, ROW_BLOCKS, block),
                  imp_block_begin(IMP_CHANNELS, ROW_BLOCKS, block + 1), a.forward, a.adjoint);
}

static void convolve_block(size_t block, int worker, void *context)
{
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    const imp_pass *pass = job->pass;
    kept_arrays a = arrays_of(job);
    imp_images images = imp_images_of(pass, block);
    imp_maps maps = maps_of(layer, images);
    size_t at = images.begin * in_floats(layer);
    imp_winograd_of(layer, pass->kernels)
        ->forward(&maps, job->in[0] + at, a.forward, a.norm->sign, a.y + at,
                  a.selected + images.begin * out_floats(layer),
                  (imp_moments *)(void *)pass->shared + block, imp_scratch_of(pass, worker));
}

static void pool_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    kept_arrays a = arrays_of(job);
    imp_images images = imp_images_of(job->pass, block);
    size_t at = images.begin * out_floats(layer), end = images.end * out_floats(layer);
    job->pass->kernels->pool_forward((end - at) / IMP_CHANNELS, a.selected + at, a.norm,
                                     job->out + at);
}

static void forward(const imp_job *job)
{
    const imp_pass *pass = job->pass;
    imp_norm_signs(job->layer, pass, arrays_of(job).norm);
    imp_parallel(ROW_BLOCKS, pass->threads, transform_weights, (void *)job);
    imp_each_block(job, convolve_block);
    imp_moments *moments = (imp_moments *)(void *)pass->shared;
    for (size_t block = 1; block < pass->blocks; block++)
        imp_moments_merge(&moments[0], &moments[block]);
    imp_norm_from_moments(job->layer, pass, &moments[0], arrays_of(job).norm);
    imp_each_block(job, pool_block);
}

static void sums_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    kept_arrays a = arrays_of(job);
    imp_images images = imp_images_of(job->pass, block);
    size_t at = images.begin * out_floats(layer), end = images.end * out_floats(layer);
    double *sums = imp_shared_doubles(job->pass) + block * 2 * IMP_CHANNELS;
    job->pass->kernels->pool_backward_sums((end - at) / IMP_CHANNELS, a.selected + at,
                                           job->out + at, job->dout + at, a.norm, sums,
                                           sums + IMP_CHANNELS);
}

static void backward_block(size_t block, int worker, void *context)
{
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    const imp_pass *pass = job->pass;
    kept_arrays a = arrays_of(job);
    imp_images images = imp_images_of(pass, block);
    imp_maps maps = maps_of(layer, images);
    size_t in_at = images.begin * in_floats(layer), out_at = images.begin * out_floats(layer);
    float *part = pass->shared + block * imp_winograd_floats(layer);
    imp_winograd_of(layer, pass->kernels)
        ->backward(&maps, job->in[0] + in_at, a.y + in_at, a.selected + out_at, job->out + out_at,
                   job->dout + out_at, a.norm, a.adjoint, part,
                   job->din[0] ? job->din[0] + in_at : NULL, imp_scratch_of(pass, worker));
}

static void weight_gradient_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    imp_winograd_of(layer, job->pass->kernels)
        ->weight_gradient(job->pass->shared, job->pass->blocks, layer->inputs,
                          imp_block_begin(layer->inputs, ROW_BLOCKS, block),
                          imp_block_begin(layer->inputs, ROW_BLOCKS, block + 1),
                          job->pass->gradients + layer->weight);
}

static void backward(const imp_job *job)
{
    const imp_layer *layer = job->layer;
    const imp_pass *pass = job->pass;
    imp_each_block(job, sums_block);
    double *sums = imp_shared_doubles(pass);
    for (size_t block = 1; block < pass->blocks; block++)
        for (size_t i = 0; i < 2 * IMP_CHANNELS; i++)
            sums[i] += sums[block * 2 * IMP_CHANNELS + i];
    double count = (double)(pass->images * imp_shape_pixels(layer->in));
    imp_norm_backward(layer, pass, sums, sums + IMP_CHANNELS, count, arrays_of(job).norm);
    imp_each_block(job, backward_block);
    imp_parallel(ROW_BLOCKS, pass->threads, weight_gradient_block, (void *)job);
}

/* Frozen: weights with the norm folded in, transformed, then the bias that is left. */
static size_t frozen(const imp_layer *layer)
{
    return imp_winograd_floats(layer) + IMP_CHANNELS;
}

static void freeze(const imp_layer *layer, const imp_layer *norm, const imp_pass *pass,
                   float *frozen)
{
    (void)norm;
    float scale[IMP_CHANNELS], *shift = frozen + imp_winograd_floats(layer);
    const float *bias = imp_bias_of(layer, pass);
    for (size_t c = 0; c < IMP_CHANNELS; c++) {
        imp_affine f = imp_running_fold(layer, pass, c, bias ? bias[c] : 0);
        scale[c] = f.scale;
        shift[c] = f.shift;
    }
    imp_winograd_of(layer, pass->kernels)
        ->weights(pass->parameters + layer->weight, layer->inputs, scale, 0, IMP_CHANNELS, frozen,
                  NULL);
}

static void infer(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                  size_t images, const float *const *in, float *out, float *scratch)
{
    imp_maps maps = maps_of(layer, (imp_images){0, images});
    imp_winograd_of(layer, kernels)
        ->infer(&maps, in[0], frozen, frozen + imp_winograd_floats(layer), out, scratch);
}

const imp_layer_kind imp_layer_winograd = {.kept = kept,
                                           .shared = shared,
                                           .scratch = scratch,
                                           .forward = forward,
                                           .backward = backward,
                                           .infer_scratch = infer_scratch,
                                           .frozen = frozen,
                                           .freeze = freeze,
                                           .infer = infer};
