/*
 * fingerprint.c - the SHA-256 that identifies a dataset in every result.
 *
 * It covers size and channels and, in the order of names, each name and the SHA-256 of the
 * picture's bytes. Hashing pictures separately lets all cores share the work.
 */
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

#include "base/hex.h"
#include "data/dataset.h"

void imp_fingerprint_pixels(const uint8_t *pixels, size_t size, uint8_t *digest)
{
    struct sha256_ctx state;
    sha256_init(&state);
    sha256_update(&state, size, pixels);
    sha256_digest(&state, IMP_FINGERPRINT_BYTES, digest);
}

void imp_fingerprint_format(imp_dataset *dataset)
{
    imp_hex(dataset->fingerprint, IMP_FINGERPRINT_BYTES, dataset->fingerprint_text);
}

void imp_dataset_set_fingerprint(imp_dataset *dataset, const uint8_t *digests)
{
    char head[80];
    int length = snprintf(head, sizeof head, "imp dataset 1, %u x %u x %u\n", dataset->channels,
                          dataset->size, dataset->size);
    struct sha256_ctx state;
    sha256_init(&state);
    sha256_update(&state, (size_t)length, (const uint8_t *)head);
    for (size_t i = 0; i < dataset->picture_count; i++) {
        const char *name = imp_picture_name(dataset, i);
        sha256_update(&state, strlen(name) + 1, (const uint8_t *)name); /* with its zero byte */
        sha256_update(&state, IMP_FINGERPRINT_BYTES, digests + i * IMP_FINGERPRINT_BYTES);
    }
    sha256_digest(&state, IMP_FINGERPRINT_BYTES, dataset->fingerprint);
    imp_fingerprint_format(dataset);
}
