/*
 * mixture.c - a mixture as an object, and fitting one by Algorithm 1.
 */
#include "methods/mixture.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/parallel.h"
#include "methods/assign.h"
#include "methods/fit_state.h"
#include "methods/imp.h"
#include "methods/method.h"
#include "methods/refine.h"
#include "methods/rule.h"
#include "methods/work.h"

imp_mixture *imp_mixture_create(size_t dimensions)
{
    imp_mixture *mixture = imp_allocate_zeroed(1, sizeof *mixture);
    if (mixture)
        imp_clusters_restart(&mixture->clusters, dimensions);
    return mixture;
}

void imp_mixture_free(imp_mixture *mixture)
{
    if (!mixture)
        return;
    imp_clusters_release(&mixture->clusters);
    imp_views_release(&mixture->views);
    imp_metric_release(&mixture->metric);
    imp_mixture_chosen_release(&mixture->chosen);
    imp_sample_release(&mixture->sample);
    imp_reference_release(&mixture->reference);
    imp_release(mixture->note);
    imp_release(mixture);
}

imp_mixture *imp_mixture_copy(const imp_mixture *mixture, imp_error *error)
{
    const imp_clusters *from = &mixture->clusters;
    imp_mixture *copy = imp_mixture_create(from->dimensions);
    if (!copy) {
        imp_fail_memory(error, "a mixture");
        return NULL;
    }
    imp_clusters *to = &copy->clusters;
    if (imp_clusters_reserve(to, from->count, error) != IMP_OK ||
        imp_mixture_set_note(copy, mixture->note, error) != IMP_OK ||
        imp_views_copy(&mixture->views, &copy->views, error) != IMP_OK ||
        imp_metric_copy(&mixture->metric, &copy->metric, error) != IMP_OK ||
        imp_mixture_chosen_copy(&mixture->chosen, &copy->chosen, error) != IMP_OK ||
        imp_sample_copy(&mixture->sample, &copy->sample, error) != IMP_OK ||
        imp_reference_copy(&mixture->reference, &copy->reference, error) != IMP_OK) {
        imp_mixture_free(copy);
        return NULL;
    }
    copy->classes = mixture->classes;
    copy->rule = mixture->rule;
    copy->given = mixture->given;
    to->count = from->count;
    memcpy(to->label, from->label, from->count * sizeof *to->label);
    memcpy(to->sigma, from->sigma, from->count * sizeof *to->sigma);
    memcpy(to->offset, from->offset, from->count * sizeof *to->offset);
    memcpy(to->weight, from->weight, from->count * sizeof *to->weight);
    memcpy(to->sum, from->sum, from->count * from->dimensions * sizeof *to->sum);
    memcpy(to->mean, from->mean, from->count * from->dimensions * sizeof *to->mean);
    return copy;
}

const char *imp_mixture_note(const imp_mixture *mixture)
{
    return mixture->note;
}

imp_status imp_mixture_set_note(imp_mixture *mixture, const char *note, imp_error *error)
{
    char *copy = note ? imp_duplicate(note) : NULL;
    if (note && !copy)
        return imp_fail_memory(error, "the note of a mixture");
    imp_release(mixture->note);
    mixture->note = copy;
    return IMP_OK;
}

void imp_mixture_place(imp_mixture *mixture, size_t c)
{
    imp_clusters *clusters = &mixture->clusters;
    for (size_t j = 0; j < clusters->dimensions; j++)
        imp_clusters_mean(clusters, c)[j] = imp_clusters_sum(clusters, c)[j] / clusters->weight[c];
}

/* ---- fitting ---- */

void imp_mixture_options_init(imp_mixture_options *options, size_t size)
{
    const imp_mixture_options defaults = {
        .rule = IMP_RULE_AUTO, .unlabeled_weight = IMP_AUTO, .open_set_rate = 0.05};
    imp_give_options(options, size, &defaults, sizeof defaults);
}

/* Whether the paper's rule was asked for, by its preset or by parameters that only it has. */
static bool is_papers(const imp_mixture_options *options)
{
    const imp_rule *rule = &options->rule;
    bool complete = !isnan(rule->sigma_l) && !isnan(rule->sigma_u) && !isnan(rule->lambda);
    return options->preset == IMP_PRESET_PAPER || !isnan(rule->alpha) || complete;
}

