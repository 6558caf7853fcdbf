/*
 * conv.c - convolution with any kernel, stride and padding, for any number of channels: patches
 * unfolded to a matrix (im2col), times the weights.
 *
 * The general path; Conv4's blocks are fused (fuse.c). If a pixel's channels fill whole cache
 * lines, a patch is ordered (row, column, channel), as in the image. Otherwise it has the order
 * (channel, row, column) of PyTorch's weights. A 1x1 convolution with stride 1 needs no patches:
 * the image is the matrix.
 */
#include <string.h>

#include "nn/batch_norm.h"
#include "nn/onnx_node.h"
#include "nn/plan.h"

static size_t area_of(const imp_layer *layer)
{
    return layer->kernel * layer->kernel;
}

/* numbers in a patch */
static size_t taps_of(const imp_layer *layer)
{
    return area_of(layer) * layer->inputs;
}

static imp_status plan(imp_plan *plan, imp_layer *layer)
{
    size_t across, outputs;
    if (!imp_take_count(plan, &layer->kernel) || !imp_take(plan, "x") ||
        !imp_take_count(plan, &across) || across != layer->kernel || !imp_take(plan, ":") ||
        !imp_take_count(plan, &outputs))
        return imp_misspelt(plan);
    layer->stride = 1;
    if (imp_take(plan, "/") && !imp_take_count(plan, &layer->stride))
        return imp_misspelt(plan);
    layer->padding = imp_take(plan, ":valid") ? 0 : layer->kernel / 2;
    bool has_bias = !imp_take(plan, ":nobias");
    imp_start start =
        imp_take_start(plan, layer->inputs * area_of(layer), outputs * area_of(layer));
    imp_status status = imp_take_end(plan);
    if (status)
        return status;
    if (layer->in.flat)
        return imp_fail(plan->error, IMP_EINVAL,
                        "'%.*s' cannot follow flatten or linear: there is no map left to convolve",
                        (int)plan->step->length, plan->step->text);
    size_t height = layer->in.height + 2 * layer->padding,
           width = layer->in.width + 2 * layer->padding;
    if (layer->kernel % 2 == 0 && layer->padding > 0)
        return imp_fail(plan->error, IMP_EINVAL,
                        "'%.*s' has an even kernel, which cannot be padded alike on both sides; "
                        "say ':valid' for no padding",
                        (int)plan->step->length, plan->step->text);
    if (height < layer->kernel || width < layer->kernel)
        return imp_fail(plan->error, IMP_EINVAL, "'%.*s' is larger than its map of %zux%zu",
                        (int)plan->step->length, plan->step->text, layer->in.height,
                        layer->in.width);
    layer->out = (imp_shape){.channels = outputs,
                             .height = (height - layer->kernel) / layer->stride + 1,
                             .width = (width - layer->kernel) / layer->stride + 1};
    imp_plan_block(plan);
    layer->weight =
        imp_plan_tensor(plan, "conv.weight", true, 4,
                        (size_t[]){outputs, layer->inputs, layer->kernel, layer->kernel}, start);
    if (has_bias)
        layer->bias = imp_plan_tensor(plan, "conv.bias", true, 1, &outputs, (imp_start){.size = 0});
    return IMP_OK;
}

/* ---- patches ---- */

static bool is_matrix(const imp_layer *layer)
{
    return layer->kernel == 1 && layer->stride == 1;
}

static bool is_tap_by_tap(const imp_layer *layer)
{
    return layer->inputs % 32 == 0;
}

/* Channel c of a tap is at c * channel_step + tap * tap_step in a patch. */
static size_t channel_step(const imp_layer *layer)
{
    return is_tap_by_tap(layer) ? 1 : area_of(layer);
}

static size_t tap_step(const imp_layer *layer)
{
    return is_tap_by_tap(layer) ? layer->inputs : 1;
}

