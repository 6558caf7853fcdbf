/* model_points.h - points that go through a model which was trained on vectors. */
#ifndef IMP_CLI_MODEL_POINTS_H
#define IMP_CLI_MODEL_POINTS_H

#include <imp/model.h>

#include "cli/vectors.h"

/* Opens the model at `path` and refuses one that takes pictures. Returns IMP_GO_ON, or the status
 * to exit with after a sentence; *model is NULL then, and where the path is NULL. */
int imp_open_vector_model(const char *command, const char *path, imp_model **model);

/* imp_read_rows() of what the model makes of the points; of themselves, where that is NULL. */
int imp_read_embedded(const char *command, const imp_model *model, const char *path,
                      imp_rows *rows);

#endif
