/*
 * pool.c - 2x2 max pooling on its own, for any number of channels; an odd last row or column is
 * dropped.
 *
 * The winner is not stored: it is the first input of the window that equals the output, as in
 * PyTorch.
 */
#include "nn/pool.h"

#include <math.h>
#include <string.h>

#include "nn/onnx_node.h"

imp_status imp_pool_plan(imp_plan *plan, imp_layer *layer)
{
    imp_shape in = layer->in;
    imp_status status = imp_take_end(plan);
    if (status)
        return status;
    const imp_network *network = plan->network;
    size_t pools = 0; /* this one included */
    for (size_t i = 0; i < network->graph.count; i++)
        pools += network->graph.layers[i].kind->plan == imp_pool_plan;
    if (in.height < 2 || in.width < 2)
        return imp_fail(plan->error, IMP_EINVAL,
                        "%s %zu would shrink %zux%zu to nothing; images of %zux%zu are too small "
                        "for '%.200s'",
                        layer->kind->word, pools, in.height, in.width, network->options.height,
                        network->options.width, network->description);
    layer->out.height = in.height / 2;
    layer->out.width = in.width / 2;
    return IMP_OK;
}

static float larger(float a, float b)
{
    return a > b || isnan(a) ? a : b;
}

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
                    out[c] = larger(larger(window[c], window[channels + c]),
                                    larger(window[line + c], window[line + channels + c]));
            }
}

/* The index of the input that became output `at`: of channel c in the window that begins at
 * `window`. */
static size_t winner_of(const imp_job *job, size_t window, size_t c, size_t at)
{
    size_t channels = job->layer->in.channels, line = job->layer->in.width * channels;
    size_t places[4] = {window + c, window + channels + c, window + line + c,
                        window + line + channels + c};
    size_t winner = 0;
    while (winner < 3 && job->in[0][places[winner]] != job->out[at])
        winner++;
    return places[winner];
}

static void backward_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    size_t in_size = imp_shape_floats(layer->in);
    imp_images images = imp_images_of(job->pass, block);
    float *din = job->din[0];
    memset(din + images.begin * in_size, 0, (images.end - images.begin) * in_size * sizeof *din);
    size_t at = images.begin * imp_shape_floats(layer->out);
    for (size_t n = images.begin; n < images.end; n++)
        for (size_t row = 0; row < layer->out.height; row++)
            for (size_t column = 0; column < layer->out.width; column++) {
                size_t window = imp_window_at(layer, n, row, column);
                for (size_t c = 0; c < layer->in.channels; c++, at++)
                    din[winner_of(job, window, c, at)] = job->dout[at];
            }
}

static void backward(const imp_job *job)
{
    if (job->din[0])
        imp_each_block(job, backward_block);
}

static void forward_tangent_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    imp_images images = imp_images_of(job->pass, block);
    size_t at = images.begin * imp_shape_floats(layer->out);
    for (size_t n = images.begin; n < images.end; n++)
        for (size_t row = 0; row < layer->out.height; row++)
            for (size_t column = 0; column < layer->out.width; column++) {
                size_t window = imp_window_at(layer, n, row, column);
                for (size_t c = 0; c < layer->in.channels; c++, at++)
                    job->tangent->out[at] = job->tangent->in[0][winner_of(job, window, c, at)];
            }
}

static void forward_tangent(const imp_job *job)
{
    imp_each_block(job, forward_tangent_block);
}

void imp_pool_write_onnx(const imp_layer *layer, imp_onnx *onnx, const char *operator)
{
    imp_onnx_node node = imp_onnx_begin(onnx, layer);
    imp_onnx_integers(&node, "kernel_shape", (uint64_t[]){2, 2}, 2);
    imp_onnx_integers(&node, "strides", (uint64_t[]){2, 2}, 2);
    imp_onnx_end(&node, operator);
}

static void write_onnx(const imp_layer *layer, const imp_layer *norm, imp_onnx *onnx)
{
    (void)norm;
    imp_pool_write_onnx(layer, onnx, "MaxPool");
}

const imp_layer_kind imp_layer_pool = {
    .word = "pool",
    .usage = "'pool', the 2x2 maximum, which takes no number",
    .plan = imp_pool_plan,
    .forward = imp_infer_blocks,
    .backward = backward,
    .forward_tangent = forward_tangent,
    .backward_tangent = imp_tangent_by_backward,
    .infer = infer,
    .write_onnx = write_onnx,
};
