/*
 * mixture.c - any bytes at all as a fitted mixture: one that predicts, grows and is written again
 * to bytes that are read again, or a sentence.
 */
#define _GNU_SOURCE /* memfd_create */

#include "fuzz.h"

#include <imp/mixture.h>

static void use(const imp_mixture *mixture)
{
    imp_mixture_summary summary = imp_mixture_summarize(mixture);
    if (summary.dimensions > 4096 || summary.clusters > 4096)
        return;
    float *point = calloc(summary.dimensions, sizeof *point);
    int32_t label;
    imp_mixture *grown = NULL;
    imp_error error = {0};
    if (point == NULL)
        return;
    if (summary.classes > 0)
        fuzz_check(imp_mixture_predict(mixture, point, 1, summary.dimensions, false,
                                       &(imp_mixture_predictions){.label = &label}, &error),
                   &error);
    fuzz_check(imp_mixture_add(mixture, point, NULL, 1, summary.dimensions, &grown, &error),
               &error);
    imp_mixture_free(grown);
    free(point);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t file_size;
    uint8_t *file = fuzz_safetensors(data, size, &file_size);
    imp_mixture *mixture, *again;
    imp_error error = {0};
    imp_status status = imp_mixture_from_bytes(file, file_size, &mixture, &error);
    free(file);
    fuzz_check(status, &error);
    if (status)
        return 0;
    use(mixture);
    unsigned char *bytes;
    size_t written;
    if (imp_mixture_to_bytes(mixture, &bytes, &written, NULL) != IMP_OK ||
        imp_mixture_from_bytes(bytes, written, &again, NULL) != IMP_OK)
        abort();
    imp_mixture_bytes_free(bytes);
    imp_mixture_free(again);
    imp_mixture_free(mixture);
    return 0;
}
