/*
 * graph.c - a graph network ("Few-shot learning with graph neural networks", Garcia and Bruna
 * 2018).
 *
 * Every query has a graph of its own: the query and all supports are its nodes. A node starts as
 * the embedding and the one-hot label, zeros for the query. Layers (graph_layer.h) add features to
 * the nodes, and the last one's output at the query is the logits. In training the graphs of a task
 * form one batch.
 *
 * The learner's own values are the layers' parameters and the running statistics of their batch
 * norms.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "learners/graph_layer.h"
#include "learners/learner.h"
#include "methods/softmax.h"
#include "nn/statistics.h"

enum { GRAPH_LAYERS, NODE_FEATURES, EDGE_WIDTH, EDGE_DROPOUT, FINAL_NORM };
enum { MOST_LAYERS = 8, NAME_ROOM = 56 };

static const imp_option_info options[] = {
    [GRAPH_LAYERS] = {.name = "graph-layers",
                      .help = "layers that add features to the nodes, not counting the last one",
                      .kind = IMP_INTEGER,
                      .least = 0,
                      .most = MOST_LAYERS - 1,
                      .initial = 2},
    [NODE_FEATURES] = {.name = "node-features",
                       .help = "features that each such layer adds",
                       .kind = IMP_INTEGER,
                       .least = 1,
                       .most = 4096,
                       .initial = 48},
    [EDGE_WIDTH] =
        {.name = "edge-width",
         .help = "width of the edge network, twice that in its first layers; 0: as the nodes",
         .kind = IMP_INTEGER,
         .least = 0,
         .most = 4096,
         .initial = 96},
    [EDGE_DROPOUT] = {.name = "edge-dropout",
                      .help = "dropout rate in the last layer's edge network",
                      .kind = IMP_NUMBER,
                      .least = 0,
                      .most = 0.99,
                      .initial = 0},
    [FINAL_NORM] = {.name = "final-norm",
                    .help = "batch norm on the logits",
                    .kind = IMP_FLAG,
                    .most = 1},
};

typedef struct graph {
    size_t way;
    imp_graph_layer layers[MOST_LAYERS];
    size_t layer_count;
    char *names;              /* (parameters, NAME_ROOM) */
    double *value_gradient;   /* as the learner's values */
    imp_graph_batch batch;    /* with room for these */
    size_t graphs, nodes;     /* graphs, and nodes of each */
    float *embeddings, *back; /* (images, dimensions): of a task, and their gradient */
    int32_t *predictions;     /* (images) */
    double *scores;           /* (way) */
    size_t images;
} graph;

/* ---- creating ---- */

static size_t layers_of(const imp_learner *learner)
{
    return (size_t)learner->own[GRAPH_LAYERS] + 1;
}

/* Features of a node before layer `index`. */
static size_t features_of(const imp_learner *learner, const graph *own, size_t index)
{
    return learner->dimensions + own->way + index * (size_t)learner->own[NODE_FEATURES];
}

static imp_status make_layer(imp_learner *learner, graph *own, size_t index, imp_error *error)
{
    bool last = index + 1 == own->layer_count;
    size_t width = (size_t)learner->own[EDGE_WIDTH], second = 2 * width;
    char edges[320], nodes[80], drops[32] = "";
    if (width == 0) {
        width = features_of(learner, own, last && index > 0 ? index - 1 : index);
        second = width + width / 2;
    }
    if (last && learner->own[EDGE_DROPOUT] > 0)
        snprintf(drops, sizeof drops, "dropout:%g,", learner->own[EDGE_DROPOUT]);
    snprintf(edges, sizeof edges,
             "linear:%zu:nobias,bn,leaky:0.01,%slinear:%zu:nobias,bn,leaky:0.01,"
             "linear:%zu:nobias,bn,leaky:0.01,linear:%zu:nobias,bn,leaky:0.01,linear:1:xavier",
             2 * width, drops, second, width, width);
    if (last)
        snprintf(nodes, sizeof nodes, "linear:%zu:xavier%s", own->way,
                 learner->own[FINAL_NORM] != 0 ? ",bn" : "");
    else
        snprintf(nodes, sizeof nodes, "linear:%zu:nobias,bn,leaky:0.01",
                 (size_t)learner->own[NODE_FEATURES]);
    int threads = learner->network ? imp_network_options_of(learner->network)->threads : 1;
    return imp_graph_layer_make(&own->layers[index], features_of(learner, own, index), edges, nodes,
                                learner->options.seed + ((uint64_t)(index + 1) << 32), threads,
                                error);
}

