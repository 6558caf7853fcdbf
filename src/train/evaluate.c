/*
 * evaluate.c - test and validation episodes side by side, every episode embedded once for all
 * methods.
 */
#include "train/evaluate.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "train/each_episode.h"
#include "train/view.h"

/* What a contestant did in one episode. */
typedef struct score {
    double accuracy, clusters, clusters_per_class, loss, lambda;
} score;

typedef struct evaluation {
    imp_method **methods; /* (threads, contestants): a method runs one episode at a time */
    int threads;
    size_t contestants, episodes, dimensions;
    score *scores; /* (contestants, episodes) */
} evaluation;

/* ---- one episode ---- */

static score score_of(const imp_episode *episode, const imp_method_result *result)
{
    const int32_t *truth = episode->labels + episode->supports;
    size_t right = 0, labeled = 0;
    for (size_t q = 0; q < episode->queries; q++)
        right += result->predictions[q] == truth[q];
    for (size_t c = 0; c < result->cluster_count; c++)
        labeled += result->cluster_label[c] >= 0;
    return (score){.accuracy = (double)right / (double)episode->queries,
                   .clusters = (double)result->cluster_count,
                   .clusters_per_class = (double)labeled / (double)episode->way,
                   .loss = result->loss,
                   .lambda = result->lambda};
}

static imp_status run_methods(const imp_episode *episode, const float *embeddings, int worker,
                              void *context, imp_error *error)
{
    const evaluation *work = context;
    imp_method **methods = work->methods + (size_t)worker * work->contestants;
    imp_episode_view view = imp_view_of(episode, embeddings, work->dimensions);
    for (size_t c = 0; c < work->contestants; c++) {
        imp_method_result result;
        imp_status status = imp_method_run(methods[c], &view, false, &result, error);
        if (status)
            return status;
        work->scores[c * work->episodes + episode->index] = score_of(episode, &result);
    }
    return IMP_OK;
}

/* ---- all of them ---- */

static imp_status make_method(imp_method **method, const imp_contestant *contestant,
                              imp_error *error)
{
    imp_status status = imp_method_create(contestant->method, &contestant->options, method, error);
    if (status || !contestant->values)
        return status;
    size_t values;
    double *to = imp_method_values(*method, &values);
    memcpy(to, contestant->values, values * sizeof *to);
    return IMP_OK;
}

static imp_status prepare(evaluation *work, const imp_contestant *contestants, imp_error *error)
{
    size_t cells, methods;
    if (imp_multiply((size_t)work->threads, work->contestants, &methods))
        work->methods = imp_allocate_zeroed(methods, sizeof(imp_method *));
    if (imp_multiply(work->contestants, work->episodes, &cells))
        work->scores = imp_allocate_zeroed(cells, sizeof *work->scores);
    if (!work->methods || !work->scores)
        return imp_fail_memory(error, "an evaluation");
    imp_status status = IMP_OK;
    for (size_t m = 0; m < methods && !status; m++)
        status = make_method(&work->methods[m], &contestants[m % work->contestants], error);
    return status;
}

static void clear(evaluation *work)
{
    size_t methods = (size_t)work->threads * work->contestants;
    for (size_t m = 0; work->methods && m < methods; m++)
        imp_method_free(work->methods[m]);
    imp_release(work->methods);
    imp_release(work->scores);
}

static imp_status summarize(const evaluation *work, imp_evaluation *results, imp_error *error)
{
    size_t episodes = work->episodes;
    double *column = imp_allocate(episodes, sizeof *column);
    if (!column)
        return imp_fail_memory(error, "an evaluation");
    for (size_t c = 0; c < work->contestants; c++) {
        const score *scores = work->scores + c * episodes;
        imp_evaluation result = {0};
        for (size_t e = 0; e < episodes; e++) {
            result.clusters_per_class += scores[e].clusters_per_class;
            result.loss += scores[e].loss;
            result.lambda += scores[e].lambda;
        }
        result.clusters_per_class /= (double)episodes;
        result.loss /= (double)episodes;
        result.lambda /= (double)episodes;
        for (size_t e = 0; e < episodes; e++)
            column[e] = scores[e].accuracy;
        result.accuracy = imp_mean_interval(column, episodes);
        for (size_t e = 0; e < episodes; e++)
            column[e] = scores[e].clusters;
        result.clusters = imp_mean_interval(column, episodes);
        results[c] = result;
    }
    imp_release(column);
    return IMP_OK;
}

imp_status imp_evaluate(const imp_encoder *encoder, const imp_dataset *dataset,
                        const imp_contestant *contestants, size_t count,
                        const imp_evaluate_options *options, imp_evaluation *results,
                        imp_error *error)
{
    if (options->task.kind == IMP_EPISODE_UNSUPERVISED)
        return imp_fail(error, IMP_EINVAL, "unsupervised episodes have no queries to classify");
    evaluation work = {.threads = imp_parallel_threads(options->threads),
                       .contestants = count,
                       .episodes = options->episodes,
                       .dimensions = imp_encoder_output_size(encoder)};
    imp_status status = prepare(&work, contestants, error);
    if (!status)
        status = imp_each_episode(encoder, dataset, options, run_methods, &work, error);
    if (!status)
        status = summarize(&work, results, error);
    clear(&work);
    return status;
}
