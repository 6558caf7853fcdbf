/*
 * model_file.h - a network together with other tensors in one safetensors file, such as a trained
 * model or a checkpoint.
 */
#ifndef IMP_NN_MODEL_FILE_H
#define IMP_NN_MODEL_FILE_H

#include <imp/network.h>

#include "base/safetensors.h"

/* Prefixes of tensors that are not the network's; imp_network_load() ignores them. */
#define IMP_METHOD_PREFIX "method."
#define IMP_LEARNER_PREFIX "learner."
#define IMP_TRAINING_PREFIX "training."

/* What else goes into the file. Tensor names have one of the prefixes above; the keys "format",
 * "network" and "input" are reserved. */
typedef struct imp_additions {
    const imp_tensor *tensors;
    size_t tensor_count;
    const imp_metadata *metadata;
    size_t metadata_count;
    const char *kept; /* the previous file is renamed to this; NULL: it is not kept */
} imp_additions;

/* imp_network_save() with additions. */
imp_status imp_network_save_with(imp_network *network, const imp_additions *additions,
                                 const char *path, imp_error *error);

/* imp_network_load() from a file already read; errors do not name it. */
imp_status imp_network_from_file(const imp_safetensors *file, const char *description,
                                 const imp_network_options *options, imp_network **out,
                                 imp_error *error);

#endif
