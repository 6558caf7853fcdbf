/*
 * fuse.c - decides how a network is computed: which layers of its description are fused.
 *
 * "conv3x3:64,bn,relu,pool" becomes one layer if its input is an image with 1 to 4 channels or has
 * 64 channels (an image with 5 to 63 is padded to 64). Other 3x3 convolutions between wide layers
 * use Winograd tiles. A batch norm absorbs the rectifier after it. A flatten of one pixel is left
 * out, except the last: embeddings are in the caller's memory, which is not aligned as the kernels
 * require.
 *
 * In a network that has tangents (hessian.h), or whose backward pass reaches its inputs (link.h),
 * no block is fused. In the former, a convolution of 64 to 64 channels still uses the kernels of
 * the fused block, one before a norm has no bias, which the norm would cancel, and the norm absorbs
 * rectifier and pool.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "nn/network.h"

typedef struct fuser {
    const imp_network *network;
    const imp_layer *layers; /* as described */
    size_t *uses, count;
    size_t *place; /* the layer of `run` that computes each described layer's output */
    imp_graph *run;
} fuser;

/* Whether layer i is of that kind and the only reader of the layer before it. */
static bool follows(const fuser *f, size_t i, const imp_layer_kind *kind)
{
    return i < f->count && f->layers[i].kind == kind && f->layers[i].input[0] == i - 1 &&
           f->uses[i - 1] == 1;
}

static bool is_rectifier(const imp_layer *layer)
{
    return layer->kind == &imp_layer_relu || layer->kind == &imp_layer_leaky;
}

static bool has_kernels(const imp_layer *conv)
{
    return conv->kernel == 3 && conv->stride == 1 && conv->padding == 1 &&
           conv->out.channels == IMP_CHANNELS;
}

/* Whether layers i .. i+3 form the block that has its own kernels. */
static bool is_block(const fuser *f, size_t i)
{
    const imp_layer *conv = &f->layers[i];
    if (f->network->options.unfused || f->network->has_tangents || f->network->reaches_inputs ||
        conv->kind != &imp_layer_conv)
        return false;
    bool follow = follows(f, i + 1, &imp_layer_norm) && follows(f, i + 2, &imp_layer_relu) &&
                  follows(f, i + 3, &imp_layer_pool);
    bool is_first = conv->input[0] == 0 && conv->inputs < IMP_CHANNELS && f->uses[0] == 1;
    return has_kernels(conv) && follow && (is_first || conv->inputs == IMP_CHANNELS);
}

/* Whether any other convolution can use Winograd tiles. On smaller maps a tile would be mostly
 * empty. */
static bool is_tiled(const fuser *f, const imp_layer *layer)
{
    enum { LEAST = 3 };
    return !f->network->options.unfused && layer->kind == &imp_layer_conv && layer->kernel == 3 &&
           layer->stride == 1 && layer->padding == 1 && layer->inputs % IMP_CHANNEL_STEP == 0 &&
           layer->out.channels % IMP_CHANNEL_STEP == 0 && layer->in.height >= LEAST &&
           layer->in.width >= LEAST;
}

/* A copy of layer i that reads what its inputs have become. */
static imp_layer *add(fuser *f, size_t i)
{
    imp_layer *layer = &f->run->layers[f->run->count];
    *layer = f->layers[i];
    for (size_t j = 0; j < layer->input_count; j++)
        if (layer->input[j] != IMP_NONE)
            layer->input[j] = f->place[layer->input[j]];
    f->place[i] = f->run->count++;
    return layer;
}

static void add_block(fuser *f, size_t i)
{
    const imp_layer *norm = &f->layers[i + 1], *pool = &f->layers[i + 3];
    imp_layer *block = add(f, i);
    block->kind = &imp_layer_winograd;
    block->out = pool->out;
    block->gamma = norm->gamma;
    block->beta = norm->beta;
    block->running_mean = norm->running_mean;
    block->running_var = norm->running_var;
    f->place[i + 3] = f->place[i];
    if (block->inputs <= IMP_FIRST_MAX_CHANNELS) { /* reads the images themselves */
        f->run->layers[0] = *block;
        f->run->layers[0].kind = &imp_layer_first;
        f->run->layers[0].input[0] = IMP_NONE;
        f->place[i + 3] = 0;
        f->run->count = 1;
    } else if (block->inputs < IMP_CHANNELS) {
        f->run->layers[0].out.channels = block->in.channels = IMP_CHANNELS;
    }
}

static bool is_rectified_norm(const fuser *f, size_t i)
{
    return f->layers[i].kind == &imp_layer_norm && i + 1 < f->count &&
           is_rectifier(&f->layers[i + 1]) && follows(f, i + 1, f->layers[i + 1].kind) &&
           !f->network->options.unfused;
}

/* A convolution on its own, in a network that has tangents. */
static void add_conv(fuser *f, size_t i)
{
    imp_layer *conv = add(f, i);
    if (has_kernels(conv) && conv->inputs == IMP_CHANNELS)
        conv->kind = &imp_layer_winograd_conv;
    conv->taps_first = conv->inputs * conv->kernel * conv->kernel < conv->out.channels;
    if (follows(f, i + 1, &imp_layer_norm))
        conv->bias = IMP_NONE;
}

static void fuse_all(fuser *f)
{
    for (size_t i = 0; i < f->count; i++) {
        if (is_block(f, i)) {
            add_block(f, i);
            i += 3;
        } else if (is_rectified_norm(f, i)) {
            imp_layer *norm = add(f, i);
            norm->slope = f->layers[i + 1].slope;
            size_t last = i + 1;
            if (f->network->has_tangents && follows(f, i + 2, &imp_layer_pool)) {
                norm->kind = &imp_layer_norm_pool;
                norm->out = f->layers[++last].out;
            }
            f->place[last] = f->place[i];
            i = last;
        } else if (f->layers[i].kind == &imp_layer_flatten && i + 1 < f->count &&
                   imp_shape_pixels(f->layers[i].in) == 1) {
            f->place[i] = f->place[f->layers[i].input[0]];
        } else if (f->network->has_tangents && f->layers[i].kind == &imp_layer_conv) {
            add_conv(f, i);
        } else {
            bool tiled = is_tiled(f, &f->layers[i]);
            imp_layer *layer = add(f, i);
            layer->kind = tiled ? &imp_layer_tiled_conv : layer->kind;
        }
    }
}

imp_status imp_network_fuse(imp_network *network, imp_error *error)
{
    const imp_graph *graph = &network->graph;
    fuser f = {.network = network,
               .layers = graph->layers,
               .count = graph->count,
               .uses = imp_allocate(graph->count, sizeof *f.uses),
               .place = imp_allocate(graph->count, sizeof *f.place),
               .run = &network->run};
    network->run.layers = imp_allocate(graph->count, sizeof *network->run.layers);
    network->uses = imp_allocate(graph->count, sizeof *network->uses);
    bool enough = f.uses && f.place && network->run.layers && network->uses;
    if (enough) {
        imp_graph_uses(graph, f.uses);
        fuse_all(&f);
        imp_graph_uses(&network->run, network->uses);
    }
    imp_release(f.uses);
    imp_release(f.place);
    return enough ? IMP_OK : imp_fail_memory(error, "the network's layers");
}
