/*
 * mixture_predict.c - classifies points with a mixture, and describes it.
 *
 * Nothing here writes to the mixture, so any number of threads may use it at once.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "methods/classify.h"
#include "methods/mixture.h"
#include "methods/rule.h"

/* out = the points with their views joined, in the metric. */
static imp_status convert(const imp_mixture *mixture, const float *x, size_t n, float *out,
                          imp_error *error)
{
    const imp_metric *metric = &mixture->metric;
    size_t d = mixture->clusters.dimensions;
    if (mixture->views.count == 0)
        return imp_metric_apply(metric, x, NULL, n, 0, out, error);
    if (imp_metric_is_plain(metric))
        return imp_views_apply(&mixture->views, x, n, d, out, error);
    float *joined = imp_allocate(n * d, sizeof *joined);
    if (!joined)
        return imp_fail_memory(error, "views of points");
    imp_status status = imp_views_apply(&mixture->views, x, n, d, joined, error);
    if (!status)
        status = imp_metric_apply(metric, joined, NULL, n, 0, out, error);
    imp_release(joined);
    return status;
}

imp_status imp_mixture_enter(const imp_mixture *mixture, const float *x, size_t n, float **room,
                             const float **rows, imp_error *error)
{
    *room = NULL;
    *rows = x;
    if (imp_mixture_is_plain(mixture) || n == 0)
        return IMP_OK;
    size_t values;
    if (imp_multiply(n, mixture->clusters.dimensions, &values))
        *room = imp_allocate(values, sizeof **room);
    if (!*room)
        return imp_fail_memory(error, "points in a metric");
    *rows = *room;
    return convert(mixture, x, n, *room, error);
}

static imp_status check_queries(const imp_mixture *mixture, const float *x, size_t n, size_t d,
                                imp_error *error)
{
    if (d != mixture->clusters.dimensions)
        return imp_fail(error, IMP_EINVAL, "the points have %zu dimensions, the mixture has %zu", d,
                        mixture->clusters.dimensions);
    return imp_check_finite(x, n, d, 0, "query", error);
}

imp_status imp_mixture_transform(const imp_mixture *mixture, const float *x, size_t n, size_t d,
                                 float *out, imp_error *error)
{
    imp_status status = check_queries(mixture, x, n, d, error);
    if (status)
        return status;
    if (!imp_mixture_is_plain(mixture) && n > 0)
        return convert(mixture, x, n, out, error);
    if (n > 0)
        memcpy(out, x, n * d * sizeof *out);
    return IMP_OK;
}

/* ---- none of these ---- */

/* The probability that a point at that distance from all labelled ones is none of the classes: at
 * least 1/2 beyond the distance `nowhere`, and small enough below it that some class is as likely.
 * It grows with the distance, independently of the classes, so points can be ranked by it. */
static double strangeness(const imp_mixture *mixture, double far)
{
    double nowhere = mixture->chosen.nowhere;
    double gain = nowhere > 0 ? 4 * (far / nowhere - 1) : far > 0;
    return gain > 0 ? 1 - 0.5 * exp(-gain) : exp(gain) / (double)(mixture->classes + 1);
}

/* Lets "none of these" compete by the distance `far`; `found` has all arrays. */
static void compete(const imp_mixture *mixture, size_t q, double far,
                    const imp_mixture_predictions *found)
{
    size_t way = mixture->classes;
    float *probability = found->probability + q * (way + 1);
    double strange = strangeness(mixture, far);
    for (size_t o = 0; o < way; o++)
        probability[o] = (float)(probability[o] * (1 - strange));
    probability[way] = (float)(probability[way] + (1 - probability[way]) * strange);
    if (far > mixture->chosen.nowhere)
        found->label[q] = IMP_UNLABELED;
    imp_agree(probability, way + 1, found->label[q] < 0 ? way : (size_t)found->label[q]);
}

/* Classifies points x, which are `rows` in the mixture's metric. */
static imp_status decide(const imp_mixture *mixture, const float *x, const float *rows, size_t n,
                         bool open_set, const imp_mixture_predictions *wanted, imp_error *error)
{
    imp_point_source queries = imp_source_of_rows(rows, n, mixture->clusters.dimensions);
    imp_mixture_predictions found = *wanted, room = {0};
    bool distances = open_set && mixture->chosen.any && isfinite(mixture->chosen.nowhere);
    imp_status status = IMP_OK;
    double *far = NULL;
    if (distances) {
        size_t values;
        far = imp_allocate(n, sizeof *far);
        if (!found.label)
            found.label = room.label = imp_allocate(n, sizeof *room.label);
        if (!found.distance)
            found.distance = room.distance = imp_allocate(n, sizeof *room.distance);
        if (!found.probability && imp_multiply(n, mixture->classes + 1, &values))
            found.probability = room.probability = imp_allocate(values, sizeof *room.probability);
        if (!found.label || !found.distance || !found.probability || !far)
            status = imp_fail_memory(error, "predictions");
        else if (mixture->reference.count > 0)
            status = imp_reference_distances(&mixture->reference, x, n, far, error);
    }
    const imp_decisions decisions = {.label = found.label,
                                     .probability = found.probability,
                                     .distance = found.distance,
                                     .cluster = found.cluster};
    if (!status)
        status = imp_decide_all(&mixture->clusters, mixture->classes, open_set, &queries, 0,
                                &decisions, error);
    for (size_t q = 0; q < n && !status && distances; q++)
        compete(mixture, q, mixture->reference.count > 0 ? far[q] : found.distance[q], &found);
    imp_release(far);
    imp_release(room.label);
    imp_release(room.distance);
    imp_release(room.probability);
    return status;
}

