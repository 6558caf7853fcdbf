/* method_tensors.c - a method's parameters as tensors of a file, and back. */
#include "train/method_tensors.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { NAME_ROOM = 64 };

imp_status imp_method_tensors_make(imp_method_tensors *tensors, const char *prefix,
                                   const imp_method *method, const float *values, imp_error *error)
{
    size_t count;
    const imp_method_parameter *parameters = imp_method_parameters(method, &count);
    *tensors = (imp_method_tensors){
        .tensors = imp_allocate_zeroed(count, sizeof *tensors->tensors),
        .count = count,
        .names = imp_allocate(count, NAME_ROOM),
    };
    if (!tensors->tensors || !tensors->names) {
        imp_method_tensors_clear(tensors);
        return imp_fail_memory(error, "the method's tensors");
    }
    for (size_t p = 0; p < count; p++) {
        char *name = tensors->names + p * NAME_ROOM;
        snprintf(name, NAME_ROOM, "%s%s", prefix, parameters[p].name);
        tensors->tensors[p] = (imp_tensor){.name = name,
                                           .dtype = IMP_FLOAT32,
                                           .rank = parameters[p].rank,
                                           .count = parameters[p].count,
                                           .data = values + parameters[p].offset};
        memcpy(tensors->tensors[p].shape, parameters[p].shape, sizeof parameters[p].shape);
    }
    return IMP_OK;
}

void imp_method_tensors_clear(imp_method_tensors *tensors)
{
    imp_release(tensors->tensors);
    imp_release(tensors->names);
    *tensors = (imp_method_tensors){0};
}

imp_status imp_method_tensors_read(const imp_safetensors *file, const char *prefix,
                                   imp_method *method, float *values, imp_error *error)
{
    size_t count;
    const imp_method_parameter *parameters = imp_method_parameters(method, &count);
    double *doubles = imp_method_values(method, NULL);
    for (size_t p = 0; p < count; p++) {
        char name[NAME_ROOM];
        snprintf(name, sizeof name, "%s%s", prefix, parameters[p].name);
        const imp_tensor *tensor = imp_safetensors_find(file, name);
        if (!tensor || tensor->dtype != IMP_FLOAT32 || tensor->count != parameters[p].count)
            return imp_fail(error, IMP_EFORMAT,
                            "its tensor '%s' is missing or not float32 of %zu numbers", name,
                            parameters[p].count);
        const float *data = tensor->data;
        for (size_t i = 0; i < tensor->count; i++) {
            doubles[parameters[p].offset + i] = data[i];
            if (values)
                values[parameters[p].offset + i] = data[i];
        }
    }
    return IMP_OK;
}
