/*
 * vectors.h - what the commands on embedded points share: reading points and labels, and metrics as
 * JSON and as text.
 */
#ifndef IMP_CLI_VECTORS_H
#define IMP_CLI_VECTORS_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/labels.h"
#include "base/npy.h"
#include "cli/algorithm_options.h"
#include "cli/cli.h"
#include "methods/point_source.h"

/* Rows of floats. Free with free(). */
typedef struct imp_rows {
    float *values; /* (count, dimensions) */
    size_t count, dimensions;
} imp_rows;

/* Every reader returns IMP_GO_ON, or the status to exit with after a sentence; what it reads is
 * then empty. `command` is named in the sentence. */

/* A (rows, columns) array as floats, from any type that .npy files are read in (imp_dtype). Every
 * value is finite. */
int imp_read_rows(const char *command, const char *path, imp_rows *rows);

/* Points that are read when they are needed. Close with imp_point_file_close(). It must not be
 * moved while it is open. */
typedef struct imp_point_file {
    imp_point_source source;
    imp_npy_shards shards; /* or, where that is a pipe and has to be read more than once, */
    imp_rows rows;         /* all of it */
} imp_point_file;

/* Opens what imp_read_rows() reads, or a folder of such files. A value that is no finite number is
 * found when it is read. `once`: the points are read once, from the first to the last, which a pipe
 * can do without memory for them. */
int imp_point_file_open(const char *command, const char *path, bool once, imp_point_file *points);
void imp_point_file_close(imp_point_file *points);

/* A 1-dimensional array of integers, as they are; or texts, which are numbered in their order (see
 * base/labels.h). */
int imp_read_labels(const char *command, const char *path, int32_t **labels, size_t *count);

/* Supports, their labels, and unlabelled points behind them with the label -1. */
typedef struct imp_labeled_rows {
    imp_rows rows;
    int32_t *labels;                                    /* (rows.count) */
    imp_labels classes;                                 /* of the supports, with their names */
    size_t view_count, view_dimensions[IMP_MOST_TEXTS]; /* whose columns stand side by side */
} imp_labeled_rows;

/* Views of the same points, side by side, and how many columns each has; embedded by the model if
 * that is not NULL, which knows points of one view. */
int imp_read_view_rows(const char *command, const struct imp_model *model, const imp_texts *paths,
                       imp_rows *rows, size_t dimensions[IMP_MOST_TEXTS]);

/* Whether files hold the views that the points have, each with as many columns. */
int imp_check_views(const char *command, const imp_texts *paths, const size_t *dimensions,
                    const imp_labeled_rows *points);

/* Numbers the classes as a mixture does that names them so. */
int imp_number_classes(const char *command, imp_labeled_rows *points, const imp_labels *known);

/* Supports and labels come together; they or the unlabelled points may be missing, but not both. */
int imp_read_labeled_rows(const char *command, const imp_point_files *files,
                          imp_labeled_rows *points);

/* Whether writing `output` leaves these files as they are. */
int imp_check_point_files(const char *command, const imp_point_files *files, const char *output);

void imp_labeled_rows_clear(imp_labeled_rows *points);

/* One more than the largest label; 0 if there is none. */
size_t imp_count_classes(const int32_t *labels, size_t count);

/* Adds purity, nmi, ami (by every average) and ari of two labelings to an object, or prints them. K
 * stands beside purity, which grows with it: `clusters`, or how many labels were found if that is
 * 0. */
int imp_metrics_to_json(const char *command, const int32_t *truth, const int32_t *found,
                        size_t count, size_t clusters, json_t *object);
int imp_metrics_print(const char *command, const int32_t *truth, const int32_t *found, size_t count,
                      size_t clusters);

/* An empty object. From here on the command ends with a sentence if memory runs out for JSON, so
 * that nothing need be checked while an object is put together. */
json_t *imp_json_begin(void);

json_t *imp_json_floats(const float *values, size_t count);
json_t *imp_json_integers(const int32_t *values, size_t count);

/* Writes an object to stdout and drops the reference. Numbers get as many digits as bring every
 * double back. */
int imp_json_print(const char *command, json_t *object);

/* The same of a report that people read as well, over several lines. NULL, which is what jansson
 * makes of a report without memory, is a failure. */
int imp_json_print_report(const char *command, json_t *report);

#endif
