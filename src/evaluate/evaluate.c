/*
 * evaluate.c - runs test and validation episodes in parallel, embedding each once for all learners
 * that use embeddings.
 */
#include "evaluate/evaluate.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "evaluate/each_episode.h"

/* A contestant's results in one episode. */
typedef struct score {
    double accuracy, open_accuracy, clusters, clusters_per_class, unlabeled, loss, lambda;
} score;

/* A learner solves one episode at a time, so each thread has its own. */
typedef struct seat {
    imp_learner *learner;
    imp_network *network; /* for a learner that does not use embeddings */
} seat;

typedef struct evaluation {
    seat *seats; /* (threads, contestants) */
    int threads;
    size_t contestants, episodes, dimensions;
    bool embeds;   /* whether any learner needs it */
    score *scores; /* (contestants, episodes) */
} evaluation;

/* ---- one episode ---- */

static score score_of(const imp_episode *episode, const imp_solution *answer)
{
    const int32_t *open = answer->open_predictions;
    double accuracy = imp_episode_accuracy(episode, answer->predictions);
    return (score){.accuracy = accuracy,
                   .open_accuracy = open ? imp_episode_accuracy(episode, open) : accuracy,
                   .clusters = (double)answer->clusters,
                   .clusters_per_class = (double)answer->class_clusters / (double)episode->way,
                   .unlabeled = (double)(answer->clusters - answer->class_clusters),
                   .loss = answer->loss,
                   .lambda = answer->lambda};
}

static imp_status solve(const imp_task *task, const float *embeddings, int worker, void *context,
                        imp_error *error)
{
    const evaluation *work = context;
    const seat *seats = work->seats + (size_t)worker * work->contestants;
    for (size_t c = 0; c < work->contestants; c++) {
        imp_solution answer;
        bool embeds = seats[c].learner->kind->info.embeds;
        imp_status status =
            imp_learner_predict(seats[c].learner, task, embeds ? embeddings : NULL, &answer, error);
        if (status)
            return status;
        work->scores[c * work->episodes + task->episode.index] = score_of(&task->episode, &answer);
    }
    return IMP_OK;
}

/* ---- all of them ---- */

static const char *name_of(const imp_contestant *contestant)
{
    return contestant->learner ? contestant->learner : imp_learner_at(0)->name;
}

static imp_status take_seat(seat *own, const imp_contestant *contestant, imp_network *network,
                            size_t dimensions, imp_error *error)
{
    const imp_learner_info *info = imp_learner_find(name_of(contestant));
    imp_status status = IMP_OK;
    if (info && !info->embeds && network)
        status = imp_network_copy(network, &own->network, error);
    if (!status)
        status = imp_learner_create(name_of(contestant), &contestant->options, own->network,
                                    dimensions, &own->learner, error);
    if (status || !contestant->values)
        return status;
    if (contestant->value_count != own->learner->value_count)
        return imp_fail(
            error, IMP_EINVAL,
            "the learner '%s' has %zu parameters besides its network, but %zu values are given",
            name_of(contestant), own->learner->value_count, contestant->value_count);
    imp_learner_set(own->learner, contestant->values);
    return IMP_OK;
}

static imp_status prepare(evaluation *work, const imp_contestant *contestants, imp_network *network,
                          imp_error *error)
{
    size_t cells, seats;
    if (imp_multiply((size_t)work->threads, work->contestants, &seats))
        work->seats = imp_allocate_zeroed(seats, sizeof *work->seats);
    if (imp_multiply(work->contestants, work->episodes, &cells))
        work->scores = imp_allocate_zeroed(cells, sizeof *work->scores);
    if (!work->seats || !work->scores)
        return imp_fail_memory(error, "an evaluation");
    imp_status status = IMP_OK;
    for (size_t s = 0; s < seats && !status; s++) {
        const imp_contestant *contestant = &contestants[s % work->contestants];
        status = take_seat(&work->seats[s], contestant, network, work->dimensions, error);
        work->embeds |= !status && work->seats[s].learner->kind->info.embeds;
    }
    return status;
}

static void clear(evaluation *work)
{
    size_t seats = (size_t)work->threads * work->contestants;
    for (size_t s = 0; work->seats && s < seats; s++) {
        imp_learner_free(work->seats[s].learner);
        imp_network_free(work->seats[s].network);
    }
    imp_release(work->seats);
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
            result.unlabeled_clusters += scores[e].unlabeled;
            result.loss += scores[e].loss;
            result.lambda += scores[e].lambda;
        }
        result.clusters_per_class /= (double)episodes;
        result.unlabeled_clusters /= (double)episodes;
        result.loss /= (double)episodes;
        result.lambda /= (double)episodes;
        for (size_t e = 0; e < episodes; e++)
            column[e] = scores[e].accuracy;
        result.accuracy = imp_mean_interval(column, episodes);
        for (size_t e = 0; e < episodes; e++)
            column[e] = scores[e].open_accuracy;
        result.open_accuracy = imp_mean_interval(column, episodes);
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
    imp_status status = prepare(&work, contestants, options->network, error);
    if (!status)
        status =
            imp_each_episode(work.embeds ? encoder : NULL, dataset, options, solve, &work, error);
    for (size_t c = 0; c < count && !status; c++)
        status = imp_ranks_gather(options->ranks, work.scores + c * work.episodes, work.episodes,
                                  sizeof *work.scores, error);
    if (!status)
        status = summarize(&work, results, error);
    clear(&work);
    return status;
}
