/*
 * network.h - an embedding network: built from a one-line description, trained step by step.
 *
 * A training step is imp_network_forward() on a whole episode, the gradient of a loss with respect
 * to the embeddings (which the caller computes), imp_network_backward(), and an optimizer's step on
 * the flat parameter array. To embed without training, freeze the network into an encoder
 * (encoder.h).
 *
 * Only one thread at a time may use a network. Inside, it uses several, and gives the same bits for
 * any number of them; different instruction sets may differ in rounding.
 */
#ifndef IMP_NETWORK_H
#define IMP_NETWORK_H

#include <stddef.h>
#include <stdint.h>

#include <imp/export.h>
#include <imp/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct imp_network imp_network;

typedef struct imp_network_options {
    size_t size;                    /* sizeof(imp_network_options) */
    size_t channels, height, width; /* of an image; a vector is a 1x1 image */
    uint64_t seed;                  /* for the initial weights */
    int threads;                    /* 0: as many as the machine offers */
    int unfused; /* non-zero: run every layer on its own. For comparison; results differ in rounding
                  */
} imp_network_options;

/* The defaults: all zero. `size` is the caller's sizeof(imp_network_options). The input size has no
 * default and must be set. */
IMP_API void imp_network_options_init(imp_network_options *options, size_t size);

static inline imp_network_options imp_network_defaults(void)
{
    imp_network_options options;
    imp_network_options_init(&options, sizeof options);
    return options;
}

/* Builds a network. `description` is a list of layers like
 * "conv3x3:64,bn,relu,pool,conv3x3:64,bn,relu,pool,flatten,linear:10", where
 *
 *   convKxK:F  is a convolution to F channels with a kernel of KxK, zero padding (K - 1) / 2 and a
 *              bias; "/S" makes its stride S, ":valid" leaves the padding out, ":nobias" the bias:
 *              "conv3x3:64/2:valid:nobias", in this order,
 *   bn         batch normalisation, eps 1e-5, momentum 0.1,
 *   relu       the rectifier, max(x, 0),
 *   leaky:S    the leaky rectifier: x, or S times x below zero,
 *   pool       2x2 max pooling, stride 2; an odd last row or column is dropped,
 *   avgpool    2x2 average pooling, likewise,
 *   gap        global average pooling, over maps of any size,
 *   dropout:P  sets each value to 0 with probability P in training and scales the others up;
 *              "dropout:P:channels" sets whole channels of an image,
 *   flatten    turns maps into one vector, in PyTorch's order (implied at the end),
 *   linear:F   a linear layer to F outputs with a bias; ":nobias" leaves it out,
 *   standard   only as the first layer, for vectors: every feature centred and divided by its
 *              spread, which training computes from the data and stores in the tensors
 *              input.center and input.factor,
 *   residual(A)    A(x) + x, for a list of layers A,
 *   residual(A|B)  A(x) + B(x): B is the shortcut. Residuals may be nested, four deep.
 *
 * Two names stand for whole networks: "conv4", four blocks of "conv3x3:64,bn,relu,pool", and
 * "resnet12", the few-shot ResNet-12 with 64, 128, 256 and 512 channels: four blocks of
 * "residual(conv3x3:F,bn,leaky:0.1,conv3x3:F,bn,leaky:0.1,conv3x3:F,bn|conv1x1:F,bn),leaky:0.1,pool"
 * (without biases, He initialisation) and global average pooling; "resnet12:32" starts with 32
 * channels. More layers may follow: "resnet12,linear:5". Blanks around layers are allowed.
 *
 * Weights of convolutions and linear layers are initialised Xavier-uniform with gain sqrt(2);
 * ":xavier" makes the gain 1, and ":he" is He's normal initialisation by fan-out. Biases start at
 * 0, batch norm's scale at 1 and shift at 0. Tensors have names such as "blocks.0.conv.weight" and
 * "blocks.0.bn.bias", "blocks.4.linear.weight", "blocks.1.body.0.conv.weight" and
 * "blocks.1.shortcut.0.conv.weight": a convolution, a linear layer and a residual each begin a
 * block. Neither `description` nor `options` may be NULL.
 *
 * On success *out is a new network; free it with imp_network_free(). On failure *out is NULL:
 * IMP_EINVAL for a description that cannot be built on that input (the sentence says where and
 * why) or an unknown IMP_ISA, IMP_EUNSUPPORTED for an IMP_ISA this machine cannot run, IMP_ENOMEM.
 */
