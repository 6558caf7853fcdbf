/*
 * model.c - any bytes at all as a model: one that embeds a picture, or a sentence, never a crash.
 */
#define _GNU_SOURCE /* memfd_create */

#include "fuzz.h"

#include <imp/model.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t file_size;
    uint8_t *file = fuzz_safetensors(data, size, &file_size);
    imp_model *model;
    imp_error error = {0};
    imp_status status = imp_model_open_bytes(file, file_size, "input", NULL, &model, &error);
    free(file);
    fuzz_check(status, &error);
    if (status)
        return 0;
    const imp_model_info *info = imp_model_info_of(model);
    size_t pixels = info->channels * info->height * info->width;
    if (pixels <= 4096 && info->dimensions <= 65536) {
        float *image = calloc(pixels, sizeof *image);
        float *embedding = calloc(info->dimensions, sizeof *embedding);
        if (image != NULL && embedding != NULL) {
            status = imp_model_embed(model, image, 1, 1, embedding, &error);
            fuzz_check(status, &error);
        }
        free(image);
        free(embedding);
    }
    imp_model_free(model);
    return 0;
}
