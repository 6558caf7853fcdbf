/*
 * encoder.h - a frozen network, for inference: batch norm uses the running statistics and is folded
 * into the weights.
 *
 * An encoder is immutable. Any number of threads may encode with it at once, and an image's
 * embedding does not depend on the images beside it.
 */
#ifndef IMP_ENCODER_H
#define IMP_ENCODER_H

#include <imp/network.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct imp_encoder imp_encoder;

/* Freezes the network as it is now, running statistics included; later training does not touch the
 * encoder. On failure *out is NULL: IMP_ENOMEM. */
IMP_API imp_status imp_encoder_create(const imp_network *network, imp_encoder **out,
                                      imp_error *error);

/* NULL is allowed. */
IMP_API void imp_encoder_free(imp_encoder *encoder);

/* Floats per embedding. */
IMP_API size_t imp_encoder_output_size(const imp_encoder *encoder);

/* Embeds `count` images (count, channels, height, width) into (count, output_size) floats on up to
 * `threads` threads (0: as many as the machine offers); the bits do not depend on their number.
 * A count of zero is allowed. On IMP_ENOMEM the embeddings are undefined. */
IMP_API imp_status imp_encoder_encode(const imp_encoder *encoder, const float *images, size_t count,
                                      int threads, float *embeddings, imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
