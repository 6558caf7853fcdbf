/*
 * fuzz_safetensors.c - any bytes at all as a safetensors file: tensors or a sentence, never a crash
 * or a leak.
 */
#define _GNU_SOURCE /* memfd_create */

#include "fuzz.h"

#include "base/memory.h"
#include "base/safetensors.h"

/* Reads every byte that was promised, so that the sanitizer sees any that is not there. */
static void check_tensor(const imp_safetensors *file, size_t index)
{
    const imp_tensor *tensor = imp_safetensors_at(file, index);
    size_t width = imp_dtype_size(tensor->dtype), sum = 0;
    if ((uintptr_t)tensor->data % width != 0 || tensor->rank > IMP_MAX_RANK ||
        imp_safetensors_find(file, tensor->name) != tensor)
        abort();
    for (size_t i = 0; i < tensor->count * width; i++)
        sum += ((const unsigned char *)tensor->data)[i];
    if (sum > tensor->count * width * 255)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t file_size;
    uint8_t *content = fuzz_safetensors(data, size, &file_size);
    unsigned char *bytes = imp_allocate(file_size, 1); /* which the parser takes over */
    if (bytes == NULL)
        abort();
    if (file_size > 0)
        memcpy(bytes, content, file_size);
    free(content);

    imp_safetensors *file;
    imp_error error = {0};
    imp_status status = imp_safetensors_parse(bytes, file_size, &file, &error);
    if (status == IMP_OK) {
        for (size_t i = 0; i < imp_safetensors_count(file); i++)
            check_tensor(file, i);
        (void)imp_safetensors_metadata(file, "format");
    } else if (file != NULL || error.status != status || error.message[0] == '\0') {
        abort();
    }
    imp_safetensors_free(file);
    return 0;
}
