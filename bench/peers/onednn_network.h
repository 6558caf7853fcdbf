/*
 * onednn_network.h - one step of Conv4 as a list of oneDNN primitives, made before the first step.
 *
 * A network is made for one shape and one plan, and its step does all that bench/README.md calls a
 * training step or an evaluation. Anything that fails ends the program with a sentence on stderr.
 */
#ifndef BENCH_ONEDNN_NETWORK_H
#define BENCH_ONEDNN_NETWORK_H

#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>

#define LAYERS 4
#define FILTERS 64
#define EPSILON 1e-5f
#define MOMENTUM 0.1f
#define MOST 192 /* primitives, or blocks of memory, in one network */

enum { FORWARD, BACKWARD_DATA, BACKWARD_WEIGHTS, DIRECTIONS };
#define SLOTS (DIRECTIONS * LAYERS) /* one per convolution primitive of the step */
#define NO_SLOT SLOTS               /* batch norm, pooling, output */

typedef struct shape {
    int n, c, h, w, threads;
    int train;
} shape;

/* What oneDNN leaves to its user: the algorithm of each slot, the layout of the activations, and
 * which of several implementations pools. */
typedef struct plan {
    const char *name;
    dnnl_alg_kind_t algorithm[SLOTS];
    dnnl_format_tag_t layout;
    const char
        *pooling; /* implementation of the forward max-pooling, or NULL for oneDNN's choice */
} plan;

typedef struct step_op {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t args[8];
    int count;
    int slot;
} step_op;

typedef struct parameters {
    float *weight, *scale_shift; /* (64, C, 3, 3); gamma then beta (2, 64) */
    float *mean, *variance;      /* running statistics (64) */
} parameters;

typedef struct network {
    shape shape;
    plan plan;
    dnnl_stream_t stream;
    step_op ops[MOST];
    int op_count;
    dnnl_memory_t memories[MOST];
    int memory_count;
    struct {
        void *start;
        size_t size;
    } blocks[MOST];
    int block_count;
    int winograd_slots;                                 /* that oneDNN really gave */
    char implementations[512];                          /* oneDNN's names of them, for the record */
    float *x, *grad, *output;                           /* plain NCHW */
    parameters layer[LAYERS];                           /* plain, as an optimiser keeps them */
    float *batch_mean[LAYERS], *batch_variance[LAYERS]; /* of the last step */
    float *grad_weight[LAYERS], *grad_scale_shift[LAYERS]; /* plain */
} network;

extern dnnl_engine_t engine; /* made by main() before the first network */

_Noreturn void die(const char *format, ...);
void check_at(dnnl_status_t status, const char *file, int line);
#define CHECK(call) check_at(call, __FILE__, __LINE__)

/* A network with parameters, images and output gradient from `file`, in the order that
 * bench/README.md gives for `check`, or at random where it is NULL. */
network *network_new(const shape *s, const plan *how, FILE *file);
void network_free(network *net);

void network_step(const network *net);

/* Floats of the output, and of one layer's weights. */
size_t output_floats(const shape *s);
size_t weight_floats(const shape *s, int l);

#endif
