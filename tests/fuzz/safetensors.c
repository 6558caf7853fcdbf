/*
 * fuzz_safetensors.c - any bytes at all as a safetensors file: tensors or a sentence, never a crash
 * or a leak.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    /* An input that begins with the header itself gets the right length before it, which a mutation
     * would seldom find; its data begins at the first zero byte. */
    size_t extra = size > 0 && data[0] == '{' ? 8 : 0;
    unsigned char *bytes = imp_allocate(size + extra, 1);
    if (bytes == NULL)
        return 0;
    if (extra > 0) {
        const uint8_t *end = memchr(data, '\0', size);
        size_t length = end != NULL ? (size_t)(end - data) : size;
        for (int i = 0; i < 8; i++)
            bytes[i] = (unsigned char)((uint64_t)length >> 8 * i);
    }
    if (size > 0)
        memcpy(bytes + extra, data, size);

    imp_safetensors *file;
    imp_error error = {0};
    imp_status status = imp_safetensors_parse(bytes, size + extra, &file, &error);
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
