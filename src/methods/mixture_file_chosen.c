/*
 * mixture_file_chosen.c - metric and choice of a mixture in its file.
 *
 * Tensors: choice.numbers (in the order of the enum below), choice.candidates, choice.distances,
 * of the metric what it has: metric.center, metric.factor, metric.project, metric.back; and of
 * labelled points that stay reference.points and, where they are multiplied, reference.factor.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "methods/mixture_file.h"

enum {
    METRIC,
    WHITENED,
    SCALE,
    REST,
    LAMBDA_U,
    WEIGHT,
    RATIO,
    LABELED_MASS,
    UNLABELED_MASS,
    HELD_OUT,
    LOSS,
    ACCURACY,
    RATE,
};
enum { COLUMNS = 4, MOST_CANDIDATES = 16 };

_Static_assert(RATE + 1 == IMP_CHOSEN_NUMBERS, "every number has its place");

size_t imp_list_chosen(const imp_mixture *mixture, imp_chosen_numbers *numbers,
                       imp_tensor tensors[IMP_CHOSEN_TENSORS])
{
    const imp_metric *metric = &mixture->metric;
    const imp_mixture_chosen *chosen = &mixture->chosen;
    const double values[IMP_CHOSEN_NUMBERS] = {
        [METRIC] = metric->kind,
        [WHITENED] = metric->whitened,
        [SCALE] = metric->scale,
        [REST] = metric->rest,
        [LAMBDA_U] = chosen->lambda_u,
        [WEIGHT] = chosen->weight,
        [RATIO] = chosen->ratio,
        [LABELED_MASS] = chosen->labeled_mass,
        [UNLABELED_MASS] = chosen->unlabeled_mass,
        [HELD_OUT] = (double)chosen->held_out,
        [LOSS] = chosen->loss,
        [ACCURACY] = chosen->accuracy,
        [RATE] = chosen->rate,
    };
    memcpy(numbers->value, values, sizeof values);
    size_t tried =
        chosen->candidate_count < MOST_CANDIDATES ? chosen->candidate_count : MOST_CANDIDATES;
    for (size_t i = 0; i < tried; i++) {
        const imp_mixture_candidate *of = &chosen->candidates[i];
        const double row[COLUMNS] = {of->metric, of->whitened, of->lambda, of->loss};
        memcpy(numbers->candidate + i * COLUMNS, row, sizeof row);
    }

    size_t d = metric->dimensions, rank = metric->rank, known = chosen->distance_count, count = 0;
    tensors[count++] = (imp_tensor){"choice.numbers",     IMP_FLOAT64,        1,
                                    {IMP_CHOSEN_NUMBERS}, IMP_CHOSEN_NUMBERS, numbers->value};
    tensors[count++] = (imp_tensor){"choice.candidates", IMP_FLOAT64,     2,
                                    {tried, COLUMNS},    tried * COLUMNS, numbers->candidate};
    tensors[count++] =
        (imp_tensor){"choice.distances", IMP_FLOAT64, 1, {known}, known, chosen->distance};
    if (metric->center)
        tensors[count++] = (imp_tensor){"metric.center", IMP_FLOAT64, 1, {d}, d, metric->center};
    if (metric->factor)
        tensors[count++] = (imp_tensor){"metric.factor", IMP_FLOAT64, 1, {d}, d, metric->factor};
    if (metric->project)
        tensors[count++] =
            (imp_tensor){"metric.project", IMP_FLOAT32, 2, {d, rank}, d * rank, metric->project};
    if (metric->back)
        tensors[count++] =
            (imp_tensor){"metric.back", IMP_FLOAT32, 2, {rank, d}, rank * d, metric->back};
    const imp_reference *reference = &mixture->reference;
    if (reference->count > 0)
        tensors[count++] =
            (imp_tensor){"reference.points",    IMP_FLOAT32,          2,
                         {reference->count, d}, reference->count * d, reference->rows};
    if (reference->count > 0 && reference->factor)
        tensors[count++] =
            (imp_tensor){"reference.factor", IMP_FLOAT32, 1, {d}, d, reference->factor};
    return count;
}

/* ---- reading ---- */

