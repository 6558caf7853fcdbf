/*
 * mixture_choose.c - fits a mixture whose open options are chosen from the data: applies the choice
 * to all points, and keeps its evidence.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/parallel.h"
#include "methods/arrange.h"
#include "methods/choose.h"
#include "methods/fit_state.h"
#include "methods/held_out.h"
#include "methods/mixture.h"
#include "methods/propagate.h"
#include "methods/rule.h"
#include "methods/settle.h"
#include "methods/work.h"

/* Passes if unlabelled points move clusters; these settle in a few. */
enum { STEPS = 3 };

/* Unlabelled points in the metric are kept if they need no more bytes, unless a crew says how many;
 * otherwise each pass maps them again. */
static const size_t MOST_KEPT = (size_t)256 << 20;

/* An unlabelled point starts a cluster if it is twice as far from all clusters as 99% of the
 * held-out points. */
static const double strange_rate = 0.01, strange = 2;

/* In so many dimensions or fewer a variance that could not be chosen is the usual one. */
static const double usual_dimensions = 16;

/* The squared distance that this fraction of held-out points exceeded; INFINITY if unknown. */
static double distance_at(const imp_mixture_chosen *chosen, double rate)
{
    if (chosen->distance_count == 0)
        return INFINITY;
    return chosen->distance[chosen->distance_count - 1 -
                            (size_t)floor(rate * (double)chosen->distance_count)];
}

/* ---- fitting ---- */

/* The points in the mixture's metric, and the labels of those in memory. */
typedef struct fitted {
    imp_arranged in;
    int32_t *label; /* of the labelled points, then of those that received one */
    double *weight; /* likewise */
    size_t propagated;
    double spread, within;
    double narrower; /* what a variance that was not chosen is multiplied by */
} fitted;

/* Labels and weights of the labelled points; `given` are weights of all points, or NULL. */
static imp_status take_labels(fitted *points, const double *given, imp_error *error)
{
    const imp_arranged *in = &points->in;
    size_t most = in->labeled + in->near;
    points->label = imp_allocate(most, sizeof *points->label);
    points->weight = imp_allocate(most, sizeof *points->weight);
    if (!points->label || !points->weight)
        return imp_fail_memory(error, "points in a metric");
    for (size_t i = 0; i < in->labeled; i++) {
        points->label[i] = in->source->label[in->number[i]];
        points->weight[i] = given ? given[in->number[i]] : 1;
    }
    return IMP_OK;
}

/* Propagates labels to some of the unlabelled points. */
static imp_status propagate(const imp_mixture *mixture, fitted *points, const double *given,
                            imp_error *error)
{
    const imp_arranged *in = &points->in;
    size_t d = mixture->clusters.dimensions, begin = in->labeled, some = in->near;
    imp_status status = imp_propagate(in->rows, d, points->label, begin, some, mixture->classes,
                                      points->label + begin, points->weight + begin, error);
    if (status)
        return status;
    for (size_t i = begin; i < begin + some && given; i++)
        points->weight[i] *= given[in->number[i]];
    points->propagated = imp_keep_labeled(in->rows, d, points->label, points->weight, begin, some);
    return IMP_OK;
}

/* In how many dimensions points spread, as if these were alike: the square of their variance in all
 * over the sum of the squares in each direction, which products of different points tell. Of up to
 * 500 points, no more than the square of their number less one. */
static imp_status effective_dimensions(const float *rows, size_t n, size_t d, double *found,
                                       imp_error *error)
{
    enum { MOST = 500 };
    size_t count = n < MOST ? n : MOST;
    double *x = imp_allocate(count * d, sizeof *x), *mean = imp_allocate_zeroed(d, sizeof *mean);
    double all = 0, squares = 0;
    *found = 1;
    if (!x || !mean) {
        imp_release(x);
        imp_release(mean);
        return imp_fail_memory(error, "the dimensions of points");
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < d; j++) {
            x[i * d + j] = rows[imp_block_begin(n, count, i) * d + j];
            mean[j] += x[i * d + j] / (double)count;
        }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < d; j++) {
            x[i * d + j] -= mean[j];
            all += x[i * d + j] * x[i * d + j] / (double)count;
        }
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < a; b++) {
            double product = 0;
            for (size_t j = 0; j < d; j++)
                product += x[a * d + j] * x[b * d + j];
            squares += product * product;
        }
    if (squares > 0)
        *found = all * all * (double)(count * (count - 1) / 2) / squares;
    imp_release(x);
    imp_release(mean);
    return IMP_OK;
}

