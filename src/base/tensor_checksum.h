/*
 * tensor_checksum.h - the SHA-256 that shows whether a safetensors file is intact.
 *
 * It covers the content, not its layout: names, types, shapes, elements and metadata, in the order
 * of their names. So it stays valid if a program writes the same tensors and metadata in another
 * order.
 */
#ifndef IMP_BASE_TENSOR_CHECKSUM_H
#define IMP_BASE_TENSOR_CHECKSUM_H

#include "base/safetensors.h"

/* The metadata key that holds it, as 64 lower-case hexadecimal digits. */
#define IMP_CHECKSUM_KEY "sha256"

typedef struct imp_checksum_text {
    char text[65];
} imp_checksum_text;

/* The SHA-256 of these bytes: for each entry of the metadata but the checksum itself, sorted by key
 * as bytes, the key, a zero byte, the value, a zero byte; a zero byte; for each tensor, sorted by
 * name as bytes, the name, a zero byte, the dtype as the file writes it, a zero byte, each length
 * of the shape in decimal and a comma, a zero byte, the elements. IMP_ENOMEM only. */
imp_status imp_tensor_checksum(const imp_tensor *tensors, size_t count,
                               const imp_metadata *metadata, size_t metadata_count,
                               imp_checksum_text *out, imp_error *error);

/* "F32" and so on; NULL for a dtype that such files do not hold here. */
const char *imp_dtype_code(imp_dtype dtype);

#endif
