/*
 * vectors.c - reads points and labels from .npy files, and prints metrics.
 */
#include "cli/vectors.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <imp/metrics.h>

#include "base/memory.h"
#include "cli/destination.h"
#include "cli/job.h"
#include "cli/point_views.h"
#include "methods/contingency.h"

/* ---- reading ---- */

static int complain_memory(const char *command)
{
    return imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
}

/* All rows of a source, in memory of their own. */
static int read_all(const char *command, const imp_point_source *source, imp_rows *rows)
{
    size_t values = 0;
    float *room = NULL;
    const float *found;
    imp_error error;
    if (imp_multiply(source->count, source->dimensions, &values) &&
        values <= SIZE_MAX / sizeof *room)
        room = malloc((values ? values : 1) * sizeof *room);
    if (!room)
        return complain_memory(command);
    if (source->read(source, 0, source->count, room, &found, &error)) {
        free(room);
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    }
    if (found != room && values > 0)
        memcpy(room, found, values * sizeof *room);
    *rows = (imp_rows){room, source->count, source->dimensions};
    return IMP_GO_ON;
}

int imp_read_rows(const char *command, const char *path, imp_rows *rows)
{
    *rows = (imp_rows){0};
    imp_npy_shards shards;
    imp_error error;
    if (imp_npy_shards_open(path, &shards, &error))
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    imp_point_source source = imp_source_of_shards(&shards);
    int status = imp_job_agree(command, path);
    if (status == IMP_GO_ON)
        status = read_all(command, &source, rows);
    imp_npy_shards_close(&shards);
    return status;
}

int imp_point_file_open(const char *command, const char *path, bool once, imp_point_file *points)
{
    *points = (imp_point_file){0};
    imp_error error;
    if (imp_npy_shards_open(path, &points->shards, &error))
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    points->source = imp_source_of_shards(&points->shards);
    int status = imp_job_agree(command, path);
    if (status == IMP_GO_ON && !once && points->shards.once) {
        status = read_all(command, &points->source, &points->rows);
        points->source =
            imp_source_of_rows(points->rows.values, points->rows.count, points->rows.dimensions);
    }
    if (status != IMP_GO_ON)
        imp_point_file_close(points);
    return status;
}

void imp_point_file_close(imp_point_file *points)
{
    imp_npy_shards_close(&points->shards);
    free(points->rows.values);
    *points = (imp_point_file){0};
}

static int check_label(const char *command, const char *path, size_t i, int64_t label)
{
    if (label >= INT32_MIN && label <= INT32_MAX)
        return IMP_GO_ON;
    return imp_complain(IMP_EXIT_FAILURE, command,
                        "%s: label %zu is %" PRId64 "; labels are from %d to %d", path, i, label,
                        INT32_MIN, INT32_MAX);
}

/* Labels from a file that is not an array of numbers: strings or lines, which are numbered. */
static int read_named_labels(const char *command, const char *path, int32_t **labels, size_t *count)
{
    imp_labels found;
    imp_error error;
    if (imp_labels_read(path, &found, &error))
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    int status = IMP_GO_ON;
    *labels = malloc((found.count ? found.count : 1) * sizeof **labels);
    if (*labels && found.count > 0)
        memcpy(*labels, found.label, found.count * sizeof **labels);
    else if (!*labels)
        status = complain_memory(command);
    *count = found.count;
    imp_labels_clear(&found);
    return status;
}

static int read_labels(const char *command, const char *path, int32_t **labels, size_t *count)
{
    *labels = NULL;
    *count = 0;
    imp_array array;
    imp_error error;
    imp_status failed = imp_npy_load(path, &array, &error);
    if (failed == IMP_EFORMAT || failed == IMP_EUNSUPPORTED)
        return read_named_labels(command, path, labels, count);
    if (failed)
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    int status = IMP_GO_ON;
    bool integers =
        array.dtype != IMP_FLOAT32 && array.dtype != IMP_FLOAT64 && array.dtype != IMP_FLOAT16;
    if (array.rank != 1 || !integers) {
        imp_shape_text shape = imp_shape_format(array.rank, array.shape);
        status = imp_complain(IMP_EXIT_FAILURE, command,
                              "%s: it holds %s of shape %s; labels are integers, one per point",
                              path, imp_dtype_name(array.dtype), shape.text);
        imp_array_clear(&array);
        return status;
    }
    *labels = malloc((array.count ? array.count : 1) * sizeof **labels);
    if (!*labels)
        status = complain_memory(command);
    for (size_t i = 0; i < array.count && status == IMP_GO_ON; i++) {
        int64_t label = array.dtype == IMP_INT64 ? ((const int64_t *)array.data)[i]
                                                 : (int64_t)imp_element(array.dtype, array.data, i);
        status = check_label(command, path, i, label);
        (*labels)[i] = (int32_t)label;
    }
    *count = array.count;
    imp_array_clear(&array);
    if (status != IMP_GO_ON) {
        free(*labels);
        *labels = NULL;
    }
    return status;
}