/* The networks of all layers, one after the other; NULL after the last. */
static imp_network *part_at(const graph *own, size_t index)
{
    const imp_graph_layer *layer = &own->layers[index / 2];
    return index / 2 >= own->layer_count ? NULL : index % 2 ? layer->nodes : layer->edges;
}

/* Calls `visit` for every tensor of every part, with its offset in the learner's values. */
typedef void visitor(imp_learner *learner, size_t parameter, size_t offset,
                     const imp_network_tensor *tensor, size_t part);

static void each_tensor(imp_learner *learner, visitor *visit, size_t *count, size_t *values)
{
    const graph *own = learner->state;
    size_t parameter = 0, offset = 0;
    for (size_t part = 0; part_at(own, part); part++)
        for (size_t t = 0; t < imp_network_tensor_count(part_at(own, part)); t++) {
            imp_network_tensor tensor = imp_network_tensor_at(part_at(own, part), t);
            if (visit)
                visit(learner, parameter, offset, &tensor, part);
            parameter++;
            offset += tensor.count;
        }
    if (count)
        *count = parameter;
    if (values)
        *values = offset;
}

static void list(imp_learner *learner, size_t parameter, size_t offset,
                 const imp_network_tensor *tensor, size_t part)
{
    const graph *own = learner->state;
    char *name = own->names + parameter * NAME_ROOM;
    snprintf(name, NAME_ROOM, "%s.%zu.%s", part % 2 ? "nodes" : "edges", part / 2, tensor->name);
    imp_learner_parameter *to = &learner->parameters[parameter];
    *to = (imp_learner_parameter){.name = name,
                                  .rank = tensor->rank,
                                  .offset = offset,
                                  .count = tensor->count,
                                  .followed = !tensor->gradients};
    memcpy(to->shape, tensor->shape, sizeof to->shape);
}

static void read_values(imp_learner *learner, size_t parameter, size_t offset,
                        const imp_network_tensor *tensor, size_t part)
{
    (void)parameter, (void)part;
    for (size_t i = 0; i < tensor->count; i++)
        learner->values[offset + i] = tensor->values[i];
}

static void write_values(imp_learner *learner, size_t parameter, size_t offset,
                         const imp_network_tensor *tensor, size_t part)
{
    (void)parameter, (void)part;
    for (size_t i = 0; i < tensor->count; i++)
        tensor->values[i] = (float)learner->values[offset + i];
}

/* Reads gradients, and the updated running statistics. */
static void read_gradients(imp_learner *learner, size_t parameter, size_t offset,
                           const imp_network_tensor *tensor, size_t part)
{
    const graph *own = learner->state;
    for (size_t i = 0; i < tensor->count; i++)
        own->value_gradient[offset + i] = tensor->gradients ? tensor->gradients[i] : 0;
    if (!tensor->gradients)
        read_values(learner, parameter, offset, tensor, part);
}

static imp_status make(imp_learner *learner, graph *own, imp_error *error)
{
    own->way = learner->options.way > 0 ? learner->options.way : 1;
    own->layer_count = layers_of(learner);
    for (size_t i = 0; i < own->layer_count; i++) {
        imp_status status = make_layer(learner, own, i, error);
        if (status)
            return status;
    }
    each_tensor(learner, NULL, &learner->parameter_count, &learner->value_count);
    learner->parameters = imp_allocate(learner->parameter_count, sizeof *learner->parameters);
    learner->values = imp_allocate(learner->value_count, sizeof *learner->values);
    own->names = imp_allocate(learner->parameter_count, NAME_ROOM);
    own->value_gradient = imp_allocate(learner->value_count, sizeof *own->value_gradient);
    own->scores = imp_allocate(own->way, sizeof *own->scores);
    if (!learner->parameters || !learner->values || !own->names || !own->value_gradient ||
        !own->scores)
        return imp_fail_memory(error, "a learner");
    each_tensor(learner, list, NULL, NULL);
    each_tensor(learner, read_values, NULL, NULL);
    return IMP_OK;
}

