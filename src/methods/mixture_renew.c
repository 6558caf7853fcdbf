/*
 * mixture_renew.c - keeps a sample of a mixture's points, and chooses again from it.
 *
 * A mixture with options chosen from the data is refitted to its sample once a quarter of the
 * sample is new, there are a quarter more classes, or it has twice as many clusters as sampled
 * points. So metric, lambda and variances adapt, at times that depend on the points so far and not
 * on how they were divided into calls. A sampled point weighs as much as the points that it stands
 * for. As long as all points are in the sample, this is fitting to all of them.
 *
 * New kinds (new_kinds.h) among unlabelled points of the sample become clusters without a label,
 * and their points take no part in the fit, where they might receive the label of a class.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "methods/classify.h"
#include "methods/derived_source.h"
#include "methods/fit_state.h"
#include "methods/mixture.h"
#include "methods/new_kinds.h"
#include "methods/open_set.h"

enum {
    MOST_CLUSTERS = 2,    /* clusters per sampled point */
    MOST_JOINED = 1 << 26 /* bytes of points that are kept with their views joined */
};

size_t imp_mixture_stranger_number(const imp_clusters *clusters, size_t c)
{
    size_t number = 0;
    for (size_t i = 0; i < c && i < clusters->count; i++)
        number += clusters->label[i] < 0;
    return number;
}

static imp_status join(const void *context, const float *rows, size_t begin, size_t count,
                       float *out, imp_error *error)
{
    (void)begin;
    const imp_mixture *mixture = context;
    return imp_views_apply(&mixture->views, rows, count, mixture->clusters.dimensions, out, error);
}

/* Fits an empty mixture, choosing open options from the points. */
static imp_status choose(imp_mixture *mixture, imp_mixture_options options,
                         const imp_point_source *source, size_t way, const imp_crew *crew,
                         imp_error *error)
{
    imp_mapped_source joined = {0};
    imp_whitening whitening;
    imp_status status = IMP_OK;
    if (options.view_count > 1) {
        status = imp_views_choose(&mixture->views, &options, source, way, &whitening, error);
        if (!status)
            status = imp_mapped_source_create(&joined, source, source->dimensions, join, mixture,
                                              MOST_JOINED, error);
        options.metric = IMP_METRIC_AS_IS;
        options.whitening = whitening;
        source = &joined.source;
    }
    if (!status)
        status = imp_mixture_choose(mixture, &options, source, way, crew, error);
    imp_mapped_source_release(&joined);
    return status;
}

/* kind(n) = the labels of points in the sample: their own, or for unlabelled ones by their
 * clusters. */
static imp_status find_kinds(const imp_mixture *mixture, const float *x, const int32_t *y, size_t n,
                             int32_t *kind, imp_error *error)
{
    const imp_clusters *clusters = &mixture->clusters;
    memmove(kind, y, n * sizeof *kind);
    if (imp_mixture_stranger_number(clusters, clusters->count) == 0)
        return IMP_OK;
    int32_t *cluster = imp_allocate(n, sizeof *cluster);
    if (!cluster)
        return imp_fail_memory(error, "points that a mixture keeps");
    const imp_decisions wanted = {.cluster = cluster};
    float *room;
    const float *rows;
    imp_status status = imp_mixture_enter(mixture, x, n, &room, &rows, error);
    const imp_point_source points = imp_source_of_rows(rows, n, clusters->dimensions);
    if (!status)
        status = imp_decide_all(clusters, mixture->classes, true, &points, 0, &wanted, error);
    imp_release(room);
    for (size_t i = 0; i < n && !status; i++)
        if (y[i] < 0 && clusters->label[cluster[i]] < 0)
            kind[i] = imp_stranger(imp_mixture_stranger_number(clusters, (size_t)cluster[i]));
    imp_release(cluster);
    return status;
}