int imp_read_labels(const char *command, const char *path, int32_t **labels, size_t *count)
{
    int status = read_labels(command, path, labels, count);
    if (status == IMP_GO_ON && (status = imp_job_agree(command, path)) != IMP_GO_ON) {
        free(*labels);
        *labels = NULL;
    }
    return status;
}

void imp_labeled_rows_clear(imp_labeled_rows *points)
{
    free(points->rows.values);
    free(points->labels);
    imp_labels_clear(&points->classes);
    *points = (imp_labeled_rows){0};
}

/* Appends the rows of `more` to `points`, unlabelled. */
static int append_rows(const char *command, const char *path, const imp_rows *more,
                       imp_labeled_rows *points)
{
    imp_rows *rows = &points->rows;
    if (rows->values && more->dimensions != rows->dimensions)
        return imp_complain(IMP_EXIT_FAILURE, command,
                            "%s: its points have %zu dimensions, but the supports have %zu", path,
                            more->dimensions, rows->dimensions);
    size_t total = rows->count + more->count, d = more->dimensions;
    float *values = malloc((total * d > 0 ? total * d : 1) * sizeof *values);
    int32_t *labels = malloc((total ? total : 1) * sizeof *labels);
    if (!values || !labels) {
        free(values);
        free(labels);
        return complain_memory(command);
    }
    if (rows->count > 0) {
        memcpy(values, rows->values, rows->count * d * sizeof *values);
        memcpy(labels, points->labels, rows->count * sizeof *labels);
    }
    if (more->count > 0)
        memcpy(values + rows->count * d, more->values, more->count * d * sizeof *values);
    for (size_t i = rows->count; i < total; i++)
        labels[i] = -1;
    free(points->rows.values);
    free(points->labels);
    points->rows = (imp_rows){values, total, d};
    points->labels = labels;
    return IMP_GO_ON;
}

int imp_read_view_rows(const char *command, const struct imp_model *model, const imp_texts *paths,
                       imp_rows *rows, size_t dimensions[IMP_MOST_TEXTS])
{
    imp_point_views views;
    *rows = (imp_rows){0};
    int status = imp_point_views_open(command, model, paths, true, &views);
    if (status != IMP_GO_ON)
        return status;
    memcpy(dimensions, views.dimensions, sizeof views.dimensions);
    status = read_all(command, &views.source, rows);
    imp_point_views_close(&views);
    return status;
}

/* The paths of one or several views. */
static imp_texts paths_of(const imp_texts *views, const char *first)
{
    return views->count > 0 ? *views : (imp_texts){{first}, first != NULL};
}

static int read_supports(const char *command, const struct imp_model *model,
                         const imp_texts *supports, const char *labels, imp_labeled_rows *points)
{
    imp_rows rows;
    int status = imp_read_view_rows(command, model, supports, &rows, points->view_dimensions);
    if (status != IMP_GO_ON)
        return status;
    points->rows = rows;
    points->view_count = supports->count;
    imp_error error;
    if (imp_labels_read(labels, &points->classes, &error))
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    size_t count = points->classes.count;
    if (count != rows.count)
        return imp_complain(IMP_EXIT_FAILURE, command,
                            "%s has %zu labels for the %zu points of %s; each needs one", labels,
                            count, rows.count, supports->items[0]);
    points->labels = malloc((count ? count : 1) * sizeof *points->labels);
    if (!points->labels)
        return complain_memory(command);
    memcpy(points->labels, points->classes.label, count * sizeof *points->labels);
    return IMP_GO_ON;
}

