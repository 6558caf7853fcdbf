/*
 * layer.c - what several kinds of layers do alike: running a serial function block by block, and
 * adding up what the blocks found.
 */
#include "nn/layer.h"

static void infer_block(size_t block, int worker, void *context)
{
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    imp_images images = imp_images_of(job->pass, block);
    layer->kind->infer(layer, job->pass->kernels, job->pass->shared, images.end - images.begin,
                       job->in + images.begin * imp_shape_floats(layer->in),
                       job->out + images.begin * imp_shape_floats(layer->out),
                       imp_scratch_of(job->pass, worker));
}

void imp_infer_blocks(imp_layer *layer, const imp_pass *pass, const float *in, float *out)
{
    imp_job job = {.layer = layer, .pass = pass, .in = in, .out = out};
    if (layer->kind->freeze)
        layer->kind->freeze(layer, pass->kernels, pass->shared);
    imp_each_block(pass, infer_block, &job);
}

void imp_add_parts(imp_layer *layer, const imp_pass *pass, size_t stride, size_t weights)
{
    for (size_t block = 0; block < pass->blocks; block++) {
        const float *part = pass->shared + block * stride;
        for (size_t i = 0; i < weights; i++)
            layer->gradients[layer->weight + i] += part[i];
        for (size_t o = 0; o < layer->out.channels; o++)
            layer->gradients[layer->bias + o] += part[weights + o];
    }
}