/* Takes a sample of all points, block by block. */
static imp_status take_sample(imp_mixture *mixture, const imp_point_source *source,
                              const double *weight, const imp_crew *crew, imp_error *error)
{
    size_t n = source->count, d = source->dimensions, block = imp_source_block(source);
    imp_reader reader;
    int32_t *kind = imp_allocate(block, sizeof *kind);
    imp_status status = kind ? imp_reader_create(&reader, source, NULL, block, error)
                             : imp_fail_memory(error, "points that a mixture keeps");
    if (status) {
        imp_release(kind);
        return status;
    }
    imp_fit_state *fit = crew ? crew->fit : NULL;
    for (size_t begin = fit ? fit->at.done : 0, end; begin < n && !status; begin = end) {
        const float *rows;
        end = n - begin < block ? n : begin + block;
        for (size_t i = begin; i < end; i++)
            kind[i - begin] = imp_source_label(source, i);
        status = imp_reader_read(&reader, begin, end - begin, &rows, error);
        if (!status)
            status = find_kinds(mixture, rows, kind, end - begin, kind, error);
        for (size_t i = begin; i < end && !status; i++)
            status = imp_sample_add(&mixture->sample, rows + (i - begin) * d, kind[i - begin],
                                    weight ? weight[i] : 1, error);
        if (!status && fit)
            fit->at.done = end;
        if (!status && crew)
            status = imp_crew_done(crew, begin, end, error);
    }
    imp_reader_release(&reader);
    imp_release(kind);
    return status;
}

/* ---- again ---- */

/* The options of the mixture's fit, for its sample. The arrays have room for the most views
 * allowed. */
static imp_mixture_options options_again(const imp_mixture *mixture, size_t *dimensions,
                                         double *weights)
{
    const imp_mixture_given *given = &mixture->given;
    imp_mixture_options options = imp_mixture_defaults();
    options.rule = given->rule;
    options.metric = given->metric;
    options.whitening = given->whitening;
    options.unlabeled_weight = given->unlabeled_weight;
    options.open_set_rate = mixture->chosen.rate;
    options.view_count = mixture->views.count;
    for (size_t v = 0; v < mixture->views.count; v++) {
        dimensions[v] = mixture->views.view[v].metric.dimensions;
        weights[v] = mixture->views.view[v].weight;
    }
    options.view_dimensions = dimensions;
    options.view_weights = given->view_weights ? weights : NULL;
    return options;
}

/* Replaces everything by the new fit, except the sample and the note. */
static void replace(imp_mixture *mixture, imp_mixture *fresh)
{
    imp_mixture old = *mixture;
    fresh->chosen.labeled_mass = 0;
    for (size_t c = 1; c <= mixture->classes; c++)
        fresh->chosen.labeled_mass += mixture->sample.seen[c];
    mixture->rule = fresh->rule;
    mixture->clusters = fresh->clusters;
    mixture->views = fresh->views;
    mixture->metric = fresh->metric;
    mixture->chosen = fresh->chosen;
    fresh->clusters = old.clusters;
    fresh->views = old.views;
    fresh->metric = old.metric;
    fresh->chosen = old.chosen;
}

/* Relabels unlabelled points of the sample by the new clusters, which get the weight of what these
 * stand for. */
static imp_status assign_strangers(imp_mixture *mixture, int32_t *label, imp_error *error)
{
    imp_clusters *clusters = &mixture->clusters;
    imp_sample *sample = &mixture->sample;
    imp_status status = find_kinds(mixture, sample->rows, label, sample->count, label, error);
    size_t strangers = imp_mixture_stranger_number(clusters, clusters->count);
    if (!status)
        status = imp_sample_relabel(sample, label, mixture->classes, strangers, error);
    for (size_t c = 0, k = 0; c < clusters->count && !status; c++) {
        if (clusters->label[c] >= 0)
            continue;
        double seen = sample->seen[1 + mixture->classes + k++];
        double factor = seen / clusters->weight[c];
        if (seen <= 0)
            continue;
        clusters->weight[c] = seen;
        for (size_t j = 0; j < clusters->dimensions; j++)
            imp_clusters_sum(clusters, c)[j] *= factor;
    }
    return status;
}