/* A squared distance is noisy by a part of itself that falls with the root of the dimensions. So is
 * what two classes differ by through chance alone, and a variance that was not chosen follows. */
static imp_status narrow(fitted *points, const imp_choice *choice, size_t d, imp_error *error)
{
    double dimensions = 1;
    imp_status status = IMP_OK;
    if (choice->held_out == 0 && !choice->propagated)
        status = effective_dimensions(points->in.rows, points->in.labeled, d, &dimensions, error);
    points->narrower = dimensions > usual_dimensions ? sqrt(usual_dimensions / dimensions) : 1;
    return status;
}

/* Fits the mixture's metric, and maps the points in memory. */
static imp_status enter_metric(imp_mixture *mixture, const imp_choice *choice,
                               const imp_point_source *source, fitted *points, imp_error *error)
{
    imp_metric *metric = &mixture->metric;
    imp_arranged *in = &points->in;
    float *room;
    const float *sample;
    size_t sampled;
    bool possible;
    imp_status status = imp_source_sample(source, IMP_METRIC_ROWS, &room, &sample, &sampled, error);
    if (!status)
        status = imp_metric_fit(metric, choice->metric, sample, sampled, source->dimensions, error);
    imp_release(room);
    if (!status)
        status = imp_arranged_map(in, metric, error);
    if (status || choice->whitening == 0)
        return status;
    status = imp_metric_whiten(metric, in->rows, points->label, in->labeled, choice->whitening,
                               &possible, error);
    if (!status && possible)
        status = imp_metric_apply_whitening(metric, in->rows, in->labeled + in->near, 0, in->rows,
                                            error);
    return status;
}

static imp_status arrange(imp_mixture *mixture, const imp_choice *choice, const double *given,
                          const imp_point_source *source, fitted *points, imp_error *error)
{
    size_t d = mixture->clusters.dimensions;
    imp_status status = imp_arrange(&points->in, source, IMP_MOST_PROPAGATED, error);
    if (!status)
        status = take_labels(points, given, error);
    if (!status)
        status = enter_metric(mixture, choice, source, points, error);
    if (!status)
        status = imp_arranged_spread(&points->in, &points->spread, error);
    if (!status)
        status = narrow(points, choice, d, error);
    if (!status && choice->propagated)
        status = propagate(mixture, points, given, error);
    if (!status)
        status = imp_spread_within(points->in.rows, points->label,
                                   points->in.labeled + points->propagated, d, mixture->classes,
                                   &points->within, error);
    if (points->spread <= 0)
        points->spread = 1;
    if (points->within <= 0)
        points->within = points->spread;
    return status;
}

/* Points with propagated labels use up the weight that unlabelled ones may have. */
static void weigh_propagated(imp_mixture_chosen *chosen, const fitted *points)
{
    double sum = 0;
    for (size_t i = 0; i < points->propagated; i++)
        sum += points->weight[points->in.labeled + i];
    chosen->weight = sum / (double)points->in.unlabeled;
    chosen->ratio = sum / (double)points->in.labeled;
}

