/*
 * average.c - average pooling: over 2x2 windows, an odd last row or column dropped, and over the
 * whole map (global).
 */
#include <string.h>

#include "nn/onnx_node.h"
#include "nn/pool.h"

static void infer(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                  size_t images, const float *const *in, float *out, float *scratch)
{
    (void)kernels, (void)frozen, (void)scratch;
    size_t channels = layer->in.channels, line = layer->in.width * channels;
    for (size_t n = 0; n < images; n++)
        for (size_t row = 0; row < layer->out.height; row++)
            for (size_t column = 0; column < layer->out.width; column++, out += channels) {
                const float *window = in[0] + imp_window_at(layer, n, row, column);
                for (size_t c = 0; c < channels; c++)
                    out[c] = 0.25f * ((window[c] + window[channels + c]) +
                                      (window[line + c] + window[line + channels + c]));
            }
}

static void backward_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    size_t channels = layer->in.channels, line = layer->in.width * channels;
    size_t in_size = imp_shape_floats(layer->in);
    imp_images images = imp_images_of(job->pass, block);
    float *din = job->din[0];
    memset(din + images.begin * in_size, 0, (images.end - images.begin) * in_size * sizeof *din);
    const float *dout = job->dout + images.begin * imp_shape_floats(layer->out);
    for (size_t n = images.begin; n < images.end; n++)
        for (size_t row = 0; row < layer->out.height; row++)
            for (size_t column = 0; column < layer->out.width; column++, dout += channels) {
                float *window = din + imp_window_at(layer, n, row, column);
                for (size_t c = 0; c < channels; c++)
                    window[c] = window[channels + c] = window[line + c] =
                        window[line + channels + c] = 0.25f * dout[c];
            }
}

static void backward(const imp_job *job)
{
    if (job->din[0])
        imp_each_block(job, backward_block);
}

static void write_onnx(const imp_layer *layer, const imp_layer *norm, imp_onnx *onnx)
{
    (void)norm;
    imp_pool_write_onnx(layer, onnx, "AveragePool");
}

const imp_layer_kind imp_layer_average = {
    .word = "avgpool",
    .usage = "'avgpool', the 2x2 mean, which takes no number",
    .plan = imp_pool_plan,
    .forward = imp_infer_blocks,
    .backward = backward,
    .forward_tangent = imp_tangent_by_forward,
    .backward_tangent = imp_tangent_by_backward,
    .infer = infer,
    .write_onnx = write_onnx,
};

/* ---- global ---- */

static imp_status plan_global(imp_plan *plan, imp_layer *layer)
{
    layer->out.height = layer->out.width = 1;
    return imp_take_end(plan);
}

static void infer_global(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                         size_t images, const float *const *in, float *out, float *scratch)
{
    (void)kernels, (void)frozen, (void)scratch;
    size_t channels = layer->in.channels, pixels = imp_shape_pixels(layer->in);
    const float *pixel = in[0];
    for (size_t n = 0; n < images; n++, out += channels) {
        memset(out, 0, channels * sizeof *out);
        for (size_t p = 0; p < pixels; p++, pixel += channels)
            for (size_t c = 0; c < channels; c++)
                out[c] += pixel[c];
        for (size_t c = 0; c < channels; c++)
            out[c] /= (float)pixels;
    }
}

static void backward_global_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    size_t channels = job->layer->in.channels, pixels = imp_shape_pixels(job->layer->in);
    imp_images images = imp_images_of(job->pass, block);
    float *pixel = job->din[0] + images.begin * pixels * channels;
    for (size_t n = images.begin; n < images.end; n++)
        for (size_t p = 0; p < pixels; p++, pixel += channels)
            for (size_t c = 0; c < channels; c++)
                pixel[c] = job->dout[n * channels + c] / (float)pixels;
}

static void backward_global(const imp_job *job)
{
    if (job->din[0])
        imp_each_block(job, backward_global_block);
}

static void write_global_onnx(const imp_layer *layer, const imp_layer *norm, imp_onnx *onnx)
{
    (void)norm;
    if (layer->in.flat)
        return; /* a vector has one pixel */
    imp_onnx_node node = imp_onnx_begin(onnx, layer);
    imp_onnx_end(&node, "GlobalAveragePool");
}

const imp_layer_kind imp_layer_global_average = {
    .word = "gap",
    .usage = "'gap', the mean of every map, which takes no number",
    .plan = plan_global,
    .forward = imp_infer_blocks,
    .backward = backward_global,
    .forward_tangent = imp_tangent_by_forward,
    .backward_tangent = imp_tangent_by_backward,
    .infer = infer_global,
    .write_onnx = write_global_onnx,
};