/* The first class without a point in the sample, or the number of classes. */
static size_t missing_class(const imp_mixture *mixture)
{
    const imp_sample *sample = &mixture->sample;
    size_t c = 0;
    while (c < sample->classes && sample->stratum[c + 1].kept > 0)
        c++;
    return c;
}

/* Adds a cluster for every new kind, at the mean of its points. */
static imp_status add_kinds(imp_mixture *mixture, const imp_new_kinds *kinds, imp_error *error)
{
    imp_clusters *clusters = &mixture->clusters;
    const imp_sample *sample = &mixture->sample;
    size_t first = clusters->count, d = clusters->dimensions;
    double sigma = mixture->rule.sigma_u;
    float *room;
    const float *rows;
    if (kinds->count == 0)
        return IMP_OK;
    imp_status status =
        imp_mixture_enter(mixture, sample->rows, sample->count, &room, &rows, error);
    for (size_t k = 0; k < kinds->count && !status; k++)
        status = imp_clusters_add(clusters, IMP_UNLABELED, sigma, NULL, error);
    for (size_t i = 0; i < sample->count && !status; i++) {
        if (kinds->kind[i] < 0)
            continue;
        size_t c = first + (size_t)kinds->kind[i];
        double weight = sample->weight[i] * imp_sample_share(sample, i);
        clusters->weight[c] += weight;
        for (size_t j = 0; j < d; j++)
            imp_clusters_sum(clusters, c)[j] += weight * rows[i * d + j];
    }
    for (size_t c = first; c < clusters->count && !status; c++)
        imp_mixture_place(mixture, c);
    imp_release(room);
    return status;
}

/* Fits the mixture anew to those points of its sample that are of no new kind. On failure the
 * clusters are as they were. */
static imp_status fit_to_sample(imp_mixture *mixture, const imp_new_kinds *kinds, imp_error *error)
{
    const imp_sample *sample = &mixture->sample;
    size_t n = sample->count, d = sample->dimensions, left = 0, dimensions[IMP_MOST_VIEWS];
    double view_weights[IMP_MOST_VIEWS];
    imp_mixture_options options = options_again(mixture, dimensions, view_weights);
    int32_t *label = imp_allocate(n, sizeof *label);
    double *weight = imp_allocate(n, sizeof *weight);
    float *rows = kinds->count > 0 ? imp_allocate(n * d, sizeof *rows) : NULL;
    imp_mixture *fresh = imp_mixture_create(d);
    imp_status status = label && weight && fresh && (rows || kinds->count == 0)
                            ? IMP_OK
                            : imp_fail_memory(error, "a mixture");
    for (size_t i = 0; i < n && !status; i++) {
        if (kinds->kind[i] >= 0)
            continue;
        label[left] = sample->label[i] >= 0 ? sample->label[i] : IMP_UNLABELED;
        weight[left] = sample->weight[i] * (label[left] >= 0 ? imp_sample_share(sample, i) : 1);
        if (rows)
            memcpy(rows + left * d, sample->rows + i * d, d * sizeof *rows);
        left++;
    }
    options.point_weight = weight;
    const imp_point_source points =
        imp_source_of_labeled(rows ? rows : sample->rows, label, left, d);
    if (!status)
        status = choose(fresh, options, &points, mixture->classes, NULL, error);
    if (!status)
        replace(mixture, fresh);
    imp_mixture_free(fresh);
    imp_release(label);
    imp_release(weight);
    imp_release(rows);
    return status;
}

/* Sets the threshold, and starts to count what is new. */
static imp_status settle(imp_mixture *mixture, imp_error *error)
{
    imp_status status = imp_open_set_calibrate(mixture, error);
    if (!status)
        imp_sample_settle(&mixture->sample);
    return status;
}

/* Adds clusters for the new kinds, assigns the sample to all there are, and sets the threshold. */
static imp_status finish(imp_mixture *mixture, const imp_new_kinds *kinds, imp_error *error)
{
    imp_sample *sample = &mixture->sample;
    imp_status status = add_kinds(mixture, kinds, error);
    int32_t *label = status ? NULL : imp_allocate(sample->count, sizeof *label);
    if (!status && !label)
        status = imp_fail_memory(error, "a mixture");
    for (size_t i = 0; i < sample->count && !status; i++)
        label[i] = sample->label[i] >= 0 ? sample->label[i] : IMP_UNLABELED;
    if (!status)
        status = assign_strangers(mixture, label, error);
    imp_release(label);
    return status ? status : settle(mixture, error);
}

