/*
 * winograd_conv.c - a 3x3 convolution of 64 to 64 channels on its own, with the kernels of the
 * fused block.
 *
 * For networks that have tangents, which need a convolution's output and its gradient explicitly.
 */
#include "nn/layer.h"

enum { ROW_BLOCKS = 8 };

/* transformed weights, then in backward those of the adjoint and a block's part of the weight
 * gradient each; in forward the blocks' moments, which are not used */
static size_t shared(const imp_layer *layer, const imp_pass *pass)
{
    return (2 + pass->blocks) * imp_winograd_floats(layer);
}

static float *adjoint_of(const imp_job *job)
{
    return job->pass->shared + imp_winograd_floats(job->layer);
}

static float *part_of(const imp_job *job, size_t block)
{
    return job->pass->shared + (2 + block) * imp_winograd_floats(job->layer);
}

static size_t scratch(const imp_layer *layer, const imp_kernels *kernels)
{
    return imp_winograd_of(layer, kernels)->scratch_floats;
}

static imp_maps maps_of(const imp_layer *layer, imp_images images)
{
    return (imp_maps){images.end - images.begin, layer->in.height, layer->in.width};
}

static void transform_weights(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_pass *pass = job->pass;
    imp_winograd_of(job->layer, pass->kernels)
        ->weights(pass->parameters + job->layer->weight, IMP_CHANNELS, NULL,
                  imp_block_begin(IMP_CHANNELS, ROW_BLOCKS, block),
                  imp_block_begin(IMP_CHANNELS, ROW_BLOCKS, block + 1), pass->shared,
                  adjoint_of(job));
}

static void forward_block(size_t block, int worker, void *context)
{
    const imp_job *job = context;
    const imp_pass *pass = job->pass;
    imp_images images = imp_images_of(pass, block);
    imp_maps maps = maps_of(job->layer, images);
    size_t at = images.begin * imp_shape_floats(job->layer->in);
    float *out = job->out + at;
    imp_winograd_of(job->layer, pass->kernels)
        ->forward(&maps, job->in[0] + at, pass->shared, NULL, out, NULL,
                  (imp_moments *)(void *)part_of(job, block), imp_scratch_of(pass, worker));
    const float *bias = imp_bias_of(job->layer, pass);
    for (size_t p = 0; bias && p < maps.images * maps.height * maps.width; p++)
        for (size_t c = 0; c < IMP_CHANNELS; c++)
            out[p * IMP_CHANNELS + c] += bias[c];
}

static void forward(const imp_job *job)
{
    imp_parallel(ROW_BLOCKS, job->pass->threads, transform_weights, (void *)job);
    imp_each_block(job, forward_block);
}

static void backward_block(size_t block, int worker, void *context)
{
    const imp_job *job = context;
    const imp_pass *pass = job->pass;
    imp_norm itself = {.offset = {0}};
    for (size_t c = 0; c < IMP_CHANNELS; c++)
        itself.slope[c] = 1;
    imp_images images = imp_images_of(pass, block);
    imp_maps maps = maps_of(job->layer, images);
    size_t at = images.begin * imp_shape_floats(job->layer->in);
    imp_winograd_of(job->layer, pass->kernels)
        ->backward(&maps, job->in[0] + at, job->dout + at, NULL, NULL, NULL, &itself,
                   adjoint_of(job), part_of(job, block), job->din[0] ? job->din[0] + at : NULL,
                   imp_scratch_of(pass, worker));
}

static void weight_gradient_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_pass *pass = job->pass;
    imp_winograd_of(job->layer, pass->kernels)
        ->weight_gradient(part_of(job, 0), pass->blocks, IMP_CHANNELS,
                          imp_block_begin(IMP_CHANNELS, ROW_BLOCKS, block),
                          imp_block_begin(IMP_CHANNELS, ROW_BLOCKS, block + 1),
                          pass->gradients + job->layer->weight);
}

/* One sum per channel and block, stored over the block's part, which is no longer needed. */
static void bias_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    imp_images images = imp_images_of(job->pass, block);
    size_t pixels = imp_shape_pixels(job->layer->in);
    double *sum = (double *)(void *)part_of(job, block);
    for (size_t c = 0; c < IMP_CHANNELS; c++)
        sum[c] = 0;
    for (size_t p = images.begin * pixels; p < images.end * pixels; p++)
        for (size_t c = 0; c < IMP_CHANNELS; c++)
            sum[c] += job->dout[p * IMP_CHANNELS + c];
}

static void add_bias_gradient(const imp_job *job)
{
    imp_each_block(job, bias_block);
    for (size_t c = 0; c < IMP_CHANNELS; c++) {
        double sum = 0;
        for (size_t block = 0; block < job->pass->blocks; block++)
            sum += ((double *)(void *)part_of(job, block))[c];
        job->pass->gradients[job->layer->bias + c] += (float)sum;
    }
}

static void backward(const imp_job *job)
{
    const imp_pass *pass = job->pass;
    imp_parallel(ROW_BLOCKS, pass->threads, transform_weights, (void *)job);
    imp_each_block(job, backward_block);
    imp_parallel(ROW_BLOCKS, pass->threads, weight_gradient_block, (void *)job);
    if (job->layer->bias != IMP_NONE)
        add_bias_gradient(job);
}

const imp_layer_kind imp_layer_winograd_conv = {
    .shared = shared,
    .scratch = scratch,
    .forward = forward,
    .backward = backward,
    .forward_tangent = imp_tangent_of_product,
    .backward_tangent = imp_tangent_of_product_backward,
};
