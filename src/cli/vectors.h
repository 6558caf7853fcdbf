/*
 * vectors.h - shared by the commands on points: reading points and labels, and metrics as JSON and
 * as text.
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

/* Every reader returns IMP_GO_ON or, after printing an error that names `command`, the exit status;
 * its result is then empty. */

/* A (rows, columns) array as floats, from any type in imp_dtype. Every value is finite. */
int imp_read_rows(const char *command, const char *path, imp_rows *rows);

/* Points that are read on demand. Close with imp_point_file_close(). Must not be moved while
 * open. */
typedef struct imp_point_file {
    imp_point_source source;
    imp_npy_shards shards; /* or, if it is a pipe to be read more than once, */
    imp_rows rows;         /* all of it */
} imp_point_file;

/* Opens what imp_read_rows() reads, or a folder of such files. Values that are not finite are
 * detected when they are read. `once`: the points are read once, in order, so a pipe need not be
 * held in memory. */
int imp_point_file_open(const char *command, const char *path, bool once, imp_point_file *points);
void imp_point_file_close(imp_point_file *points);

/* A 1-dimensional array of integers, as they are; or strings, which are numbered in sorted order
 * (see base/labels.h). */
int imp_read_labels(const char *command, const char *path, int32_t **labels, size_t *count);

/* Supports and their labels, followed by unlabelled points with the label -1. */
typedef struct imp_labeled_rows {
    imp_rows rows;
    int32_t *labels;                                    /* (rows.count) */
    imp_labels classes;                                 /* of the supports, with class names */
    size_t view_count, view_dimensions[IMP_MOST_TEXTS]; /* views, whose columns are side by side */
} imp_labeled_rows;

/* Views of the same points, side by side, and the number of columns of each; embedded by the model
 * if it is not NULL, which needs a single view. */
int imp_read_view_rows(const char *command, const struct imp_model *model, const imp_texts *paths,
                       imp_rows *rows, size_t dimensions[IMP_MOST_TEXTS]);

/* Whether files hold the same views as the points, with the same numbers of columns; the second
 * takes over the views of the files where there are no points yet. */
int imp_check_views(const char *command, const imp_texts *paths, const size_t *dimensions,
                    const imp_labeled_rows *points);
int imp_join_views(const char *command, const imp_texts *paths, const size_t *dimensions,
                   imp_labeled_rows *points);

/* Renumbers the classes like a mixture with those class names. */
int imp_number_classes(const char *command, imp_labeled_rows *points, const imp_labels *known);

/* Supports and labels must be given together; either they or the unlabelled points may be
 * missing. */
int imp_read_labeled_rows(const char *command, const imp_point_files *files,
                          imp_labeled_rows *points);

/* The supports alone, if there are any; unlabelled points must then be read by the caller. */
int imp_read_supports(const char *command, const imp_point_files *files, imp_labeled_rows *points);
imp_texts imp_unlabeled_paths(const imp_point_files *files);

/* Whether `output` can be written, and leaves these files intact. */
int imp_check_point_files(const char *command, const imp_point_files *files, const char *output);

void imp_labeled_rows_clear(imp_labeled_rows *points);

/* One more than the largest label; 0 if there is none. */
size_t imp_count_classes(const int32_t *labels, size_t count);

/* Adds purity, nmi, ami (with every average) and ari of two labelings to an object, or prints them.
 * Purity is given with K, with which it grows: `clusters`, or the number of labels found if that is
 * 0. */
int imp_metrics_to_json(const char *command, const int32_t *truth, const int32_t *found,
                        size_t count, size_t clusters, json_t *object);
int imp_metrics_print(const char *command, const int32_t *truth, const int32_t *found, size_t count,
                      size_t clusters);

/* An empty object. From here on the command exits with an error if memory for JSON runs out, so
 * that building an object needs no checks. */
json_t *imp_json_begin(void);

json_t *imp_json_floats(const float *values, size_t count);
json_t *imp_json_integers(const int32_t *values, size_t count);

/* Writes an object to stdout and drops the reference. Numbers have enough digits to restore every
 * double. */
int imp_json_print(const char *command, json_t *object);

/* The same for a report that people read as well, indented. NULL, which is jansson's out of memory,
 * is a failure. */
int imp_json_print_report(const char *command, json_t *report);

#endif
