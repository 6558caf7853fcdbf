/*
 * mixture_predict.c - asking a fitted mixture: step 6 of Algorithm 1, and what the mixture is.
 *
 * Nothing here writes to the mixture, so that any number of threads may ask at once.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "methods/masked_loss.h"
#include "methods/mixture.h"
#include "methods/softmax.h"

/* Writes the answers for point i, from its best clusters and their scores. */
static void write_answers(const imp_mixture *mixture, size_t i, const float *x, bool open_set,
                          const size_t *best, const double *score,
                          const imp_mixture_predictions *predictions)
{
    /* Without classes there is only "none of these" to choose. */
    size_t classes = mixture->classes, outcomes = classes + open_set;
    size_t chosen = classes > 0 ? imp_largest(score, outcomes) : 0;
    size_t cluster = best[chosen];
    bool decided = cluster != IMP_NO_CLUSTER; /* not in a mixture whose clusters all went */
    if (predictions->label)
        predictions->label[i] = chosen < classes ? (int32_t)chosen : IMP_UNLABELED;
    if (predictions->cluster)
        predictions->cluster[i] = decided ? (int32_t)cluster : -1;
    if (predictions->distance)
        predictions->distance[i] =
            decided ? (float)imp_clusters_distance(&mixture->clusters, cluster, x) : INFINITY;
    if (predictions->probability)
        imp_probabilities(score, outcomes, predictions->probability + i * outcomes);
}

imp_status imp_mixture_predict(const imp_mixture *mixture, const float *x, size_t n, size_t d,
                               bool open_set, const imp_mixture_predictions *predictions,
                               imp_error *error)
{
    if (d != mixture->clusters.dimensions)
        return imp_fail(error, IMP_EINVAL, "the points have %zu dimensions, the mixture has %zu", d,
                        mixture->clusters.dimensions);
    imp_status status = imp_check_finite(x, n, d, 0, "query", error);
    if (status != IMP_OK)
        return status;
    size_t *best = imp_allocate(mixture->classes + 1, sizeof *best);
    double *score = imp_allocate(mixture->classes + 1, sizeof *score);
    if (best && score)
        for (size_t i = 0; i < n; i++) {
            imp_best_clusters(&mixture->clusters, mixture->classes, x + i * d, best, score);
            write_answers(mixture, i, x + i * d, open_set, best, score, predictions);
        }
    else
        status = imp_fail_memory(error, "predictions");
    imp_release(best);
    imp_release(score);
    return status;
}

imp_mixture_summary imp_mixture_summarize(const imp_mixture *mixture)
{
    const imp_clusters *clusters = &mixture->clusters;
    imp_mixture_summary summary = {
        .dimensions = clusters->dimensions,
        .classes = mixture->classes,
        .clusters = clusters->count,
        .lambda = mixture->lambda,
        .sigma_l = mixture->sigma_l,
        .sigma_u = mixture->sigma_u,
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

/* A text being written into a buffer that may be too small for it. */
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

size_t imp_mixture_describe(const imp_mixture *mixture, char *at, size_t size)
{
    text out = {at, size, 0};
    imp_mixture_summary summary = imp_mixture_summarize(mixture);
    append(&out, "%zu cluster%s of %zu class%s in %zu dimension%s\n", summary.clusters,
           summary.clusters == 1 ? "" : "s", summary.classes, summary.classes == 1 ? "" : "es",
           summary.dimensions, summary.dimensions == 1 ? "" : "s");
    append(&out, "lambda %.6g, sigma_l %.6g, sigma_u %.6g\n", summary.lambda, summary.sigma_l,
           summary.sigma_u);
    for (size_t class = 0; class < summary.classes; class ++)
        describe_label(mixture, (int32_t) class, &out);
    describe_label(mixture, IMP_UNLABELED, &out);
    return out.length;
}
