/* trained_on.c - identifies data by its pictures and its split, and compares them. */
#include "model/trained_on.h"

#include <stdio.h>
#include <string.h>

#include <nettle/sha2.h>

#include "base/error.h"
#include "base/hex.h"

imp_trained_on imp_trained_on_of(const imp_dataset *dataset)
{
    imp_trained_on data;
    snprintf(data.kind, sizeof data.kind, "%s", imp_dataset_kind(dataset));
    snprintf(data.fingerprint, sizeof data.fingerprint, "%s", imp_dataset_fingerprint(dataset));
    struct sha256_ctx state;
    sha256_init(&state);
    for (size_t c = 0; c < imp_dataset_classes(dataset); c++) {
        imp_class_info about = imp_dataset_class(dataset, c);
        uint8_t split = (uint8_t)about.split;
        sha256_update(&state, strlen(about.name) + 1, (const uint8_t *)about.name);
        sha256_update(&state, 1, &split);
    }
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(&state, sizeof digest, digest);
    imp_hex(digest, sizeof digest, data.split);
    return data;
}

imp_status imp_trained_on_check(const imp_trained_on *known, const imp_dataset *dataset,
                                imp_error *error)
{
    imp_trained_on here = imp_trained_on_of(dataset);
    if (strcmp(known->fingerprint, here.fingerprint) != 0)
        return imp_fail(error, IMP_EINVAL,
                        "this is not the training data: its fingerprint is %.12s..., not %.12s...",
                        here.fingerprint, known->fingerprint);
    if (known->split[0] && strcmp(known->split, here.split) != 0)
        return imp_fail(error, IMP_EINVAL,
                        "the classes are not split as in training, so training classes could be "
                        "tested; give the data with its original split");
    return IMP_OK;
}
