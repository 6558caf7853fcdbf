/*
 * network.c - a network's life: creation, initial weights, forward, backward.
 *
 * All memory of a step is one allocation, carved into named arrays when a batch is larger than any
 * before it and never touched otherwise.
 */
#include "nn/network.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/random.h"

/* Xavier-uniform with gain sqrt(2) (Glorot & Bengio 2010); every tensor has its own sequence of
 * random numbers, so that one layer's size does not change another's start. */
static void draw_weights(const imp_tensor_place *place, uint64_t seed, size_t index, float *values)
{
    size_t taps = place->count / (place->shape[0] * place->shape[1]); /* 9 or 1 */
    double bound = sqrt(2) * sqrt(6.0 / (double)((place->shape[0] + place->shape[1]) * taps));
    imp_random random = imp_random_start(seed, IMP_STREAM_WEIGHTS, index);
    for (size_t i = 0; i < place->count; i++)
        values[i] = (float)(bound * (2 * imp_random_uniform(&random) - 1));
}

static void initialise(imp_network *network)
{
    for (size_t i = 0; i < network->place_count; i++) {
        const imp_tensor_place *place = &network->places[i];
        float *values = (place->trained ? network->parameters : network->state) + place->offset;
        if (place->rank > 1)
            draw_weights(place, network->options.seed, i, values);
        const char *suffix = strrchr(place->name, '.') + 1;
        bool starts_at_one = strcmp(suffix, "running_var") == 0 ||
                             (strcmp(suffix, "weight") == 0 && place->rank == 1);
        for (size_t j = 0; starts_at_one && j < place->count; j++)
            values[j] = 1;
    }
}

imp_status imp_network_draft(const char *description, const imp_network_options *options,
                             imp_network **out, imp_error *error)
{
    *out = NULL;
    imp_network_options taken = {.size = sizeof taken};
    imp_status status =
        imp_take_options(&taken, sizeof taken, options, "imp_network_options", error);
    if (status)
        return status;
    imp_network *network = imp_allocate_zeroed(1, sizeof *network);
    if (!network)
        return imp_fail_memory(error, "the network");
    network->options = taken;
    network->options.threads = imp_parallel_threads(taken.threads);
    network->description = imp_duplicate(description);
    status = network->description ? imp_kernels_choose(&network->kernels, error)
                                  : imp_fail_memory(error, "the network");
    if (!status)
        status = imp_network_plan(network, error);
    if (status)
        imp_network_free(network);
    else
        *out = network;
    return status;
}

imp_status imp_network_allocate(imp_network *network, imp_error *error)
{
    network->activations = imp_allocate_zeroed(network->layer_count, sizeof *network->activations);
    network->parameters = imp_allocate_zeroed(network->parameter_count, sizeof(float));
    network->gradients = imp_allocate_zeroed(network->parameter_count, sizeof(float));
    network->state = imp_allocate_zeroed(network->state_count, sizeof(float));
    if (!network->activations || !network->parameters || !network->gradients || !network->state)
        return imp_fail_memory(error, "the network's weights");
    for (size_t i = 0; i < network->layer_count; i++) {
        network->layers[i].parameters = network->parameters;
        network->layers[i].gradients = network->gradients;
        network->layers[i].state = network->state;
    }
    return IMP_OK;
}

imp_status imp_network_create(const char *description, const imp_network_options *options,
                              imp_network **out, imp_error *error)
{
    imp_status status = imp_network_draft(description, options, out, error);
    if (status)
        return status;
    status = imp_network_allocate(*out, error);
    if (!status) {
        initialise(*out);
        return IMP_OK;
    }
    imp_network_free(*out);
    *out = NULL;
    return status;
}

void imp_network_free(imp_network *network)
{
    if (!network)
        return;
    imp_release(network->description);
    imp_release(network->layers);
    imp_release(network->activations);
    imp_release(network->places);
    imp_release(network->parameters);
    imp_release(network->gradients);
    imp_release(network->state);
    imp_release(network->workspace);
    imp_release(network);
}

/* Blocks of images: enough to keep some threads busy, few enough that adding up their weight
 * gradients costs little. They depend on the batch alone, never on the threads. */
static size_t blocks_for(size_t images)
{
    return images >= 256 ? 16 : images >= 64 ? 8 : images >= 16 ? 4 : images >= 4 ? 2 : 1;
}

/* Carves `floats` off the workspace, or only counts them while `base` is NULL. */
static float *carve(float *base, size_t *used, size_t floats)
{
    float *array = base ? base + *used : NULL;
    *used += imp_lines(floats);
    return array;
}

/* Places every array of a step for pass->images images; returns the floats needed. With base NULL
 * nothing is placed. */
