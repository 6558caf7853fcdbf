/* csv.c - any text at all as a CSV file: rows or a sentence, never a crash. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    imp_csv csv = imp_csv_start(text, size);
    imp_error error;
    while (imp_csv_next(&csv, &error) == IMP_OK && csv.count > 0)
        for (size_t i = 0; i < csv.count; i++)
            if (csv.fields[i] < text || csv.fields[i] + strlen(csv.fields[i]) > text + size)
                abort();
    free(text);
    return 0;
}
