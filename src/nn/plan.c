/*
 * plan.c - from a description and an image size to layers, shapes and named tensors.
 *
 * Here it is decided which layers run fused: "conv3x3:64,bn,relu,pool" is one layer when its input
 * is the image with 1 to 4 channels, or has 64 channels (an image with 5 to 63 is padded to 64).
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "nn/description.h"
#include "nn/network.h"

typedef struct planner {
    imp_network *network;
    const imp_step *steps;
    size_t count;
    imp_shape shape; /* what the next layer gets */
    size_t blocks;   /* conv and linear layers so far: each begins a block of names */
    bool block_has_norm;
    bool flat;
    imp_error *error;
} planner;

static imp_layer *add_layer(planner *p, const imp_layer_kind *kind, imp_shape out)
{
    imp_layer *layer = &p->network->layers[p->network->layer_count++];
    *layer = (imp_layer){.kind = kind, .in = p->shape, .out = out, .inputs = p->shape.channels};
    p->shape = out;
    return layer;
}

/* Names a tensor of the current block and gives it the next place in its flat array. */
static size_t add_tensor(planner *p, const char *suffix, bool trained, size_t rank,
                         const size_t *shape)
{
    imp_network *network = p->network;
    imp_tensor_place *place = &network->places[network->place_count++];
    size_t *end = trained ? &network->parameter_count : &network->state_count;
    *place = (imp_tensor_place){.rank = rank, .count = 1, .offset = *end, .trained = trained};
    if (p->blocks > 0)
        snprintf(place->name, sizeof place->name, "blocks.%zu.%s", p->blocks - 1, suffix);
    else
        snprintf(place->name, sizeof place->name, "input.%s", suffix);
    for (size_t i = 0; i < rank; i++) {
        place->shape[i] = shape[i];
        place->count *= shape[i];
    }
    *end += place->count;
    return place->offset;
}

static void add_conv_tensors(planner *p, imp_layer *layer, size_t inputs)
{
    p->blocks++;
    p->block_has_norm = false;
    layer->inputs = inputs;
    layer->weight =
        add_tensor(p, "conv.weight", true, 4, (size_t[]){layer->out.channels, inputs, 3, 3});
    layer->bias = add_tensor(p, "conv.bias", true, 1, (size_t[]){layer->out.channels});
}

static void add_norm_tensors(planner *p, imp_layer *layer)
{
    size_t shape[] = {layer->out.channels};
    p->block_has_norm = true;
    layer->gamma = add_tensor(p, "bn.weight", true, 1, shape);
    layer->beta = add_tensor(p, "bn.bias", true, 1, shape);
    layer->running_mean = add_tensor(p, "bn.running_mean", false, 1, shape);
    layer->running_var = add_tensor(p, "bn.running_var", false, 1, shape);
}

/* Whether steps i.. begin with the block that has kernels of its own. */
static bool is_fusable(const planner *p, size_t i)
{
    if (p->network->options.unfused || p->count - i < 4 || p->flat)
        return false;
    const imp_step *s = p->steps + i;
    bool is_block = s[0].kind == IMP_STEP_CONV && s[0].width == IMP_CHANNELS &&
                    s[1].kind == IMP_STEP_NORM && s[2].kind == IMP_STEP_RELU &&
                    s[3].kind == IMP_STEP_POOL;
    bool fits = p->shape.channels == IMP_CHANNELS || i == 0;
    return is_block && fits && p->shape.height >= 2 && p->shape.width >= 2;
}

static void add_fused(planner *p, size_t i)
{
    size_t inputs = p->shape.channels;
    bool first = i == 0 && inputs <= IMP_FIRST_MAX_CHANNELS;
    if (i == 0 && !first)
        add_layer(p, &imp_layer_arrange,
                  (imp_shape){IMP_CHANNELS, p->shape.height, p->shape.width});
    imp_shape out = {IMP_CHANNELS, p->shape.height / 2, p->shape.width / 2};
    imp_layer *layer = add_layer(p, first ? &imp_layer_first : &imp_layer_winograd, out);
    add_conv_tensors(p, layer, inputs);
    add_norm_tensors(p, layer);
}

static imp_status add_conv(planner *p, size_t width)
{
    if (p->flat)
        return imp_fail(
            p->error, IMP_EINVAL,
            "conv3x3 cannot follow flatten or linear: there is no map left to convolve");
    imp_layer *layer =
        add_layer(p, &imp_layer_conv, (imp_shape){width, p->shape.height, p->shape.width});
    add_conv_tensors(p, layer, layer->in.channels);
    return IMP_OK;
}

static imp_status add_norm(planner *p)
{
    if (p->block_has_norm)
        return imp_fail(
            p->error, IMP_EINVAL,
            "two bn follow one %s; PyTorch's names have room for one per conv3x3 or linear",
            p->blocks ? "layer" : "input");
    add_norm_tensors(p, add_layer(p, &imp_layer_norm, p->shape));
    return IMP_OK;
}

