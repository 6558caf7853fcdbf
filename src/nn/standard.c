/*
 * standard.c - standardises vectors: every feature is centred and divided by its spread, both
 * computed from the data and not learned.
 *
 * It is the first layer of a network that takes vectors. Training writes its two tensors,
 * input.center and input.factor; until then it changes nothing.
 */
#include <string.h>

#include "nn/onnx_node.h"
#include "nn/plan.h"

static imp_status plan(imp_plan *plan, imp_layer *layer)
{
    imp_status status = imp_take_end(plan);
    if (status)
        return status;
    enum { ARRANGED = 2 }; /* the layer that arranges images always comes first */
    size_t features = layer->in.channels;
    if (plan->depth > 0 || plan->network->graph.count != ARRANGED ||
        imp_shape_pixels(layer->in) != 1)
        return imp_fail(plan->error, IMP_EINVAL,
                        "'standard' is the first layer of a network that takes vectors, which are "
                        "images of 1x1; here it is another or the images are %zux%zu",
                        layer->in.height, layer->in.width);
    layer->out.flat = true;
    layer->running_mean =
        imp_plan_tensor(plan, "center", false, 1, &features, (imp_start){.size = 0});
    layer->running_var =
        imp_plan_tensor(plan, "factor", false, 1, &features, (imp_start){.size = 1});
    layer->trained = false;
    return IMP_OK;
}

/* Frozen: the centre, then the factors. */
static size_t frozen(const imp_layer *layer)
{
    return 2 * layer->in.channels;
}

static void freeze(const imp_layer *layer, const imp_layer *norm, const imp_pass *pass,
                   float *frozen)
{
    (void)norm;
    size_t features = layer->in.channels;
    memcpy(frozen, pass->state + layer->running_mean, features * sizeof *frozen);
    memcpy(frozen + features, pass->state + layer->running_var, features * sizeof *frozen);
}

static void infer(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                  size_t images, const float *const *in, float *out, float *scratch)
{
    (void)kernels, (void)scratch;
    size_t features = layer->in.channels;
    for (size_t n = 0; n < images; n++)
        for (size_t j = 0; j < features; j++)
            out[n * features + j] = (in[0][n * features + j] - frozen[j]) * frozen[features + j];
}

static size_t shared(const imp_layer *layer, const imp_pass *pass)
{
    (void)pass;
    return imp_lines(frozen(layer));
}

/* The statistics it reports for a batch are its own, so that following them changes nothing. */
static void forward(const imp_job *job)
{
    const imp_layer *layer = job->layer;
    const imp_pass *pass = job->pass;
    for (size_t j = 0; j < layer->in.channels; j++) {
        pass->statistics[layer->running_mean + j] = pass->state[layer->running_mean + j];
        pass->statistics[layer->running_var + j] = pass->state[layer->running_var + j];
    }
    imp_infer_blocks(job);
}

static void backward(const imp_job *job)
{
    const float *factor = job->pass->state + job->layer->running_var;
    size_t features = job->layer->in.channels;
    for (size_t i = 0; job->din[0] && i < job->pass->images * features; i++)
        job->din[0][i] = job->dout[i] * factor[i % features];
}

/* No parameter comes before it, so its tangent is zero. */
static void no_tangent(const imp_job *job)
{
    (void)job;
}

static void write_onnx(const imp_layer *layer, const imp_layer *norm, imp_onnx *onnx)
{
    (void)norm;
    imp_onnx_node flatten = imp_onnx_begin(onnx, layer);
    imp_onnx_integer(&flatten, "axis", 1);
    imp_onnx_end(&flatten, "Flatten");
    imp_onnx_node center = imp_onnx_begin(onnx, layer);
    imp_onnx_statistic(&center, layer->running_mean);
    imp_onnx_end(&center, "Sub");
    imp_onnx_node factor = imp_onnx_begin(onnx, layer);
    imp_onnx_statistic(&factor, layer->running_var);
    imp_onnx_end(&factor, "Mul");
}

const imp_layer_kind imp_layer_standard = {
    .word = "standard",
    .usage = "'standard', which takes no number",
    .plan = plan,
    .shared = shared,
    .forward = forward,
    .backward = backward,
    .forward_tangent = no_tangent,
    .backward_tangent = no_tangent,
    .frozen = frozen,
    .freeze = freeze,
    .infer = infer,
    .write_onnx = write_onnx,
};
