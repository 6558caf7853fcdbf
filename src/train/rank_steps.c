/* rank_steps.c - computes this rank's share of an update's steps and receives the others'. */
#include "train/rank_steps.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "episode/draw.h"
#include "nn/statistics.h"

/* What ranks exchange about a step, besides its gradient and statistics. */
typedef struct told {
    imp_outcome outcome;
    double waited;
    imp_status status; /* the learner's status and error message */
    bool statistics;   /* whether there are running statistics */
    imp_error error;
} told;

struct imp_rank_steps {
    imp_steps steps;
    const imp_ranks *ranks;
    imp_feed *feed;    /* this rank's episodes; NULL if it has none */
    size_t episodes;   /* per update */
    size_t begin, end; /* this rank's */
    size_t next;       /* the next step to return */
    size_t parameters, values, statistic_count;
    float *terms;           /* (end - begin, parameters + values): gradients */
    float *sum;             /* (parameters + values) */
    double *value_gradient; /* (values): of the sum */
    double *statistics;     /* (episodes, statistic_count) */
    told *told;             /* (episodes) */
};

bool imp_rank_steps_suit(const imp_learner *learner)
{
    for (size_t p = 0; p < learner->parameter_count; p++)
        if (learner->parameters[p].followed)
            return false;
    return true;
}

imp_steps *imp_rank_steps_of(imp_rank_steps *steps)
{
    return &steps->steps;
}

/* ---- an update ---- */

/* Computes and keeps the step of episode e of the update, one of this rank's. */
static imp_status make_step(imp_rank_steps *own, imp_learner *learner, size_t e, imp_error *error)
{
    const imp_task *task;
    double begin = imp_clock();
    imp_status status = imp_feed_next(own->feed, &task, error);
    own->told[e].waited = imp_clock() - begin;
    imp_step step;
    if (!status)
        status = imp_learner_step(learner, task, &step, error);
    if (status)
        return status;
    float *term = own->terms + (e - own->begin) * (own->parameters + own->values);
    memcpy(term, step.network_gradient, own->parameters * sizeof *term);
    for (size_t i = 0; i < own->values; i++)
        term[own->parameters + i] = (float)step.value_gradient[i];
    own->told[e].outcome = step.outcome;
    own->told[e].statistics = step.statistics != NULL;
    if (step.statistics)
        memcpy(own->statistics + e * own->statistic_count, step.statistics,
               own->statistic_count * sizeof *own->statistics);
    return IMP_OK;
}

/* All steps of an update. A failed step is sent like any other, so that all ranks fail alike when
 * its turn comes. */
static imp_status make_steps(imp_rank_steps *own, imp_learner *learner, imp_error *error)
{
    size_t width = own->parameters + own->values, shares = own->end - own->begin;
    memset(own->told, 0, own->episodes * sizeof *own->told);
    memset(own->terms, 0, shares * width * sizeof *own->terms);
    memset(own->sum, 0, width * sizeof *own->sum);
    for (size_t e = own->begin; e < own->end; e++) {
        own->told[e].status = make_step(own, learner, e, &own->told[e].error);
        if (own->told[e].status)
            break;
    }
    imp_status status =
        imp_ranks_gather(own->ranks, own->told, own->episodes, sizeof *own->told, error);
    if (!status && own->statistic_count > 0)
        status = imp_ranks_gather(own->ranks, own->statistics, own->episodes,
                                  own->statistic_count * sizeof *own->statistics, error);
    if (!status)
        status = imp_ranks_add_in_order(own->ranks, own->sum, own->terms, shares, width, error);
    for (size_t i = 0; i < own->values && !status; i++)
        own->value_gradient[i] = own->sum[own->parameters + i];
    return status;
}

/* The first step of an update carries the sum of all gradients, the others none. */
static imp_status next(imp_steps *steps, imp_learner *learner, imp_step *step, double *waited,
                       imp_error *error)
{
    imp_rank_steps *own = (imp_rank_steps *)steps; /* its first member */
    size_t e = own->next;
    if (e == 0) {
        imp_status status = make_steps(own, learner, error);
        if (status)
            return status;
    }
    own->next = (e + 1) % own->episodes;
    const told *made = &own->told[e];
    *waited = made->waited;
    if (made->status)
        return imp_fail(error, made->status, "%s", made->error.message);
    *step = (imp_step){.network_gradient = e == 0 ? own->sum : NULL,
                       .value_gradient = e == 0 ? own->value_gradient : NULL,
                       .statistics =
                           made->statistics ? own->statistics + e * own->statistic_count : NULL,
                       .outcome = made->outcome};
    return IMP_OK;
}

/* ---- making ---- */

static imp_status make_room(imp_rank_steps *own, imp_error *error)
{
    size_t width = own->parameters + own->values, floats, doubles;
    if (imp_multiply(own->end - own->begin, width, &floats))
        own->terms = imp_allocate(floats, sizeof *own->terms);
    if (imp_multiply(own->episodes, own->statistic_count, &doubles))
        own->statistics = imp_allocate_zeroed(doubles, sizeof *own->statistics);
    own->sum = imp_allocate(width, sizeof *own->sum);
    own->value_gradient = imp_allocate(own->values, sizeof *own->value_gradient);
    own->told = imp_allocate_zeroed(own->episodes, sizeof *own->told);
    if (!own->terms || !own->statistics || !own->sum || !own->value_gradient || !own->told)
        return imp_fail_memory(error, "the steps of an update");
    return IMP_OK;
}

imp_status imp_rank_steps_open(const imp_ranks *ranks, const imp_learner *learner,
                               const imp_dataset *dataset, const imp_episode_options *task,
                               uint64_t first, size_t episodes, imp_rank_steps **out,
                               imp_error *error)
{
    *out = NULL;
    imp_rank_steps *own = imp_allocate_zeroed(1, sizeof *own);
    if (!own)
        return imp_fail_memory(error, "the steps of an update");
    own->steps.next = next;
    own->ranks = ranks;
    own->episodes = episodes;
    own->parameters = imp_network_parameter_count(learner->network);
    own->values = learner->value_count;
    imp_network_statistics(learner->network, &own->statistic_count);
    imp_ranks_share(ranks, ranks->rank, episodes, &own->begin, &own->end);
    imp_status status = make_room(own, error);
    const imp_feed_share share = {episodes, own->begin, own->end};
    if (!status && own->begin < own->end)
        status = imp_feed_open_share(dataset, task, first, own->end - own->begin, &share,
                                     &own->feed, error);
    if (status)
        imp_rank_steps_close(own);
    else
        *out = own;
    return status;
}

void imp_rank_steps_close(imp_rank_steps *own)
{
    if (!own)
        return;
    imp_feed_close(own->feed);
    imp_release(own->terms);
    imp_release(own->statistics);
    imp_release(own->sum);
    imp_release(own->value_gradient);
    imp_release(own->told);
    imp_release(own);
}
