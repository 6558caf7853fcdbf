/* learner_tensors.c - a learner's parameters as tensors of a file, and back. */
#include "model/learner_tensors.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { NAME_ROOM = 64 };

imp_status imp_learner_tensors_make(imp_learner_tensors *tensors, const imp_learner *learner,
                                    const float *values, imp_error *error)
{
    size_t count = learner->parameter_count;
    *tensors = (imp_learner_tensors){
        .tensors = imp_allocate_zeroed(count, sizeof *tensors->tensors),
        .count = count,
        .names = imp_allocate(count, NAME_ROOM),
    };
    if (!tensors->tensors || !tensors->names) {
        imp_learner_tensors_clear(tensors);
        return imp_fail_memory(error, "the learner's tensors");
    }
    for (size_t p = 0; p < count; p++) {
        const imp_learner_parameter *parameter = &learner->parameters[p];
        char *name = tensors->names + p * NAME_ROOM;
        snprintf(name, NAME_ROOM, "%s%s", learner->kind->prefix, parameter->name);
        tensors->tensors[p] = (imp_tensor){.name = name,
                                           .dtype = IMP_FLOAT32,
                                           .rank = parameter->rank,
                                           .count = parameter->count,
                                           .data = values + parameter->offset};
        memcpy(tensors->tensors[p].shape, parameter->shape, sizeof parameter->shape);
    }
    return IMP_OK;
}

void imp_learner_tensors_clear(imp_learner_tensors *tensors)
{
    imp_release(tensors->tensors);
    imp_release(tensors->names);
    *tensors = (imp_learner_tensors){0};
}

imp_status imp_learner_tensors_read(const imp_safetensors *file, imp_learner *learner,
                                    float *values, imp_error *error)
{
    for (size_t p = 0; p < learner->parameter_count; p++) {
        const imp_learner_parameter *parameter = &learner->parameters[p];
        char name[NAME_ROOM];
        snprintf(name, sizeof name, "%s%s", learner->kind->prefix, parameter->name);
        const imp_tensor *tensor = imp_safetensors_find(file, name);
        if (!tensor || tensor->dtype != IMP_FLOAT32 || tensor->count != parameter->count)
            return imp_fail(error, IMP_EFORMAT,
                            "its tensor '%s' is missing or not float32 of %zu numbers", name,
                            parameter->count);
        const float *data = tensor->data;
        for (size_t i = 0; i < tensor->count; i++) {
            learner->values[parameter->offset + i] = data[i];
            if (values)
                values[parameter->offset + i] = data[i];
        }
    }
    imp_learner_publish(learner);
    return IMP_OK;
}
