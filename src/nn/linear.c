/*
 * linear.c - y = W x + b with PyTorch's weights (out, in).
 *
 * Both products of the backward pass use the general kernel with the strides of a transposed
 * matrix; weight gradients are summed per block, and the blocks in order.
 */
#include <string.h>

#include "nn/batch_norm.h"
#include "nn/onnx_node.h"
#include "nn/plan.h"

static imp_status plan(imp_plan *plan, imp_layer *layer)
{
    size_t outputs, inputs = imp_shape_floats(layer->in);
    if (!imp_take(plan, ":") || !imp_take_count(plan, &outputs))
        return imp_misspelt(plan);
    bool has_bias = !imp_take(plan, ":nobias");
    imp_start start = imp_take_start(plan, inputs, outputs);
    imp_status status = imp_take_end(plan);
    if (status)
        return status;
    if (!layer->in.flat && imp_shape_pixels(layer->in) != 1)
        return imp_fail(plan->error, IMP_EINVAL,
                        "'%.*s' needs 'flatten' before it: its input is a map of %zux%zu",
                        (int)plan->step->length, plan->step->text, layer->in.height,
                        layer->in.width);
    layer->out = (imp_shape){.channels = outputs, .height = 1, .width = 1, .flat = true};
    imp_plan_block(plan);
    layer->weight =
        imp_plan_tensor(plan, "linear.weight", true, 2, (size_t[]){outputs, inputs}, start);
    if (has_bias)
        layer->bias =
            imp_plan_tensor(plan, "linear.bias", true, 1, &outputs, (imp_start){.size = 0});
    return IMP_OK;
}

/* Frozen: W transposed to (in, out), so that its rows are contiguous in the output, then b. */
static size_t frozen(const imp_layer *layer)
{
    return (layer->inputs + 1) * layer->out.channels;
}

static void freeze(const imp_layer *layer, const imp_layer *norm, const imp_pass *pass,
                   float *frozen)
{
    size_t inputs = layer->inputs, outputs = layer->out.channels;
    const float *weight = pass->parameters + layer->weight, *bias = imp_bias_of(layer, pass);
    for (size_t o = 0; o < outputs; o++) {
        imp_affine f = imp_running_fold(norm, pass, o, bias ? bias[o] : 0);
        for (size_t i = 0; i < inputs; i++)
            frozen[i * outputs + o] = f.scale * weight[o * inputs + i];
        frozen[inputs * outputs + o] = f.shift;
    }
}

static void infer(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                  size_t images, const float *const *in, float *out, float *scratch)
{
    (void)scratch;
    size_t inputs = layer->inputs, outputs = layer->out.channels;
    for (size_t n = 0; n < images; n++)
        memcpy(out + n * outputs, frozen + inputs * outputs, outputs * sizeof *out);
    kernels->multiply(images, outputs, inputs, in[0], inputs, 1, frozen, outputs, out, outputs);
    for (size_t i = 0; layer->slope != 1 && i < images * outputs; i++)
        out[i] = imp_rectify(out[i], layer->slope);
}

/* forward: the transposed weights; backward: one gradient (out, in) and (out) per block */
static size_t shared(const imp_layer *layer, const imp_pass *pass)
{
    return pass->blocks * imp_lines(frozen(layer));
}

static float *part_of(const imp_job *job, size_t block)
{
    return job->pass->shared + block * imp_lines(frozen(job->layer));
}

static void backward_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    const imp_kernels *kernels = job->pass->kernels;
    size_t inputs = layer->inputs, outputs = layer->out.channels;
    imp_images images = imp_images_of(job->pass, block);
    size_t count = images.end - images.begin;
    const float *in = job->in[0] + images.begin * inputs;
    const float *dout = job->dout + images.begin * outputs;

    float *part = part_of(job, block), *dbias = part + inputs * outputs;
    memset(part, 0, frozen(layer) * sizeof *part);
    kernels->multiply(outputs, inputs, count, dout, 1, outputs, in, inputs, part, inputs);
    for (size_t n = 0; n < count; n++)
        for (size_t o = 0; o < outputs; o++)
            dbias[o] += dout[n * outputs + o];

    if (job->din[0]) {
        float *din = job->din[0] + images.begin * inputs;
        memset(din, 0, count * inputs * sizeof *din);
        kernels->multiply(count, inputs, outputs, dout, outputs, 1,
                          job->pass->parameters + layer->weight, inputs, din, inputs);
    }
}

static void backward(const imp_job *job)
{
    const imp_layer *layer = job->layer;
    size_t weights = layer->inputs * layer->out.channels;
    imp_each_block(job, backward_block);
    for (size_t block = 0; block < job->pass->blocks; block++) {
        const float *part = part_of(job, block);
        for (size_t i = 0; i < weights; i++)
            job->pass->gradients[layer->weight + i] += part[i];
        for (size_t o = 0; layer->bias != IMP_NONE && o < layer->out.channels; o++)
            job->pass->gradients[layer->bias + o] += part[weights + o];
    }
}

static void write_onnx(const imp_layer *layer, const imp_layer *norm, imp_onnx *onnx)
{
    if (!layer->in.flat) {
        imp_onnx_node flatten = imp_onnx_begin(onnx, layer);
        imp_onnx_integer(&flatten, "axis", 1);
        imp_onnx_end(&flatten, "Flatten");
    }
    imp_onnx_node node = imp_onnx_begin(onnx, layer);
    imp_onnx_weights(&node, layer, norm);
    imp_onnx_integer(&node, "transB", 1);
    imp_onnx_end(&node, "Gemm");
}

const imp_layer_kind imp_layer_linear = {
    .word = "linear",
    .usage = "'linear:F' with F from 1 to 65536 outputs; then, in this order, ':nobias', and ':he' "
             "or ':xavier' for other initial weights",
    .plan = plan,
    .shared = shared,
    .forward = imp_infer_blocks,
    .backward = backward,
    .forward_tangent = imp_tangent_of_product,
    .backward_tangent = imp_tangent_of_product_backward,
    .folds = true,
    .frozen = frozen,
    .freeze = freeze,
    .infer = infer,
    .write_onnx = write_onnx,
};
