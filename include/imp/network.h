/*
 * network.h - an embedding network: built from a one-line description, trained step by step.
 *
 * A training step is imp_network_forward() on a whole episode, the gradient of a loss with respect
 * to the embeddings (from anywhere), imp_network_backward(), and an optimizer's step on the flat
 * parameter array. To embed without training, freeze the network into an encoder (encoder.h).
 *
 * A network belongs to one thread at a time. It uses several inside, and gives the same bits
 * for any number of them; different instruction sets may differ in rounding.
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
    size_t channels, height, width; /* of an image; 1..64 channels */
    uint64_t seed;                  /* of the initial weights */
    int threads;                    /* 0: as many as the machine offers */
    int unfused; /* non-zero: run every layer on its own. For comparison; results differ in rounding
                  */
} imp_network_options;

/* Builds a network. `description` is "conv4" or a list of layers like
 * "conv3x3:64,bn,relu,pool,conv3x3:64,bn,relu,pool,flatten,linear:10", where
 *
 *   conv3x3:F  is a 3x3 convolution to F channels, stride 1, zero padding 1, with bias,
 *   bn         batch normalisation, eps 1e-5, momentum 0.1,
 *   relu       max(x, 0),
 *   pool       the 2x2 maximum, stride 2, an odd last row or column left out,
 *   flatten    the end of maps, in PyTorch's order (implied at the end),
 *   linear:F   a linear layer to F outputs, with bias.
 *
 * Weights start Xavier-uniform with gain sqrt(2), biases 0, batch norm 1 and 0. Neither argument
 * may be NULL.
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

/* The options it was built with; threads is the number that is used. */
IMP_API const imp_network_options *imp_network_options_of(const imp_network *network);

/* The instruction set it runs on: "avx512", "avx2" or "portable". */
IMP_API const char *imp_network_isa(const imp_network *network);

/* Floats per embedding. */
IMP_API size_t imp_network_output_size(const imp_network *network);

/* Embeds `count` images (count, channels, height, width) as one batch with the batch's own
 * statistics, and moves the running statistics. `embeddings` receives (count, output_size) floats.
 *
 * Memory is taken when `count` is larger than ever before, and never otherwise. On IMP_ENOMEM the
 * network is as it was. IMP_EINVAL when count is 0 or above 2^20. A NaN or infinite pixel makes
 * embeddings that are not finite. */
IMP_API imp_status imp_network_forward(imp_network *network, const float *images, size_t count,
                                       float *embeddings, imp_error *error);

/* Adds to the gradient array the gradient of a loss whose derivative by the last forward pass's
 * embeddings is `gradient` (count, output_size). IMP_EINVAL when there was no forward pass since
 * the last backward. */
IMP_API imp_status imp_network_backward(imp_network *network, const float *gradient,
                                        imp_error *error);

/* All trained numbers and their gradients as flat arrays of the same length, and the running
 * statistics. They live as long as the network and may be written between steps. */
IMP_API size_t imp_network_parameter_count(const imp_network *network);
IMP_API float *imp_network_parameters(imp_network *network);
IMP_API float *imp_network_gradients(imp_network *network);
IMP_API void imp_network_clear_gradients(imp_network *network);

/* One named piece of the network, as PyTorch would name and shape it: "blocks.0.conv.weight" is
 * (64, 1, 3, 3). */
typedef struct imp_network_tensor {
    const char *name;
    size_t rank, shape[4], count;
    float *values;
    float *gradients; /* NULL for running statistics */
} imp_network_tensor;

/* How many such pieces there are. */
IMP_API size_t imp_network_tensor_count(const imp_network *network);

/* Tensor `index`, in a fixed order; index must be below the count. */
IMP_API imp_network_tensor imp_network_tensor_at(imp_network *network, size_t index);

/* Writes the network to `path` as a safetensors file that knows its description and input,
 * atomically. */
IMP_API imp_status imp_network_save(imp_network *network, const char *path, imp_error *error);

/* Reads a network that imp_network_save() wrote, or the state dict of a PyTorch module whose
 * tensors bear these names. What the file says of itself may be left out: `description` may be
 * NULL, and the options NULL or their channels, height and width 0; where both speak they must
 * agree to the letter. num_batches_tracked and tensors called method.* or training.* are passed
 * over.
 *
 * On failure *out is NULL: IMP_EFORMAT for any other tensor missing, extra or of another shape, or
 * a contradiction; IMP_EIO; and what imp_network_create() can give. */
IMP_API imp_status imp_network_load(const char *path, const char *description,
                                    const imp_network_options *options, imp_network **out,
                                    imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
