/* method_tensors.h - a method's parameters as tensors of a file. */
#ifndef IMP_TRAIN_METHOD_TENSORS_H
#define IMP_TRAIN_METHOD_TENSORS_H

#include <imp/method.h>

#include "base/safetensors.h"

typedef struct imp_method_tensors {
    imp_tensor *tensors;
    size_t count;
    char *names;
} imp_method_tensors;

/* One tensor per parameter, named PREFIX and the parameter's name; `values` (as floats, in the
 * method's order) are pointed to, not copied. Release with imp_method_tensors_clear(). */
imp_status imp_method_tensors_make(imp_method_tensors *tensors, const char *prefix,
                                   const imp_method *method, const float *values, imp_error *error);

/* Harmless on zeroed ones. */
void imp_method_tensors_clear(imp_method_tensors *tensors);

/* Reads them back into the method and, if not NULL, `values`. IMP_EFORMAT names a tensor that is
 * missing or of another shape. */
imp_status imp_method_tensors_read(const imp_safetensors *file, const char *prefix,
                                   imp_method *method, float *values, imp_error *error);

#endif
