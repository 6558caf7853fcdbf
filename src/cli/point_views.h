/*
 * point_views.h - points from one or several files, whose columns are views that stand side by
 * side, or embedded by a model; read on demand.
 */
#ifndef IMP_CLI_POINT_VIEWS_H
#define IMP_CLI_POINT_VIEWS_H

#include "cli/vectors.h"
#include "methods/derived_source.h"

typedef struct imp_point_views {
    imp_point_source source;
    size_t count;                      /* views */
    size_t dimensions[IMP_MOST_TEXTS]; /* columns of each */
    imp_point_file file[IMP_MOST_TEXTS];
    imp_beside_source beside;
    const struct imp_model *model; /* that embeds them, */
    const char *path;              /* and their file */
    imp_mapped_source embedded;
    bool once; /* points can be read once */
} imp_point_views;

/* Opens the files of all views; embedded by the model if it is not NULL, which needs a single view
 * and must outlive them. `once` as in imp_point_file_open(). Must not be moved while open. Returns
 * IMP_GO_ON, or the status to exit with after a sentence; there is nothing to close then. */
int imp_point_views_open(const char *command, const struct imp_model *model, const imp_texts *paths,
                         bool once, imp_point_views *views);
void imp_point_views_close(imp_point_views *views);

#endif
