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
#include "methods/open_set.h"
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

/* Decides without a threshold. */
static imp_status decide_by_clusters(const imp_mixture *mixture, const float *rows, size_t n,
                                     bool open_set, const imp_mixture_predictions *wanted,
                                     imp_error *error)
{
    const imp_point_source queries = imp_source_of_rows(rows, n, mixture->clusters.dimensions);
    const imp_decisions decisions = {.label = wanted->label,
                                     .probability = wanted->probability,
                                     .distance = wanted->distance,
                                     .cluster = wanted->cluster};
    return imp_decide_all(&mixture->clusters, mixture->classes, open_set, &queries, 0, &decisions,
                          error);
}

/* Room for all predictions with that many outcomes. */
static imp_status make_room(imp_mixture_predictions *room, size_t n, size_t outcomes,
                            imp_error *error)
{
    size_t values;
    *room = (imp_mixture_predictions){.label = imp_allocate(n, sizeof *room->label),
                                      .distance = imp_allocate(n, sizeof *room->distance),
                                      .cluster = imp_allocate(n, sizeof *room->cluster)};
    if (imp_multiply(n, outcomes, &values))
        room->probability = imp_allocate(values, sizeof *room->probability);
    return room->label && room->distance && room->cluster && room->probability
               ? IMP_OK
               : imp_fail_memory(error, "predictions");
}

static void release_room(imp_mixture_predictions *room)
{
    imp_release(room->label);
    imp_release(room->distance);
    imp_release(room->cluster);
    imp_release(room->probability);
}

/* Writes the prediction of query q: by the clusters that have a label, `closed`, unless its score
 * makes it none of the classes. In `open` clusters without a label take part; NULL: there are none.
 */
static void compete(const imp_mixture *mixture, size_t q, double far,
                    const imp_mixture_predictions *closed, const imp_mixture_predictions *open,
                    const imp_mixture_predictions *wanted)
{
    size_t way = mixture->classes;
    double score = imp_open_set_score(far, open ? open->probability[q * (way + 1) + way] : 0);
    double none = imp_open_set_probability(mixture, score);
    bool strange = score > mixture->chosen.nowhere;
    const imp_mixture_predictions *decided = strange && open ? open : closed;
    if (wanted->label)
        wanted->label[q] = strange ? IMP_UNLABELED : closed->label[q];
    if (wanted->distance)
        wanted->distance[q] = decided->distance[q];
    if (wanted->cluster)
        wanted->cluster[q] = decided->cluster[q];
    if (!wanted->probability)
        return;
    float *probability = wanted->probability + q * (way + 1);
    for (size_t o = 0; o < way; o++)
        probability[o] = (float)(closed->probability[q * way + o] * (1 - none));
    probability[way] = (float)none;
    imp_agree(probability, way + 1, strange ? way : (size_t)closed->label[q]);
}

/* Decides with the threshold. */
static imp_status decide_by_score(const imp_mixture *mixture, const float *x, const float *rows,
                                  size_t n, const imp_mixture_predictions *wanted, imp_error *error)
{
    const imp_clusters *clusters = &mixture->clusters;
    bool strangers = imp_mixture_stranger_number(clusters, clusters->count) > 0;
    imp_mixture_predictions closed, open = {0};
    double *far = imp_allocate(n, sizeof *far);
    imp_status status = make_room(&closed, n, mixture->classes, error);
    if (!status && !far)
        status = imp_fail_memory(error, "predictions");
    if (!status)
        status = decide_by_clusters(mixture, rows, n, false, &closed, error);
    if (!status && strangers)
        status = make_room(&open, n, mixture->classes + 1, error);
    if (!status && strangers)
        status = decide_by_clusters(mixture, rows, n, true, &open, error);
    if (!status && mixture->reference.count > 0)
        status = imp_reference_distances(&mixture->reference, x, n, far, error);
    for (size_t q = 0; q < n && !status; q++)
        compete(mixture, q, mixture->reference.count > 0 ? far[q] : closed.distance[q], &closed,
                strangers ? &open : NULL, wanted);
    imp_release(far);
    release_room(&closed);
    release_room(&open);
    return status;
}

/* Classifies points x, which are `rows` in the mixture's metric. */
static imp_status decide(const imp_mixture *mixture, const float *x, const float *rows, size_t n,
                         bool open_set, const imp_mixture_predictions *wanted, imp_error *error)
{
    return open_set && imp_open_set_calibrated(mixture)
               ? decide_by_score(mixture, x, rows, n, wanted, error)
               : decide_by_clusters(mixture, rows, n, open_set, wanted, error);
}

imp_status imp_mixture_predict(const imp_mixture *mixture, const float *x, size_t n, size_t d,
                               bool open_set, const imp_mixture_predictions *predictions,
                               imp_error *error)
{
    enum { TOGETHER = 65536 }; /* points for which there is room at a time */
    imp_status status = check_queries(mixture, x, n, d, error);
    bool room_needed =
        (open_set && imp_open_set_calibrated(mixture)) || !imp_mixture_is_plain(mixture);
    if (status || !room_needed)
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