/* The tensor, which must be of that type, rank and, where these are not 0, lengths; *found is NULL
 * if it is absent and need not be there. */
static imp_status find(const imp_safetensors *file, const char *name, imp_dtype dtype, size_t rank,
                       const size_t *shape, bool needed, const imp_tensor **found, imp_error *error)
{
    const imp_tensor *tensor = *found = imp_safetensors_find(file, name);
    if (!tensor && !needed)
        return IMP_OK;
    bool sound = tensor && tensor->dtype == dtype && tensor->rank == rank;
    for (size_t i = 0; i < rank && sound; i++)
        sound = shape[i] == 0 || tensor->shape[i] == shape[i];
    if (sound)
        return IMP_OK;
    return imp_fail(error, IMP_EFORMAT, "the tensor '%s' of a mixture's choice is %s", name,
                    tensor ? "of another type or size than that of one" : "missing");
}

static imp_status take_doubles(const imp_tensor *tensor, const char *what, double **copy,
                               imp_error *error)
{
    if (!tensor)
        return IMP_OK;
    for (size_t i = 0; i < tensor->count; i++)
        if (!isfinite(((const double *)tensor->data)[i]))
            return imp_fail(error, IMP_EFORMAT, "%s has a value that is not finite", what);
    *copy = imp_enlarge(tensor->data, tensor->count, tensor->count, sizeof **copy);
    return *copy ? IMP_OK : imp_fail_memory(error, "a mixture");
}

static imp_status take_floats(const imp_tensor *tensor, const char *what, float **copy,
                              imp_error *error)
{
    if (!tensor)
        return IMP_OK;
    for (size_t i = 0; i < tensor->count; i++)
        if (!isfinite(((const float *)tensor->data)[i]))
            return imp_fail(error, IMP_EFORMAT, "%s has a value that is not finite", what);
    *copy = imp_enlarge(tensor->data, tensor->count, tensor->count, sizeof **copy);
    return *copy ? IMP_OK : imp_fail_memory(error, "a mixture");
}

static bool is_whole(double value, double most)
{
    return value >= 0 && value <= most && value == floor(value);
}

static imp_status take_numbers(const double *value, imp_mixture *mixture, imp_error *error)
{
    imp_metric *metric = &mixture->metric;
    imp_mixture_chosen *chosen = &mixture->chosen;
    bool sound = is_whole(value[METRIC], IMP_METRIC_COSINE) && value[METRIC] > 0 &&
                 is_whole(value[WHITENED], 1) && is_whole(value[HELD_OUT], 1e9) &&
                 isfinite(value[SCALE]) && value[SCALE] > 0 && isfinite(value[REST]) &&
                 value[LAMBDA_U] >= 0 && value[WEIGHT] >= 0 && value[WEIGHT] <= 1 &&
                 value[RATIO] >= 0 && value[LABELED_MASS] >= 0 && value[UNLABELED_MASS] >= 0 &&
                 isfinite(value[LABELED_MASS]) && isfinite(value[UNLABELED_MASS]) &&
                 value[RATE] >= 0 && value[RATE] <= 1;
    if (!sound)
        return imp_fail(error, IMP_EFORMAT, "a number of the mixture's choice is out of range");
    *metric = (imp_metric){.kind = (imp_metric_kind)value[METRIC],
                           .whitened = value[WHITENED] == 1,
                           .dimensions = mixture->clusters.dimensions,
                           .scale = value[SCALE],
                           .rest = value[REST]};
    *chosen = (imp_mixture_chosen){.any = true,
                                   .lambda_u = value[LAMBDA_U],
                                   .weight = value[WEIGHT],
                                   .ratio = value[RATIO],
                                   .labeled_mass = value[LABELED_MASS],
                                   .unlabeled_mass = value[UNLABELED_MASS],
                                   .held_out = (size_t)value[HELD_OUT],
                                   .loss = value[LOSS],
                                   .accuracy = value[ACCURACY],
                                   .rate = value[RATE]};
    return IMP_OK;
}

