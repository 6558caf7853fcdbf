/*
 * views_choose.c - chooses the metric and the weight of each view by cross-validation.
 *
 * The metric of each view is chosen separately, without the labels of held-out points. Its expected
 * weight is the amount by which its loss is below that of guessing, so an uninformative view has
 * almost none. Starting from these weights, from equal weights and from each view alone, weights
 * are improved one view at a time as long as the held-out loss falls. Weights far from the expected
 * ones pay a small penalty, as unusual metrics do (choose.c), so that chance does not decide if
 * there are few points.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "methods/choose.h"
#include "methods/derived_source.h"
#include "methods/held_out.h"
#include "methods/views.h"

enum { MOST_VIEWS = IMP_MOST_VIEWS, MOST_LABELED = 2000, ROUNDS = 4 };

static const double price_of_octave = 0.25, price_of_none = 0.5, price_of_whitening = 2;

imp_status imp_views_check(const imp_mixture_options *options, size_t d, imp_error *error)
{
    size_t sum = 0, count = options->view_count;
    double weight = 0;
    if (count > MOST_VIEWS)
        return imp_fail(error, IMP_EINVAL, "there are %zu views; at most %d are allowed", count,
                        MOST_VIEWS);
    if (!options->view_dimensions)
        return imp_fail(error, IMP_EINVAL, "the dimensions of the %zu views are not given", count);
    for (size_t v = 0; v < count; v++) {
        double of = options->view_weights ? options->view_weights[v] : 1;
        if (options->view_dimensions[v] == 0)
            return imp_fail(error, IMP_EINVAL, "view %zu has no dimensions; it needs at least 1",
                            v);
        if (!(of >= 0) || !isfinite(of))
            return imp_fail(
                error, IMP_EINVAL,
                "the weight of view %zu is %g; it must be a finite number of at least 0", v, of);
        weight += of;
        sum += options->view_dimensions[v];
    }
    if (sum != d)
        return imp_fail(error, IMP_EINVAL, "the views have %zu dimensions, the points have %zu",
                        sum, d);
    if (!(weight > 0) || !isfinite(weight))
        return imp_fail(error, IMP_EINVAL,
                        "the weights of the views sum to %g; one must be above 0", weight);
    const imp_rule *rule = &options->rule;
    if (options->preset == IMP_PRESET_PAPER || !isnan(rule->alpha) || !isnan(rule->sigma_l) ||
        !isnan(rule->sigma_u) || !isnan(rule->lambda))
        return imp_fail(error, IMP_EINVAL,
                        "several views are joined in a unit of their own, so neither a variance, "
                        "lambda nor alpha can be given, nor the paper's preset");
    return IMP_OK;
}

/* Labelled points, with every view scaled to a spread of 1, and the trials. */
typedef struct trial {
    const imp_mixture_options *options;
    const imp_views *views;
    size_t d, way, count, held_out;
    float *rows, *joined; /* (count, d) */
    int32_t *label;
    double expected[MOST_VIEWS]; /* weights */
} trial;

static const imp_choice_bounds open_bounds = {.metric = IMP_METRIC_AS_IS,
                                              .whitening = IMP_WHITEN_NO,
                                              .lambda = NAN,
                                              .sigma = NAN,
                                              .weight = NAN,
                                              .steps = 1};

/* ---- single views ---- */

/* Adds a centre and factors to a metric without them, so that files of all metrics look the same.
 */
static imp_status complete(imp_metric *metric, imp_error *error)
{
    size_t d = metric->dimensions;
    if (!metric->center)
        metric->center = imp_allocate_zeroed(d, sizeof *metric->center);
    bool made = !metric->factor;
    if (made)
        metric->factor = imp_allocate(d, sizeof *metric->factor);
    if (!metric->center || !metric->factor)
        return imp_fail_memory(error, "views of points");
    for (size_t j = 0; j < d && made; j++)
        metric->factor[j] = 1;
    return IMP_OK;
}

/* The coordinates of one view. */
typedef struct slice {
    size_t first, width, of;
} slice;

static imp_status cut(const void *context, const float *rows, size_t begin, size_t count,
                      float *out, imp_error *error)
{
    (void)begin, (void)error;
    const slice *part = context;
    for (size_t i = 0; i < count; i++)
        memcpy(out + i * part->width, rows + i * part->of + part->first, part->width * sizeof *out);
    return IMP_OK;
}

