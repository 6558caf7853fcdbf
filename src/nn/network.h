/* network.h - the inside of imp_network, for the files of this folder. */
#ifndef IMP_NN_NETWORK_H
#define IMP_NN_NETWORK_H

#include <imp/network.h>

#include "nn/layer.h"

/* The initial values of a tensor. */
typedef struct imp_start {
    enum { IMP_START_CONSTANT, IMP_START_UNIFORM, IMP_START_NORMAL } kind;
    double size; /* the constant; the bound of both sides; the deviation */
} imp_start;

/* A named piece of one of the flat arrays. */
typedef struct imp_tensor_place {
    char name[96];
    size_t rank, shape[4], count;
    size_t offset;
    bool trained; /* lies in the parameters, else in the state */
    imp_start start;
} imp_tensor_place;

/* Layers in an order in which a layer's inputs come before it. The last one's output is the
 * network's. */
typedef struct imp_graph {
    imp_layer *layers;
    size_t count;
} imp_graph;

/* How many layers read each layer's output. */
void imp_graph_uses(const imp_graph *graph, size_t *uses);

/* The batch norm that the convolution or linear layer `index` can take in when it is frozen: the
 * only reader of its output; or NULL. `uses` is what imp_graph_uses() found. */
const imp_layer *imp_graph_fold(const imp_graph *graph, const size_t *uses, size_t index);

/* One layer's output in the workspace. */
typedef struct imp_activation {
    float *values;
    float *kept;
    size_t owner; /* the layer whose output's gradient is also that of this one: itself, or a sum */
} imp_activation;

struct imp_network {
    char *description;
    imp_network_options options;
    const imp_kernels *kernels;

    imp_graph graph;             /* as described */
    imp_graph run;               /* as computed, some layers fused */
    size_t *uses;                /* of each layer of `run` */
    imp_activation *activations; /* of each layer of `run` */

    imp_tensor_place *places;
    size_t place_count;
    size_t parameter_count, state_count;
    float *parameters, *gradients, *state;
    double *statistics;           /* (state_count): of the last batch */
    const float *used_parameters; /* those that forward and backward compute with */
    uint64_t step;                /* of the next forward */
    bool drops;
    bool has_tangents;   /* all layers of `run` have */
    bool reaches_inputs; /* backward can give the gradient by the inputs (link.h) */

    imp_pass pass;       /* of the last forward */
    const float *images; /* during a forward */
    size_t capacity;     /* images the workspace is made for */
    float *workspace;    /* activations, what layers keep, shared and scratch memory, gradients */
    struct imp_span *spans; /* of the gradients, which lie in gradient_memory */
    float *gradient_memory;
    size_t gradient_floats;
    bool forwarded; /* a forward pass waits for its backward */
};

/* Lays out the graph of a description, and the names and places of all tensors; allocates
 * network->graph.layers and network->places. */
imp_status imp_network_plan(imp_network *network, imp_error *error);

/* Decides how the graph is computed; allocates network->run.layers and network->uses. */
imp_status imp_network_fuse(imp_network *network, imp_error *error);

/* A network that is planned and has no weights yet; arguments and failures are those of
 * imp_network_create(). Then memory for them, all zero: without it the network can only be looked
 * at, or freed. One with tangents has them in every layer, which fused blocks do not. */
imp_status imp_network_draft(const char *description, const imp_network_options *options,
                             imp_network **out, imp_error *error);
imp_status imp_network_draft_with_tangents(const char *description,
                                           const imp_network_options *options, imp_network **out,
                                           imp_error *error);
imp_status imp_network_allocate(imp_network *network, imp_error *error);

/* Layer i's job in the pass at hand, as far as forward and backward share it. */
imp_job imp_network_job(imp_network *network, size_t i);

/* Where backward of layer i finds the gradient of its output and puts those of its inputs, in
 * `memory`, which is gradient_memory or laid out as that. `last` is the one of the network's
 * output. */
void imp_network_place_gradients(const imp_network *network, size_t i, const float *last,
                                 float *memory, const float **dout, float **din);

/* Adds those that went to a spare array to what another reader of the input put there. */
void imp_network_add_spares(const imp_network *network, size_t i, float *memory, float *const *din);

#endif
