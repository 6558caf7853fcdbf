/*
 * layer.h - what every layer of a network has: the layers it reads from, shapes, offsets of its
 * parameters, and the functions of its kind.
 *
 * Between layers, activations are (N, H, W, C); the images that enter a network are
 * (N, C, H, W). A layer divides its work into pass->blocks blocks of images, which depend on the
 * batch size alone, and adds partial sums in block order: that makes the bits independent of the
 * number of threads.
 */
#ifndef IMP_NN_LAYER_H
#define IMP_NN_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

#include "base/parallel.h"
#include "kernels/kernels.h"

typedef struct imp_shape {
    size_t channels, height, width;
    bool flat; /* a vector, (N, C) in PyTorch, no longer a map */
} imp_shape;

static inline size_t imp_shape_pixels(imp_shape shape)
{
    return shape.height * shape.width;
}

static inline size_t imp_shape_floats(imp_shape shape)
{
    return shape.channels * imp_shape_pixels(shape);
}

typedef struct imp_layer imp_layer;
typedef struct imp_plan imp_plan; /* plan.h */
typedef struct imp_onnx imp_onnx; /* onnx_node.h */

/* One pass over a batch. */
typedef struct imp_pass {
    const imp_kernels *kernels;
    const float
        *parameters; /* the network's flat arrays; `weight` and so on are offsets into them */
    float *gradients;
    const float *state;
    double *statistics;  /* of this batch, at the offsets of the running ones in `state` */
    uint64_t seed, step; /* of dropout */
    bool drops;          /* dropout is on */
    size_t images;
    size_t blocks; /* of images */
    int threads;
    float *shared;  /* memory that all layers use in turn, as large as the largest `shared` */
    float *scratch; /* memory per worker, as large as the largest `scratch` */
    size_t scratch_stride; /* floats between workers */
} imp_pass;

enum { IMP_MAX_INPUTS = 2 };

/* Derivatives, along one direction in parameter space, of the members of imp_job with the same
 * names. Those of images, and of anything else that does not depend on parameters, are zero, given
 * as NULL. */
typedef struct imp_tangent {
    const float *parameters; /* the direction */
    float *gradients;
    const float *in[IMP_MAX_INPUTS];
    float *out;
    const float *dout;
    float *din[IMP_MAX_INPUTS];
    float *spare; /* temporary memory, as large as the largest din */
} imp_tangent;

/* One layer's work on one batch; the body of a parallel loop gets it as its context. */
typedef struct imp_job {
    const imp_layer *layer;
    const imp_pass *pass;
    const float *in[IMP_MAX_INPUTS];
    float *out;
    float *kept;
    const float *dout;          /* backward: the gradient of out */
    float *din[IMP_MAX_INPUTS]; /* backward: the gradient of in; NULL if not needed */
    const imp_tangent *tangent; /* tangents only */
} imp_job;

typedef struct imp_layer_kind {
    /* Description. The prefix of a layer in a description ("conv" of "conv3x3:64") and its full
     * syntax; NULL for a kind that is only chosen in fuse.c. `plan` parses what follows the prefix,
     * sets layer->out and what else the kind uses, and names the layer's tensors. Before the call
     * layer->in is set, and layer->out equals it. */
    const char *word, *usage;
    imp_status (*plan)(imp_plan *plan, imp_layer *layer);

    /* Training. Memory is counted in floats, for pass->images images: `kept` lasts from forward to
     * backward, `shared` for a call, `scratch`, per worker, for a block. NULL: none. */
    size_t (*kept)(const imp_layer *layer, const imp_pass *pass);
    size_t (*shared)(const imp_layer *layer, const imp_pass *pass);
    size_t (*scratch)(const imp_layer *layer, const imp_kernels *kernels);
    void (*forward)(const imp_job *job);
    /* Adds to the layer's gradients and overwrites din. */
    void (*backward)(const imp_job *job);

    /* Tangents, for second derivatives (hessian.h). `forward_tangent` comes after forward and
     * writes tangent->out; `backward_tangent` after backward, adds to tangent->gradients and
     * overwrites tangent->din. Both may use shared and scratch memory as forward and backward do. A
     * kind without them is not used in networks that need them. */
    void (*forward_tangent)(const imp_job *job);
    void (*backward_tangent)(const imp_job *job);

    /* Evaluation. `freeze` converts the parameters to the `frozen` floats that `infer` reads. If
     * `folds`, `freeze` also folds in the batch norm that follows, if `norm` is not NULL, and
     * `infer` applies the rectifier after it. `infer` is serial and gets `infer_scratch` floats for
     * its number of images. NULL: the layer does nothing in evaluation. */
    bool folds;
    size_t (*infer_scratch)(const imp_layer *layer, const imp_kernels *kernels, size_t images);
    size_t (*frozen)(const imp_layer *layer);
    void (*freeze)(const imp_layer *layer, const imp_layer *norm, const imp_pass *pass,
                   float *frozen);
    void (*infer)(const imp_layer *layer, const imp_kernels *kernels, const float *frozen,
                  size_t images, const float *const *in, float *out, float *scratch);

    /* Writes the layer's ONNX nodes; `norm` as in freeze(). NULL: the layer does nothing in
     * evaluation. */
    void (*write_onnx)(const imp_layer *layer, const imp_layer *norm, imp_onnx *onnx);
} imp_layer_kind;