/* Patches per matrix: many rows multiply efficiently, but the matrix should stay in cache. */
static size_t run_of(const imp_layer *layer)
{
    enum { LEAST = 24, MOST = 192, CACHE_FLOATS = 1 << 17 };
    size_t rows = CACHE_FLOATS / taps_of(layer);
    return rows < LEAST ? LEAST : rows > MOST ? MOST : rows;
}

/* Whether a tap of output pixel (row, column) lies on the map; *at is then its input pixel. */
static bool tap_at(const imp_layer *layer, size_t row, size_t column, size_t tap, size_t *at)
{
    /* positions above or left of the map wrap to a huge number */
    size_t y = row * layer->stride + tap / layer->kernel - layer->padding;
    size_t x = column * layer->stride + tap % layer->kernel - layer->padding;
    *at = y * layer->in.width + x;
    return y < layer->in.height && x < layer->in.width;
}

/* The input pixel of a tap of output pixel `pixel`, counted through all images, or NULL outside. */
static const float *tap_of(const imp_layer *layer, const float *in, size_t pixel, size_t tap)
{
    size_t pixels = imp_shape_pixels(layer->out), place = pixel % pixels, at;
    if (!tap_at(layer, place / layer->out.width, place % layer->out.width, tap, &at))
        return NULL;
    return in + pixel / pixels * imp_shape_floats(layer->in) + at * layer->inputs;
}

/* patches (end - begin, taps) of output pixels begin .. end-1, counted through all images */
static void gather(const imp_layer *layer, const float *in, size_t begin, size_t end,
                   float *patches)
{
    size_t channels = layer->inputs, area = area_of(layer);
    for (size_t pixel = begin; pixel < end; pixel++, patches += area * channels)
        for (size_t tap = 0; tap < area; tap++) {
            const float *from = tap_of(layer, in, pixel, tap);
            float *to = patches + tap * tap_step(layer);
            if (!is_tap_by_tap(layer))
                for (size_t c = 0; c < channels; c++)
                    to[c * area] = from ? from[c] : 0;
            else if (from)
                memcpy(to, from, channels * sizeof *to);
            else
                memset(to, 0, channels * sizeof *to);
        }
}

/* the adjoint of gather(): in += patches */
static void scatter(const imp_layer *layer, const float *patches, size_t begin, size_t end,
                    float *in)
{
    size_t channels = layer->inputs, area = area_of(layer), step = channel_step(layer);
    for (size_t pixel = begin; pixel < end; pixel++, patches += area * channels)
        for (size_t tap = 0; tap < area; tap++) {
            float *to = (float *)tap_of(layer, in, pixel, tap);
            const float *from = patches + tap * tap_step(layer);
            for (size_t c = 0; to && c < channels; c++)
                to[c] += from[c * step];
        }
}

/* The position of weight (channel, tap) in a patch. */
static size_t place_of(const imp_layer *layer, size_t channel, size_t tap)
{
    return channel * channel_step(layer) + tap * tap_step(layer);
}

/* ---- evaluation, and training's forward ---- */

/* Frozen: W transposed to (taps, out), then b. */
static size_t frozen(const imp_layer *layer)
{
    return (taps_of(layer) + 1) * layer->out.channels;
}

/* Outputs that are transposed at a time: a cache line is then written whole. */
enum { TILE = 16 };

static void freeze(const imp_layer *layer, const imp_layer *norm, const imp_pass *pass,
                   float *frozen)
{
    size_t area = area_of(layer), taps = taps_of(layer), outputs = layer->out.channels;
    const float *bias = imp_bias_of(layer, pass);
    for (size_t first = 0; first < outputs; first += TILE) {
        const float *weight = pass->parameters + layer->weight + first * taps;
        size_t count = outputs - first < TILE ? outputs - first : TILE;
        float scale[TILE];
        for (size_t o = 0; o < count; o++) {
            imp_affine f = imp_running_fold(norm, pass, first + o, bias ? bias[first + o] : 0);
            scale[o] = f.scale;
            frozen[taps * outputs + first + o] = f.shift;
        }
        for (size_t c = 0; c < layer->inputs; c++)
            for (size_t t = 0; t < area; t++, weight++) {
                float *to = frozen + place_of(layer, c, t) * outputs + first;
                for (size_t o = 0; o < count; o++)
                    to[o] = scale[o] * weight[o * taps];
            }
    }
}