int imp_check_views(const char *command, const imp_texts *paths, const size_t *dimensions,
                    const imp_labeled_rows *points)
{
    if (paths->count != points->view_count)
        return imp_complain(
            IMP_EXIT_USAGE, command,
            "%zu file%s given where the supports have %zu; give one per view, in the same order",
            paths->count, paths->count == 1 ? "" : "s", points->view_count);
    for (size_t v = 0; v < paths->count; v++)
        if (dimensions[v] != points->view_dimensions[v])
            return imp_complain(IMP_EXIT_FAILURE, command,
                                "%s: its points have %zu dimensions, but the supports have %zu",
                                paths->items[v], dimensions[v], points->view_dimensions[v]);
    return IMP_GO_ON;
}

int imp_join_views(const char *command, const imp_texts *paths, const size_t *dimensions,
                   imp_labeled_rows *points)
{
    if (points->view_count > 0)
        return imp_check_views(command, paths, dimensions, points);
    points->view_count = paths->count;
    memcpy(points->view_dimensions, dimensions, sizeof points->view_dimensions);
    return IMP_GO_ON;
}

int imp_number_classes(const char *command, imp_labeled_rows *points, const imp_labels *known)
{
    imp_error error;
    if (imp_labels_renumber(&points->classes, (const char *const *)known->names, known->classes,
                            &error))
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    if (points->classes.count > 0)
        memcpy(points->labels, points->classes.label,
               points->classes.count * sizeof *points->labels);
    points->classes.integers =
        known->integers && (points->classes.integers || points->classes.count == 0);
    return IMP_GO_ON;
}

int imp_read_supports(const char *command, const imp_point_files *files, imp_labeled_rows *points)
{
    const char *support = files->support, *labels = files->labels;
    *points = (imp_labeled_rows){0};
    if (!support != !labels)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "--support FILE and --labels FILE must be given together; points "
                            "without labels go to --unlabeled");
    if (!support && !files->unlabeled)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "give points: --support FILE with --labels FILE, or --unlabeled FILE");
    if (!support)
        return IMP_GO_ON;
    imp_texts supports = paths_of(&files->supports, support);
    int status = read_supports(command, files->model, &supports, labels, points);
    if (status != IMP_GO_ON)
        imp_labeled_rows_clear(points);
    return status;
}

imp_texts imp_unlabeled_paths(const imp_point_files *files)
{
    return paths_of(&files->more, files->unlabeled);
}

int imp_read_labeled_rows(const char *command, const imp_point_files *files,
                          imp_labeled_rows *points)
{
    int status = imp_read_supports(command, files, points);
    if (status == IMP_GO_ON && files->unlabeled) {
        imp_rows more;
        size_t dimensions[IMP_MOST_TEXTS];
        imp_texts paths = imp_unlabeled_paths(files);
        status = imp_read_view_rows(command, files->model, &paths, &more, dimensions);
        if (status == IMP_GO_ON)
            status = imp_join_views(command, &paths, dimensions, points);
        if (status == IMP_GO_ON)
            status = append_rows(command, files->unlabeled, &more, points);
        free(more.values);
    }
    if (status != IMP_GO_ON)
        imp_labeled_rows_clear(points);
    return status;
}

int imp_check_point_files(const char *command, const imp_point_files *files, const char *output)
{
    const char *inputs[1 + 2 * IMP_MOST_TEXTS] = {files->labels};
    size_t count = 1;
    for (size_t v = 0; v < files->supports.count; v++)
        inputs[count++] = files->supports.items[v];
    for (size_t v = 0; v < files->more.count; v++)
        inputs[count++] = files->more.items[v];
    const imp_destination file = {"-o", "another file", output};
    int status = imp_check_inputs(command, output, inputs, count);
    return status == IMP_GO_ON ? imp_check_files(command, &file, 1) : status;
}

size_t imp_count_classes(const int32_t *labels, size_t count)
{
    size_t classes = 0;
    for (size_t i = 0; i < count; i++)
        if (labels[i] >= 0 && (size_t)labels[i] >= classes)
            classes = (size_t)labels[i] + 1;
    return classes;
}

/* ---- metrics ---- */

typedef struct agreement {
    size_t points, classes, clusters;
    double purity, nmi[4], ami[4], ari;
} agreement;