/* The metric, and the factor by which points spread equally in all views. */
static imp_status scale(imp_view *view, imp_metric_kind kind, const imp_point_source *points,
                        imp_error *error)
{
    size_t count, width = points->dimensions;
    float *room, *measured = NULL, *mapped = NULL;
    const float *sample;
    double spread = 0;
    imp_status status = imp_source_sample(points, IMP_METRIC_ROWS, &room, &sample, &count, error);
    if (!status)
        status = imp_metric_fit(&view->metric, kind, sample, count, width, error);
    if (!status)
        status = complete(&view->metric, error);
    imp_release(room);
    if (status)
        return status;
    status = imp_source_sample(points, IMP_SPREAD_ROWS, &measured, &sample, &count, error);
    if (!status && !(mapped = imp_allocate(count * width, sizeof *mapped)))
        status = imp_fail_memory(error, "views of points");
    if (!status)
        status = imp_metric_apply(&view->metric, sample, NULL, count, 0, mapped, error);
    if (!status)
        status = imp_spread_of(mapped, count, width, &spread, error);
    view->gain = spread > 0 ? 1 / sqrt(spread) : 1;
    imp_release(measured);
    imp_release(mapped);
    return status;
}

static imp_status fit_view(imp_view *view, const imp_mixture_options *options,
                           const imp_point_source *points, size_t way, size_t *held_out,
                           imp_error *error)
{
    imp_choice_bounds bounds = open_bounds;
    bounds.metric = options->metric;
    imp_choice choice;
    imp_status status = imp_choose(&bounds, points, way, &choice, error);
    if (!status) {
        *held_out = choice.held_out;
        view->loss = choice.held_out > 0 ? choice.loss : NAN;
        status = scale(view, choice.metric, points, error);
    }
    imp_choice_release(&choice);
    return status;
}

static imp_status fit_views(imp_views *views, const imp_mixture_options *options,
                            const imp_point_source *source, size_t way, size_t *held_out,
                            imp_error *error)
{
    slice part = {.of = source->dimensions};
    views->view = imp_allocate_zeroed(options->view_count, sizeof *views->view);
    imp_status status = views->view ? IMP_OK : imp_fail_memory(error, "views of points");
    for (size_t v = 0; v < options->view_count && !status; v++) {
        imp_mapped_source points;
        part.width = options->view_dimensions[v];
        views->count++;
        status = imp_mapped_source_create(&points, source, part.width, cut, &part, 0, error);
        if (!status)
            status = fit_view(&views->view[v], options, &points.source, way, held_out, error);
        imp_mapped_source_release(&points);
        part.first += part.width;
    }
    return status;
}

/* ---- weights ---- */

/* The held-out loss with these weights. */
static imp_status try_weights(trial *of, const double *weight, imp_whitening whitening,
                              double *loss, imp_error *error)
{
    for (size_t v = 0, first = 0; v < of->views->count; v++) {
        size_t width = of->views->view[v].metric.dimensions;
        float factor = (float)sqrt(weight[v]);
        for (size_t i = 0; i < of->count; i++)
            for (size_t j = first; j < first + width; j++)
                of->joined[i * of->d + j] = factor * of->rows[i * of->d + j];
        first += width;
    }
    imp_choice_bounds bounds = open_bounds;
    bounds.whitening = whitening;
    imp_choice choice;
    const imp_point_source points = imp_source_of_labeled(of->joined, of->label, of->count, of->d);
    imp_status status = imp_choose(&bounds, &points, of->way, &choice, error);
    *loss = !status && choice.held_out > 0 ? choice.loss : INFINITY;
    imp_choice_release(&choice);
    return status;
}

static bool normalize(double *weight, size_t count)
{
    double sum = 0;
    for (size_t v = 0; v < count; v++)
        sum += weight[v];
    for (size_t v = 0; v < count && sum > 0; v++)
        weight[v] /= sum;
    return sum > 0;
}

/* The expected weights, from each view alone. */
static void expect(trial *of)
{
    static const double least = 0.01; /* nats */
    for (size_t v = 0; v < of->views->count; v++)
        of->expected[v] = fmax(log((double)of->way) - of->views->view[v].loss, least);
    normalize(of->expected, of->views->count);
}

/* The penalty of weights, in total for all points. */
static double price_of(const trial *of, const double *weight)
{
    double price = 0, count = (double)of->views->count;
    for (size_t v = 0; v < of->views->count; v++)
        price += weight[v] > 0 ? price_of_octave * fabs(log2(weight[v] / of->expected[v]))
                               : price_of_none * fmin(1, of->expected[v] * count);
    return price;
}

