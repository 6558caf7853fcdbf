/*
 * tiled_conv.c - 3x3 convolution with stride 1 between wide layers, by Winograd's tiles.
 *
 * Used instead of the general path (conv.c) if the channels fill whole vectors. Forward and the
 * input gradient, which is a convolution as well, are divided by images. The weight gradient has no
 * partial sums per block, which would be large: all threads transform a few tiles, and then each
 * multiplies at its own points of the transform.
 */
#include <string.h>

#include "nn/batch_norm.h"

enum { ROW_BLOCKS = 16, TILE_BLOCKS = 12 };

static size_t matrices(const imp_layer *layer)
{
    return IMP_POINTS * layer->inputs * layer->out.channels;
}

static imp_maps maps_of(const imp_layer *layer, size_t images)
{
    return (imp_maps){images, layer->in.height, layer->in.width};
}

static size_t points_floats(const imp_layer *layer, const imp_kernels *kernels)
{
    return kernels->convolve_points(layer->inputs) + kernels->convolve_points(layer->out.channels);
}

static size_t infer_scratch(const imp_layer *layer, const imp_kernels *kernels, size_t images)
{
    (void)images;
    return points_floats(layer, kernels);
}

/* Forward: the transformed weights, then the bias. Backward: the transformed gradient, then the
 * sums of dout of each block, then tiles; and after that the weights of the adjoint. */
static size_t shared(const imp_layer *layer, const imp_pass *pass)
{
    return matrices(layer) + pass->blocks * imp_lines(layer->out.channels) +
           points_floats(layer, pass->kernels);
}

static float *bias_part(const imp_job *job, size_t block)
{
    return job->pass->shared + matrices(job->layer) + block * imp_lines(job->layer->out.channels);
}

/* ---- evaluation ---- */

static size_t frozen(const imp_layer *layer)
{
    return matrices(layer) + layer->out.channels;
}

static void freeze(const imp_layer *layer, const imp_layer *norm, const imp_pass *pass,
                   float *frozen)
{
    size_t outputs = layer->out.channels;
    const float *weight = pass->parameters + layer->weight, *bias = imp_bias_of(layer, pass);
    float *shift = frozen + matrices(layer);
    /* the factors are kept where the shifts will be, until they are used */
    for (size_t o = 0; o < outputs; o++)
        shift[o] = imp_running_fold(norm, pass, o, 0).scale;
    pass->kernels->convolve_weights(weight, layer->inputs, outputs, false, shift, 0, layer->inputs,
                                    frozen);
    for (size_t o = 0; o < outputs; o++)
        shift[o] = imp_running_fold(norm, pass, o, bias ? bias[o] : 0).shift;
}

static void infer(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                  size_t images, const float *const *in, float *out, float *scratch)
{
    imp_maps maps = maps_of(layer, images);
    kernels->convolve(&maps, layer->inputs, layer->out.channels, in[0], frozen,
                      frozen + matrices(layer), layer->slope, out, scratch);
}

/* ---- training ---- */

static size_t scratch(const imp_layer *layer, const imp_kernels *kernels)
{
    return points_floats(layer, kernels);
}

static void transform_weights(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    bool adjoint = job->dout != NULL;
    size_t rows = adjoint ? layer->out.channels : layer->inputs;
    job->pass->kernels->convolve_weights(
        job->pass->parameters + layer->weight, layer->inputs, layer->out.channels, adjoint, NULL,
        imp_block_begin(rows, ROW_BLOCKS, block), imp_block_begin(rows, ROW_BLOCKS, block + 1),
        job->pass->shared);
}

static void forward_block(size_t block, int worker, void *context)
{
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    const imp_pass *pass = job->pass;
    imp_images images = imp_images_of(pass, block);
    imp_maps maps = maps_of(layer, images.end - images.begin);
    pass->kernels->convolve(&maps, layer->inputs, layer->out.channels,
                            job->in[0] + images.begin * imp_shape_floats(layer->in), pass->shared,
                            imp_bias_of(layer, pass), 1,
                            job->out + images.begin * imp_shape_floats(layer->out),
                            imp_scratch_of(pass, worker));
}

static void forward(const imp_job *job)
{
    imp_parallel(ROW_BLOCKS, job->pass->threads, transform_weights, (void *)job);
    imp_each_block(job, forward_block);
}