static imp_status check_options(const imp_mixture_options *options, imp_error *error)
{
    if ((unsigned)options->preset > IMP_PRESET_PAPER || !imp_metric_name(options->metric) ||
        (unsigned)options->whitening > IMP_WHITEN_YES)
        return imp_fail(error, IMP_EINVAL, "the preset %d, metric %d or whitening %d is unknown",
                        (int)options->preset, (int)options->metric, (int)options->whitening);
    double weight = options->unlabeled_weight, rate = options->open_set_rate;
    if (!isnan(weight) && !(weight >= 0 && weight <= 1))
        return imp_fail(error, IMP_EINVAL,
                        "the weight of unlabelled points is %g; it must be a number from 0 to 1",
                        weight);
    if (!(rate >= 0 && rate <= 1))
        return imp_fail(error, IMP_EINVAL,
                        "the open-set rate is %g; it must be a number from 0 to 1", rate);
    return imp_check_rule(&options->rule, error);
}

/* Takes the caller's options, with imp's defaults if the rule is the paper's. */
static imp_status take_options(const imp_mixture_options *given, imp_mixture_options *options,
                               bool *papers, imp_error *error)
{
    *options = imp_mixture_defaults();
    imp_status status =
        imp_take_options(options, sizeof *options, given, "imp_mixture_options", error);
    if (!status)
        status = check_options(options, error);
    *papers = is_papers(options);
    bool plain = options->metric <= IMP_METRIC_AS_IS && options->whitening != IMP_WHITEN_YES &&
                 (isnan(options->unlabeled_weight) || options->unlabeled_weight == 1);
    if (!status && *papers && !plain)
        return imp_fail(error, IMP_EINVAL,
                        "a metric or a weight of unlabelled points is given together with the "
                        "paper's rule, which takes points as they are; leave out one of them");
    if (!status && *papers && options->point_weight)
        return imp_fail(error, IMP_EINVAL,
                        "weights of points are given together with the paper's rule, by which "
                        "every point counts for 1; leave out one of them");
    if (*papers)
        options->rule = imp_rule_over(&options->rule, &imp_kind_imp.info.rule);
    return status;
}

/* Fails if all values are so small that 32-bit floats have already lost their precision. Most often
 * the first point tells. */
static imp_status check_size(const imp_point_source *source, imp_error *error)
{
    const float least = 1e-30F;
    float most = 0;
    imp_reader reader;
    size_t n = source->count, d = source->dimensions, block = imp_source_block(source);
    imp_status status = imp_reader_create(&reader, source, NULL, block, error);
    for (size_t begin = 0, count; begin < n && most < least && !status; begin += count) {
        const float *x;
        count = begin == 0 ? 1 : n - begin < block ? n - begin : block;
        status = imp_reader_read(&reader, begin, count, &x, error);
        for (size_t i = 0; i < count * d && most < least && !status; i++)
            most = fmaxf(most, fabsf(x[i]));
    }
    imp_reader_release(&reader);
    if (!status && most > 0 && most < least)
        return imp_fail(error, IMP_EINVAL,
                        "no value of the points is larger than %g, and 32-bit floats end at 1e-38; "
                        "multiply all points by a number",
                        (double)most);
    return status;
}

static imp_status check_weights(const double *weight, size_t n, imp_error *error)
{
    for (size_t i = 0; weight && i < n; i++)
        if (!(weight[i] > 0 && isfinite(weight[i])))
            return imp_fail(error, IMP_EINVAL,
                            "point %zu has the weight %g; a weight is a number above 0", i,
                            weight[i]);
    return IMP_OK;
}

imp_status imp_mixture_check_dimensions(const imp_mixture *mixture, size_t d, imp_error *error)
{
    if (d != mixture->clusters.dimensions)
        return imp_fail(error, IMP_EINVAL, "the points have %zu dimensions, the mixture has %zu", d,
                        mixture->clusters.dimensions);
    return IMP_OK;
}