/* The offset of a tensor that a layer does not have, and the number of an input that is the images.
 */
#define IMP_NONE SIZE_MAX

/* Each kind uses the members it needs. Tensors are given as offsets into the network's flat arrays;
 * a fused block has those of a convolution and a batch norm. */
struct imp_layer {
    const imp_layer_kind *kind;
    size_t input[IMP_MAX_INPUTS], input_count; /* the layers whose outputs it reads */
    imp_shape in, out;                         /* `in` of every input */
    bool trained;  /* its output depends on parameters, or on inputs whose gradient is needed */
    size_t inputs; /* input channels of the weights; in.channels unless those are padded */
    size_t kernel, stride, padding; /* of a convolution, square */
    bool taps_first;                /* its weight gradient is summed as (taps, outputs) */
    float slope;                    /* of a rectifier below zero; 1 for none */
    float rate;                     /* of dropout */
    bool whole_channels;            /* dropout of whole channels */
    size_t number;                  /* dropout: its index among the network's dropout layers */
    size_t weight, bias;            /* a convolution may have no bias: IMP_NONE */
    size_t gamma, beta, running_mean, running_var;
};

/* (N, C, H, W) to (N, H, W, C), C padded with zeros up to out.channels: always the first layer */
extern const imp_layer_kind imp_layer_arrange;
extern const imp_layer_kind imp_layer_conv;
extern const imp_layer_kind imp_layer_norm;
extern const imp_layer_kind imp_layer_relu, imp_layer_leaky;
extern const imp_layer_kind imp_layer_pool;
extern const imp_layer_kind imp_layer_average, imp_layer_global_average;
extern const imp_layer_kind imp_layer_dropout;
extern const imp_layer_kind imp_layer_flatten;
extern const imp_layer_kind imp_layer_linear;
extern const imp_layer_kind imp_layer_standard;
/* the sum of two inputs: the end of a residual */
extern const imp_layer_kind imp_layer_add;
/* fused convolution, norm, relu, pool: 1..4 channels to 64, and 64 to 64 */
extern const imp_layer_kind imp_layer_first;
extern const imp_layer_kind imp_layer_winograd;
/* a 3x3 convolution of 64 to 64 channels on its own */
extern const imp_layer_kind imp_layer_winograd_conv;
/* batch norm with its rectifier and pool */
extern const imp_layer_kind imp_layer_norm_pool;
/* a 3x3 convolution of any width by Winograd tiles */
extern const imp_layer_kind imp_layer_tiled_conv;

/* Batch norm's constants, as PyTorch's. */
#define IMP_NORM_EPS 1e-5
#define IMP_NORM_MOMENTUM 0.1

/* The images of one block. */
typedef struct imp_images {
    size_t begin, end;
} imp_images;

static inline imp_images imp_images_of(const imp_pass *pass, size_t block)
{
    return (imp_images){imp_block_begin(pass->images, pass->blocks, block),
                        imp_block_begin(pass->images, pass->blocks, block + 1)};
}

/* Runs body(block, worker, job) for all blocks of images. */
static inline void imp_each_block(const imp_job *job, imp_parallel_body *body)
{
    imp_parallel(job->pass->blocks, job->pass->threads, body, (void *)job);
}

/* Forward of a layer whose training and evaluation are the same serial function: infer() on every
 * block, with what freeze() wrote to the shared memory. */
void imp_infer_blocks(const imp_job *job);

/* Tangents of layers without parameters. For linear ones, forward or backward of the tangent. For a
 * rectifier, multiplication by its slopes, as in backward. */
void imp_tangent_by_forward(const imp_job *job);
void imp_tangent_by_slopes(const imp_job *job);
void imp_tangent_by_backward(const imp_job *job);

/* Tangents of layers that are linear in their input and in their parameters, by the product rule.
 */
void imp_tangent_of_product(const imp_job *job);
void imp_tangent_of_product_backward(const imp_job *job);

/* The bias of a layer, or NULL if it has none. */
static inline const float *imp_bias_of(const imp_layer *layer, const imp_pass *pass)
{
    return layer->bias == IMP_NONE ? NULL : pass->parameters + layer->bias;
}

/* x above zero, slope * x below; written so that NaN stays NaN and a slope of 0 gives no -0 */
static inline float imp_rectify(float x, float slope)
{
    return x < 0 ? (slope > 0 ? slope * x : 0) : x;
}

/* Rounds up to whole cache lines, so that consecutive arrays stay aligned.
 */
static inline size_t imp_lines(size_t floats)
{
    return (floats + 15) / 16 * 16;
}

/* The shared memory of a pass as doubles, for sums. */
static inline double *imp_shared_doubles(const imp_pass *pass)
{
    return (double *)(void *)pass->shared;
}

static inline float *imp_scratch_of(const imp_pass *pass, int worker)
{
    return pass->scratch + (size_t)worker * pass->scratch_stride;
}

/* The tiles of a convolution of 64 to 64 channels on this layer's maps, */
static inline const imp_winograd *imp_winograd_of(const imp_layer *layer,
                                                  const imp_kernels *kernels)
{
    return imp_winograd_for(kernels, layer->in.height, layer->in.width);
}

/* and the floats of its transformed weights. */
static inline size_t imp_winograd_floats(const imp_layer *layer)
{
    return imp_tile_points(layer->in.height, layer->in.width) * IMP_CHANNELS * IMP_CHANNELS;
}

#endif