static size_t lay_out(imp_network *network, imp_pass *pass, float *base)
{
    size_t used = 0, shared = 0, scratch = 0;
    for (size_t i = 0; i < network->layer_count; i++) {
        imp_layer *layer = &network->layers[i];
        const imp_layer_kind *kind = layer->kind;
        size_t out = pass->images * imp_shape_floats(layer->out);
        imp_activation activation = {.values = carve(base, &used, out)};
        activation.gradients = carve(base, &used, out);
        float *kept = carve(base, &used, kind->kept ? kind->kept(layer, pass) : 0);
        if (base) {
            network->activations[i] = activation;
            layer->kept = kept;
        }
        size_t layer_shared = kind->shared ? kind->shared(layer, pass) : 0;
        size_t layer_scratch = kind->scratch ? kind->scratch(layer, pass->kernels) : 0;
        shared = layer_shared > shared ? layer_shared : shared;
        scratch = layer_scratch > scratch ? layer_scratch : scratch;
    }
    pass->shared = carve(base, &used, shared);
    pass->scratch_stride = imp_lines(scratch);
    pass->scratch = carve(base, &used, pass->scratch_stride * (size_t)pass->threads);
    return used;
}

enum { MAX_BATCH = 1 << 20 }; /* keeps every size below from overflowing, see plan.c */

/* A workspace for `images` images. A smaller batch uses the same memory, laid out for its size. */
static imp_status prepare(imp_network *network, size_t images, imp_error *error)
{
    imp_pass pass = {.kernels = network->kernels,
                     .images = images,
                     .blocks = blocks_for(images),
                     .threads = network->options.threads};
    if (images > network->capacity) {
        if (images > MAX_BATCH)
            return imp_fail(error, IMP_EINVAL, "a batch of %zu images is more than %d", images,
                            MAX_BATCH);
        float *workspace = imp_allocate(lay_out(network, &pass, NULL), sizeof *workspace);
        if (!workspace)
            return imp_fail_memory(error, "the network's activations");
        imp_release(network->workspace);
        network->workspace = workspace;
        network->capacity = images;
    }
    lay_out(network, &pass, network->workspace);
    network->pass = pass;
    return IMP_OK;
}

imp_status imp_network_forward(imp_network *network, const float *images, size_t count,
                               float *embeddings, imp_error *error)
{
    if (count == 0)
        return imp_fail(error, IMP_EINVAL, "a batch needs at least one image");
    imp_status status = prepare(network, count, error);
    if (status)
        return status;
    const float *in = images;
    for (size_t i = 0; i < network->layer_count; i++) {
        imp_layer *layer = &network->layers[i];
        layer->kind->forward(layer, &network->pass, in, network->activations[i].values);
        in = network->activations[i].values;
    }
    memcpy(embeddings, in, count * imp_network_output_size(network) * sizeof *embeddings);
    network->forwarded = true;
    return IMP_OK;
}

imp_status imp_network_backward(imp_network *network, const float *gradient, imp_error *error)
{
    if (!network->forwarded)
        return imp_fail(error, IMP_EINVAL,
                        "backward needs a forward pass before it: one for each backward");
    network->forwarded = false;
    const float *dout = gradient;
    for (size_t i = network->layer_count; i-- > 0;) {
        imp_layer *layer = &network->layers[i];
        bool wants_input_gradient = i > 0 && network->layers[i - 1].kind != &imp_layer_arrange;
        const float *in = i > 0 ? network->activations[i - 1].values : NULL;
        float *din = wants_input_gradient ? network->activations[i - 1].gradients : NULL;
        layer->kind->backward(layer, &network->pass, in, network->activations[i].values, dout, din);
        if (!din)
            break;
        dout = din;
    }
    return IMP_OK;
}

const char *imp_network_description(const imp_network *network)
{
    return network->description;
}

const imp_network_options *imp_network_options_of(const imp_network *network)
{
    return &network->options;
}

const char *imp_network_isa(const imp_network *network)
{
    return network->kernels->name;
}

size_t imp_network_output_size(const imp_network *network)
{
    return imp_shape_floats(network->layers[network->layer_count - 1].out);
}

size_t imp_network_parameter_count(const imp_network *network)
{
    return network->parameter_count;
}

float *imp_network_parameters(imp_network *network)
{
    return network->parameters;
}

float *imp_network_gradients(imp_network *network)
{
    return network->gradients;
}

void imp_network_clear_gradients(imp_network *network)
{
    memset(network->gradients, 0, network->parameter_count * sizeof *network->gradients);
}

size_t imp_network_tensor_count(const imp_network *network)
{
    return network->place_count;
}

imp_network_tensor imp_network_tensor_at(imp_network *network, size_t index)
{
    const imp_tensor_place *place = &network->places[index];
    imp_network_tensor tensor = {.name = place->name, .rank = place->rank, .count = place->count};
    memcpy(tensor.shape, place->shape, sizeof tensor.shape);
    tensor.values = (place->trained ? network->parameters : network->state) + place->offset;
    if (place->trained)
        tensor.gradients = network->gradients + place->offset;
    return tensor;
}
