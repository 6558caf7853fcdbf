/*
 * graph_layer.h - one layer of a graph network (Garcia and Bruna 2018), on a batch of complete
 * graphs.
 *
 * An edge network computes the strength of each pair from |x_i - x_j|, and a softmax over all j
 * other than i gives the weights a_ij. A node network computes the layer's output at a node from
 * x_i and the sum of a_ij x_j. Both have batch norm: in training its statistics are those of all
 * pairs (each counted once) or all nodes of the batch.
 */
#ifndef IMP_LEARNERS_GRAPH_LAYER_H
#define IMP_LEARNERS_GRAPH_LAYER_H

#include <imp/encoder.h>
#include <imp/network.h>

typedef struct imp_graph_layer {
    imp_network *edges, *nodes;
    imp_encoder *frozen_edges, *frozen_nodes; /* for evaluation; NULL: to be created */
    size_t features;                          /* of a node, that the layer reads */
    size_t outputs;                           /* features of a node that it computes */
    float *weights; /* (graphs, nodes, nodes): a, from forward to backward */
} imp_graph_layer;

/* The data that layers work on. A node's features are a row of `width`; a layer reads the first of
 * them, and its output may be appended for the next layer. */
typedef struct imp_graph_batch {
    size_t graphs, nodes; /* nodes of each graph */
    size_t width;
    int threads;
    float *features, *gradient; /* (graphs, nodes, width) */
    float *pairs;               /* (graphs, pairs, width): between the layer's two networks */
    float *strengths;           /* (graphs, pairs) */
    float *joined;              /* (graphs, nodes, 2 * width): input of the node network */
    float *out;                 /* (graphs, nodes, outputs): a layer's output, or its gradient */
} imp_graph_batch;

/* Pairs of nodes in a graph. */
static inline size_t imp_graph_pairs(size_t nodes)
{
    return nodes * (nodes - 1) / 2;
}

/* Creates the networks of a layer from their descriptions. Call imp_graph_layer_clear() even on
 * failure. */
imp_status imp_graph_layer_make(imp_graph_layer *layer, size_t features, const char *edges,
                                const char *nodes, uint64_t seed, int threads, imp_error *error);

/* Harmless on a zeroed one. */
void imp_graph_layer_clear(imp_graph_layer *layer);

/* Call this after writing parameters. */
void imp_graph_layer_thaw(imp_graph_layer *layer);

/* Computes batch->out from batch->features; in training with the batch's own statistics, updating
 * the running ones, and `step` for dropout. */
imp_status imp_graph_layer_train(imp_graph_layer *layer, imp_graph_batch *batch, uint64_t step,
                                 imp_error *error);
imp_status imp_graph_layer_infer(imp_graph_layer *layer, imp_graph_batch *batch, imp_error *error);

/* After imp_graph_layer_train(), with the same features: batch->out is the gradient of a loss with
 * respect to the layer's output. Adds the gradient of the features to batch->gradient, and that of
 * the networks' parameters to theirs. */
imp_status imp_graph_layer_backward(imp_graph_layer *layer, imp_graph_batch *batch,
                                    imp_error *error);

#endif