static imp_status add_pool(planner *p, size_t pools)
{
    imp_shape in = p->shape;
    if (in.height < 2 || in.width < 2)
        return imp_fail(
            p->error, IMP_EINVAL,
            "pool %zu would shrink %zux%zu to nothing; images of %zux%zu are too small for "
            "'%s'",
            pools, in.height, in.width, p->network->options.height, p->network->options.width,
            p->network->description);
    add_layer(p, &imp_layer_pool, (imp_shape){in.channels, in.height / 2, in.width / 2});
    return IMP_OK;
}

static imp_status add_linear(planner *p, size_t width)
{
    if (!p->flat && p->shape.height * p->shape.width != 1)
        return imp_fail(p->error, IMP_EINVAL,
                        "linear:%zu needs 'flatten' before it: its input is a map of %zux%zu",
                        width, p->shape.height, p->shape.width);
    imp_layer *layer = add_layer(p, &imp_layer_linear, (imp_shape){width, 1, 1});
    p->flat = true;
    p->blocks++;
    p->block_has_norm = false;
    layer->weight =
        add_tensor(p, "linear.weight", true, 2, (size_t[]){width, imp_shape_floats(layer->in)});
    layer->bias = add_tensor(p, "linear.bias", true, 1, (size_t[]){width});
    return IMP_OK;
}

static void add_flatten(planner *p)
{
    if (!p->flat)
        add_layer(p, &imp_layer_flatten, (imp_shape){imp_shape_floats(p->shape), 1, 1});
    p->flat = true;
}

static imp_status add_step(planner *p, size_t i, size_t pools)
{
    switch (p->steps[i].kind) {
    case IMP_STEP_CONV:
        return add_conv(p, p->steps[i].width);
    case IMP_STEP_NORM:
        return add_norm(p);
    case IMP_STEP_POOL:
        return add_pool(p, pools);
    case IMP_STEP_LINEAR:
        return add_linear(p, p->steps[i].width);
    case IMP_STEP_RELU:
        add_layer(p, &imp_layer_relu, p->shape);
        return IMP_OK;
    case IMP_STEP_FLATTEN:
        add_flatten(p);
        return IMP_OK;
    }
    return imp_fail(p->error, IMP_EINVAL, "step %zu of the network is of no kind", i + 1);
}

/* With batches of at most 2^20 images, no size of a workspace can overflow. */
static const size_t MAX_MAP = (size_t)1 << 32;

static imp_status check_input(const imp_network_options *o, imp_error *error)
{
    enum { MAX_CHANNELS = 64, MAX_SIDE = 4096 };
    if (o->channels < 1 || o->channels > MAX_CHANNELS)
        return imp_fail(error, IMP_EINVAL, "images have %zu channels; a network takes 1 to %d",
                        o->channels, MAX_CHANNELS);
    if (o->height < 1 || o->width < 1 || o->height > MAX_SIDE || o->width > MAX_SIDE)
        return imp_fail(error, IMP_EINVAL, "images are %zux%zu; a network takes 1x1 to %dx%d",
                        o->height, o->width, MAX_SIDE, MAX_SIDE);
    return IMP_OK;
}

imp_status imp_network_plan(imp_network *network, imp_error *error)
{
    imp_step steps[IMP_MAX_STEPS];
    const imp_network_options *o = &network->options;
    planner p = {.network = network,
                 .steps = steps,
                 .shape = {o->channels, o->height, o->width},
                 .error = error};
    imp_status status = check_input(o, error);
    if (!status)
        status = imp_description_parse(network->description, steps, &p.count, error);
    if (status)
        return status;

    /* each step is at most one layer, besides the first's rearrangement, and has at most four
     * tensors */
    network->layers = imp_allocate_zeroed(p.count + 2, sizeof *network->layers);
    network->places = imp_allocate_zeroed(4 * p.count, sizeof *network->places);
    if (!network->layers || !network->places)
        return imp_fail_memory(error, "the network's layers");

    size_t pools = 0;
    for (size_t i = 0; i < p.count; i++) {
        if (is_fusable(&p, i)) {
            add_fused(&p, i);
            pools++;
            i += 3;
            continue;
        }
        if (i == 0)
            add_layer(&p, &imp_layer_arrange, p.shape);
        pools += steps[i].kind == IMP_STEP_POOL;
        status = add_step(&p, i, pools);
        if (status)
            return status;
        if (imp_shape_floats(p.shape) > MAX_MAP)
            return imp_fail(error, IMP_EINVAL,
                            "layer %zu, %s, would put out more than 2^32 numbers per image", i + 1,
                            imp_step_name(steps[i].kind));
    }
    add_flatten(&p); /* an embedding is in PyTorch's order, said or not */
    return IMP_OK;
}
