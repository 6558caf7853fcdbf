/*
 * built_in_model.h - the model that is part of the library; cmake/models.cmake writes the bytes.
 */
#ifndef IMP_MODEL_BUILT_IN_MODEL_H
#define IMP_MODEL_BUILT_IN_MODEL_H

#include <stdint.h>

/* A model file, and its size; 0 if none was built in. */
extern const unsigned char imp_built_in_model[];
extern const uint64_t imp_built_in_model_size;

/* Its name: the file name without its extension. */
extern const char imp_built_in_model_name[];

#endif