imp_status imp_mixture_check_points(const imp_point_source *source, size_t known, size_t *way,
                                    imp_error *error)
{
    *way = known;
    if (source->dimensions == 0)
        return imp_fail(error, IMP_EINVAL, "the points have no dimensions; they need at least 1");
    if (source->count > UINT32_MAX)
        return imp_fail(error, IMP_EUNSUPPORTED, "there are %zu points; at most %u can be fitted",
                        source->count, UINT32_MAX);
    for (size_t i = 0; i < source->label_count; i++) {
        int32_t label = source->label[i];
        if (label < IMP_UNLABELED)
            return imp_fail(error, IMP_EINVAL,
                            "point %zu has the label %d; labels are classes, 0 or more, or -1 for "
                            "an unlabelled point",
                            i, (int)label);
        if (label >= 0 && (size_t)label >= *way)
            *way = (size_t)label + 1;
    }
    const float *rows;
    if (!source->in_place)
        return IMP_OK;
    imp_status status = source->read(source, 0, source->count, NULL, &rows, error);
    return status ? status
                  : imp_check_finite(rows, source->count, source->dimensions, 0, "point", error);
}

/* Steps 3 to 5 of Algorithm 1, from where the state says. */
static imp_status grow_and_refine(imp_mixture *mixture, imp_assigner *assigner,
                                  const imp_point_source *source, const imp_crew *crew,
                                  int32_t *assignment, imp_cluster_state *state, imp_error *error)
{
    imp_clusters *clusters = &mixture->clusters;
    const imp_rule *rule = &mixture->rule;
    if (state->part == IMP_PART_FIRST) {
        imp_status status = imp_assigner_grow_from(assigner, clusters, rule->lambda, rule->sigma_l,
                                                   rule->sigma_u, assignment, &state->done, error);
        if (status)
            return status;
        state->part = IMP_PART_MEANS;
        state->done = 0;
    }
    size_t before = clusters->count;
    imp_status status = imp_refine_from(clusters, source, crew, &state->done, error);
    if (status)
        return status;
    if (clusters->count < before)
        imp_assigner_renumber(assigner, clusters->moved, assignment);
    state->part = IMP_PART_FIRST;
    state->done = 0;
    return IMP_OK;
}

/* As many steps as the rule says. `order` is NULL where labelled points come first. */
static imp_status step(imp_mixture *mixture, const imp_point_source *source, const uint32_t *order,
                       const imp_crew *crew, imp_error *error)
{
    imp_assigner *assigner = NULL;
    imp_spill room;
    imp_status status = imp_spill_create(&room, crew->place, source->count, sizeof(int32_t), error);
    if (status)
        return status;
    int32_t *assignment = room.values;
    for (size_t i = 0; i < source->count; i++)
        assignment[i] = -1;
    imp_cluster_state own = {0}, *state = crew->fit ? &crew->fit->at : &own;
    status = imp_assigner_create(source, order, crew, &assigner, error);
    if (!status && imp_fit_state_resumes(crew->fit)) {
        status = imp_fit_state_take(crew->fit, mixture, assignment, source->count, error);
        imp_assigner_know_nothing(assigner);
    }
    while (!status && (double)state->passes < mixture->rule.steps) {
        status = grow_and_refine(mixture, assigner, source, crew, assignment, state, error);
        state->passes += !status;
    }
    status = imp_fit_state_keep(crew->fit, status, mixture, assignment, source->count, error);
    imp_assigner_free(assigner);
    imp_spill_release(&room);
    return status;
}

/* Whether labelled points come first. */
static bool is_in_order(const imp_point_source *source)
{
    for (size_t i = 1; i < source->label_count; i++)
        if (source->label[i] >= 0 && source->label[i - 1] < 0)
            return false;
    return true;
}

/* Steps 1 and 2, for which the points that may have a label are in memory. */
static imp_status begin_with_classes(imp_mixture *mixture, const imp_point_source *source,
                                     size_t way, imp_error *error)
{
    imp_reader reader;
    imp_points points = {.dimensions = source->dimensions,
                         .label = source->label,
                         .first_count = source->label_count,
                         .unlabeled_count = imp_source_unlabeled(source)};
    imp_status status = imp_reader_create(&reader, source, NULL, source->label_count, error);
    if (status)
        return status;
    const imp_rule *rule = &mixture->rule;
    const imp_algorithm algorithm = {
        .rule = *rule,
        .lambda_sigma = imp_lambda_sigma(&points, rule->sigma_l, rule->sigma_u),
    };
    if (source->label_count > 0)
        status = imp_reader_read(&reader, 0, source->label_count, &points.first, error);
    if (!status)
        status = imp_algorithm_begin(&algorithm, &points, way, &mixture->clusters,
                                     &mixture->rule.lambda, error);
    imp_reader_release(&reader);
    return status;
}

