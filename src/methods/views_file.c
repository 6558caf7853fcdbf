/*
 * views_file.c - the views of a mixture in its file.
 *
 * Tensors: views.numbers, one row per view with its dimensions, metric, the metric's scale, weight,
 * gain and loss; and view.0.center, view.0.factor and so on.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "methods/mixture_file.h"

enum { DIMENSIONS, KIND, SCALE, WEIGHT, GAIN, LOSS };

_Static_assert(LOSS + 1 == IMP_VIEW_COLUMNS, "every number has its column");

static void name_parts(size_t view, char center[40], char factor[40])
{
    snprintf(center, 40, "view.%zu.center", view);
    snprintf(factor, 40, "view.%zu.factor", view);
}

size_t imp_list_views(const imp_views *views, imp_view_numbers *numbers,
                      imp_tensor tensors[IMP_VIEW_TENSORS])
{
    size_t count = 0;
    tensors[count++] = (imp_tensor){"views.numbers",
                                    IMP_FLOAT64,
                                    2,
                                    {views->count, IMP_VIEW_COLUMNS},
                                    views->count * IMP_VIEW_COLUMNS,
                                    numbers->value};
    for (size_t v = 0; v < views->count; v++) {
        const imp_view *view = &views->view[v];
        const imp_metric *metric = &view->metric;
        size_t d = metric->dimensions;
        const double row[IMP_VIEW_COLUMNS] = {(double)d,    metric->kind, metric->scale,
                                              view->weight, view->gain,   view->loss};
        char *center = numbers->name[2 * v], *factor = numbers->name[2 * v + 1];
        memcpy(numbers->value + v * IMP_VIEW_COLUMNS, row, sizeof row);
        name_parts(v, center, factor);
        tensors[count++] = (imp_tensor){center, IMP_FLOAT64, 1, {d}, d, metric->center};
        tensors[count++] = (imp_tensor){factor, IMP_FLOAT64, 1, {d}, d, metric->factor};
    }
    return count;
}

/* A copy of the d finite numbers of that tensor. */
static imp_status take(const imp_safetensors *file, const char *name, size_t d, double **copy,
                       imp_error *error)
{
    const imp_tensor *tensor = imp_safetensors_find(file, name);
    bool sound = tensor && tensor->dtype == IMP_FLOAT64 && tensor->rank == 1 && tensor->count == d;
    for (size_t j = 0; j < d && sound; j++)
        sound = isfinite(((const double *)tensor->data)[j]);
    if (!sound)
        return imp_fail(error, IMP_EFORMAT, "the tensor '%s' of a mixture's views is %s", name,
                        tensor ? "not as many finite numbers as the view has" : "missing");
    *copy = imp_enlarge(tensor->data, d, d, sizeof **copy);
    return *copy ? IMP_OK : imp_fail_memory(error, "a mixture");
}

static bool is_row(const double *row, size_t left)
{
    return row[DIMENSIONS] >= 1 && row[DIMENSIONS] <= (double)left &&
           row[DIMENSIONS] == floor(row[DIMENSIONS]) && row[KIND] >= IMP_METRIC_AS_IS &&
           row[KIND] <= IMP_METRIC_COSINE && row[KIND] == floor(row[KIND]) && row[SCALE] > 0 &&
           isfinite(row[SCALE]) && row[WEIGHT] >= 0 && row[WEIGHT] <= 1 && row[GAIN] >= 0 &&
           isfinite((float)row[GAIN]);
}

imp_status imp_read_views(const imp_safetensors *file, size_t d, imp_views *views, imp_error *error)
{
    const imp_tensor *numbers = imp_safetensors_find(file, "views.numbers");
    if (!numbers || numbers->dtype != IMP_FLOAT64 || numbers->rank != 2 ||
        numbers->shape[1] != IMP_VIEW_COLUMNS || numbers->shape[0] < 2 ||
        numbers->shape[0] > IMP_MOST_VIEWS)
        return imp_fail(error, IMP_EFORMAT,
                        "the tensor 'views.numbers' of a mixture is missing or of another size");
    size_t count = numbers->shape[0], left = d;
    views->view = imp_allocate_zeroed(count, sizeof *views->view);
    if (!views->view)
        return imp_fail_memory(error, "a mixture");
    const double *row = numbers->data;
    imp_status status = IMP_OK;
    for (size_t v = 0; v < count && !status; v++, row += IMP_VIEW_COLUMNS) {
        if (!is_row(row, left))
            return imp_fail(error, IMP_EFORMAT, "view %zu of the mixture has a value out of range",
                            v);
        imp_view *view = &views->view[views->count++];
        char center[40], factor[40];
        name_parts(v, center, factor);
        *view = (imp_view){.metric = {.kind = (imp_metric_kind)row[KIND],
                                      .dimensions = (size_t)row[DIMENSIONS],
                                      .scale = row[SCALE]},
                           .weight = row[WEIGHT],
                           .gain = row[GAIN],
                           .loss = row[LOSS]};
        left -= view->metric.dimensions;
        status = take(file, center, view->metric.dimensions, &view->metric.center, error);
        if (!status)
            status = take(file, factor, view->metric.dimensions, &view->metric.factor, error);
    }
    if (!status && left > 0)
        status =
            imp_fail(error, IMP_EFORMAT,
                     "the views of the mixture have %zu dimensions fewer than its clusters", left);
    return status;
}
