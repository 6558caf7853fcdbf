/*
 * safetensors.h - named tensors and string metadata in one file, read and written strictly.
 *
 * The format: 8 bytes little-endian header length, a JSON header, then the tensors' bytes without
 * holes. A model, a training checkpoint and a fitted mixture are all such files. Files written here
 * have a checksum in their metadata (tensor_checksum.h); a file with a checksum is read only if it
 * is right.
 */
#ifndef IMP_BASE_SAFETENSORS_H
#define IMP_BASE_SAFETENSORS_H

#include <stddef.h>

#include <imp/status.h>

#include "base/array.h"

/* A tensor whose memory is owned elsewhere. */
typedef struct imp_tensor {
    const char *name;
    imp_dtype dtype;
    size_t rank;
    size_t shape[IMP_MAX_RANK];
    size_t count; /* product of the shape */
    const void *data;
} imp_tensor;

typedef struct imp_metadata {
    const char *key;
    const char *value;
} imp_metadata;

/* A file in memory. Everything obtained from it lives until it is freed. */
typedef struct imp_safetensors imp_safetensors;

/* Parses a whole file in memory. Takes over `bytes`, which must come from imp_allocate(), on
 * success and on failure. */
imp_status imp_safetensors_parse(unsigned char *bytes, size_t size, imp_safetensors **out,
                                 imp_error *error);

/* imp_safetensors_parse() on a file; errors name the path. */
imp_status imp_safetensors_load(const char *path, imp_safetensors **out, imp_error *error);

void imp_safetensors_free(imp_safetensors *file);

size_t imp_safetensors_count(const imp_safetensors *file);
const imp_tensor *imp_safetensors_at(const imp_safetensors *file, size_t index);

/* The tensor of that name, or NULL. Its data is aligned for its type. */
const imp_tensor *imp_safetensors_find(const imp_safetensors *file, const char *name);

/* The metadata value of that key, or NULL. */
const char *imp_safetensors_metadata(const imp_safetensors *file, const char *key);

/* Writes atomically, tensors in the order given (the same input gives the same bytes). Names and
 * keys must be distinct and not empty, no tensor may be called "__metadata__" and no key "sha256".
 */
imp_status imp_safetensors_save(const char *path, const imp_tensor *tensors, size_t count,
                                const imp_metadata *metadata, size_t metadata_count,
                                imp_error *error);

/* The same, and the previous file is renamed to `kept`, in the same folder, replacing any file of
 * that name. NULL: it is not kept. */
imp_status imp_safetensors_save_keeping(const char *path, const char *kept,
                                        const imp_tensor *tensors, size_t count,
                                        const imp_metadata *metadata, size_t metadata_count,
                                        imp_error *error);

/* The bytes that imp_safetensors_save() would write, in new memory: release *bytes. On failure it
 * is NULL. */
imp_status imp_safetensors_write(const imp_tensor *tensors, size_t count,
                                 const imp_metadata *metadata, size_t metadata_count,
                                 unsigned char **bytes, size_t *size, imp_error *error);

#endif