/* a run of patches */
static size_t scratch(const imp_layer *layer, const imp_kernels *kernels)
{
    (void)kernels;
    return is_matrix(layer) ? 0 : run_of(layer) * taps_of(layer);
}

static size_t infer_scratch(const imp_layer *layer, const imp_kernels *kernels, size_t images)
{
    (void)images;
    return scratch(layer, kernels);
}

static void infer(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                  size_t images, const float *const *in, float *out, float *scratch)
{
    size_t taps = taps_of(layer), outputs = layer->out.channels;
    size_t pixels = images * imp_shape_pixels(layer->out), run = run_of(layer);
    const float *bias = frozen + taps * outputs;
    for (size_t begin = 0; begin < pixels; begin += run) {
        size_t count = pixels - begin < run ? pixels - begin : run;
        float *y = out + begin * outputs;
        const float *patches = is_matrix(layer) ? in[0] + begin * taps : scratch;
        if (!is_matrix(layer))
            gather(layer, in[0], begin, begin + count, scratch);
        for (size_t p = 0; p < count; p++)
            memcpy(y + p * outputs, bias, outputs * sizeof *y);
        kernels->multiply(count, outputs, taps, patches, taps, 1, frozen, outputs, y, outputs);
        for (size_t i = 0; layer->slope != 1 && i < count * outputs; i++)
            y[i] = imp_rectify(y[i], layer->slope);
    }
}

/* ---- backward ---- */

/* forward: the transposed weights; backward: the weights in the order of patches, then one
 * gradient (out, taps), or (taps, out), and (out) per block */
static size_t shared(const imp_layer *layer, const imp_pass *pass)
{
    return (1 + pass->blocks) * imp_lines(frozen(layer));
}

static float *part_of(const imp_job *job, size_t block)
{
    return job->pass->shared + (1 + block) * imp_lines(frozen(job->layer));
}

static void backward_block(size_t block, int worker, void *context)
{
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    const imp_kernels *kernels = job->pass->kernels;
    size_t taps = taps_of(layer), outputs = layer->out.channels, run = run_of(layer);
    size_t pixels = imp_shape_pixels(layer->out), in_floats = imp_shape_floats(layer->in);
    imp_images images = imp_images_of(job->pass, block);
    float *scratch = imp_scratch_of(job->pass, worker);
    float *part = part_of(job, block), *dbias = part + taps * outputs, *din = job->din[0];
    memset(part, 0, frozen(layer) * sizeof *part);
    if (din)
        memset(din + images.begin * in_floats, 0,
               (images.end - images.begin) * in_floats * sizeof *din);
    for (size_t begin = images.begin * pixels; begin < images.end * pixels; begin += run) {
        size_t rest = images.end * pixels - begin, count = rest < run ? rest : run;
        const float *dout = job->dout + begin * outputs;
        const float *patches = is_matrix(layer) ? job->in[0] + begin * taps : scratch;
        if (!is_matrix(layer))
            gather(layer, job->in[0], begin, begin + count, scratch);
        if (layer->taps_first) /* longer rows, which multiply faster */
            kernels->multiply(taps, outputs, count, patches, 1, taps, dout, outputs, part, outputs);
        else
            kernels->multiply(outputs, taps, count, dout, 1, outputs, patches, taps, part, taps);
        for (size_t p = 0; p < count; p++)
            for (size_t o = 0; o < outputs; o++)
                dbias[o] += dout[p * outputs + o];
        if (!din)
            continue;
        float *dpatches = is_matrix(layer) ? din + begin * taps : scratch;
        if (!is_matrix(layer))
            memset(dpatches, 0, count * taps * sizeof *dpatches);
        kernels->multiply(count, taps, outputs, dout, outputs, 1, job->pass->shared, taps, dpatches,
                          taps);
        if (!is_matrix(layer))
            scatter(layer, dpatches, begin, begin + count, din);
    }
}