/* The parameters of the rule, in the unit of the metric. */
static void take_numbers(imp_mixture *mixture, const imp_mixture_options *options,
                         const imp_choice *choice, const fitted *points)
{
    imp_rule *rule = &mixture->rule;
    imp_mixture_chosen *chosen = &mixture->chosen;
    double sigma = choice->sigma * points->narrower * points->spread;
    sigma = fmin(fmax(sigma, IMP_LEAST_SIGMA), IMP_MOST_SIGMA);
    double lambda = isfinite(choice->lambda) ? choice->lambda * points->within : INFINITY;
    *rule = options->rule;
    rule->sigma_l = isnan(rule->sigma_l) ? sigma : rule->sigma_l;
    rule->sigma_u = isnan(rule->sigma_u) ? rule->sigma_l : rule->sigma_u;
    rule->lambda = isnan(rule->lambda) ? lambda : rule->lambda;
    rule->steps = isnan(rule->steps) ? STEPS : rule->steps;
    chosen->any = true;
    chosen->held_out = choice->held_out;
    chosen->loss = choice->loss;
    chosen->accuracy = choice->accuracy;
    chosen->rate = options->open_set_rate;
    chosen->lambda_u = strange * distance_at(chosen, strange_rate);
    chosen->ratio = choice->ratio;
    double share = (double)points->in.labeled / (double)points->in.unlabeled;
    chosen->weight = points->in.unlabeled > 0 ? fmin(1, choice->ratio * share) : 0;
    if (!isnan(options->unlabeled_weight)) {
        chosen->weight = options->unlabeled_weight;
        chosen->ratio = INFINITY;
    } else if (points->in.unlabeled == 0) {
        chosen->ratio = 0;
    }
    chosen->labeled_mass = (double)points->in.labeled;
    if (choice->propagated)
        weigh_propagated(chosen, points);
    chosen->unlabeled_mass = chosen->weight * (double)points->in.unlabeled;
}

/* Keeps the evidence for the choice. */
static imp_status keep_reasons(imp_mixture *mixture, const imp_choice *choice, double spread,
                               imp_error *error)
{
    const imp_mixture_chosen borrowed = {.candidates = choice->candidates,
                                         .candidate_count = choice->candidate_count,
                                         .distance = choice->distance,
                                         .distance_count = choice->distance_count};
    imp_status status = imp_mixture_chosen_copy(&borrowed, &mixture->chosen, error);
    for (size_t i = 0; i < mixture->chosen.distance_count && !status; i++)
        mixture->chosen.distance[i] *= spread;
    return status;
}

/* Labelled points that are all clusters are compared only where unlabelled ones count. */
static imp_status foresee(const imp_settling *settling, imp_error *error)
{
    const imp_point_source labeled = imp_source_of_labeled(
        settling->labeled, settling->label, settling->labeled_count, settling->dimensions);
    const imp_source_pair both = {&labeled, settling->unlabeled};
    const imp_point_source source = imp_source_of_pair(&both);
    const imp_plan_of_work plan = {.source = &source,
                                   .lambda = settling->lambda,
                                   .lambda_u = settling->lambda_u,
                                   .clusters = settling->way,
                                   .passes = settling->steps};
    if (settling->lambda == 0 && settling->unlabeled->count == 0)
        return IMP_OK;
    return imp_foresee(&plan, error);
}

static imp_status settle(imp_mixture *mixture, fitted *points, const imp_crew *crew,
                         imp_error *error)
{
    size_t d = mixture->clusters.dimensions, labeled = points->in.labeled + points->propagated;
    const imp_rule *rule = &mixture->rule;
    const imp_point_source none = imp_source_of_rows(NULL, 0, d), *rest = &none;
    imp_settling settling = {
        .dimensions = d,
        .way = mixture->classes,
        .labeled = points->in.rows,
        .label = points->label,
        .labeled_weight = points->weight,
        .labeled_count = labeled,
        .crew = crew,
        .lambda = rule->lambda,
        .lambda_u = mixture->chosen.lambda_u,
        .sigma = rule->sigma_l,
        .weight = points->propagated > 0 ? 0 : mixture->chosen.weight,
        .steps = points->in.unlabeled > 0 && points->propagated == 0 ? (size_t)rule->steps : 1,
        .state = crew && crew->fit ? &crew->fit->at : NULL,
        .resumed = crew && imp_fit_state_resumes(crew->fit),
    };
    size_t keep = crew && crew->place ? crew->place->memory : MOST_KEPT;
    imp_status status =
        crew ? imp_fit_state_take(crew->fit, mixture, NULL, points->in.source->count, error)
             : IMP_OK;
    if (status || (settling.resumed && settling.state->part == IMP_PART_SAMPLE))
        return status;
    if (settling.weight > 0 || isfinite(settling.lambda_u)) /* otherwise nobody looks at them */
        status = imp_arranged_rest(&points->in, labeled, keep, &rest, error);
    settling.unlabeled = rest;
    if (!status)
        status = foresee(&settling, error);
    if (!status)
        status = imp_settle(&settling, &mixture->clusters, error);
    if (!status)
        imp_clusters_set_sigmas(&mixture->clusters, rule->sigma_l, rule->sigma_u);
    if (!status && settling.state)
        *settling.state = (imp_cluster_state){.part = IMP_PART_SAMPLE};
    return status;
}

