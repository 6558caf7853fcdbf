/*
 * safetensors_roundtrip.c - loads a safetensors file and saves its tensors and the metadata value
 * "note" again, for check_numpy.py to compare.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/safetensors.h"

int main(int count, char **arguments)
{
    if (count != 3) {
        fprintf(stderr, "usage: safetensors_roundtrip IN.safetensors OUT.safetensors\n");
        return 2;
    }
    imp_safetensors *file;
    imp_error error;
    if (imp_safetensors_load(arguments[1], &file, &error) != IMP_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }

    size_t tensors = imp_safetensors_count(file);
    imp_tensor *list = calloc(tensors + 1, sizeof *list);
    if (list == NULL) {
        imp_safetensors_free(file);
        return 1;
    }
    for (size_t i = 0; i < tensors; i++)
        list[i] = *imp_safetensors_at(file, i);
    imp_metadata note = {"note", imp_safetensors_metadata(file, "note")};
    imp_status status = imp_safetensors_save(arguments[2], list, tensors, &note,
                                             note.value != NULL ? 1 : 0, &error);
    if (status != IMP_OK)
        fprintf(stderr, "%s\n", error.message);
    free(list);
    imp_safetensors_free(file);
    return status == IMP_OK ? 0 : 1;
}