static imp_status infer(imp_mixture *mixture, const imp_point_source *source, size_t way,
                        const imp_rule *rule, const imp_crew *crew, imp_error *error)
{
    static const imp_crew alone;
    imp_spill order = {0};
    mixture->classes = way;
    mixture->rule = *rule;
    crew = crew ? crew : &alone;
    imp_status status = begin_with_classes(mixture, source, way, error);
    const imp_plan_of_work plan = {.source = source,
                                   .lambda = mixture->rule.lambda,
                                   .lambda_u = mixture->rule.lambda,
                                   .clusters = way,
                                   .passes = (size_t)mixture->rule.steps};
    if (!status)
        status = imp_foresee(&plan, error);
    if (!status && !is_in_order(source)) {
        status = imp_spill_create(&order, crew->place, source->count, sizeof(uint32_t), error);
        if (!status)
            imp_order_labeled_first(source->label, source->label_count,
                                    source->count - source->label_count, order.values);
    }
    if (!status)
        status = step(mixture, source, order.values, crew, error);
    imp_spill_release(&order);
    return status ? status : imp_check_classes(&mixture->clusters, way, error);
}

/* What is wrong with the points or goes badly with the options. */
static imp_status check(const imp_point_source *source, const imp_mixture_options *options,
                        size_t *way, imp_error *error)
{
    imp_status status = imp_mixture_check_points(source, 0, way, error);
    if (!status && options->view_count > 1)
        status = imp_views_check(options, source->dimensions, error);
    if (!status)
        status = check_weights(options->point_weight, source->count, error);
    if (!status)
        status = check_size(source, error);
    if (!status && source->count == 0)
        status = imp_fail(error, IMP_EINVAL, "there are no points to fit; at least 1 is needed");
    if (!status && *way == 0 && isnan(options->rule.lambda))
        status = imp_fail(error, IMP_EINVAL,
                          "no point has a label, so lambda cannot be estimated; give lambda");
    if (status || *way == 0)
        return status;
    unsigned char *seen = imp_allocate(imp_seen_bytes(source->label_count, *way), 1);
    status = seen ? imp_check_complete(source->label, source->label_count, *way, seen, error)
                  : imp_fail_memory(error, "a mixture");
    imp_release(seen);
    return status;
}

imp_status imp_mixture_fit_source(const imp_point_source *source, const imp_mixture_options *given,
                                  const imp_crew *crew, imp_mixture **out, imp_error *error)
{
    *out = NULL;
    imp_mixture_options options;
    bool papers;
    size_t way;
    imp_status status = take_options(given, &options, &papers, error);
    if (!status)
        status = check(source, &options, &way, error);
    if (!status && crew)
        status = imp_fit_state_begin(crew->fit, source, &options, error);
    if (status)
        return status;
    if (way == 0 && !papers) {
        papers = true;
        options.rule = imp_rule_over(&options.rule, &imp_kind_imp.info.rule);
    }
    imp_mixture *mixture = imp_mixture_create(source->dimensions);
    if (!mixture)
        return imp_fail_memory(error, "a mixture");
    status = papers ? infer(mixture, source, way, &options.rule, crew, error)
                    : imp_mixture_begin(mixture, &options, source, way, crew, error);
    if (status) {
        imp_mixture_free(mixture);
        return status;
    }
    *out = mixture;
    return IMP_OK;
}

imp_status imp_mixture_fit(const float *x, const int32_t *y, size_t n, size_t d,
                           const imp_mixture_options *given, imp_mixture **out, imp_error *error)
{
    const imp_point_source source = imp_source_of_labeled(x, y, n, d);
    return imp_mixture_fit_source(&source, given, NULL, out, error);
}
