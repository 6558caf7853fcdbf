/*
 * mixture_file_chosen.c - metric and choice of a mixture in its file.
 *
 * Tensors: choice.numbers (in the order of the enum below), choice.candidates, choice.distances,
 * of the metric what it has: metric.center, metric.factor, metric.project, metric.back; the sample
 * of points that stay: sample.points, sample.labels, sample.weights, sample.arrivals, sample.seen;
 * and, where labelled ones are multiplied as a reference, reference.factor.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "methods/mixture_file.h"
#include "methods/open_set.h"
#include "methods/rule.h"

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
    ARRIVED,
    NEWS,
    BASE,
    KINDS,
    GIVEN_METRIC,
    GIVEN_WHITENING,
    GIVEN_SIGMA_L,
    GIVEN_SIGMA_U,
    GIVEN_LAMBDA,
    GIVEN_STEPS,
    GIVEN_WEIGHT,
    GIVEN_VIEW_WEIGHTS,
};
enum { COLUMNS = 4, MOST_CANDIDATES = 16 };

_Static_assert(GIVEN_VIEW_WEIGHTS + 1 == IMP_CHOSEN_NUMBERS, "every number has its place");

size_t imp_list_sample(const imp_sample *sample, imp_tensor tensors[IMP_SAMPLE_TENSORS])
{
    size_t n = sample->count, kinds = 1 + sample->classes + sample->strangers, count = 0;
    size_t d = sample->dimensions;
    tensors[count++] = (imp_tensor){"sample.points", IMP_FLOAT32, 2, {n, d}, n * d, sample->rows};
    tensors[count++] = (imp_tensor){"sample.labels", IMP_INT32, 1, {n}, n, sample->label};
    tensors[count++] = (imp_tensor){"sample.weights", IMP_FLOAT64, 1, {n}, n, sample->weight};
    tensors[count++] = (imp_tensor){"sample.arrivals", IMP_INT64, 1, {n}, n, sample->arrival};
    tensors[count++] = (imp_tensor){"sample.seen", IMP_FLOAT64, 1, {kinds}, kinds, sample->seen};
    return count;
}

size_t imp_list_chosen(const imp_mixture *mixture, imp_chosen_numbers *numbers,
                       imp_tensor tensors[IMP_CHOSEN_TENSORS])
{
    const imp_metric *metric = &mixture->metric;
    const imp_mixture_chosen *chosen = &mixture->chosen;
    const imp_mixture_given *given = &mixture->given;
    const imp_sample *sample = &mixture->sample;
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
        [ARRIVED] = (double)sample->arrived,
        [NEWS] = (double)sample->news,
        [BASE] = (double)sample->base,
        [KINDS] = (double)sample->kinds,
        [GIVEN_METRIC] = given->metric,
        [GIVEN_WHITENING] = given->whitening,
        [GIVEN_SIGMA_L] = given->rule.sigma_l,
        [GIVEN_SIGMA_U] = given->rule.sigma_u,
        [GIVEN_LAMBDA] = given->rule.lambda,
        [GIVEN_STEPS] = given->rule.steps,
        [GIVEN_WEIGHT] = given->unlabeled_weight,
        [GIVEN_VIEW_WEIGHTS] = given->view_weights,
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
    count += imp_list_sample(sample, tensors + count);
    d = sample->dimensions;
    if (mixture->reference.factor)
        tensors[count++] =
            (imp_tensor){"reference.factor", IMP_FLOAT32, 1, {d}, d, mixture->reference.factor};
    return count;
}

/* ---- reading ---- */

/* Finds a tensor, which must have that type, rank and, where these are not 0, lengths; *found is
 * NULL if it is absent and optional. */
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
                    tensor ? "of the wrong type or size" : "missing");
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

