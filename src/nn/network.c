/*
 * network.c - creates, initialises and runs networks, forward and backward.
 *
 * All memory of a step is one allocation, divided into named arrays when a batch is larger than any
 * before it and never otherwise.
 */
#include "nn/network.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/random.h"
#include "nn/arena.h"
#include "nn/link.h"
#include "nn/statistics.h"

enum { SPANS = 1 + IMP_MAX_INPUTS, SUM_BLOCKS = 16 };

/* Every tensor has its own sequence of random numbers, so that one layer's size does not change
 * another's initial weights. */
static void initialise(imp_network *network)
{
    for (size_t i = 0; i < network->place_count; i++) {
        const imp_tensor_place *place = &network->places[i];
        float *values = (place->trained ? network->parameters : network->state) + place->offset;
        double size = place->start.size;
        imp_random random = imp_random_start(network->options.seed, IMP_STREAM_WEIGHTS, i);
        for (size_t j = 0; j < place->count; j++)
            switch (place->start.kind) {
            case IMP_START_CONSTANT:
                values[j] = (float)size;
                break;
            case IMP_START_UNIFORM:
                values[j] = (float)(size * (2 * imp_random_uniform(&random) - 1));
                break;
            case IMP_START_NORMAL:
                values[j] = (float)(size * imp_random_normal(&random));
                break;
            }
    }
}

void imp_network_options_init(imp_network_options *options, size_t size)
{
    const imp_network_options defaults = {0};
    imp_give_options(options, size, &defaults, sizeof defaults);
}

/* Optional capabilities of a network. */
typedef struct abilities {
    bool has_tangents, reaches_inputs;
} abilities;

static imp_status draft(const char *description, const imp_network_options *options, abilities able,
                        imp_network **out, imp_error *error)
{
    *out = NULL;
    imp_network_options taken = imp_network_defaults();
    imp_status status =
        imp_take_options(&taken, sizeof taken, options, "imp_network_options", error);
    if (status)
        return status;
    imp_network *network = imp_allocate_zeroed(1, sizeof *network);
    if (!network)
        return imp_fail_memory(error, "the network");
    network->options = taken;
    network->options.threads = imp_parallel_threads(taken.threads);
    network->drops = true;
    network->has_tangents = able.has_tangents;
    network->reaches_inputs = able.reaches_inputs;
    network->description = imp_duplicate(description);
    status = network->description ? imp_kernels_choose(&network->kernels, error)
                                  : imp_fail_memory(error, "the network");
    if (!status)
        status = imp_network_plan(network, error);
    if (!status)
        status = imp_network_fuse(network, error);
    if (status)
        imp_network_free(network);
    else
        *out = network;
    return status;
}

imp_status imp_network_draft(const char *description, const imp_network_options *options,
                             imp_network **out, imp_error *error)
{
    return draft(description, options, (abilities){0}, out, error);
}

imp_status imp_network_draft_with_tangents(const char *description,
                                           const imp_network_options *options, imp_network **out,
                                           imp_error *error)
{
    return draft(description, options, (abilities){.has_tangents = true}, out, error);
}

imp_status imp_network_allocate(imp_network *network, imp_error *error)
{
    size_t layers = network->run.count;
    network->activations = imp_allocate_zeroed(layers, sizeof *network->activations);
    network->spans = imp_allocate_zeroed(layers, SPANS * sizeof *network->spans);
    network->parameters = imp_allocate_zeroed(network->parameter_count, sizeof(float));
    network->gradients = imp_allocate_zeroed(network->parameter_count, sizeof(float));
    network->state = imp_allocate_zeroed(network->state_count, sizeof(float));
    network->statistics = imp_allocate_zeroed(network->state_count, sizeof(double));
    network->used_parameters = network->parameters;
    bool enough = network->activations && network->spans && network->parameters &&
                  network->gradients && network->state && network->statistics;
    return enough ? IMP_OK : imp_fail_memory(error, "the network's weights");
}

/* Allocates and initialises the weights of a draft, which is freed on failure. */
static imp_status complete(imp_network **out, imp_error *error)
{
    imp_status status = imp_network_allocate(*out, error);
    if (!status) {
        initialise(*out);
        return IMP_OK;
    }
    imp_network_free(*out);
    *out = NULL;
    return status;
}

imp_status imp_network_create(const char *description, const imp_network_options *options,
                              imp_network **out, imp_error *error)
{
    imp_status status = imp_network_draft(description, options, out, error);
    return status ? status : complete(out, error);
}

imp_status imp_network_create_link(const char *description, const imp_network_options *options,
                                   imp_network **out, imp_error *error)
{
    imp_status status =
        draft(description, options, (abilities){.reaches_inputs = true}, out, error);
    return status ? status : complete(out, error);
}

void imp_network_free(imp_network *network)
{
    if (!network)
        return;
    imp_release(network->description);
    imp_release(network->graph.layers);
    imp_release(network->run.layers);
    imp_release(network->uses);
    imp_release(network->activations);
    imp_release(network->spans);
    imp_release(network->places);
    imp_release(network->parameters);
    imp_release(network->gradients);
    imp_release(network->state);
    imp_release(network->statistics);
    imp_release(network->workspace);
    imp_release(network);
}

