/* learner_tensors.h - a learner's parameters beside its network, as tensors of a file. */
#ifndef IMP_MODEL_LEARNER_TENSORS_H
#define IMP_MODEL_LEARNER_TENSORS_H

#include "base/safetensors.h"
#include "learners/learner.h"

typedef struct imp_learner_tensors {
    imp_tensor *tensors;
    size_t count;
    char *names;
} imp_learner_tensors;

/* One tensor per parameter, named by the learner's prefix and the parameter; `values` (floats, in
 * the learner's order) are not copied. Release with imp_learner_tensors_clear(). */
imp_status imp_learner_tensors_make(imp_learner_tensors *tensors, const imp_learner *learner,
                                    const float *values, imp_error *error);

/* Harmless on zeroed ones. */
void imp_learner_tensors_clear(imp_learner_tensors *tensors);

/* Reads them back into the learner and, if not NULL, `values`. IMP_EFORMAT names a tensor that is
 * missing or has the wrong shape. */
imp_status imp_learner_tensors_read(const imp_safetensors *file, imp_learner *learner,
                                    float *values, imp_error *error);

#endif
