/*
 * layer.h - what every layer of a network is: shapes, places of its parameters, and the functions
 * of its kind.
 *
 * Between layers, activations are (N, H, W, C); the images that enter a network are
 * (N, C, H, W). A layer cuts its work into pass->blocks blocks of images, which depend on the
 * batch size alone, and adds partial sums up in block order: that is what makes the bits
 * independent of the number of threads.
 */
#ifndef IMP_NN_LAYER_H
#define IMP_NN_LAYER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/parallel.h"
#include "kernels/kernels.h"

typedef struct imp_shape {
    size_t channels, height, width;
} imp_shape;

static inline size_t imp_shape_floats(imp_shape shape)
{
    return shape.channels * shape.height * shape.width;
}

/* A step on one batch. */
typedef struct imp_pass {
    const imp_kernels *kernels;
    size_t images;
    size_t blocks; /* of images */
    int threads;
    float *shared;         /* memory all layers use in turn: the largest `shared` of any */
    float *scratch;        /* memory per worker: the largest `scratch` of any */
    size_t scratch_stride; /* floats from worker to worker */
} imp_pass;

typedef struct imp_layer imp_layer;

typedef struct imp_layer_kind {
    /* Training. Memory is counted in floats, for pass->images images: `kept` from forward to
     * backward, `shared` for the duration of a call, `scratch` per worker for the duration of a
     * block. NULL: none. */
    size_t (*kept)(const imp_layer *layer, const imp_pass *pass);
    size_t (*shared)(const imp_layer *layer, const imp_pass *pass);
    size_t (*scratch)(const imp_layer *layer, const imp_kernels *kernels);
    void (*forward)(imp_layer *layer, const imp_pass *pass, const float *in, float *out);
    /* Adds to the layer's gradients and overwrites din, unless din is NULL. */
    void (*backward)(imp_layer *layer, const imp_pass *pass, const float *in, const float *out,
                     const float *dout, float *din);

    /* Evaluation. `freeze` writes what `infer` needs of the parameters, `frozen` floats of it.
     * `infer` is serial and gets `infer_scratch` floats for its number of images. */
    size_t (*infer_scratch)(const imp_layer *layer, const imp_kernels *kernels, size_t images);
    size_t (*frozen)(const imp_layer *layer);
    void (*freeze)(const imp_layer *layer, const imp_kernels *kernels, float *frozen);
    void (*infer)(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                  size_t images, const float *in, float *out, float *scratch);
} imp_layer_kind;

/* A convolution's or linear layer's numbers, and a batch norm's; a fused block has both. Places
 * are offsets into the network's flat arrays. */
struct imp_layer {
    const imp_layer_kind *kind;
    imp_shape in, out;
    size_t inputs; /* input channels of the weights; in.channels unless those are padded */
    size_t weight, bias;
    size_t gamma, beta, running_mean, running_var;
    float *parameters, *gradients, *state;
    float *kept;
};

/* (N, C, H, W) to (N, H, W, C), C padded with zeros up to out.channels */
extern const imp_layer_kind imp_layer_arrange;
/* 3x3 convolution, any number of channels */
extern const imp_layer_kind imp_layer_conv;
/* batch norm */
extern const imp_layer_kind imp_layer_norm;
extern const imp_layer_kind imp_layer_relu;
/* 2x2 maximum */
extern const imp_layer_kind imp_layer_pool;
/* to PyTorch's order (N, C, H, W) */
extern const imp_layer_kind imp_layer_flatten;
extern const imp_layer_kind imp_layer_linear;
/* fused convolution, norm, relu, pool: 1..4 channels to 64, and 64 to 64 */
extern const imp_layer_kind imp_layer_first;
extern const imp_layer_kind imp_layer_winograd;

/* Batch norm's constants, as PyTorch's. */
#define IMP_NORM_EPS 1e-5
#define IMP_NORM_MOMENTUM 0.1

/* One layer's work on one batch, as the body of a parallel loop gets it. */
typedef struct imp_job {
    imp_layer *layer;
    const imp_pass *pass;
    const float *in;
    float *out;
    const float *dout;
    float *din;
} imp_job;

/* The images of one block. */
typedef struct imp_images {
    size_t begin, end;
} imp_images;

static inline imp_images imp_images_of(const imp_pass *pass, size_t block)
{
    return (imp_images){imp_block_begin(pass->images, pass->blocks, block),
                        imp_block_begin(pass->images, pass->blocks, block + 1)};
}

static inline void imp_each_block(const imp_pass *pass, imp_parallel_body *body, void *context)
{
    imp_parallel(pass->blocks, pass->threads, body, context);
}

/* Forward of a layer whose training and evaluation are the same serial function: infer() on every
 * block, with what freeze() wrote to the shared memory. */
void imp_infer_blocks(imp_layer *layer, const imp_pass *pass, const float *in, float *out);

/* Adds the blocks' parts of the weights' and bias's gradients up, in order. Each lies `stride`
 * floats after the one before in the shared memory: `weights` numbers, then one per output channel.
 */
void imp_add_parts(imp_layer *layer, const imp_pass *pass, size_t stride, size_t weights);

/* n floats rounded up to whole cache lines, so that arrays carved one after another stay aligned.
 */
static inline size_t imp_lines(size_t floats)
{
    return (floats + 15) / 16 * 16;
}

/* The shared memory of a pass for sums, which are kept in double. */
static inline double *imp_shared_doubles(const imp_pass *pass)
{
    return (double *)(void *)pass->shared;
}

static inline float *imp_scratch_of(const imp_pass *pass, int worker)
{
    return pass->scratch + (size_t)worker * pass->scratch_stride;
}

#endif