static imp_status create(imp_learner *learner, imp_error *error)
{
    graph *own = imp_allocate_zeroed(1, sizeof *own);
    learner->state = own;
    return own ? make(learner, own, error) : imp_fail_memory(error, "a learner");
}

static void release_batch(graph *own)
{
    imp_graph_batch *batch = &own->batch;
    imp_release(batch->features);
    imp_release(batch->gradient);
    imp_release(batch->pairs);
    imp_release(batch->strengths);
    imp_release(batch->joined);
    imp_release(batch->out);
    *batch = (imp_graph_batch){0};
    for (size_t i = 0; i < own->layer_count; i++) {
        imp_release(own->layers[i].weights);
        own->layers[i].weights = NULL;
    }
    own->graphs = own->nodes = 0;
}

static void release_images(graph *own)
{
    imp_release(own->embeddings);
    imp_release(own->back);
    imp_release(own->predictions);
    own->embeddings = own->back = NULL;
    own->predictions = NULL;
    own->images = 0;
}

static void release(imp_learner *learner)
{
    graph *own = learner->state;
    if (!own)
        return;
    release_batch(own);
    release_images(own);
    for (size_t i = 0; i < own->layer_count; i++)
        imp_graph_layer_clear(&own->layers[i]);
    imp_release(own->names);
    imp_release(own->value_gradient);
    imp_release(own->scores);
    imp_release(own);
    imp_release(learner->parameters);
    imp_release(learner->values);
}

static void publish(imp_learner *learner)
{
    graph *own = learner->state;
    each_tensor(learner, write_values, NULL, NULL);
    for (size_t i = 0; i < own->layer_count; i++)
        imp_graph_layer_thaw(&own->layers[i]);
}

/* ---- a task ---- */

/* Makes room for graphs and sets the sizes of the batch. */
static imp_status reserve(const imp_learner *learner, graph *own, size_t graphs, size_t nodes,
                          imp_error *error)
{
    imp_graph_batch *batch = &own->batch;
    if (graphs <= own->graphs && nodes <= own->nodes) {
        batch->graphs = graphs;
        batch->nodes = nodes;
        return IMP_OK;
    }
    release_batch(own);
    size_t width = features_of(learner, own, own->layer_count - 1), all, squares, largest;
    size_t features = (size_t)learner->own[NODE_FEATURES];
    size_t most = features > own->way ? features : own->way;
    if (!imp_multiply(graphs, nodes, &all) || !imp_multiply(all, nodes, &squares) ||
        !imp_multiply(squares, width, &largest))
        return imp_fail_memory(error, "the graphs of an episode");
    size_t pairs = graphs * imp_graph_pairs(nodes);
    batch->features = imp_allocate(all * width, sizeof(float));
    batch->gradient = imp_allocate(all * width, sizeof(float));
    batch->pairs = imp_allocate(pairs * width, sizeof(float));
    batch->strengths = imp_allocate(pairs, sizeof(float));
    batch->joined = imp_allocate(all * 2 * width, sizeof(float));
    batch->out = imp_allocate(all * most, sizeof(float));
    bool enough = batch->features && batch->gradient && batch->pairs && batch->strengths &&
                  batch->joined && batch->out;
    for (size_t i = 0; i < own->layer_count; i++) {
        own->layers[i].weights = imp_allocate(squares, sizeof(float));
        enough = enough && own->layers[i].weights;
    }
    if (!enough)
        return imp_fail_memory(error, "the graphs of an episode");
    batch->width = width;
    batch->graphs = own->graphs = graphs;
    batch->nodes = own->nodes = nodes;
    return IMP_OK;
}

static imp_status reserve_images(const imp_learner *learner, graph *own, size_t images,
                                 imp_error *error)
{
    if (images <= own->images)
        return IMP_OK;
    release_images(own);
    size_t floats;
    if (!imp_multiply(images, learner->dimensions, &floats))
        return imp_fail_memory(error, "the embeddings of an episode");
    own->embeddings = imp_allocate(floats, sizeof *own->embeddings);
    own->back = imp_allocate(floats, sizeof *own->back);
    own->predictions = imp_allocate(images, sizeof *own->predictions);
    if (!own->embeddings || !own->back || !own->predictions)
        return imp_fail_memory(error, "the embeddings of an episode");
    own->images = images;
    return IMP_OK;
}

