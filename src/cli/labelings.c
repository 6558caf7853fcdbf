/* labelings.c - compares two labelings of the same points, for `imp metrics` and `imp cluster`. */
#include "cli/labelings.h"

#include <math.h>
#include <stdio.h>

#include <imp/metrics.h>

#include "base/memory.h"
#include "cli/vectors.h"
#include "methods/contingency.h"

enum {
    MOST_PRINTED = 30,  /* labels whose confusion matrix fits a terminal */
    MOST_COUNTED = 1000 /* labels whose matrix is counted at all */
};

/* Fills *confusion, or says why not; with more than MOST_COUNTED labels, only their number. */
static int count_confusion(const char *command, const imp_labelings *of, imp_confusion *confusion)
{
    int32_t *labels;
    imp_error error;
    *confusion = (imp_confusion){0};
    imp_status status =
        imp_distinct_of_both(of->truth, of->answer, of->count, &labels, &confusion->count, &error);
    if (!status)
        imp_release(labels);
    if (!status && confusion->count <= MOST_COUNTED)
        status = imp_confusion_matrix(of->truth, of->answer, of->count, confusion, &error);
    return status ? imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message) : IMP_GO_ON;
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

int imp_labelings_print(const char *command, const imp_labelings *of)
{
    imp_confusion confusion;
    int status = count_confusion(command, of, &confusion);
    if (status != IMP_GO_ON)
        return status;
    imp_interval accuracy = imp_accuracy(of->truth, of->answer, of->count);
    printf("accuracy %.6f", accuracy.mean);
    if (!isnan(accuracy.half_width))
        printf(" +- %.6f", accuracy.half_width);
    putchar('\n');
    status = imp_metrics_print(command, of->truth, of->found, of->count, of->clusters);
    if (status == IMP_GO_ON)
        print_confusion(&confusion);
    imp_confusion_clear(&confusion);
    return status;
}

int imp_labelings_to_json(const char *command, const imp_labelings *of, json_t *object)
{
    imp_confusion confusion;
    int status = count_confusion(command, of, &confusion);
    if (status != IMP_GO_ON)
        return status;
    imp_interval accuracy = imp_accuracy(of->truth, of->answer, of->count);
    json_object_set_new(object, "accuracy", imp_json_number(accuracy.mean));
    json_object_set_new(object, "accuracy_interval", imp_json_number(accuracy.half_width));
    status = imp_metrics_to_json(command, of->truth, of->found, of->count, of->clusters, object);
    if (status == IMP_GO_ON)
        add_confusion(&confusion, object);
    imp_confusion_clear(&confusion);
    return status;
}