imp_status imp_mixture_choose(imp_mixture *mixture, const imp_mixture_options *options,
                              const imp_point_source *source, size_t way, const imp_crew *crew,
                              imp_error *error)
{
    const imp_rule *rule = &options->rule;
    /* Given parameters refer to the points as they are. */
    bool given = !isnan(rule->sigma_l) || !isnan(rule->lambda);
    const imp_choice_bounds bounds = {
        .metric = given && options->metric == IMP_METRIC_AUTO ? IMP_METRIC_AS_IS : options->metric,
        .whitening = options->whitening,
        .lambda = rule->lambda,
        .sigma = rule->sigma_l,
        .weight = options->unlabeled_weight,
        .steps = isnan(rule->steps) ? STEPS : (size_t)rule->steps,
    };
    imp_choice choice;
    fitted points = {0};
    mixture->classes = way;
    imp_status status = imp_choose(&bounds, source, way, &choice, error);
    if (!status)
        status = arrange(mixture, &choice, options->point_weight, source, &points, error);
    if (!status)
        status = keep_reasons(mixture, &choice, points.spread, error);
    if (!status) {
        take_numbers(mixture, options, &choice, &points);
        status = settle(mixture, &points, crew, error);
    }
    imp_choice_release(&choice);
    imp_arranged_release(&points.in);
    imp_release(points.label);
    imp_release(points.weight);
    return status;
}

/* ---- reporting ---- */

void imp_mixture_choice_of(const imp_mixture *mixture, imp_mixture_choice *choice, size_t size)
{
    const imp_mixture_chosen *chosen = &mixture->chosen;
    size_t labeled = 0;
    for (size_t c = 0; c < mixture->clusters.count; c++)
        labeled += mixture->clusters.label[c] >= 0;
    const imp_mixture_choice told = {
        .metric = imp_metric_is_plain(&mixture->metric) ? IMP_METRIC_AS_IS : mixture->metric.kind,
        .whitened = mixture->metric.whitened,
        .unlabeled_weight = chosen->any ? chosen->weight : 1,
        .held_out = chosen->held_out,
        .loss = chosen->held_out > 0 ? chosen->loss : NAN,
        .accuracy = chosen->held_out > 0 ? chosen->accuracy : NAN,
        .open_set_distance = chosen->any ? chosen->nowhere : INFINITY,
        .candidates = chosen->candidate_count,
        .little = chosen->any && chosen->held_out == 0,
        .every_point = chosen->any && mixture->classes < labeled &&
                       (double)labeled >= chosen->labeled_mass && chosen->unlabeled_mass == 0,
        .views = mixture->views.count,
        .open_set_rate = chosen->rate,
        .open_set_points = chosen->any ? chosen->distance_count : 0,
    };
    imp_give_options(choice, size, &told, sizeof told);
}

imp_mixture_view imp_mixture_view_at(const imp_mixture *mixture, size_t index)
{
    const imp_view *view = &mixture->views.view[index];
    return (imp_mixture_view){view->metric.dimensions, view->metric.kind, view->weight, view->loss};
}

imp_mixture_candidate imp_mixture_candidate_at(const imp_mixture *mixture, size_t index)
{
    return mixture->chosen.candidates[index];
}

imp_status imp_mixture_chosen_copy(const imp_mixture_chosen *from, imp_mixture_chosen *to,
                                   imp_error *error)
{
    *to = *from;
    to->candidates = imp_enlarge(from->candidates, from->candidate_count, from->candidate_count,
                                 sizeof *to->candidates);
    to->distance = imp_enlarge(from->distance, from->distance_count, from->distance_count,
                               sizeof *to->distance);
    return to->candidates && to->distance ? IMP_OK : imp_fail_memory(error, "a mixture");
}

void imp_mixture_chosen_release(imp_mixture_chosen *chosen)
{
    imp_release(chosen->candidates);
    imp_release(chosen->distance);
    *chosen = (imp_mixture_chosen){0};
}
