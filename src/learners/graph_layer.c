/* graph_layer.c - one layer of a graph network, forward and backward, on a batch of graphs. */
#include "learners/graph_layer.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "nn/link.h"

/* ---- creating ---- */

imp_status imp_graph_layer_make(imp_graph_layer *layer, size_t features, const char *edges,
                                const char *nodes, uint64_t seed, int threads, imp_error *error)
{
    imp_network_options options = {.size = sizeof options,
                                   .channels = features,
                                   .height = 1,
                                   .width = 1,
                                   .seed = seed,
                                   .threads = threads};
    *layer = (imp_graph_layer){.features = features};
    imp_status status = imp_network_create_link(edges, &options, &layer->edges, error);
    options.channels = 2 * features;
    options.seed++;
    if (!status)
        status = imp_network_create_link(nodes, &options, &layer->nodes, error);
    if (!status)
        layer->outputs = imp_network_output_size(layer->nodes);
    return status;
}

void imp_graph_layer_thaw(imp_graph_layer *layer)
{
    imp_encoder_free(layer->frozen_edges);
    imp_encoder_free(layer->frozen_nodes);
    layer->frozen_edges = layer->frozen_nodes = NULL;
}

void imp_graph_layer_clear(imp_graph_layer *layer)
{
    imp_graph_layer_thaw(layer);
    imp_network_free(layer->edges);
    imp_network_free(layer->nodes);
    imp_release(layer->weights);
    *layer = (imp_graph_layer){0};
}

/* ---- one graph ---- */

/* A layer's work on a batch; graphs are processed in parallel. */
typedef struct graph_job {
    const imp_graph_layer *layer;
    imp_graph_batch *batch;
} graph_job;

/* The part of one graph. */
typedef struct graph {
    size_t nodes, width, features;
    const float *x;
    float *dx;
    float *pairs, *strengths, *joined, *weights;
} graph;

static graph graph_of(const graph_job *job, size_t index)
{
    const imp_graph_batch *batch = job->batch;
    size_t n = batch->nodes, features = job->layer->features;
    size_t first = index * n, pair = index * imp_graph_pairs(n);
    return (graph){.nodes = n,
                   .width = batch->width,
                   .features = features,
                   .x = batch->features + first * batch->width,
                   .dx = batch->gradient + first * batch->width,
                   .pairs = batch->pairs + pair * features,
                   .strengths = batch->strengths + pair,
                   .joined = batch->joined + first * 2 * features,
                   .weights = job->layer->weights + first * n};
}

static void compare_nodes(size_t index, int worker, void *context)
{
    (void)worker;
    graph g = graph_of(context, index);
    float *to = g.pairs;
    for (size_t i = 0; i < g.nodes; i++)
        for (size_t j = i + 1; j < g.nodes; j++, to += g.features)
            for (size_t f = 0; f < g.features; f++)
                to[f] = fabsf(g.x[i * g.width + f] - g.x[j * g.width + f]);
}

/* The softmax weights of a row, from its strengths. */
static void weigh_row(float *row, size_t nodes, size_t i)
{
    float most = -INFINITY;
    double sum = 0;
    for (size_t j = 0; j < nodes; j++)
        if (j != i && row[j] > most)
            most = row[j];
    for (size_t j = 0; j < nodes; j++) {
        row[j] = j == i ? 0 : expf(row[j] - most);
        sum += row[j];
    }
    for (size_t j = 0; j < nodes; j++)
        row[j] = (float)(row[j] / sum);
}

static void join_nodes(size_t index, int worker, void *context)
{
    (void)worker;
    graph g = graph_of(context, index);
    const float *strength = g.strengths;
    for (size_t i = 0; i < g.nodes; i++)
        for (size_t j = i + 1; j < g.nodes; j++)
            g.weights[i * g.nodes + j] = g.weights[j * g.nodes + i] = *strength++;
    for (size_t i = 0; i < g.nodes; i++) {
        float *to = g.joined + i * 2 * g.features, *sum = to + g.features;
        weigh_row(g.weights + i * g.nodes, g.nodes, i);
        memcpy(to, g.x + i * g.width, g.features * sizeof *to);
        memset(sum, 0, g.features * sizeof *sum);
        for (size_t j = 0; j < g.nodes; j++)
            for (size_t f = 0; f < g.features; f++)
                sum[f] += g.weights[i * g.nodes + j] * g.x[j * g.width + f];
    }
}