/* Keeps the weights if they are better; *value is the best so far. */
static imp_status offer(trial *of, double *tried, double *best, double *value, bool *better,
                        imp_error *error)
{
    size_t count = of->views->count;
    double loss;
    if (!normalize(tried, count))
        return IMP_OK;
    imp_status status = try_weights(of, tried, IMP_WHITEN_NO, &loss, error);
    double total = loss + price_of(of, tried) / (double)of->held_out;
    if (!status && total < *value) {
        *value = total;
        *better = true;
        memcpy(best, tried, count * sizeof *best);
    }
    return status;
}

static imp_status search(trial *of, double *best, imp_error *error)
{
    static const double factors[] = {0, 0.25, 0.5, 2, 4};
    size_t count = of->views->count;
    double tried[MOST_VIEWS], value = INFINITY;
    bool better = true;
    expect(of);
    memcpy(tried, of->expected, count * sizeof *tried);
    imp_status status = offer(of, tried, best, &value, &better, error);
    for (size_t v = 0; v < count; v++)
        tried[v] = 1;
    if (!status)
        status = offer(of, tried, best, &value, &better, error);
    for (size_t v = 0; v < count && !status; v++) {
        for (size_t u = 0; u < count; u++)
            tried[u] = u == v;
        status = offer(of, tried, best, &value, &better, error);
    }
    for (size_t round = 0; round < ROUNDS && better && !status; round++) {
        better = false;
        for (size_t v = 0; v < count && !status; v++)
            for (size_t f = 0; f < sizeof factors / sizeof *factors && !status; f++) {
                memcpy(tried, best, count * sizeof *tried);
                if (tried[v] == 0)
                    tried[v] = 0.25 / (double)count;
                tried[v] *= factors[f];
                status = offer(of, tried, best, &value, &better, error);
            }
    }
    return status;
}

/* Chooses whether to whiten the joined points. */
static imp_status choose_whitening(trial *of, const double *weight, imp_whitening *whitening,
                                   imp_error *error)
{
    double without, with;
    imp_status status = try_weights(of, weight, IMP_WHITEN_NO, &without, error);
    if (!status)
        status = try_weights(of, weight, IMP_WHITEN_YES, &with, error);
    if (!status && with + price_of_whitening / (double)of->held_out < without)
        *whitening = IMP_WHITEN_YES;
    return status;
}

/* ---- all of it ---- */

/* Some of the labelled points, evenly spaced, with every view scaled to a spread of 1. */
static imp_status take_labeled(trial *of, const imp_point_source *source, imp_error *error)
{
    size_t labeled = source->count - imp_source_unlabeled(source), taken = 0, d = of->d;
    of->count = labeled < MOST_LABELED ? labeled : MOST_LABELED;
    of->rows = imp_allocate(of->count * d, sizeof *of->rows);
    of->joined = imp_allocate(of->count * d, sizeof *of->joined);
    of->label = imp_allocate(of->count, sizeof *of->label);
    uint32_t number[MOST_LABELED];
    if (!of->rows || !of->joined || !of->label)
        return imp_fail_memory(error, "views of points");
    for (size_t i = 0, seen = 0; i < source->label_count; i++)
        if (source->label[i] >= 0 && taken < of->count &&
            seen++ == imp_block_begin(labeled, of->count, taken)) {
            number[taken] = (uint32_t)i;
            of->label[taken++] = source->label[i];
        }
    imp_status status = imp_source_gather(source, number, taken, of->joined, error);
    return status ? status : imp_views_apply(of->views, of->joined, of->count, d, of->rows, error);
}

imp_status imp_views_choose(imp_views *views, const imp_mixture_options *options,
                            const imp_point_source *source, size_t way, imp_whitening *whitening,
                            imp_error *error)
{
    *views = (imp_views){0};
    *whitening = options->whitening == IMP_WHITEN_YES ? IMP_WHITEN_YES : IMP_WHITEN_NO;
    double weight[MOST_VIEWS];
    trial of = {.options = options, .views = views, .d = source->dimensions, .way = way};
    imp_status status = fit_views(views, options, source, way, &of.held_out, error);
    for (size_t v = 0; v < options->view_count; v++)
        weight[v] = options->view_weights ? options->view_weights[v] : 1;
    normalize(weight, options->view_count);
    if (!status && of.held_out > 0) {
        status = take_labeled(&of, source, error);
        if (!status && !options->view_weights)
            status = search(&of, weight, error);
        if (!status && options->whitening == IMP_WHITEN_AUTO && options->metric == IMP_METRIC_AUTO)
            status = choose_whitening(&of, weight, whitening, error);
    }
    for (size_t v = 0; v < views->count; v++) {
        views->view[v].weight = weight[v];
        views->view[v].gain *= sqrt(weight[v]);
    }
    imp_release(of.rows);
    imp_release(of.joined);
    imp_release(of.label);
    return status;
}