/* Blocks of images: enough to keep several threads busy, few enough that adding their weight
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

/* Whether the gradient of layer i's output equals that of the sum which is its only reader. */
static bool shares_gradient(const imp_network *network, size_t i, size_t reader)
{
    return network->uses[i] == 1 && network->run.layers[reader].kind == &imp_layer_add;
}

/* Determines how long each gradient lives, in steps of the backward pass, which starts at the last
 * layer: from its output's last reader to the layer itself. A layer's spans are the gradient of its
 * output and a spare array for each input, for adding to a gradient that another reader wrote. */
static void measure_gradients(imp_network *network, size_t images)
{
    size_t layers = network->run.count;
    imp_span *spans = network->spans;
    memset(spans, 0, layers * SPANS * sizeof *spans);
    for (size_t i = layers; i-- > 0;) {
        const imp_layer *layer = &network->run.layers[i];
        size_t step = layers - 1 - i;
        imp_activation *own = &network->activations[i];
        if (!layer->trained)
            continue;
        if (i + 1 == layers)
            own->owner = i; /* the caller's */
        spans[own->owner * SPANS].dies = step;
        for (size_t j = 0; j < layer->input_count; j++) {
            size_t input = layer->input[j];
            if (input == IMP_NONE || !network->run.layers[input].trained)
                continue;
            size_t floats = images * imp_shape_floats(layer->in);
            imp_span *gradient = &spans[input * SPANS];
            if (shares_gradient(network, input, i)) {
                network->activations[input].owner = own->owner;
            } else if (gradient->floats == 0) {
                *gradient = (imp_span){.floats = floats, .born = step};
                network->activations[input].owner = input;
            } else {
                spans[i * SPANS + 1 + j] = (imp_span){.floats = floats, .born = step, .dies = step};
            }
        }
    }
}

/* Places every array of a step for pass->images images; returns the floats needed. If base is NULL
 * nothing is placed. */
static size_t lay_out(imp_network *network, imp_pass *pass, float *base)
{
    size_t used = 0, shared = 0, scratch = 0;
    for (size_t i = 0; i < network->run.count; i++) {
        const imp_layer *layer = &network->run.layers[i];
        const imp_layer_kind *kind = layer->kind;
        float *values = carve(base, &used, pass->images * imp_shape_floats(layer->out));
        float *kept = carve(base, &used, kind->kept ? kind->kept(layer, pass) : 0);
        if (base) {
            network->activations[i].values = values;
            network->activations[i].kept = kept;
        }
        size_t layer_shared = kind->shared ? kind->shared(layer, pass) : 0;
        size_t layer_scratch = kind->scratch ? kind->scratch(layer, pass->kernels) : 0;
        shared = layer_shared > shared ? layer_shared : shared;
        scratch = layer_scratch > scratch ? layer_scratch : scratch;
    }
    pass->shared = carve(base, &used, shared);
    pass->scratch_stride = imp_lines(scratch);
    pass->scratch = carve(base, &used, pass->scratch_stride * (size_t)pass->threads);
    measure_gradients(network, pass->images);
    network->gradient_memory = base ? base + used : NULL;
    network->gradient_floats = imp_arena_place(network->spans, network->run.count * SPANS);
    return used + network->gradient_floats;
}

enum { MAX_BATCH = 1 << 20 }; /* no size below can overflow, see plan.c */

/* Restores the previous layout after a larger batch found no memory. */
static void lay_out_again(imp_network *network)
{
    imp_pass pass = network->pass;
    pass.images = network->capacity;
    pass.blocks = blocks_for(network->capacity);
    if (network->workspace)
        lay_out(network, &pass, network->workspace);
}

/* A workspace for `images` images. A smaller batch uses the same. */
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
        if (!workspace) {
            lay_out_again(network);
            return imp_fail_memory(error, "the network's activations");
        }
        imp_release(network->workspace);
        network->workspace = workspace;
        network->capacity = images;
        lay_out(network, &pass, network->workspace);
        network->pass = pass;
    }
    network->pass.images = images;
    network->pass.blocks = pass.blocks;
    network->pass.parameters = network->used_parameters;
    network->pass.gradients = network->gradients;
    network->pass.state = network->state;
    network->pass.statistics = network->statistics;
    network->pass.seed = network->options.seed;
    network->pass.step = network->step;
    network->pass.drops = network->drops;
    return IMP_OK;
}

imp_job imp_network_job(imp_network *network, size_t i)
{
    const imp_layer *layer = &network->run.layers[i];
    imp_job job = {.layer = layer,
                   .pass = &network->pass,
                   .out = network->activations[i].values,
                   .kept = network->activations[i].kept};
    for (size_t j = 0; j < layer->input_count; j++)
        job.in[j] = layer->input[j] == IMP_NONE ? network->images
                                                : network->activations[layer->input[j]].values;
    return job;
}