static imp_status begin(imp_learner *learner, const imp_episode *episode, imp_error *error)
{
    graph *own = learner->state;
    if (episode->way > own->way)
        return imp_fail(error, IMP_EINVAL,
                        "the learner '%s' tells %zu classes apart, as many as it was trained with; "
                        "an episode of %zu is too many",
                        learner->kind->info.name, own->way, episode->way);
    return reserve_images(learner, own, episode->supports + episode->queries, error);
}

/* The image of node `node` in the graph of query `query`: the query itself, then the supports.
 */
static size_t image_of(const imp_episode *episode, size_t query, size_t node)
{
    return node == 0 ? episode->supports + query : node - 1;
}

/* The initial nodes of the graphs of queries first .. first + graphs - 1. */
static void place_nodes(const imp_learner *learner, const imp_episode *episode, size_t first,
                        const float *embeddings)
{
    const graph *own = learner->state;
    const imp_graph_batch *batch = &own->batch;
    size_t d = learner->dimensions;
    for (size_t g = 0; g < batch->graphs; g++)
        for (size_t node = 0; node < batch->nodes; node++) {
            size_t image = image_of(episode, first + g, node);
            float *to = batch->features + (g * batch->nodes + node) * batch->width;
            memcpy(to, embeddings + image * d, d * sizeof *to);
            memset(to + d, 0, own->way * sizeof *to);
            if (node > 0)
                to[d + (size_t)episode->labels[image]] = 1;
        }
}

/* Appends a layer's output to the features or, if `back`, copies the gradient of these features to
 * that of its output. */
static void append(const imp_graph_layer *layer, imp_graph_batch *batch, bool back)
{
    for (size_t row = 0; row < batch->graphs * batch->nodes; row++) {
        float *out = batch->out + row * layer->outputs;
        float *behind = (back ? batch->gradient : batch->features) + row * batch->width;
        behind += layer->features;
        memcpy(back ? out : behind, back ? behind : out, layer->outputs * sizeof *out);
    }
}

/* Predictions and the total loss of a batch whose logits have been computed; if `share` is not 0,
 * `out` receives the gradient of `share` times the loss. */
static double answer_queries(graph *own, const imp_episode *episode, size_t first, double share)
{
    imp_graph_batch *batch = &own->batch;
    double loss = 0;
    for (size_t g = 0; g < batch->graphs; g++) {
        size_t query = first + g, truth = (size_t)episode->labels[episode->supports + query];
        float *logits = batch->out + g * batch->nodes * own->way;
        for (size_t c = 0; c < episode->way; c++)
            own->scores[c] = logits[c];
        own->predictions[query] = (int32_t)imp_largest(own->scores, episode->way);
        loss += imp_log_sum_exp(own->scores, episode->way) - own->scores[truth];
        imp_softmax(own->scores, episode->way);
        memset(logits, 0, batch->nodes * own->way * sizeof *logits);
        for (size_t c = 0; c < episode->way; c++)
            logits[c] = (float)(share * (own->scores[c] - (c == truth)));
    }
    return loss;
}

/* ---- training ---- */

/* Backpropagates through all layers; batch->out is the gradient of the logits. */
static imp_status go_back(graph *own, imp_error *error)
{
    imp_graph_batch *batch = &own->batch;
    imp_status status = IMP_OK;
    memset(batch->gradient, 0,
           batch->graphs * batch->nodes * batch->width * sizeof *batch->gradient);
    for (size_t i = own->layer_count; i-- > 0 && !status;) {
        imp_graph_layer *layer = &own->layers[i];
        if (i + 1 < own->layer_count)
            append(layer, batch, true);
        imp_network_clear_gradients(layer->edges);
        imp_network_clear_gradients(layer->nodes);
        status = imp_graph_layer_backward(layer, batch, error);
    }
    return status;
}

/* The gradient of the embeddings, summed over all nodes of an image. */
static void gather(const imp_learner *learner, const imp_episode *episode)
{
    const graph *own = learner->state;
    const imp_graph_batch *batch = &own->batch;
    size_t d = learner->dimensions;
    memset(own->back, 0, (episode->supports + episode->queries) * d * sizeof *own->back);
    for (size_t g = 0; g < batch->graphs; g++)
        for (size_t node = 0; node < batch->nodes; node++) {
            float *to = own->back + image_of(episode, g, node) * d;
            const float *from = batch->gradient + (g * batch->nodes + node) * batch->width;
            for (size_t i = 0; i < d; i++)
                to[i] += from[i];
        }
}

