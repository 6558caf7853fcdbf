/*
 * clustering.c - clusters unsupervised episodes, measures the result, and chooses lambda on them.
 */
#include "evaluate/clustering.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "evaluate/each_episode.h"
#include "methods/cluster_tune.h"
#include "methods/method.h"

static imp_status check_kind(const imp_evaluate_options *options, imp_error *error)
{
    return options->task.kind == IMP_EPISODE_UNSUPERVISED
               ? IMP_OK
               : imp_fail(error, IMP_EINVAL, "only unsupervised episodes can be clustered");
}

/* ---- what settings mean ---- */

imp_status imp_clustering_options(const imp_settings *settings, imp_cluster_options *options,
                                  imp_error *error)
{
    const imp_method_info *method;
    imp_status status = imp_find_clustering(settings->method, &method, error);
    if (status)
        return status;
    *options = imp_cluster_defaults();
    options->method = method->name;
    options->rule = settings->rule;
    return IMP_OK;
}

void imp_clustering_open(imp_settings *settings)
{
    settings->way = settings->fewest_way = settings->shot = 0;
    settings->rule.steps = IMP_AUTO;
}

imp_episode_options imp_clustering_task(const imp_settings *settings, imp_purpose purpose)
{
    imp_episode_options task = imp_episode_defaults();
    task.kind = IMP_EPISODE_UNSUPERVISED;
    task.purpose = purpose;
    task.seed = (uint64_t)settings->seed;
    task.way = (uint32_t)settings->way;
    task.fewest_way = (uint32_t)settings->fewest_way;
    task.unlabeled = (uint32_t)settings->shot;
    return task;
}

/* ---- measuring ---- */

enum { PURITY, NMI, AMI, CLUSTERS, MEASURES };

/* A rule's scores in one episode. */
typedef struct score {
    double value[MEASURES];
} score;

typedef struct contest {
    const imp_cluster_options *rules;
    size_t count, episodes, dimensions;
    score *scores; /* (count, episodes) */
} contest;

static imp_status measure(const int32_t *truth, const imp_clustering *found, score *result,
                          imp_error *error)
{
    imp_contingency *contingency;
    imp_status status =
        imp_contingency_create(truth, found->assignment, found->points, &contingency, error);
    if (status)
        return status;
    result->value[PURITY] = imp_purity(contingency);
    result->value[NMI] = imp_nmi(contingency, IMP_ARITHMETIC);
    result->value[CLUSTERS] = (double)imp_contingency_clusters(contingency);
    status = imp_ami(contingency, IMP_ARITHMETIC, &result->value[AMI], error);
    imp_contingency_free(contingency);
    return status;
}

static imp_status visit(const imp_task *task, const float *embeddings, int worker, void *context,
                        imp_error *error)
{
    const imp_episode *episode = &task->episode;
    (void)worker;
    const contest *all = context;
    imp_status status = IMP_OK;
    for (size_t r = 0; r < all->count && !status; r++) {
        imp_clustering *found;
        status = imp_cluster(embeddings, episode->unlabeled, all->dimensions, &all->rules[r],
                             &found, error);
        if (!status)
            status = measure(episode->truth, found,
                             &all->scores[r * all->episodes + episode->index], error);
        imp_clustering_free(found);
    }
    return status;
}

/* The mean of one of a rule's scores. */
static imp_interval mean_of(const score *scores, size_t episodes, int measure, double *column)
{
    for (size_t e = 0; e < episodes; e++)
        column[e] = scores[e].value[measure];
    return imp_mean_interval(column, episodes);
}

imp_status imp_evaluate_clustering(const imp_encoder *encoder, const imp_dataset *dataset,
                                   const imp_cluster_options *rules, size_t count,
                                   const imp_evaluate_options *options,
                                   imp_clustering_evaluation *results, imp_error *error)
{
    imp_status status = check_kind(options, error);
    for (size_t r = 0; r < count && !status; r++)
        if (isnan(rules[r].rule.lambda))
            status = imp_fail(error, IMP_EINVAL, "clustering needs a given lambda");
    if (status)
        return status;
    contest all = {.rules = rules,
                   .count = count,
                   .episodes = options->episodes,
                   .dimensions = imp_encoder_output_size(encoder)};
    size_t cells;
    double *column = imp_allocate(all.episodes, sizeof *column);
    if (imp_multiply(count, all.episodes, &cells))
        all.scores = imp_allocate(cells, sizeof *all.scores);
    status = column && all.scores ? imp_each_episode(encoder, dataset, options, visit, &all, error)
                                  : imp_fail_memory(error, "an evaluation");
    for (size_t r = 0; r < count && !status; r++)
        status = imp_ranks_gather(options->ranks, all.scores + r * all.episodes, all.episodes,
                                  sizeof *all.scores, error);
    for (size_t r = 0; r < count && !status; r++) {
        const score *scores = all.scores + r * all.episodes;
        results[r] = (imp_clustering_evaluation){
            .purity = mean_of(scores, all.episodes, PURITY, column),
            .nmi = mean_of(scores, all.episodes, NMI, column),
            .ami = mean_of(scores, all.episodes, AMI, column),
            .clusters = mean_of(scores, all.episodes, CLUSTERS, column)};
    }
    imp_release(all.scores);
    imp_release(column);
    return status;
}

/* ---- choosing lambda ---- */

typedef struct collection {
    imp_labeled_points *episodes; /* it owns their arrays */
    size_t dimensions;
} collection;

static imp_status collect(const imp_task *task, const float *embeddings, int worker, void *context,
                          imp_error *error)
{
    (void)worker;
    const imp_episode *episode = &task->episode;
    const collection *all = context;
    size_t points = episode->unlabeled;
    float *x = imp_allocate(points, all->dimensions * sizeof *x);
    int32_t *label = imp_allocate(points, sizeof *label);
    all->episodes[episode->index] = (imp_labeled_points){.x = x, .label = label, .count = points};
    if (!x || !label)
        return imp_fail_memory(error, "the points of an episode");
    memcpy(x, embeddings, points * all->dimensions * sizeof *x);
    memcpy(label, episode->truth, points * sizeof *label);
    return IMP_OK;
}

imp_status imp_tune_clustering(const imp_encoder *encoder, const imp_dataset *dataset,
                               const imp_cluster_options *rule, const imp_evaluate_options *options,
                               double *lambda, imp_error *error)
{
    imp_status status = check_kind(options, error);
    if (status)
        return status;
    collection all = {.episodes = imp_allocate_zeroed(options->episodes, sizeof *all.episodes),
                      .dimensions = imp_encoder_output_size(encoder)};
    if (!all.episodes)
        return imp_fail_memory(error, "the points of the episodes");
    imp_evaluate_options silently = *options;
    silently.progress = NULL;
    silently.ranks = NULL; /* every rank needs all points */
    imp_tuning tuning = {
        .threads = options->threads, .progress = options->progress, .context = options->context};
    status = imp_each_episode(encoder, dataset, &silently, collect, &all, error);
    if (!status)
        status = imp_cluster_tune_by(&tuning, all.episodes, options->episodes, all.dimensions, rule,
                                     lambda, error);
    for (size_t e = 0; e < options->episodes; e++) {
        imp_release((void *)all.episodes[e].x);
        imp_release((void *)all.episodes[e].label);
    }
    imp_release(all.episodes);
    return status;
}
