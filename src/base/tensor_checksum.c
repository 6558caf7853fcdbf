/* tensor_checksum.c - computes the SHA-256 of tensors and metadata, sorted by name. */
#include "base/tensor_checksum.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/sha2.h>

#include "base/error.h"
#include "base/hex.h"
#include "base/memory.h"

static int by_name(const void *left, const void *right)
{
    const imp_tensor *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

static int by_key(const void *left, const void *right)
{
    const imp_metadata *const *a = left, *const *b = right;
    return strcmp((*a)->key, (*b)->key);
}

/* With the zero byte that ends it. */
static void add_text(struct sha256_ctx *state, const char *text)
{
    sha256_update(state, strlen(text) + 1, (const uint8_t *)text);
}

static void add_metadata(struct sha256_ctx *state, const imp_metadata *const *sorted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(sorted[i]->key, IMP_CHECKSUM_KEY) == 0)
            continue;
        add_text(state, sorted[i]->key);
        add_text(state, sorted[i]->value);
    }
    add_text(state, "");
}

static void add_tensors(struct sha256_ctx *state, const imp_tensor *const *sorted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const imp_tensor *tensor = sorted[i];
        add_text(state, tensor->name);
        add_text(state, imp_dtype_code(tensor->dtype));
        char shape[IMP_MAX_RANK * 21 + 1] = "";
        for (size_t j = 0, used = 0; j < tensor->rank; j++)
            used += (size_t)snprintf(shape + used, sizeof shape - used, "%zu,", tensor->shape[j]);
        add_text(state, shape);
        if (tensor->count > 0)
            sha256_update(state, tensor->count * imp_dtype_size(tensor->dtype), tensor->data);
    }
}

imp_status imp_tensor_checksum(const imp_tensor *tensors, size_t count,
                               const imp_metadata *metadata, size_t metadata_count,
                               imp_checksum_text *out, imp_error *error)
{
    const imp_tensor **by_names = imp_allocate(count, sizeof *by_names);
    const imp_metadata **by_keys = imp_allocate(metadata_count, sizeof *by_keys);
    if (by_names == NULL || by_keys == NULL) {
        imp_release(by_names);
        imp_release(by_keys);
        return imp_fail_memory(error, "the checksum of a file");
    }
    for (size_t i = 0; i < count; i++)
        by_names[i] = &tensors[i];
    for (size_t i = 0; i < metadata_count; i++)
        by_keys[i] = &metadata[i];
    qsort(by_names, count, sizeof *by_names, by_name);
    qsort(by_keys, metadata_count, sizeof *by_keys, by_key);

    struct sha256_ctx state;
    sha256_init(&state);
    add_metadata(&state, by_keys, metadata_count);
    add_tensors(&state, by_names, count);
    imp_release(by_names);
    imp_release(by_keys);
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(&state, sizeof digest, digest);
    imp_hex(digest, sizeof digest, out->text);
    return IMP_OK;
}
