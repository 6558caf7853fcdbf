/*
 * hessian.c - forward-over-reverse: every layer's forward followed by its tangent, then every
 * layer's backward followed by the tangent of that.
 *
 * The work is done on a network of the same description whose layers all have tangents (fuse.c).
 * Its own parameters are not used.
 */
#include "nn/hessian.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "nn/network.h"
#include "nn/statistics.h"

struct imp_hessian {
    const imp_network *source; /* the network whose state `network` takes over */
    imp_network *network;
    const float *direction;
    float *workspace; /* tangents of outputs, of gradients, and a spare array */
    size_t capacity;  /* images it has room for */
    float **out;      /* the tangent of each layer's output, or NULL */
    float *gradient_memory, *spare;
};

imp_status imp_hessian_create(const imp_network *network, imp_hessian **out, imp_error *error)
{
    *out = NULL;
    imp_hessian *hessian = imp_allocate_zeroed(1, sizeof *hessian);
    if (!hessian)
        return imp_fail_memory(error, "second derivatives");
    hessian->source = network;
    imp_status status = imp_network_draft_with_tangents(network->description, &network->options,
                                                        &hessian->network, error);
    if (!status)
        status = imp_network_allocate(hessian->network, error);
    if (!status) {
        hessian->out = imp_allocate_zeroed(hessian->network->run.count, sizeof *hessian->out);
        if (!hessian->out)
            status = imp_fail_memory(error, "second derivatives");
    }
    if (status)
        imp_hessian_free(hessian);
    else
        *out = hessian;
    return status;
}

void imp_hessian_free(imp_hessian *hessian)
{
    if (!hessian)
        return;
    imp_network_free(hessian->network);
    imp_release(hessian->workspace);
    imp_release(hessian->out);
    imp_release(hessian);
}

void imp_hessian_set_step(imp_hessian *hessian, uint64_t step)
{
    imp_network_set_step(hessian->network, step);
}

/* The floats of the layer's output or of its inputs, whichever is more. */
static size_t largest_array(const imp_layer *layer, size_t images)
{
    size_t in = imp_shape_floats(layer->in), out = imp_shape_floats(layer->out);
    return images * (in > out ? in : out);
}

/* Places everything for the capacity of the network, or only counts while base is NULL. */
static size_t lay_out(imp_hessian *hessian, float *base)
{
    const imp_network *network = hessian->network;
    size_t used = 0, spare = 0;
    for (size_t i = 0; i < network->run.count; i++) {
        const imp_layer *layer = &network->run.layers[i];
        if (!layer->trained)
            continue;
        hessian->out[i] = base ? base + used : NULL;
        used += imp_lines(network->capacity * imp_shape_floats(layer->out));
        size_t floats = largest_array(layer, network->capacity);
        spare = floats > spare ? floats : spare;
    }
    hessian->spare = base ? base + used : NULL;
    used += imp_lines(spare);
    hessian->gradient_memory = base ? base + used : NULL;
    return used + network->gradient_floats;
}

static imp_status prepare(imp_hessian *hessian, imp_error *error)
{
    size_t capacity = hessian->network->capacity;
    if (capacity <= hessian->capacity)
        return IMP_OK;
    imp_release(hessian->workspace);
    hessian->capacity = 0;
    hessian->workspace = imp_allocate(lay_out(hessian, NULL), sizeof *hessian->workspace);
    if (!hessian->workspace)
        return imp_fail_memory(error, "second derivatives");
    lay_out(hessian, hessian->workspace);
    hessian->capacity = capacity;
    return IMP_OK;
}

/* Layer i's job and the tangents of what it reads and writes. */
static imp_job job_of(const imp_hessian *hessian, size_t i, imp_tangent *tangent)
{
    imp_network *network = hessian->network;
    imp_job job = imp_network_job(network, i);
    *tangent = (imp_tangent){
        .parameters = hessian->direction, .out = hessian->out[i], .spare = hessian->spare};
    for (size_t j = 0; j < job.layer->input_count; j++)
        if (job.layer->input[j] != IMP_NONE)
            tangent->in[j] = hessian->out[job.layer->input[j]];
    job.tangent = tangent;
    return job;
}

imp_status imp_hessian_forward(imp_hessian *hessian, const float *parameters,
                               const float *direction, const float *images, size_t count,
                               float *embeddings, float *moved, imp_error *error)
{
    imp_network *network = hessian->network;
    imp_network_use_parameters(network, parameters);
    imp_network_take_state(network, hessian->source);
    hessian->direction = direction;
    imp_status status = imp_network_forward_apart(network, images, count, embeddings, error);
    if (!status)
        status = prepare(hessian, error);
    if (status)
        return status;
    size_t outputs = count * imp_network_output_size(network);
    memset(moved, 0, outputs * sizeof *moved);
    for (size_t i = 0; i < network->run.count; i++) {
        imp_tangent tangent;
        imp_job job = job_of(hessian, i, &tangent);
        if (job.layer->trained)
            job.layer->kind->forward_tangent(&job);
    }
    const float *last = hessian->out[network->run.count - 1];
    if (last)
        memcpy(moved, last, outputs * sizeof *moved);
    return IMP_OK;
}

imp_status imp_hessian_backward(imp_hessian *hessian, const float *gradient,
                                const float *gradient_moved, float *sum, float *product,
                                imp_error *error)
{
    imp_network *network = hessian->network;
    if (!network->forwarded)
        return imp_fail(error, IMP_EINVAL,
                        "backward needs a forward pass before it: one for each backward");
    network->forwarded = false;
    network->pass.gradients = sum ? sum : network->gradients;
    for (size_t i = network->run.count; i-- > 0;) {
        imp_tangent tangent;
        imp_job job = job_of(hessian, i, &tangent);
        if (!job.layer->trained)
            continue;
        imp_network_place_gradients(network, i, gradient, network->gradient_memory, &job.dout,
                                    job.din);
        imp_network_place_gradients(network, i, gradient_moved, hessian->gradient_memory,
                                    &tangent.dout, tangent.din);
        tangent.gradients = product;
        job.layer->kind->backward(&job);
        job.layer->kind->backward_tangent(&job);
        imp_network_add_spares(network, i, network->gradient_memory, job.din);
        imp_network_add_spares(network, i, hessian->gradient_memory, tangent.din);
    }
    return IMP_OK;
}