/* The index of pair (i, j) in a graph. */
static size_t place_of(size_t nodes, size_t i, size_t j)
{
    size_t low = i < j ? i : j, high = i < j ? j : i;
    return imp_graph_pairs(nodes) - imp_graph_pairs(nodes - low) + high - low - 1;
}

/* Backpropagates from the joined features to nodes and strengths. */
static void part_nodes(size_t index, int worker, void *context)
{
    (void)worker;
    graph g = graph_of(context, index);
    memset(g.strengths, 0, imp_graph_pairs(g.nodes) * sizeof *g.strengths);
    for (size_t i = 0; i < g.nodes; i++) {
        const float *own = g.joined + i * 2 * g.features, *sum = own + g.features;
        const float *weights = g.weights + i * g.nodes;
        double mean = 0; /* weighted mean of the slopes of this row */
        for (size_t f = 0; f < g.features; f++)
            g.dx[i * g.width + f] += own[f];
        for (size_t j = 0; j < g.nodes; j++) {
            double slope = 0;
            if (j == i)
                continue;
            for (size_t f = 0; f < g.features; f++) {
                slope += (double)sum[f] * g.x[j * g.width + f];
                g.dx[j * g.width + f] += weights[j] * sum[f];
            }
            mean += weights[j] * slope;
            g.strengths[place_of(g.nodes, i, j)] += (float)(weights[j] * slope);
        }
        for (size_t j = 0; j < g.nodes; j++)
            if (j != i)
                g.strengths[place_of(g.nodes, i, j)] -= (float)(weights[j] * mean);
    }
}

/* Backpropagates from the differences to the nodes. */
static void part_pairs(size_t index, int worker, void *context)
{
    (void)worker;
    graph g = graph_of(context, index);
    const float *from = g.pairs;
    for (size_t i = 0; i < g.nodes; i++)
        for (size_t j = i + 1; j < g.nodes; j++, from += g.features)
            for (size_t f = 0; f < g.features; f++) {
                float difference = g.x[i * g.width + f] - g.x[j * g.width + f];
                float slope = difference > 0 ? from[f] : difference < 0 ? -from[f] : 0;
                g.dx[i * g.width + f] += slope;
                g.dx[j * g.width + f] -= slope;
            }
}

static void each_graph(graph_job *job, imp_parallel_body *body)
{
    imp_parallel(job->batch->graphs, job->batch->threads, body, job);
}

/* ---- a batch ---- */

imp_status imp_graph_layer_train(imp_graph_layer *layer, imp_graph_batch *batch, uint64_t step,
                                 imp_error *error)
{
    graph_job job = {layer, batch};
    size_t pairs = batch->graphs * imp_graph_pairs(batch->nodes);
    each_graph(&job, compare_nodes);
    imp_network_set_step(layer->edges, step);
    imp_network_set_step(layer->nodes, step);
    imp_status status =
        imp_network_forward(layer->edges, batch->pairs, pairs, batch->strengths, error);
    if (status)
        return status;
    each_graph(&job, join_nodes);
    return imp_network_forward(layer->nodes, batch->joined, batch->graphs * batch->nodes,
                               batch->out, error);
}

imp_status imp_graph_layer_infer(imp_graph_layer *layer, imp_graph_batch *batch, imp_error *error)
{
    graph_job job = {layer, batch};
    size_t pairs = batch->graphs * imp_graph_pairs(batch->nodes);
    imp_status status = IMP_OK;
    if (!layer->frozen_edges)
        status = imp_encoder_create(layer->edges, &layer->frozen_edges, error);
    if (!status && !layer->frozen_nodes)
        status = imp_encoder_create(layer->nodes, &layer->frozen_nodes, error);
    if (status)
        return status;
    each_graph(&job, compare_nodes);
    status = imp_encoder_encode(layer->frozen_edges, batch->pairs, pairs, batch->threads,
                                batch->strengths, error);
    if (status)
        return status;
    each_graph(&job, join_nodes);
    return imp_encoder_encode(layer->frozen_nodes, batch->joined, batch->graphs * batch->nodes,
                              batch->threads, batch->out, error);
}

imp_status imp_graph_layer_backward(imp_graph_layer *layer, imp_graph_batch *batch,
                                    imp_error *error)
{
    graph_job job = {layer, batch};
    imp_status status = imp_network_backward_link(layer->nodes, batch->out, batch->joined, error);
    if (status)
        return status;
    each_graph(&job, part_nodes);
    status = imp_network_backward_link(layer->edges, batch->strengths, batch->pairs, error);
    if (!status)
        each_graph(&job, part_pairs);
    return status;
}
