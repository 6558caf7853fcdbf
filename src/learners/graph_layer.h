/*
 * graph_layer.h - one layer of a graph network (Garcia and Bruna 2018), on a batch of graphs that
 * have all their edges.
 *
 * How strongly node i listens to node j is a network's answer to |x_i - x_j|, and the softmax over
 * all j but i makes the weights a_ij of it. Another network makes the layer's output of a node from
 * x_i and the weighted sum of a_ij x_j. Both networks have batch norm: in training its statistics
 * are those of all pairs, or all nodes, of the batch, a pair being taken once.
 */
#ifndef IMP_LEARNERS_GRAPH_LAYER_H
#define IMP_LEARNERS_GRAPH_LAYER_H

#include <imp/encoder.h>
#include <imp/network.h>

typedef struct imp_graph_layer {
    imp_network *edges, *nodes;
    imp_encoder *frozen_edges, *frozen_nodes; /* for evaluation; NULL: to be made anew */
    size_t features;                          /* of a node: what the layer reads */
    size_t outputs;                           /* of a node: what it makes */
    float *weights; /* (graphs, nodes, nodes): a, from forward to backward */
} imp_graph_layer;

/* What the layers of a network work on. A node's features stand in a row of `width`; a layer reads
 * the first of them, and what it makes may be put behind those for the next. */
typedef struct imp_graph_batch {
    size_t graphs, nodes; /* nodes of each graph */
    size_t width;
    int threads;
    float *features, *gradient; /* (graphs, nodes, width) */
    float *pairs;               /* (graphs, pairs, width): between the layer's two networks */
    float *strengths;           /* (graphs, pairs) */
    float *joined;              /* (graphs, nodes, 2 * width): what the nodes' network reads */
    float *out;                 /* (graphs, nodes, outputs): what a layer made, or its gradient */
} imp_graph_batch;

/* Pairs of nodes in a graph. */
static inline size_t imp_graph_pairs(size_t nodes)
{
    return nodes * (nodes - 1) / 2;
}

/* Makes the networks of a layer from their descriptions, for so many features. What is made is to
 * be freed by imp_graph_layer_clear() also on failure. */
imp_status imp_graph_layer_make(imp_graph_layer *layer, size_t features, const char *edges,
                                const char *nodes, uint64_t seed, int threads, imp_error *error);

/* Harmless on a zeroed one. */
void imp_graph_layer_clear(imp_graph_layer *layer);

/* Takes note of parameters that were written. */
void imp_graph_layer_thaw(imp_graph_layer *layer);

/* batch->out from batch->features. In training with the batch's own statistics, which the running
 * ones follow, and `step` for dropout. */
imp_status imp_graph_layer_train(imp_graph_layer *layer, imp_graph_batch *batch, uint64_t step,
                                 imp_error *error);
imp_status imp_graph_layer_infer(imp_graph_layer *layer, imp_graph_batch *batch, imp_error *error);

/* After imp_graph_layer_train(), with the same features: batch->out is the gradient of a loss by
 * the layer's output. Adds the gradient by the features to batch->gradient, and the one by the
 * networks' parameters to what those have. */
imp_status imp_graph_layer_backward(imp_graph_layer *layer, imp_graph_batch *batch,
                                    imp_error *error);

#endif
