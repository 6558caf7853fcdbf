/*
 * checkpoint.c - any bytes at all as a checkpoint: a learner that can be resumed, or a sentence.
 */
#define _GNU_SOURCE /* memfd_create */

#include "fuzz.h"

#include "train/checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t file_size;
    uint8_t *bytes = fuzz_safetensors(data, size, &file_size);
    fuzz_file file = fuzz_file_of(bytes, file_size);
    free(bytes);
    imp_updater updater;
    imp_checkpoint checkpoint;
    imp_error error = {0};
    imp_status status = imp_checkpoint_load(file.path, 1, &updater, &checkpoint, &error);
    fuzz_check(status, &error);
    if (status && (updater.network != NULL || updater.learner != NULL))
        abort();
    imp_updater_clear(&updater);
    imp_checkpoint_clear(&checkpoint);
    close(file.descriptor);
    return 0;
}