imp_status imp_network_forward_apart(imp_network *network, const float *images, size_t count,
                                     float *embeddings, imp_error *error)
{
    if (count == 0)
        return imp_fail(error, IMP_EINVAL, "a batch needs at least one image");
    imp_status status = prepare(network, count, error);
    if (status)
        return status;
    network->images = images;
    for (size_t i = 0; i < network->run.count; i++) {
        imp_job job = imp_network_job(network, i);
        job.layer->kind->forward(&job);
    }
    network->images = NULL; /* backward does not read them */
    memcpy(embeddings, network->activations[network->run.count - 1].values,
           count * imp_network_output_size(network) * sizeof *embeddings);
    network->forwarded = true;
    network->step++;
    return IMP_OK;
}

const double *imp_network_statistics(const imp_network *network, size_t *count)
{
    *count = network->state_count;
    return network->statistics;
}

void imp_network_follow(imp_network *network, const double *statistics)
{
    for (size_t i = 0; i < network->state_count; i++)
        network->state[i] += (float)(IMP_NORM_MOMENTUM * (statistics[i] - network->state[i]));
}

void imp_network_take_state(imp_network *to, const imp_network *from)
{
    if (from->state_count > 0)
        memcpy(to->state, from->state, from->state_count * sizeof *to->state);
}

imp_status imp_network_forward(imp_network *network, const float *images, size_t count,
                               float *embeddings, imp_error *error)
{
    imp_status status = imp_network_forward_apart(network, images, count, embeddings, error);
    if (!status)
        imp_network_follow(network, network->statistics);
    return status;
}

typedef struct sum_job {
    const float *from;
    float *to;
    size_t count;
} sum_job;

static void add_block(size_t block, int worker, void *context)
{
    (void)worker;
    const sum_job *job = context;
    size_t begin = imp_block_begin(job->count, SUM_BLOCKS, block);
    size_t end = imp_block_begin(job->count, SUM_BLOCKS, block + 1);
    for (size_t i = begin; i < end; i++)
        job->to[i] += job->from[i];
}

static float *span_at(const imp_network *network, float *memory, size_t layer, size_t which)
{
    return memory + network->spans[layer * SPANS + which].at;
}

/* The gradient of input j goes straight to its place, or to a spare array if another reader of the
 * input has already written there; then it is added. */
void imp_network_place_gradients(const imp_network *network, size_t i, const float *last,
                                 float *memory, const float **dout, float **din)
{
    const imp_layer *layer = &network->run.layers[i];
    size_t owner = network->activations[i].owner;
    *dout = owner + 1 == network->run.count ? last : span_at(network, memory, owner, 0);
    for (size_t j = 0; j < layer->input_count; j++) {
        size_t input = layer->input[j];
        din[j] = NULL;
        if (input == IMP_NONE || !network->run.layers[input].trained)
            continue;
        if (network->spans[i * SPANS + 1 + j].floats > 0)
            din[j] = span_at(network, memory, i, 1 + j);
        else if (!shares_gradient(network, input, i))
            din[j] = span_at(network, memory, input, 0);
    }
}

void imp_network_add_spares(const imp_network *network, size_t i, float *memory, float *const *din)
{
    const imp_layer *layer = &network->run.layers[i];
    for (size_t j = 0; j < layer->input_count; j++)
        if (network->spans[i * SPANS + 1 + j].floats > 0) {
            sum_job sum = {.from = din[j],
                           .to = span_at(network, memory, layer->input[j], 0),
                           .count = network->pass.images * imp_shape_floats(layer->in)};
            imp_parallel(SUM_BLOCKS, network->pass.threads, add_block, &sum);
        }
}

static void backward_layer(imp_network *network, size_t i, const float *gradient,
                           float *input_gradient)
{
    imp_job job = imp_network_job(network, i);
    imp_network_place_gradients(network, i, gradient, network->gradient_memory, &job.dout, job.din);
    if (i == 0)
        job.din[0] = input_gradient;
    job.layer->kind->backward(&job);
    imp_network_add_spares(network, i, network->gradient_memory, job.din);
}

imp_status imp_network_backward_link(imp_network *network, const float *gradient,
                                     float *input_gradient, imp_error *error)
{
    if (!network->forwarded)
        return imp_fail(error, IMP_EINVAL,
                        "backward needs a forward pass before it: one for each backward");
    network->forwarded = false;
    for (size_t i = network->run.count; i-- > 0;)
        if (network->run.layers[i].trained)
            backward_layer(network, i, gradient, input_gradient);
    return IMP_OK;
}

imp_status imp_network_backward(imp_network *network, const float *gradient, imp_error *error)
{
    return imp_network_backward_link(network, gradient, NULL, error);
}

void imp_network_use_parameters(imp_network *network, const float *parameters)
{
    network->used_parameters = parameters ? parameters : network->parameters;
}

void imp_network_set_step(imp_network *network, uint64_t step)
{
    network->step = step;
}

void imp_network_set_dropout(imp_network *network, int drops)
{
    network->drops = drops != 0;
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
    return imp_shape_floats(network->run.layers[network->run.count - 1].out);
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
