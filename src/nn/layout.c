/*
 * layout.c - the two places where the order of numbers changes: images (N, C, H, W) come in and
 * become (N, H, W, C), and flatten gives back PyTorch's order.
 */
#include <string.h>

#include "nn/layer.h"

/* (C, H, W) of one image to (H, W, C'), channels beyond C zero. */
static void to_channels_last(imp_shape in, size_t channels, const float *image, float *out)
{
    size_t pixels = in.height * in.width;
    if (channels > in.channels)
        memset(out, 0, pixels * channels * sizeof *out);
    for (size_t c = 0; c < in.channels; c++)
        for (size_t p = 0; p < pixels; p++)
            out[p * channels + c] = image[c * pixels + p];
}

static void to_channels_first(imp_shape in, const float *image, float *out)
{
    size_t pixels = in.height * in.width;
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < in.channels; c++)
            out[c * pixels + p] = image[p * in.channels + c];
}

static void arrange(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                    size_t images, const float *in, float *out, float *scratch)
{
    (void)kernels, (void)frozen, (void)scratch;
    for (size_t n = 0; n < images; n++)
        to_channels_last(layer->in, layer->out.channels, in + n * imp_shape_floats(layer->in),
                         out + n * imp_shape_floats(layer->out));
}

static void flatten(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                    size_t images, const float *in, float *out, float *scratch)
{
    (void)kernels, (void)frozen, (void)scratch;
    size_t size = imp_shape_floats(layer->in);
    for (size_t n = 0; n < images; n++)
        to_channels_first(layer->in, in + n * size, out + n * size);
}

static void flatten_backward_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    imp_shape in = job->layer->in;
    imp_images images = imp_images_of(job->pass, block);
    for (size_t n = images.begin; n < images.end; n++)
        to_channels_last(in, in.channels, job->dout + n * imp_shape_floats(in),
                         job->din + n * imp_shape_floats(in));
}

static void flatten_backward(imp_layer *layer, const imp_pass *pass, const float *in,
                             const float *out, const float *dout, float *din)
{
    (void)in, (void)out;
    imp_job job = {.layer = layer, .pass = pass, .dout = dout, .din = din};
    if (din)
        imp_each_block(pass, flatten_backward_block, &job);
}

static void arrange_backward(imp_layer *layer, const imp_pass *pass, const float *in,
                             const float *out, const float *dout, float *din)
{
    /* nobody asks for the gradient of the images */
    (void)layer, (void)pass, (void)in, (void)out, (void)dout, (void)din;
}

const imp_layer_kind imp_layer_arrange = {
    .forward = imp_infer_blocks, .backward = arrange_backward, .infer = arrange};

const imp_layer_kind imp_layer_flatten = {
    .forward = imp_infer_blocks, .backward = flatten_backward, .infer = flatten};