/* What was given when the mixture was fitted, NAN for what was not. */
static imp_status take_given(const double *value, imp_mixture_given *given, imp_error *error)
{
    *given = (imp_mixture_given){.rule = IMP_RULE_AUTO,
                                 .metric = (imp_metric_kind)value[GIVEN_METRIC],
                                 .whitening = (imp_whitening)value[GIVEN_WHITENING],
                                 .unlabeled_weight = value[GIVEN_WEIGHT],
                                 .view_weights = value[GIVEN_VIEW_WEIGHTS] == 1};
    given->rule.sigma_l = value[GIVEN_SIGMA_L];
    given->rule.sigma_u = value[GIVEN_SIGMA_U];
    given->rule.lambda = value[GIVEN_LAMBDA];
    given->rule.steps = value[GIVEN_STEPS];
    double weight = given->unlabeled_weight;
    if (!isnan(weight) && !(weight >= 0 && weight <= 1))
        return imp_fail(error, IMP_EFORMAT, "a number of the mixture's choice is out of range");
    return imp_as_format(imp_check_rule(&given->rule, error), error);
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
                 value[RATE] >= 0 && value[RATE] <= 1 && is_whole(value[ARRIVED], 1e18) &&
                 is_whole(value[NEWS], 1e18) && is_whole(value[BASE], 1e18) &&
                 is_whole(value[KINDS], 1e18) && is_whole(value[GIVEN_METRIC], IMP_METRIC_COSINE) &&
                 is_whole(value[GIVEN_WHITENING], IMP_WHITEN_YES) &&
                 is_whole(value[GIVEN_VIEW_WEIGHTS], 1);
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
    mixture->sample = (imp_sample){.dimensions = mixture->clusters.dimensions,
                                   .arrived = (uint64_t)value[ARRIVED],
                                   .news = (size_t)value[NEWS],
                                   .base = (size_t)value[BASE],
                                   .kinds = (size_t)value[KINDS]};
    return take_given(value, &mixture->given, error);
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
            return imp_fail(error, IMP_EFORMAT, "candidate %zu of the choice is not a metric", i);
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

/* Points of the sample, each of a class, of none, or of a cluster that has none. */
static imp_status check_sample(imp_sample *sample, imp_error *error)
{
    for (size_t k = 0; k < 1 + sample->classes + sample->strangers; k++)
        if (!(sample->seen[k] >= 0))
            return imp_fail(error, IMP_EFORMAT, "sample.seen has a number below 0");
    for (size_t i = 0; i < sample->count; i++)
        if (!(sample->weight[i] > 0) || sample->arrival[i] >= sample->arrived)
            return imp_fail(error, IMP_EFORMAT,
                            "point %zu of the sample has a weight or an arrival that cannot be", i);
    if (!imp_sample_count(sample))
        return imp_fail(error, IMP_EFORMAT, "a label of the sample is out of range");
    return IMP_OK;
}

imp_status imp_read_sample(const imp_safetensors *file, imp_mixture *mixture, imp_error *error)
{
    imp_sample *sample = &mixture->sample;
    const imp_clusters *clusters = &mixture->clusters;
    size_t d = sample->dimensions;
    const imp_tensor *points, *labels, *weights, *arrivals, *seen;
    imp_status status =
        find(file, "sample.points", IMP_FLOAT32, 2, (size_t[]){0, d}, true, &points, error);
    size_t n = status ? 0 : points->shape[0];
    sample->classes = mixture->classes;
    sample->strangers = imp_mixture_stranger_number(clusters, clusters->count);
    size_t kinds = 1 + sample->classes + sample->strangers;
    if (!status && n == 0)
        status = imp_fail(error, IMP_EFORMAT, "the sample of the mixture's points is empty");
    if (!status)
        status = find(file, "sample.labels", IMP_INT32, 1, (size_t[]){n}, true, &labels, error);
    if (!status)
        status = find(file, "sample.weights", IMP_FLOAT64, 1, (size_t[]){n}, true, &weights, error);
    if (!status)
        status = find(file, "sample.arrivals", IMP_INT64, 1, (size_t[]){n}, true, &arrivals, error);
    if (!status)
        status = find(file, "sample.seen", IMP_FLOAT64, 1, (size_t[]){kinds}, true, &seen, error);
    if (!status)
        status = take_floats(points, "sample.points", &sample->rows, error);
    if (!status)
        status = take_doubles(weights, "sample.weights", &sample->weight, error);
    if (!status)
        status = take_doubles(seen, "sample.seen", &sample->seen, error);
    if (status)
        return status;
    sample->label = imp_enlarge(labels->data, n, n, sizeof *sample->label);
    sample->arrival = imp_enlarge(arrivals->data, n, n, sizeof *sample->arrival);
    sample->stratum = imp_allocate_zeroed(kinds, sizeof *sample->stratum);
    if (!sample->label || !sample->arrival || !sample->stratum)
        return imp_fail_memory(error, "a mixture");
    sample->count = sample->room = n;
    return check_sample(sample, error);
}

static imp_status take_reference(const imp_safetensors *file, imp_mixture *mixture,
                                 imp_error *error)
{
    imp_reference *reference = &mixture->reference;
    size_t d = reference->dimensions = mixture->clusters.dimensions;
    const imp_tensor *factor;
    imp_status status =
        find(file, "reference.factor", IMP_FLOAT32, 1, (size_t[]){d}, false, &factor, error);
    if (!status)
        status = take_floats(factor, "reference.factor", &reference->factor, error);
    return status ? status : imp_reference_place(reference, &mixture->sample, error);
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
        status = imp_read_sample(file, mixture, error);
    if (!status)
        status = take_reference(file, mixture, error);
    if (!status)
        imp_open_set_place(mixture);
    return status;
}