static imp_status take_candidates(const imp_tensor *tensor, imp_mixture_chosen *chosen,
                                  imp_error *error)
{
    const double *row = tensor->data;
    size_t tried = tensor->shape[0];
    chosen->candidates = imp_allocate(tried, sizeof *chosen->candidates);
    if (!chosen->candidates)
        return imp_fail_memory(error, "a mixture");
    for (size_t i = 0; i < tried; i++, row += COLUMNS) {
        if (!is_whole(row[0], IMP_METRIC_COSINE) || !is_whole(row[1], 1))
            return imp_fail(error, IMP_EFORMAT, "candidate %zu of the choice is no metric", i);
        chosen->candidates[i] =
            (imp_mixture_candidate){(imp_metric_kind)row[0], row[1] == 1, row[2], row[3]};
    }
    chosen->candidate_count = tried;
    return IMP_OK;
}

static imp_status take_whitening(const imp_safetensors *file, imp_metric *metric, imp_error *error)
{
    size_t d = metric->dimensions;
    const imp_tensor *project, *back;
    imp_status status = find(file, "metric.project", IMP_FLOAT32, 2, (size_t[]){d, 0},
                             metric->whitened, &project, error);
    if (!status && project)
        metric->rank = project->shape[1];
    if (!status)
        status = find(file, "metric.back", IMP_FLOAT32, 2, (size_t[]){metric->rank, d},
                      metric->whitened && metric->rank < d, &back, error);
    if (!status && metric->rank > d)
        status = imp_fail(error, IMP_EFORMAT, "metric.project has more columns than rows");
    if (!status)
        status = take_floats(project, "metric.project", &metric->project, error);
    return status ? status : take_floats(back, "metric.back", &metric->back, error);
}

static imp_status take_reference(const imp_safetensors *file, imp_mixture *mixture,
                                 imp_error *error)
{
    imp_reference *reference = &mixture->reference;
    size_t d = mixture->clusters.dimensions;
    const imp_tensor *points, *factor;
    imp_status status =
        find(file, "reference.points", IMP_FLOAT32, 2, (size_t[]){0, d}, false, &points, error);
    if (!status)
        status =
            find(file, "reference.factor", IMP_FLOAT32, 1, (size_t[]){d}, false, &factor, error);
    if (status || !points)
        return status;
    *reference = (imp_reference){.count = points->shape[0], .dimensions = d};
    status = take_floats(points, "reference.points", &reference->rows, error);
    return status ? status : take_floats(factor, "reference.factor", &reference->factor, error);
}

imp_status imp_read_chosen(const imp_safetensors *file, imp_mixture *mixture, imp_error *error)
{
    imp_metric *metric = &mixture->metric;
    imp_mixture_chosen *chosen = &mixture->chosen;
    const size_t d = mixture->clusters.dimensions;
    const imp_tensor *numbers, *candidates, *distances, *center, *factor;
    imp_status status = find(file, "choice.numbers", IMP_FLOAT64, 1, (size_t[]){IMP_CHOSEN_NUMBERS},
                             true, &numbers, error);
    if (!status)
        status = take_numbers(numbers->data, mixture, error);
    if (!status)
        status = find(file, "choice.candidates", IMP_FLOAT64, 2, (size_t[]){0, COLUMNS}, true,
                      &candidates, error);
    if (!status)
        status =
            find(file, "choice.distances", IMP_FLOAT64, 1, (size_t[]){0}, true, &distances, error);
    if (!status)
        status = find(file, "metric.center", IMP_FLOAT64, 1, (size_t[]){d}, false, &center, error);
    if (!status)
        status = find(file, "metric.factor", IMP_FLOAT64, 1, (size_t[]){d}, false, &factor, error);
    if (!status)
        status = take_candidates(candidates, chosen, error);
    if (!status)
        status = take_doubles(distances, "choice.distances", &chosen->distance, error);
    if (!status) {
        chosen->distance_count = distances->count;
        status = take_doubles(center, "metric.center", &metric->center, error);
    }
    if (!status)
        status = take_doubles(factor, "metric.factor", &metric->factor, error);
    if (!status && metric->whitened)
        status = take_whitening(file, metric, error);
    if (!status)
        status = take_reference(file, mixture, error);
    if (!status)
        imp_mixture_place_nowhere(mixture);
    return status;
}
