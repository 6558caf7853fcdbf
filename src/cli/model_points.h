/* model_points.h - points that go through a model which was trained on vectors. */
#ifndef IMP_CLI_MODEL_POINTS_H
#define IMP_CLI_MODEL_POINTS_H

#include <imp/model.h>

#include "base/ranks.h"
#include "cli/vectors.h"

/* Opens the model at `path` and refuses one that takes pictures. Returns IMP_GO_ON, or the status
 * to exit with after a sentence; *model is NULL then, and where the path is NULL. */
int imp_open_vector_model(const char *command, const char *path, imp_model **model);

/* Is given the vectors of points begin .. begin + count - 1 of `total`. */
typedef imp_status imp_take_vectors(const float *vectors, size_t begin, size_t count, size_t total,
                                    void *context, imp_error *error);

/* Embeds the points at `path`, a file, a folder or a pipe, a block at a time, each by another of
 * the ranks (NULL: all by this process), and hands them over in order; of no points none, once.
 * Only rank 0 gets them. Returns IMP_GO_ON, or the status to exit with after a sentence. */
int imp_embed_points(const char *command, const imp_model *model, const char *path,
                     const imp_ranks *ranks, imp_take_vectors *take, void *context);

#endif
