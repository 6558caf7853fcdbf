/*
 * relu.c - the rectifiers: ReLU, max(x, 0), and leaky ReLU, which scales negative values by a small
 * slope.
 */
#include "nn/onnx_node.h"
#include "nn/plan.h"

static imp_status plan_relu(imp_plan *plan, imp_layer *layer)
{
    layer->slope = 0;
    return imp_take_end(plan);
}

static imp_status plan_leaky(imp_plan *plan, imp_layer *layer)
{
    if (!imp_take(plan, ":") || !imp_take_fraction(plan, &layer->slope) || layer->slope == 0)
        return imp_misspelt(plan);
    return imp_take_end(plan);
}

static void infer(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                  size_t images, const float *const *in, float *out, float *scratch)
{
    (void)kernels, (void)frozen, (void)scratch;
    for (size_t i = 0; i < images * imp_shape_floats(layer->in); i++)
        out[i] = imp_rectify(in[0][i], layer->slope);
}

static void backward_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    size_t size = imp_shape_floats(job->layer->in);
    imp_images images = imp_images_of(job->pass, block);
    const float *in = job->in[0], *dout = job->dout;
    float slope = job->layer->slope, *din = job->din[0];
    for (size_t i = images.begin * size; i < images.end * size; i++)
        din[i] = in[i] > 0 ? dout[i] : slope > 0 ? slope * dout[i] : 0;
}

static void backward(const imp_job *job)
{
    if (job->din[0])
        imp_each_block(job, backward_block);
}

static void write_onnx(const imp_layer *layer, const imp_layer *norm, imp_onnx *onnx)
{
    (void)norm;
    imp_onnx_node node = imp_onnx_begin(onnx, layer);
    if (layer->slope > 0)
        imp_onnx_float(&node, "alpha", layer->slope);
    imp_onnx_end(&node, layer->slope > 0 ? "LeakyRelu" : "Relu");
}

const imp_layer_kind imp_layer_relu = {
    .word = "relu",
    .usage = "'relu', which takes no number",
    .plan = plan_relu,
    .forward = imp_infer_blocks,
    .backward = backward,
    .forward_tangent = imp_tangent_by_slopes,
    .backward_tangent = imp_tangent_by_backward,
    .infer = infer,
    .write_onnx = write_onnx,
};

const imp_layer_kind imp_layer_leaky = {
    .word = "leaky",
    .usage = "'leaky:S' with a slope S above 0 and below 1, as in 'leaky:0.1'",
    .plan = plan_leaky,
    .forward = imp_infer_blocks,
    .backward = backward,
    .forward_tangent = imp_tangent_by_slopes,
    .backward_tangent = imp_tangent_by_backward,
    .infer = infer,
    .write_onnx = write_onnx,
};
