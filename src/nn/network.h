/* network.h - the inside of imp_network, for the files of this folder. */
#ifndef IMP_NN_NETWORK_H
#define IMP_NN_NETWORK_H

#include <imp/network.h>

#include "nn/layer.h"

/* A named piece of one of the flat arrays. */
typedef struct imp_tensor_place {
    char name[48];
    size_t rank, shape[4], count;
    size_t offset;
    bool trained; /* lies in the parameters, else in the state */
} imp_tensor_place;

/* One layer's output and its gradient in the workspace. */
typedef struct imp_activation {
    float *values, *gradients;
} imp_activation;

struct imp_network {
    char *description;
    imp_network_options options;
    const imp_kernels *kernels;

    imp_layer *layers;
    imp_activation *activations; /* of each layer's output */
    size_t layer_count;

    imp_tensor_place *places;
    size_t place_count;
    size_t parameter_count, state_count;
    float *parameters, *gradients, *state;

    imp_pass pass;    /* of the last forward */
    size_t capacity;  /* images the workspace is made for */
    float *workspace; /* activations, what layers keep, shared and scratch memory */
    bool forwarded;   /* a forward pass waits for its backward */
};

/* Lays out the layers and the names and places of all tensors for a description; allocates
 * network->layers and network->places. */
imp_status imp_network_plan(imp_network *network, imp_error *error);

/* A network that is planned and has no weights yet; arguments and failures are those of
 * imp_network_create(). Then memory for them, all zero: without it the network can only be looked
 * at, or freed. */
imp_status imp_network_draft(const char *description, const imp_network_options *options,
                             imp_network **out, imp_error *error);
imp_status imp_network_allocate(imp_network *network, imp_error *error);

#endif
