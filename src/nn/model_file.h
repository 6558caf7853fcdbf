/*
 * model_file.h - a network beside other things in one safetensors file: what a trained model and a
 * checkpoint are.
 */
#ifndef IMP_NN_MODEL_FILE_H
#define IMP_NN_MODEL_FILE_H

#include <imp/network.h>

#include "base/safetensors.h"

/* Names that begin so are not the network's; imp_network_load() passes over them. */
#define IMP_METHOD_PREFIX "method."
#define IMP_LEARNER_PREFIX "learner."
#define IMP_TRAINING_PREFIX "training."

/* What else goes into the file. The names begin as above; the keys are none of format, network and
 * input. */
typedef struct imp_additions {
    const imp_tensor *tensors;
    size_t tensor_count;
    const imp_metadata *metadata;
    size_t metadata_count;
    const char *kept; /* what the file before it is called then; NULL: it is not kept */
} imp_additions;

/* imp_network_save() with additions. */
imp_status imp_network_save_with(imp_network *network, const imp_additions *additions,
                                 const char *path, imp_error *error);

/* imp_network_load() on a file that is read already; the sentences do not name it. */
imp_status imp_network_from_file(const imp_safetensors *file, const char *description,
                                 const imp_network_options *options, imp_network **out,
                                 imp_error *error);

#endif
