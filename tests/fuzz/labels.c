/* labels.c - any bytes at all as labels: a class for each point or a sentence, never a crash. */
#define _GNU_SOURCE /* memfd_create */

#include "base/labels.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    imp_labels labels;
    imp_error error = {0};
    imp_status status = imp_labels_parse(data, size, &labels, &error);
    fuzz_check(status, &error);
    for (size_t i = 0; i < labels.count; i++)
        if (labels.label[i] >= (int32_t)labels.classes || labels.label[i] < -1)
            abort();
    for (size_t c = 1; c < labels.classes; c++)
        if (strcmp(labels.names[c - 1], labels.names[c]) == 0)
            abort();
    imp_labels_clear(&labels);
    return 0;
}
