/* metrics.c - `imp metrics`: how well two labelings agree. */
#include <imp/metrics.h>

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/vectors.h"
#include "methods/contingency.h"

typedef struct settings {
    bool json;
} settings;

static const imp_option options[] = {
    {IMP_OPTION_FLAG(settings, json), .name = "json", .help = "write JSON"}, {IMP_OPTION_END}};

static const char *const examples[] = {"imp metrics truth.npy found.npy",
                                       "imp metrics truth.npy found.npy --json", NULL};

const imp_usage imp_metrics_usage = {
    .command = "metrics",
    .summary = "Measure how well labels or clusters agree with the truth",
    .details =
        "Compares two labelings of the same points: accuracy with its 95% confidence interval, "
        "purity, normalised and adjusted mutual information, the adjusted Rand index and the "
        "confusion matrix. All agree with scikit-learn. Labels are integers; equal labels need to "
        "mean the same class only for accuracy and the confusion matrix.",
    .operands = "TRUTH.npy FOUND.npy",
    .fewest = 2,
    .most = 2,
    .options = options,
    .examples = examples,
};

static const char *const command = "metrics";

enum {
    MOST_PRINTED = 30,  /* labels whose confusion matrix fits a terminal */
    MOST_COUNTED = 1000 /* labels whose matrix is counted at all */
};

/* Fills *confusion; with more than MOST_COUNTED labels, only their number. */
static imp_status count_confusion(const int32_t *truth, const int32_t *found, size_t count,
                                  imp_confusion *confusion, imp_error *error)
{
    *confusion = (imp_confusion){0};
    int32_t *labels;
    size_t distinct;
    imp_status status = imp_distinct_of_both(truth, found, count, &labels, &distinct, error);
    if (status)
        return status;
    imp_release(labels);
    if (distinct <= MOST_COUNTED)
        return imp_confusion_matrix(truth, found, count, confusion, error);
    confusion->count = distinct;
    return IMP_OK;
}

static void print_confusion(const imp_confusion *confusion)
{
    if (confusion->count > MOST_PRINTED) {
        printf("\nconfusion matrix of %zu labels: %s\n", confusion->count,
               confusion->points ? "--json shows it" : "too large to show");
        return;
    }
    printf("\n%8s", "");
    for (size_t j = 0; j < confusion->count; j++)
        printf("  %6d", (int)confusion->label[j]);
    printf("  found\n");
    for (size_t i = 0; i < confusion->count; i++) {
        printf("%8d", (int)confusion->label[i]);
        for (size_t j = 0; j < confusion->count; j++)
            printf("  %6llu", (unsigned long long)confusion->points[i * confusion->count + j]);
        putchar('\n');
    }
}

static void add_confusion(const imp_confusion *confusion, json_t *object)
{
    json_object_set_new(object, "label_count", json_integer((json_int_t)confusion->count));
    if (!confusion->points) {
        json_object_set_new(object, "labels", json_null());
        json_object_set_new(object, "confusion", json_null());
        return;
    }
    json_t *rows = json_array();
    for (size_t i = 0; i < confusion->count; i++) {
        json_t *row = json_array();
        for (size_t j = 0; j < confusion->count; j++)
            json_array_append_new(
                row, json_integer((json_int_t)confusion->points[i * confusion->count + j]));
        json_array_append_new(rows, row);
    }
    json_object_set_new(object, "labels", imp_json_integers(confusion->label, confusion->count));
    json_object_set_new(object, "confusion", rows);
}

static int report(const settings *given, const int32_t *truth, const int32_t *found, size_t count)
{
    imp_confusion confusion;
    imp_error error;
    if (count_confusion(truth, found, count, &confusion, &error))
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    imp_interval accuracy = imp_accuracy(truth, found, count);
    int status;
    if (given->json) {
        json_t *object = imp_json_begin();
        json_object_set_new(object, "accuracy", imp_json_number(accuracy.mean));
        json_object_set_new(object, "accuracy_interval", imp_json_number(accuracy.half_width));
        status = imp_metrics_to_json(command, truth, found, count, 0, object);
        if (status == IMP_GO_ON) {
            add_confusion(&confusion, object);
            status = imp_json_print(command, object);
        } else {
            json_decref(object);
        }
    } else {
        printf("accuracy %.6f", accuracy.mean);
        if (!isnan(accuracy.half_width))
            printf(" +- %.6f", accuracy.half_width);
        putchar('\n');
        status = imp_metrics_print(command, truth, found, count, 0);
        if (status == IMP_GO_ON) {
            print_confusion(&confusion);
            status = EXIT_SUCCESS;
        }
    }
    imp_confusion_clear(&confusion);
    return status;
}

int imp_command_metrics(int argc, char **argv)
{
    settings given = {0};
    int operands;
    int status = imp_parse(&imp_metrics_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    int32_t *truth = NULL, *found = NULL;
    size_t count = 0, found_count = 0;
    status = imp_read_labels(command, argv[1], &truth, &count);
    if (status == IMP_GO_ON)
        status = imp_read_labels(command, argv[2], &found, &found_count);
    if (status == IMP_GO_ON && count != found_count)
        status = imp_complain(IMP_EXIT_FAILURE, command,
                              "%s has %zu labels and %s has %zu; they must label the same points",
                              argv[1], count, argv[2], found_count);
    if (status == IMP_GO_ON && count == 0)
        status = imp_complain(IMP_EXIT_FAILURE, command, "%s has no labels; it needs at least 1",
                              argv[1]);
    if (status == IMP_GO_ON)
        status = report(&given, truth, found, count);
    free(truth);
    free(found);
    return status;
}