/* Refits the mixture to its sample, of which the new kinds are known. On failure of the fit the
 * clusters are as they were. */
static imp_status refit(imp_mixture *mixture, const imp_new_kinds *kinds, imp_error *error)
{
    size_t missing = missing_class(mixture);
    if (missing < mixture->classes)
        return imp_fail(error, IMP_EINVAL, "class %zu has no point among those that are kept",
                        missing);
    imp_status status = fit_to_sample(mixture, kinds, error);
    return status ? status : finish(mixture, kinds, error);
}

/* ---- the first fit ---- */

/* If there are new kinds, the mixture is refitted to its sample without their points. If not all
 * labelled points are in the sample, they only become clusters besides. */
static imp_status add_new_kinds(imp_mixture *mixture, imp_error *error)
{
    const imp_sample *sample = &mixture->sample;
    double labeled = 0;
    for (size_t c = 0; c < sample->classes; c++)
        labeled += sample->seen[c + 1];
    bool all = labeled <= (double)sample->labeled_kept;
    imp_new_kinds kinds;
    imp_status status = imp_new_kinds_find(sample, &kinds, error);
    if (!status && kinds.count == 0)
        status = settle(mixture, error);
    else if (!status)
        status = all ? refit(mixture, &kinds, error) : finish(mixture, &kinds, error);
    imp_new_kinds_release(&kinds);
    return status;
}

imp_status imp_mixture_begin(imp_mixture *mixture, const imp_mixture_options *options,
                             const imp_point_source *source, size_t way, const imp_crew *crew,
                             imp_error *error)
{
    const imp_clusters *clusters = &mixture->clusters;
    mixture->given = (imp_mixture_given){.rule = options->rule,
                                         .metric = options->metric,
                                         .whitening = options->whitening,
                                         .unlabeled_weight = options->unlabeled_weight,
                                         .view_weights = options->view_weights != NULL};
    mixture->sample.dimensions = source->dimensions;
    imp_status status = choose(mixture, *options, source, way, crew, error);
    if (!status)
        status = imp_sample_make_room(
            &mixture->sample, way, imp_mixture_stranger_number(clusters, clusters->count), error);
    if (!status)
        status = take_sample(mixture, source, options->point_weight, crew, error);
    if (!status)
        status = add_new_kinds(mixture, error);
    return crew ? imp_fit_state_keep(crew->fit, status, mixture, NULL, source->count, error)
                : status;
}

imp_status imp_mixture_renew(imp_mixture *mixture, imp_error *error)
{
    imp_new_kinds kinds;
    imp_status status = imp_new_kinds_find(&mixture->sample, &kinds, error);
    if (!status)
        status = refit(mixture, &kinds, error);
    imp_new_kinds_release(&kinds);
    return status;
}

imp_status imp_mixture_remember(imp_mixture *mixture, const float *x, int32_t kind, bool *renewed,
                                imp_error *error)
{
    imp_sample *sample = &mixture->sample;
    size_t strangers = kind < IMP_UNLABELED ? (size_t)(-1 - kind) : 0;
    imp_status status = imp_sample_make_room(sample, mixture->classes, strangers, error);
    if (!status)
        status = imp_sample_add(sample, x, kind, 1, error);
    bool due = !status && (imp_sample_is_due(sample) ||
                           mixture->clusters.count > MOST_CLUSTERS * sample->count);
    *renewed = due && missing_class(mixture) == mixture->classes;
    if (!*renewed)
        return status;
    status = imp_mixture_renew(mixture, error);
    if (!status || status == IMP_ENOMEM)
        return status;
    /* Given parameters may leave a class without a cluster; then everything stays as it was. */
    imp_sample_settle(sample);
    return IMP_OK;
}