imp_status imp_mixture_predict(const imp_mixture *mixture, const float *x, size_t n, size_t d,
                               bool open_set, const imp_mixture_predictions *predictions,
                               imp_error *error)
{
    enum { TOGETHER = 65536 }; /* points mapped into the metric at a time */
    imp_status status = check_queries(mixture, x, n, d, error);
    if (status || imp_mixture_is_plain(mixture))
        return status ? status : decide(mixture, x, x, n, open_set, predictions, error);
    size_t outcomes = mixture->classes + open_set;
    for (size_t begin = 0; begin < n && !status; begin += TOGETHER) {
        size_t count = n - begin < TOGETHER ? n - begin : TOGETHER;
        const imp_mixture_predictions part = {
            .label = predictions->label ? predictions->label + begin : NULL,
            .probability =
                predictions->probability ? predictions->probability + begin * outcomes : NULL,
            .distance = predictions->distance ? predictions->distance + begin : NULL,
            .cluster = predictions->cluster ? predictions->cluster + begin : NULL};
        float *room;
        const float *rows;
        status = imp_mixture_enter(mixture, x + begin * d, count, &room, &rows, error);
        if (!status)
            status = decide(mixture, x + begin * d, rows, count, open_set, &part, error);
        imp_release(room);
    }
    return status;
}

imp_mixture_summary imp_mixture_summarize(const imp_mixture *mixture)
{
    const imp_clusters *clusters = &mixture->clusters;
    imp_mixture_summary summary = {
        .dimensions = clusters->dimensions,
        .classes = mixture->classes,
        .clusters = clusters->count,
        .rule = mixture->rule,
    };
    for (size_t c = 0; c < clusters->count; c++)
        summary.weight += clusters->weight[c];
    return summary;
}

imp_mixture_cluster imp_mixture_cluster_at(const imp_mixture *mixture, size_t index)
{
    const imp_clusters *clusters = &mixture->clusters;
    return (imp_mixture_cluster){
        .label = clusters->label[index],
        .sigma = clusters->sigma[index],
        .weight = clusters->weight[index],
        .mean = imp_clusters_mean(clusters, index),
    };
}

/* Text being written to a buffer that may be too small. */
typedef struct text {
    char *at;
    size_t size, length;
} text;

__attribute__((format(printf, 2, 3))) static void append(text *out, const char *format, ...)
{
    size_t used = out->length < out->size ? out->length : out->size;
    va_list arguments;
    va_start(arguments, format);
    int length =
        vsnprintf(out->size > used ? out->at + used : NULL, out->size - used, format, arguments);
    va_end(arguments);
    if (length > 0)
        out->length += (size_t)length;
}

/* One line on the clusters of that label, if there are any. */
static void describe_label(const imp_mixture *mixture, int32_t label, text *out)
{
    const imp_clusters *clusters = &mixture->clusters;
    size_t count = 0;
    double weight = 0;
    for (size_t c = 0; c < clusters->count; c++)
        if (clusters->label[c] == label) {
            count++;
            weight += clusters->weight[c];
        }
    if (count == 0)
        return;
    if (label < 0)
        append(out, "unlabelled:");
    else
        append(out, "class %d:", (int)label);
    append(out, " %zu cluster%s, weight %.6g\n", count, count == 1 ? "" : "s", weight);
}

static const char *whitening_of(bool whitened)
{
    return whitened ? ", whitened" : "";
}

static void describe_views(const imp_mixture *mixture, text *out)
{
    for (size_t v = 0; v < mixture->views.count; v++) {
        imp_mixture_view view = imp_mixture_view_at(mixture, v);
        append(out, "view %zu: %zu dimension%s, metric %s, weight %.3f", v, view.dimensions,
               view.dimensions == 1 ? "" : "s", imp_metric_name(view.metric), view.weight);
        if (!isnan(view.loss))
            append(out, "; held-out loss of it alone %.4f", view.loss);
        append(out, "\n");
    }
}

/* A few lines on what was chosen from the data. */
static void describe_choice(const imp_mixture *mixture, text *out)
{
    imp_mixture_choice choice;
    imp_mixture_choice_of(mixture, &choice, sizeof choice);
    describe_views(mixture, out);
    append(out, "metric %s%s", imp_metric_name(choice.metric), whitening_of(choice.whitened));
    if (choice.held_out > 0)
        append(out, "; held-out loss %.4f, accuracy %.3f of %zu points", choice.loss,
               choice.accuracy, choice.held_out);
    else
        append(out, "; nothing could be held out, so this is the usual one");
    append(out, "\n");
    for (size_t i = 0; i < choice.candidates; i++) {
        imp_mixture_candidate tried = imp_mixture_candidate_at(mixture, i);
        append(out, "  tried %s%s: loss %.4f\n", imp_metric_name(tried.metric),
               whitening_of(tried.whitened), tried.loss);
    }
    append(out, "unlabelled points weigh %.4g\n", choice.unlabeled_weight);
}

size_t imp_mixture_describe(const imp_mixture *mixture, char *at, size_t size)
{
    text out = {at, size, 0};
    imp_mixture_summary summary = imp_mixture_summarize(mixture);
    append(&out, "%zu cluster%s of %zu class%s in %zu dimension%s\n", summary.clusters,
           summary.clusters == 1 ? "" : "s", summary.classes, summary.classes == 1 ? "" : "es",
           summary.dimensions, summary.dimensions == 1 ? "" : "s");
    if (mixture->chosen.any)
        describe_choice(mixture, &out);
    append(&out, "lambda %.6g, sigma_l %.6g, sigma_u %.6g\n", summary.rule.lambda,
           summary.rule.sigma_l, summary.rule.sigma_u);
    for (size_t class = 0; class < summary.classes; class ++)
        describe_label(mixture, (int32_t) class, &out);
    describe_label(mixture, IMP_UNLABELED, &out);
    return out.length;
}
