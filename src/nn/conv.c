/*
 * conv.c - 3x3 convolution, stride 1, padding 1, for any number of channels: patches laid out as a
 * matrix, times the weights.
 *
 * The general road; Conv4's blocks take the fused one. A patch holds its taps in the order
 * (channel, row, column) of PyTorch's weights, so W (out, taps) needs no reordering.
 */
#include <string.h>

#include "nn/layer.h"

static size_t taps_of(const imp_layer *layer)
{
    return 9 * layer->in.channels;
}

static size_t pixels_of(const imp_layer *layer)
{
    return layer->in.height * layer->in.width;
}

/* Whether tap (a, b) of pixel (row, column) lies on the map; *at is then the input pixel. */
static bool tap_at(const imp_layer *layer, size_t row, size_t column, size_t tap, size_t *at)
{
    size_t y = row + tap / 3 - 1, x = column + tap % 3 - 1; /* -1 wraps to a huge number */
    *at = (y * layer->in.width + x) * layer->in.channels;
    return y < layer->in.height && x < layer->in.width;
}

/* patches (H * W, taps) of one image */
static void gather(const imp_layer *layer, const float *image, float *patches)
{
    size_t channels = layer->in.channels;
    for (size_t row = 0; row < layer->in.height; row++)
        for (size_t column = 0; column < layer->in.width; column++, patches += 9 * channels)
            for (size_t tap = 0; tap < 9; tap++) {
                size_t at;
                bool inside = tap_at(layer, row, column, tap, &at);
                for (size_t c = 0; c < channels; c++)
                    patches[c * 9 + tap] = inside ? image[at + c] : 0;
            }
}

/* the adjoint of gather(): image += patches */
static void scatter(const imp_layer *layer, const float *patches, float *image)
{
    size_t channels = layer->in.channels;
    for (size_t row = 0; row < layer->in.height; row++)
        for (size_t column = 0; column < layer->in.width; column++, patches += 9 * channels)
            for (size_t tap = 0; tap < 9; tap++) {
                size_t at;
                if (tap_at(layer, row, column, tap, &at))
                    for (size_t c = 0; c < channels; c++)
                        image[at + c] += patches[c * 9 + tap];
            }
}

/* Frozen: W transposed to (taps, out), then b. */
static size_t frozen(const imp_layer *layer)
{
    return (taps_of(layer) + 1) * layer->out.channels;
}

static void freeze(const imp_layer *layer, const imp_kernels *kernels, float *frozen)
{
    (void)kernels;
    size_t taps = taps_of(layer), outputs = layer->out.channels;
    const float *weight = layer->parameters + layer->weight;
    for (size_t o = 0; o < outputs; o++)
        for (size_t t = 0; t < taps; t++)
            frozen[t * outputs + o] = weight[o * taps + t];
    memcpy(frozen + taps * outputs, layer->parameters + layer->bias, outputs * sizeof *frozen);
}

/* one image's patches */
static size_t scratch(const imp_layer *layer, const imp_kernels *kernels)
{
    (void)kernels;
    return pixels_of(layer) * taps_of(layer);
}

static size_t infer_scratch(const imp_layer *layer, const imp_kernels *kernels, size_t images)
{
    (void)images;
    return scratch(layer, kernels);
}

static void infer(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                  size_t images, const float *in, float *out, float *patches)
{
    size_t taps = taps_of(layer), outputs = layer->out.channels, pixels = pixels_of(layer);
    for (size_t n = 0; n < images; n++) {
        gather(layer, in + n * imp_shape_floats(layer->in), patches);
        float *image = out + n * pixels * outputs;
        for (size_t p = 0; p < pixels; p++)
            memcpy(image + p * outputs, frozen + taps * outputs, outputs * sizeof *image);
        kernels->multiply(pixels, outputs, taps, patches, taps, 1, frozen, outputs, image, outputs);
    }
}

/* forward: the transposed weights; backward: one gradient (out, taps) and (out) per block */
static size_t shared(const imp_layer *layer, const imp_pass *pass)
{
    return pass->blocks * imp_lines(frozen(layer));
}

static void backward_block(size_t block, int worker, void *context)
{
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    const imp_kernels *kernels = job->pass->kernels;
    size_t taps = taps_of(layer), outputs = layer->out.channels, pixels = pixels_of(layer);
    imp_images images = imp_images_of(job->pass, block);
    float *patches = imp_scratch_of(job->pass, worker);
    float *part = job->pass->shared + block * imp_lines(frozen(layer));
    float *dbias = part + taps * outputs;
    memset(part, 0, frozen(layer) * sizeof *part);
    for (size_t n = images.begin; n < images.end; n++) {
        const float *dout = job->dout + n * pixels * outputs;
        gather(layer, job->in + n * imp_shape_floats(layer->in), patches);
        kernels->multiply(outputs, taps, pixels, dout, 1, outputs, patches, taps, part, taps);
        for (size_t p = 0; p < pixels; p++)
            for (size_t o = 0; o < outputs; o++)
                dbias[o] += dout[p * outputs + o];
        if (job->din) {
            float *din = job->din + n * imp_shape_floats(layer->in);
            memset(din, 0, imp_shape_floats(layer->in) * sizeof *din);
            memset(patches, 0, pixels * taps * sizeof *patches);
            kernels->multiply(pixels, taps, outputs, dout, outputs, 1,
                              layer->parameters + layer->weight, taps, patches, taps);
            scatter(layer, patches, din);
        }
    }
}

static void backward(imp_layer *layer, const imp_pass *pass, const float *in, const float *out,
                     const float *dout, float *din)
{
    (void)out;
    imp_job job = {.layer = layer, .pass = pass, .in = in, .dout = dout, .din = din};
    imp_each_block(pass, backward_block, &job);
    imp_add_parts(layer, pass, imp_lines(frozen(layer)), taps_of(layer) * layer->out.channels);
}

const imp_layer_kind imp_layer_conv = {.shared = shared,
                                       .scratch = scratch,
                                       .forward = imp_infer_blocks,
                                       .backward = backward,
                                       .infer_scratch = infer_scratch,
                                       .frozen = frozen,
                                       .freeze = freeze,
                                       .infer = infer};