IMP_API imp_status imp_network_create(const char *description, const imp_network_options *options,
                                      imp_network **out, imp_error *error);

/* NULL is allowed. */
IMP_API void imp_network_free(imp_network *network);

/* The description it was built from. */
IMP_API const char *imp_network_description(const imp_network *network);

/* The options it was built with; `threads` is the number actually used. */
IMP_API const imp_network_options *imp_network_options_of(const imp_network *network);

/* The instruction set it runs on: "avx512", "avx2" or "portable". */
IMP_API const char *imp_network_isa(const imp_network *network);

/* Floats per embedding. */
IMP_API size_t imp_network_output_size(const imp_network *network);

/* Embeds `count` images (count, channels, height, width) as one batch with the batch's own
 * statistics, and moves the running statistics. `embeddings` receives (count, output_size) floats.
 *
 * Memory is allocated only if `count` is larger than ever before. On IMP_ENOMEM the network is as
 * it was. IMP_EINVAL if count is 0 or above 2^20. NaN or infinite pixels give embeddings that are
 * not finite. */
IMP_API imp_status imp_network_forward(imp_network *network, const float *images, size_t count,
                                       float *embeddings, imp_error *error);

/* Backpropagates `gradient` (count, output_size), the derivative of a loss with respect to the
 * embeddings of the last forward pass, and adds the result to the gradient array. IMP_EINVAL if
 * there was no forward pass since the last backward pass. */
IMP_API imp_status imp_network_backward(imp_network *network, const float *gradient,
                                        imp_error *error);

/* Sets the step, which together with the seed determines what dropout drops in the next forward
 * pass. Every pass increments it. Training that must resume to the same bits sets it to the number
 * of the episode. Networks without dropout do not use it. */
IMP_API void imp_network_set_step(imp_network *network, uint64_t step);

/* Switches dropout in forward passes off, as in evaluation, if `drops` is zero, and on, as it is
 * initially, otherwise. */
IMP_API void imp_network_set_dropout(imp_network *network, int drops);

/* Makes later passes, and encoders created from the network, use `parameters`, an array of
 * imp_network_parameter_count() floats, instead of the network's own; NULL switches back. The array
 * must stay valid until then, and must not change between a forward pass and its backward pass.
 * Gradients are collected in the same array as before. Saving writes the network's own parameters.
 */
IMP_API void imp_network_use_parameters(imp_network *network, const float *parameters);

/* All learned parameters and their gradients, as flat arrays of the same length. They live as long
 * as the network and may be written between steps. */
IMP_API size_t imp_network_parameter_count(const imp_network *network);
IMP_API float *imp_network_parameters(imp_network *network);
IMP_API float *imp_network_gradients(imp_network *network);
IMP_API void imp_network_clear_gradients(imp_network *network);

/* One named tensor of the network, with the name and shape it would have in PyTorch:
 * "blocks.0.conv.weight" is (64, 1, 3, 3). */
typedef struct imp_network_tensor {
    const char *name;
    size_t rank, shape[4], count;
    float *values;
    float *gradients; /* NULL for running statistics */
} imp_network_tensor;

/* How many tensors there are, running statistics included. */
IMP_API size_t imp_network_tensor_count(const imp_network *network);

/* Tensor `index`, in a fixed order; index must be below the count. */
IMP_API imp_network_tensor imp_network_tensor_at(imp_network *network, size_t index);

/* Writes the network to `path`, atomically, as a safetensors file that includes its description and
 * input size. */
IMP_API imp_status imp_network_save(imp_network *network, const char *path, imp_error *error);

/* Reads a network that imp_network_save() wrote, or the state dict of a PyTorch module whose
 * tensors have these names. What the file itself states need not be given: `description` may be
 * NULL, and the options NULL or their channels, height and width 0; what both state must agree
 * exactly. num_batches_tracked and tensors called method.*, learner.* or training.* are ignored.
 *
 * On failure *out is NULL: IMP_EFORMAT for any other tensor that is missing, extra or of another
 * shape, or for a contradiction; IMP_EIO; and the failures of imp_network_create(). */
IMP_API imp_status imp_network_load(const char *path, const char *description,
                                    const imp_network_options *options, imp_network **out,
                                    imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