/* The weight gradient of some tiles. */
typedef struct tiles_job {
    const imp_job *job;
    imp_maps maps;
    size_t first, count;
    float *v, *dm;
} tiles_job;

static void transform_tiles(size_t block, int worker, void *context)
{
    (void)worker;
    const tiles_job *t = context;
    const imp_layer *layer = t->job->layer;
    const imp_kernels *kernels = t->job->pass->kernels;
    size_t begin = imp_block_begin(t->count, TILE_BLOCKS, block);
    size_t end = imp_block_begin(t->count, TILE_BLOCKS, block + 1);
    kernels->convolve_input(&t->maps, layer->inputs, t->job->in[0], t->first, begin, end, t->v);
    kernels->convolve_gradient(&t->maps, layer->out.channels, t->job->dout, t->first, begin, end,
                               t->dm);
}

static void multiply_point(size_t point, int worker, void *context)
{
    (void)worker;
    const tiles_job *t = context;
    const imp_layer *layer = t->job->layer;
    t->job->pass->kernels->convolve_outer(point, layer->inputs, layer->out.channels, t->count, t->v,
                                          t->dm, t->first == 0, t->job->pass->shared);
}

static void weight_gradient_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    job->pass->kernels->convolve_weight_gradient(
        job->pass->shared, layer->inputs, layer->out.channels,
        imp_block_begin(layer->inputs, ROW_BLOCKS, block),
        imp_block_begin(layer->inputs, ROW_BLOCKS, block + 1),
        job->pass->gradients + layer->weight);
}

static void add_weight_gradient(const imp_job *job)
{
    const imp_layer *layer = job->layer;
    const imp_pass *pass = job->pass;
    tiles_job t = {
        .job = job, .maps = maps_of(layer, pass->images), .v = bias_part(job, pass->blocks)};
    t.dm = t.v + pass->kernels->convolve_points(layer->inputs);
    size_t tiles = imp_maps_tiles(&t.maps);
    for (; t.first < tiles; t.first += IMP_CONVOLVE_TILES) {
        size_t rest = tiles - t.first;
        t.count = rest < IMP_CONVOLVE_TILES ? rest : (size_t)IMP_CONVOLVE_TILES;
        imp_parallel(TILE_BLOCKS, pass->threads, transform_tiles, &t);
        imp_parallel(IMP_POINTS, pass->threads, multiply_point, &t);
    }
    imp_parallel(ROW_BLOCKS, pass->threads, weight_gradient_block, (void *)job);
}

static void bias_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    size_t outputs = job->layer->out.channels, pixels = imp_shape_pixels(job->layer->out);
    imp_images images = imp_images_of(job->pass, block);
    float *sums = bias_part(job, block);
    memset(sums, 0, outputs * sizeof *sums);
    for (size_t p = images.begin * pixels; p < images.end * pixels; p++)
        for (size_t o = 0; o < outputs; o++)
            sums[o] += job->dout[p * outputs + o];
}

static void add_bias_gradient(const imp_job *job)
{
    imp_each_block(job, bias_block);
    for (size_t block = 0; block < job->pass->blocks; block++)
        for (size_t o = 0; o < job->layer->out.channels; o++)
            job->pass->gradients[job->layer->bias + o] += bias_part(job, block)[o];
}

static void input_gradient_block(size_t block, int worker, void *context)
{
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    const imp_pass *pass = job->pass;
    imp_images images = imp_images_of(pass, block);
    imp_maps maps = maps_of(layer, images.end - images.begin);
    pass->kernels->convolve(&maps, layer->out.channels, layer->inputs,
                            job->dout + images.begin * imp_shape_floats(layer->out), pass->shared,
                            NULL, 1, job->din[0] + images.begin * imp_shape_floats(layer->in),
                            imp_scratch_of(pass, worker));
}

static void backward(const imp_job *job)
{
    if (job->layer->bias != IMP_NONE)
        add_bias_gradient(job);
    add_weight_gradient(job);
    if (!job->din[0])
        return;
    imp_parallel(ROW_BLOCKS, job->pass->threads, transform_weights, (void *)job);
    imp_each_block(job, input_gradient_block);
}

const imp_layer_kind imp_layer_tiled_conv = {.shared = shared,
                                             .scratch = scratch,
                                             .forward = forward,
                                             .backward = backward,
                                             .folds = true,
                                             .infer_scratch = infer_scratch,
                                             .frozen = frozen,
                                             .freeze = freeze,
                                             .infer = infer};
