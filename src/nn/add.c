/*
 * add.c - the sum of two inputs, which ends a residual.
 *
 * If nothing else reads an input, its gradient is the output's, and the network uses one array for
 * both (network.c); then there is nothing to do here.
 */
#include <string.h>

#include "nn/layer.h"
#include "nn/onnx_node.h"

static void infer(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                  size_t images, const float *const *in, float *out, float *scratch)
{
    (void)kernels, (void)frozen, (void)scratch;
    for (size_t i = 0; i < images * imp_shape_floats(layer->in); i++)
        out[i] = in[0][i] + in[1][i];
}

static void backward_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    size_t size = imp_shape_floats(job->layer->in);
    imp_images images = imp_images_of(job->pass, block);
    for (size_t i = 0; i < IMP_MAX_INPUTS; i++)
        if (job->din[i] && job->din[i] != job->dout)
            memcpy(job->din[i] + images.begin * size, job->dout + images.begin * size,
                   (images.end - images.begin) * size * sizeof *job->dout);
}

static void backward(const imp_job *job)
{
    imp_each_block(job, backward_block);
}

static void forward_tangent_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_tangent *tangent = job->tangent;
    size_t size = imp_shape_floats(job->layer->in);
    imp_images images = imp_images_of(job->pass, block);
    for (size_t i = images.begin * size; i < images.end * size; i++)
        tangent->out[i] =
            (tangent->in[0] ? tangent->in[0][i] : 0) + (tangent->in[1] ? tangent->in[1][i] : 0);
}

static void forward_tangent(const imp_job *job)
{
    imp_each_block(job, forward_tangent_block);
}

static void write_onnx(const imp_layer *layer, const imp_layer *norm, imp_onnx *onnx)
{
    (void)norm;
    imp_onnx_node node = imp_onnx_begin(onnx, layer);
    imp_onnx_end(&node, "Add");
}

const imp_layer_kind imp_layer_add = {
    .forward = imp_infer_blocks,
    .backward = backward,
    .forward_tangent = forward_tangent,
    .backward_tangent = imp_tangent_by_backward,
    .infer = infer,
    .write_onnx = write_onnx,
};
