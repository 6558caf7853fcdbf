/*
 * layout.c - the two changes of memory layout: images come in as (N, C, H, W) and become (N, H, W,
 * C), and flatten restores PyTorch's order.
 */
#include <string.h>

#include "nn/onnx_node.h"
#include "nn/plan.h"

/* (C, H, W) of one image to (H, W, C'), channels beyond C zero. */
static void to_channels_last(imp_shape in, size_t channels, const float *image, float *out)
{
    size_t pixels = imp_shape_pixels(in);
    if (channels > in.channels)
        memset(out, 0, pixels * channels * sizeof *out);
    for (size_t c = 0; c < in.channels; c++)
        for (size_t p = 0; p < pixels; p++)
            out[p * channels + c] = image[c * pixels + p];
}

/* The reverse; channels beyond in's are dropped. */
static void to_channels_first(imp_shape in, size_t channels, const float *image, float *out)
{
    size_t pixels = imp_shape_pixels(in);
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < in.channels; c++)
            out[c * pixels + p] = image[p * channels + c];
}

static void arrange(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                    size_t images, const float *const *in, float *out, float *scratch)
{
    (void)kernels, (void)frozen, (void)scratch;
    for (size_t n = 0; n < images; n++)
        to_channels_last(layer->in, layer->out.channels, in[0] + n * imp_shape_floats(layer->in),
                         out + n * imp_shape_floats(layer->out));
}

static void arrange_backward_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    imp_images images = imp_images_of(job->pass, block);
    for (size_t n = images.begin; n < images.end; n++)
        to_channels_first(layer->in, layer->out.channels,
                          job->dout + n * imp_shape_floats(layer->out),
                          job->din[0] + n * imp_shape_floats(layer->in));
}

/* The gradient of the images, which is rarely needed. */
static void arrange_backward(const imp_job *job)
{
    if (job->din[0])
        imp_each_block(job, arrange_backward_block);
}

const imp_layer_kind imp_layer_arrange = {
    .forward = imp_infer_blocks, .backward = arrange_backward, .infer = arrange};

static imp_status plan_flatten(imp_plan *plan, imp_layer *layer)
{
    layer->out =
        (imp_shape){.channels = imp_shape_floats(layer->in), .height = 1, .width = 1, .flat = true};
    if (layer->in.flat)
        imp_plan_drop(plan);
    return imp_take_end(plan);
}

static void flatten(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                    size_t images, const float *const *in, float *out, float *scratch)
{
    (void)kernels, (void)frozen, (void)scratch;
    size_t size = imp_shape_floats(layer->in);
    for (size_t n = 0; n < images; n++)
        to_channels_first(layer->in, layer->in.channels, in[0] + n * size, out + n * size);
}

static void flatten_backward_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    imp_shape in = job->layer->in;
    imp_images images = imp_images_of(job->pass, block);
    for (size_t n = images.begin; n < images.end; n++)
        to_channels_last(in, in.channels, job->dout + n * imp_shape_floats(in),
                         job->din[0] + n * imp_shape_floats(in));
}

static void flatten_backward(const imp_job *job)
{
    if (job->din[0])
        imp_each_block(job, flatten_backward_block);
}

static void write_flatten(const imp_layer *layer, const imp_layer *norm, imp_onnx *onnx)
{
    (void)norm;
    imp_onnx_node node = imp_onnx_begin(onnx, layer);
    imp_onnx_integer(&node, "axis", 1);
    imp_onnx_end(&node, "Flatten");
}

const imp_layer_kind imp_layer_flatten = {
    .word = "flatten",
    .usage = "'flatten', which takes no number",
    .plan = plan_flatten,
    .forward = imp_infer_blocks,
    .backward = flatten_backward,
    .forward_tangent = imp_tangent_by_forward,
    .backward_tangent = imp_tangent_by_backward,
    .infer = flatten,
    .write_onnx = write_flatten,
};
