/*
 * pool.c - 2x2 max-pooling on its own, any number of channels; an odd last row or column is left
 * out.
 *
 * The winner is not stored: the first input of the window equal to the output is it, as in PyTorch.
 */
#include <math.h>
#include <string.h>

#include "nn/layer.h"

/* The upper left input of the window of output pixel (row, column) of image n. */
static size_t window_at(const imp_layer *layer, size_t n, size_t row, size_t column)
{
    return ((n * layer->in.height + 2 * row) * layer->in.width + 2 * column) * layer->in.channels;
}

static float larger(float a, float b)
{
    return a > b || isnan(a) ? a : b;
}

static void infer(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                  size_t images, const float *in, float *out, float *scratch)
{
    (void)kernels, (void)frozen, (void)scratch;
    size_t channels = layer->in.channels, line = layer->in.width * channels;
    for (size_t n = 0; n < images; n++)
        for (size_t row = 0; row < layer->out.height; row++)
            for (size_t column = 0; column < layer->out.width; column++, out += channels) {
                const float *window = in + window_at(layer, n, row, column);
                for (size_t c = 0; c < channels; c++)
                    out[c] = larger(larger(window[c], window[channels + c]),
                                    larger(window[line + c], window[line + channels + c]));
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
    memset(job->din + images.begin * in_size, 0,
           (images.end - images.begin) * in_size * sizeof *job->din);
    size_t at = images.begin * imp_shape_floats(layer->out);
    for (size_t n = images.begin; n < images.end; n++)
        for (size_t row = 0; row < layer->out.height; row++)
            for (size_t column = 0; column < layer->out.width; column++)
                for (size_t c = 0; c < channels; c++, at++) {
                    size_t window = window_at(layer, n, row, column) + c;
                    size_t places[4] = {window, window + channels, window + line,
                                        window + line + channels};
                    size_t winner = 0;
                    while (winner < 3 && job->in[places[winner]] != job->out[at])
                        winner++;
                    job->din[places[winner]] = job->dout[at];
                }
}

static void backward(imp_layer *layer, const imp_pass *pass, const float *in, const float *out,
                     const float *dout, float *din)
{
    imp_job job = {
        .layer = layer, .pass = pass, .in = in, .out = (float *)out, .dout = dout, .din = din};
    if (din)
        imp_each_block(pass, backward_block, &job);
}

const imp_layer_kind imp_layer_pool = {
    .forward = imp_infer_blocks, .backward = backward, .infer = infer};