/* The weights (out, taps) in the order of patches. */
static void order_weights(const imp_job *job)
{
    const imp_layer *layer = job->layer;
    const float *weight = job->pass->parameters + layer->weight;
    size_t inputs = layer->inputs, area = area_of(layer), count = layer->out.channels;
    size_t across = channel_step(layer), along = tap_step(layer);
    float *to = job->pass->shared;
    for (size_t o = 0; o < count; o++, weight += inputs * area, to += inputs * area)
        for (size_t t = 0; t < area; t++)
            for (size_t c = 0; c < inputs; c++)
                to[c * across + t * along] = weight[c * area + t];
}

/* gradient (out, channels, taps) += part, (out, taps in the order of patches) or transposed */
static void add_part(const imp_layer *layer, const float *part, float *gradient)
{
    size_t inputs = layer->inputs, area = area_of(layer), outputs = layer->out.channels;
    size_t step = layer->taps_first ? outputs : 1;
    size_t across = channel_step(layer) * step, along = tap_step(layer) * step;
    size_t output_step = layer->taps_first ? 1 : taps_of(layer);
    for (size_t o = 0; o < outputs; o++, gradient += inputs * area, part += output_step)
        for (size_t t = 0; t < area; t++)
            for (size_t c = 0; c < inputs; c++)
                gradient[c * area + t] += part[c * across + t * along];
}

static void add_parts(const imp_job *job)
{
    const imp_layer *layer = job->layer;
    size_t outputs = layer->out.channels;
    for (size_t block = 0; block < job->pass->blocks; block++) {
        const float *part = part_of(job, block), *dbias = part + taps_of(layer) * outputs;
        add_part(layer, part, job->pass->gradients + layer->weight);
        for (size_t o = 0; layer->bias != IMP_NONE && o < outputs; o++)
            job->pass->gradients[layer->bias + o] += dbias[o];
    }
}

static void backward(const imp_job *job)
{
    order_weights(job);
    imp_each_block(job, backward_block);
    add_parts(job);
}

static void write_onnx(const imp_layer *layer, const imp_layer *norm, imp_onnx *onnx)
{
    imp_onnx_node node = imp_onnx_begin(onnx, layer);
    imp_onnx_weights(&node, layer, norm);
    imp_onnx_integers(&node, "kernel_shape", (uint64_t[]){layer->kernel, layer->kernel}, 2);
    imp_onnx_integers(&node, "strides", (uint64_t[]){layer->stride, layer->stride}, 2);
    uint64_t p = layer->padding;
    imp_onnx_integers(&node, "pads", (uint64_t[]){p, p, p, p}, 4);
    imp_onnx_end(&node, "Conv");
}

const imp_layer_kind imp_layer_conv = {
    .word = "conv",
    .usage = "'convKxK:F' with F from 1 to 65536 outputs; then, in this order, '/S' for a stride, "
             "':valid' for no padding, ':nobias', and ':he' or ':xavier' for other initial weights",
    .plan = plan,
    .shared = shared,
    .scratch = scratch,
    .forward = imp_infer_blocks,
    .backward = backward,
    .forward_tangent = imp_tangent_of_product,
    .backward_tangent = imp_tangent_of_product_backward,
    .folds = true,
    .infer_scratch = infer_scratch,
    .frozen = frozen,
    .freeze = freeze,
    .infer = infer,
    .write_onnx = write_onnx,
};
