/* relu.c - the layer max(x, 0), on its own. */
#include "nn/layer.h"

static void infer(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                  size_t images, const float *in, float *out, float *scratch)
{
    (void)kernels, (void)frozen, (void)scratch;
    for (size_t i = 0; i < images * imp_shape_floats(layer->in); i++)
        out[i] = in[i] < 0 ? 0 : in[i]; /* this way round NaN stays NaN */
}

static void backward_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    size_t size = imp_shape_floats(job->layer->in);
    imp_images images = imp_images_of(job->pass, block);
    for (size_t i = images.begin * size; i < images.end * size; i++)
        job->din[i] = job->in[i] > 0 ? job->dout[i] : 0;
}

static void backward(imp_layer *layer, const imp_pass *pass, const float *in, const float *out,
                     const float *dout, float *din)
{
    (void)out;
    imp_job job = {.layer = layer, .pass = pass, .in = in, .dout = dout, .din = din};
    if (din)
        imp_each_block(pass, backward_block, &job);
}

const imp_layer_kind imp_layer_relu = {
    .forward = imp_infer_blocks, .backward = backward, .infer = infer};
