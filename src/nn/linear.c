/*
 * linear.c - y = W x + b with PyTorch's weights (out, in).
 *
 * Both products of the backward pass are the general kernel with the steps of a transposed matrix;
 * weight gradients are summed per block and the blocks in order.
 */
#include <string.h>

#include "nn/layer.h"

static size_t inputs_of(const imp_layer *layer)
{
    return imp_shape_floats(layer->in);
}

/* Frozen: W transposed to (in, out), so that its rows are contiguous in the output, then b. */
static size_t frozen(const imp_layer *layer)
{
    return (inputs_of(layer) + 1) * layer->out.channels;
}

static void freeze(const imp_layer *layer, const imp_kernels *kernels, float *frozen)
{
    (void)kernels;
    size_t inputs = inputs_of(layer), outputs = layer->out.channels;
    const float *weight = layer->parameters + layer->weight;
    for (size_t o = 0; o < outputs; o++)
        for (size_t i = 0; i < inputs; i++)
            frozen[i * outputs + o] = weight[o * inputs + i];
    memcpy(frozen + inputs * outputs, layer->parameters + layer->bias, outputs * sizeof *frozen);
}

static void infer(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                  size_t images, const float *in, float *out, float *scratch)
{
    (void)scratch;
    size_t inputs = inputs_of(layer), outputs = layer->out.channels;
    for (size_t n = 0; n < images; n++)
        memcpy(out + n * outputs, frozen + inputs * outputs, outputs * sizeof *out);
    kernels->multiply(images, outputs, inputs, in, inputs, 1, frozen, outputs, out, outputs);
}

/* forward: the transposed weights; backward: one gradient (out, in) and (out) per block */
static size_t shared(const imp_layer *layer, const imp_pass *pass)
{
    return pass->blocks * imp_lines(frozen(layer));
}

static void backward_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    const imp_kernels *kernels = job->pass->kernels;
    size_t inputs = inputs_of(layer), outputs = layer->out.channels;
    imp_images images = imp_images_of(job->pass, block);
    size_t count = images.end - images.begin;
    const float *in = job->in + images.begin * inputs, *dout = job->dout + images.begin * outputs;

    float *part = job->pass->shared + block * imp_lines(frozen(layer));
    float *dbias = part + inputs * outputs;
    memset(part, 0, frozen(layer) * sizeof *part);
    kernels->multiply(outputs, inputs, count, dout, 1, outputs, in, inputs, part, inputs);
    for (size_t n = 0; n < count; n++)
        for (size_t o = 0; o < outputs; o++)
            dbias[o] += dout[n * outputs + o];

    if (job->din) {
        float *din = job->din + images.begin * inputs;
        memset(din, 0, count * inputs * sizeof *din);
        kernels->multiply(count, inputs, outputs, dout, outputs, 1,
                          layer->parameters + layer->weight, inputs, din, inputs);
    }
}

static void backward(imp_layer *layer, const imp_pass *pass, const float *in, const float *out,
                     const float *dout, float *din)
{
    (void)out;
    imp_job job = {.layer = layer, .pass = pass, .in = in, .dout = dout, .din = din};
    imp_each_block(pass, backward_block, &job);
    imp_add_parts(layer, pass, imp_lines(frozen(layer)), inputs_of(layer) * layer->out.channels);
}

const imp_layer_kind imp_layer_linear = {.shared = shared,
                                         .forward = imp_infer_blocks,
                                         .backward = backward,
                                         .frozen = frozen,
                                         .freeze = freeze,
                                         .infer = infer};