static const char *const average_names[] = {"arithmetic", "geometric", "min", "max"};

static int measure(const char *command, const int32_t *truth, const int32_t *found, size_t count,
                   size_t clusters, agreement *result)
{
    *result = (agreement){0};
    imp_contingency *contingency;
    imp_error error;
    double expected = 0;
    imp_status status = imp_contingency_create(truth, found, count, &contingency, &error);
    if (!status)
        status = imp_expected_information(contingency, &expected, &error);
    if (!status) {
        *result = (agreement){
            .points = count,
            .classes = imp_contingency_classes(contingency),
            .clusters = clusters > 0 ? clusters : imp_contingency_clusters(contingency),
            .purity = imp_purity(contingency),
            .ari = imp_adjusted_rand(contingency),
        };
        for (int a = 0; a < 4; a++) {
            result->nmi[a] = imp_nmi(contingency, (imp_average)a);
            result->ami[a] = imp_adjusted_information(contingency, (imp_average)a, expected);
        }
    }
    imp_contingency_free(contingency);
    if (status)
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    return IMP_GO_ON;
}

int imp_metrics_to_json(const char *command, const int32_t *truth, const int32_t *found,
                        size_t count, size_t clusters, json_t *object)
{
    agreement result;
    int status = measure(command, truth, found, count, clusters, &result);
    if (status != IMP_GO_ON)
        return status;
    json_object_set_new(object, "points", json_integer((json_int_t)result.points));
    json_object_set_new(object, "classes", json_integer((json_int_t)result.classes));
    json_object_set_new(object, "clusters", json_integer((json_int_t)result.clusters));
    json_object_set_new(object, "purity", json_real(result.purity));
    json_object_set_new(object, "nmi", json_real(result.nmi[0]));
    json_object_set_new(object, "ami", json_real(result.ami[0]));
    json_object_set_new(object, "ari", json_real(result.ari));
    for (size_t a = 1; a < 4; a++) {
        char key[40];
        snprintf(key, sizeof key, "nmi_%s", average_names[a]);
        json_object_set_new(object, key, json_real(result.nmi[a]));
        snprintf(key, sizeof key, "ami_%s", average_names[a]);
        json_object_set_new(object, key, json_real(result.ami[a]));
    }
    return IMP_GO_ON;
}

int imp_metrics_print(const char *command, const int32_t *truth, const int32_t *found, size_t count,
                      size_t clusters)
{
    agreement result;
    int status = measure(command, truth, found, count, clusters, &result);
    if (status != IMP_GO_ON)
        return status;
    printf("points   %zu\nclasses  %zu\nclusters %zu\n", result.points, result.classes,
           result.clusters);
    printf("purity   %.6f (of K = %zu)\n", result.purity, result.clusters);
    for (size_t a = 0; a < 4; a++)
        printf("NMI      %.6f (%s)\n", result.nmi[a], average_names[a]);
    for (size_t a = 0; a < 4; a++)
        printf("AMI      %.6f (%s)\n", result.ami[a], average_names[a]);
    printf("ARI      %.6f\n", result.ari);
    return IMP_GO_ON;
}

/* ---- JSON ---- */

static void *allocate_or_exit(size_t size)
{
    void *memory = malloc(size);
    if (!memory)
        exit(imp_complain(IMP_EXIT_FAILURE, NULL, "out of memory for JSON"));
    return memory;
}

json_t *imp_json_begin(void)
{
    json_set_alloc_funcs(allocate_or_exit, free);
    return json_object();
}

json_t *imp_json_floats(const float *values, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, imp_json_number(values[i]));
    return array;
}

json_t *imp_json_integers(const int32_t *values, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_integer(values[i]));
    return array;
}

static int print(const char *command, json_t *value, size_t layout)
{
    int failed = json_dumpf(value, stdout, layout | JSON_REAL_PRECISION(17));
    json_decref(value);
    if (failed)
        return imp_complain(IMP_EXIT_FAILURE, command, "cannot write JSON to standard output");
    putchar('\n');
    return EXIT_SUCCESS;
}

int imp_json_print(const char *command, json_t *object)
{
    return print(command, object, JSON_COMPACT);
}

int imp_json_print_report(const char *command, json_t *report)
{
    if (!report)
        return complain_memory(command);
    return print(command, report, JSON_INDENT(2));
}