/* Loss and gradients of the task whose embeddings have been computed. */
static imp_status differentiate(imp_learner *learner, const imp_episode *episode, double *loss,
                                imp_error *error)
{
    graph *own = learner->state;
    imp_graph_batch *batch = &own->batch;
    imp_status status = reserve(learner, own, episode->queries, episode->supports + 1, error);
    if (status)
        return status;
    batch->threads = imp_network_options_of(learner->network)->threads;
    place_nodes(learner, episode, 0, own->embeddings);
    for (size_t i = 0; i < own->layer_count && !status; i++) {
        status = imp_graph_layer_train(&own->layers[i], batch, episode->index, error);
        if (!status && i + 1 < own->layer_count)
            append(&own->layers[i], batch, false);
    }
    if (status)
        return status;
    double share = 1 / (double)episode->queries;
    *loss = share * answer_queries(own, episode, 0, share);
    if (!isfinite(*loss))
        return imp_fail(error, IMP_EINVAL, "the loss is %g", *loss);
    status = go_back(own, error);
    if (!status)
        gather(learner, episode);
    return status;
}

static imp_status step(imp_learner *learner, const imp_task *task, imp_step *step, imp_error *error)
{
    graph *own = learner->state;
    imp_network *network = learner->network;
    const imp_episode *episode = &task->episode;
    size_t images = episode->supports + episode->queries;
    imp_status status = begin(learner, episode, error);
    double start = imp_clock(), loss = 0;
    imp_network_set_step(network,
                         episode->index); /* so that dropout, if any, is the same after resuming */
    if (!status)
        status = imp_network_forward_apart(network, task->pixels, images, own->embeddings, error);
    double embedded = imp_clock();
    if (!status)
        status = differentiate(learner, episode, &loss, error);
    if (status)
        return status;
    double differentiated = imp_clock();
    imp_network_clear_gradients(network);
    status = imp_network_backward(network, own->back, error);
    each_tensor(learner, read_gradients, NULL, NULL);
    *step =
        (imp_step){.network_gradient = imp_network_gradients(network),
                   .value_gradient = own->value_gradient,
                   .statistics = imp_network_statistics(network, &(size_t){0}),
                   .outcome = {.loss = loss,
                               .accuracy = imp_episode_accuracy(episode, own->predictions),
                               .images = images,
                               .network_seconds = imp_clock() - differentiated + embedded - start,
                               .method_seconds = differentiated - embedded}};
    return status;
}

/* ---- evaluation ---- */

static imp_status predict(imp_learner *learner, const imp_task *task, const float *embeddings,
                          imp_solution *answer, imp_error *error)
{
    enum { MOST_PAIRS = 4096 }; /* pairs at once, unless one graph has more */
    graph *own = learner->state;
    const imp_episode *episode = &task->episode;
    size_t nodes = episode->supports + 1, together = MOST_PAIRS / imp_graph_pairs(nodes);
    imp_status status = begin(learner, episode, error);
    together = together < 1 ? 1 : together;
    for (size_t first = 0; first < episode->queries && !status; first += together) {
        size_t rest = episode->queries - first;
        status = reserve(learner, own, rest < together ? rest : together, nodes, error);
        if (status)
            return status;
        own->batch.threads = 1; /* episodes are already evaluated in parallel */
        place_nodes(learner, episode, first, embeddings);
        for (size_t i = 0; i < own->layer_count && !status; i++) {
            status = imp_graph_layer_infer(&own->layers[i], &own->batch, error);
            if (!status && i + 1 < own->layer_count)
                append(&own->layers[i], &own->batch, false);
        }
        if (!status)
            answer->loss += answer_queries(own, episode, first, 0) / (double)episode->queries;
    }
    answer->predictions = own->predictions;
    return status;
}

const imp_learner_kind imp_learner_graph = {
    .info = {.name = "graph",
             .summary = "classifies a query by a graph network on it and all supports",
             .embeds = true,
             .options = options,
             .option_count = sizeof options / sizeof *options},
    .prefix = "learner.",
    .create = create,
    .release = release,
    .publish = publish,
    .step = step,
    .predict = predict,
};
