/* network.h - the inside of imp_network, for the files of this folder. */
#ifndef IMP_NN_NETWORK_H
#define IMP_NN_NETWORK_H

#include <imp/network.h>

#include "nn/layer.h"

/* The initial values of a tensor. */
typedef struct imp_start {
    enum { IMP_START_CONSTANT, IMP_START_UNIFORM, IMP_START_NORMAL } kind;
    double size; /* the constant, the bound of the uniform or the deviation of the normal
                    distribution */
} imp_start;

/* A named tensor in one of the flat arrays. */
typedef struct imp_tensor_place {
    char name[96];
    size_t rank, shape[4], count;
    size_t offset;
    bool trained; /* in the parameters, otherwise in the state */
    imp_start start;
} imp_tensor_place;

/* Layers in topological order. The last one's output is the network's. */
typedef struct imp_graph {
    imp_layer *layers;
    size_t count;
} imp_graph;

/* How many layers read each layer's output. */
void imp_graph_uses(const imp_graph *graph, size_t *uses);

/* The batch norm that can be folded into the convolution or linear layer `index`, because it is the
 * only reader of its output; or NULL. `uses` comes from imp_graph_uses(). */
const imp_layer *imp_graph_fold(const imp_graph *graph, const size_t *uses, size_t index);

/* One layer's output in the workspace. */
typedef struct imp_activation {
    float *values;
    float *kept;
    size_t
        owner; /* the layer that owns the gradient of this output: itself, or a sum it goes into */
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
    const float *used_parameters; /* those that forward and backward use */
    uint64_t step;                /* of the next forward */
    bool drops;
    bool has_tangents;   /* all layers of `run` have */
    bool reaches_inputs; /* backward can compute the gradient of the inputs (link.h) */

    imp_pass pass;       /* of the last forward */
    const float *images; /* during a forward */
    size_t capacity;     /* images the workspace has room for */
    float *workspace;    /* activations, what layers keep, shared and scratch memory, gradients */
    struct imp_span *spans; /* of the gradients, which lie in gradient_memory */
    float *gradient_memory;
    size_t gradient_floats;
    bool forwarded; /* a forward pass awaits its backward pass */
};

/* Lays out the graph of a description, and the names and places of all tensors; allocates
 * network->graph.layers and network->places. */
imp_status imp_network_plan(imp_network *network, imp_error *error);

/* Decides how the graph is computed; allocates network->run.layers and network->uses. */
imp_status imp_network_fuse(imp_network *network, imp_error *error);

/* imp_network_draft() plans a network without weights; arguments and failures are those of
 * imp_network_create(). Until imp_network_allocate() gives it weights, all zero, it can only be
 * inspected or freed. With tangents no block is fused, since every layer must have them. */
imp_status imp_network_draft(const char *description, const imp_network_options *options,
                             imp_network **out, imp_error *error);
imp_status imp_network_draft_with_tangents(const char *description,
                                           const imp_network_options *options, imp_network **out,
                                           imp_error *error);
imp_status imp_network_allocate(imp_network *network, imp_error *error);

/* Layer i's job in the pass at hand, as far as forward and backward share it. */
imp_job imp_network_job(imp_network *network, size_t i);

/* Where backward of layer i finds the gradient of its output and puts those of its inputs, in
 * `memory`, which is gradient_memory or has its layout. `last` is the gradient of the network's
 * output. */
void imp_network_place_gradients(const imp_network *network, size_t i, const float *last,
                                 float *memory, const float **dout, float **din);

/* Adds gradients in spare arrays to what another reader of the input has written. */
void imp_network_add_spares(const imp_network *network, size_t i, float *memory, float *const *din);

#endif
