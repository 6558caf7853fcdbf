/*
 * cluster_passes.c - the passes of a clustering over its points: Algorithm 1's soft rule with
 * nothing but unlabelled points, and DP-means (Kulis and Jordan, 2012, Algorithm 1) to convergence.
 *
 * Responsibilities are never stored, so the memory needed besides the points is a few numbers per
 * point, which may be on disk, and the clusters. A clustering can be stopped after any block of a
 * pass and resumed there.
 */
#include <math.h>

#include "base/error.h"
#include "methods/assign.h"
#include "methods/cluster_job.h"
#include "methods/refine.h"

enum {
    DEFAULT_STEPS = 5,   /* of the soft rule */
    MOST_PASSES = 10000, /* of DP-means, which could cycle only because of rounding */
};

size_t imp_cluster_passes_wanted(const imp_cluster_job *job)
{
    double steps = job->options->rule.steps;
    if (!isnan(steps))
        return (size_t)steps;
    return job->hard ? 0 : DEFAULT_STEPS;
}

imp_status imp_cluster_block_done(size_t begin, size_t end, void *context, imp_error *error)
{
    imp_cluster_job *job = context;
    const imp_cluster_means *means = job->means;
    if (!job->order)
        imp_spill_leave(&job->room, begin, end);
    const imp_cluster_progress progress = {.pass = job->steps + 1,
                                           .passes = job->passes,
                                           .done = end,
                                           .points = job->source->count,
                                           .clusters = job->clusters.count};
    job->stopped = means->proceed && !means->proceed(&progress, means->context);
    if (job->stopped)
        return imp_fail(error, IMP_EIO, "the clustering was ended in pass %zu", progress.pass);
    return IMP_OK;
}

/* Called after clusters were dropped. Returns whether a point's cluster was renumbered or dropped.
 */
static bool renumber(imp_cluster_job *job, imp_assigner *assigner)
{
    const uint32_t *moved = job->clusters.moved;
    bool renumbered = false;
    for (size_t i = 0; i < job->source->count && !renumbered; i++)
        renumbered =
            job->assignment[i] >= 0 && moved[job->assignment[i]] != (uint32_t)job->assignment[i];
    imp_assigner_renumber(assigner, moved, job->assignment);
    return renumbered;
}

/* ---- stopping ---- */

imp_status imp_cluster_begin(imp_cluster_job *job, imp_error *error)
{
    const char *path = job->means->state;
    if (!path)
        return IMP_OK;
    imp_status status = imp_cluster_print_of(job->source, job->options, &job->print, error);
    return status ? status : imp_cluster_state_begin(path, &job->print, job->means->resume, error);
}

/* How far a clustering was that goes on. */
static imp_status take_state(imp_cluster_job *job, imp_assigner *assigner, imp_error *error)
{
    if (!job->means->state || !job->means->resume)
        return IMP_OK;
    imp_clusters_restart(&job->clusters, job->source->dimensions);
    imp_status status =
        imp_cluster_state_load(job->means->state, &job->print, &job->state, &job->clusters,
                               job->assignment, job->source->count, NULL, error);
    job->steps = job->state.passes;
    imp_assigner_know_nothing(assigner);
    return status;
}

/* Keeps how far a clustering was that is stopped. What goes wrong is told instead of that. */
static imp_status keep_state(const imp_cluster_job *job, imp_status status, imp_error *error)
{
    if (!job->stopped || !job->means->state)
        return status;
    imp_status kept =
        imp_cluster_state_save(job->means->state, &job->print, &job->state, &job->clusters,
                               job->assignment, job->source->count, NULL, error);
    return kept ? kept
                : imp_fail(error, status,
                           "pass %zu was ended, and '%s' is from where it can be resumed",
                           job->steps + 1, job->means->state);
}

/* A state may say that steps were made which left points out. */
static imp_status check_assigned(const imp_cluster_job *job, imp_error *error)
{
    for (size_t i = 0; i < job->source->count; i++)
        if (job->assignment[i] < 0)
            return imp_fail(error, IMP_EFORMAT,
                            "'%s' is not what a stopped clustering leaves: point %zu is in no "
                            "cluster",
                            job->means->state, i);
    return IMP_OK;
}

/* ---- the soft rule ---- */

/* Steps 3 to 5 of Algorithm 1, from where the state says. In the end each point belongs to the
 * cluster of highest density, which is the nearest since all have the same variance. `last` is for
 * the two last steps: only for the last does it matter whether it changed anything. */
static imp_status step_softly(imp_cluster_job *job, imp_assigner *assigner, bool last,
                              imp_error *error)
{
    imp_clusters *clusters = &job->clusters;
    imp_cluster_state *state = &job->state;
    imp_status status = IMP_OK;
    if (state->part == IMP_PART_FIRST) {
        if (state->done == 0)
            state->before = clusters->count;
        status = imp_assigner_grow_from(assigner, clusters, job->lambda, job->sigma, job->sigma,
                                        job->assignment, &state->done, error);
        if (status)
            return status;
        state->grown = clusters->count;
        state->part = IMP_PART_MEANS;
        state->done = 0;
    }
    if (state->part == IMP_PART_MEANS) {
        status = imp_refine_from(clusters, job->source, &job->crew, &state->done, error);
        if (status)
            return status;
        state->renumbered = clusters->count < state->grown && renumber(job, assigner);
        state->part = IMP_PART_ASSIGN;
        state->done = state->changed = 0;
    }
    if (last && clusters->count > 0)
        status = imp_assigner_find_from(assigner, clusters, job->assignment, &state->done,
                                        &state->changed, error);
    if (status)
        return status;
    job->converged = state->changed == 0 && !state->renumbered && state->grown == state->before;
    state->part = IMP_PART_FIRST;
    state->done = 0;
    return IMP_OK;
}

/* ---- DP-means ---- */

/* One pass, from where the state says: every point joins the nearest cluster or starts one; then
 * means are computed, empty clusters dropped and the assignments renumbered. */
static imp_status step_hard(imp_cluster_job *job, imp_assigner *assigner, imp_error *error)
{
    imp_clusters *clusters = &job->clusters;
    imp_cluster_state *state = &job->state;
    imp_status status =
        imp_assigner_pass_from(assigner, clusters, job->lambda, job->sigma, job->assignment,
                               &state->done, &state->changed, error);
    if (status)
        return status;
    job->converged = state->changed == 0;
    state->done = 0;
    size_t before = clusters->count;
    imp_means_finish(clusters, NULL);
    if (clusters->count < before)
        renumber(job, assigner);
    return IMP_OK;
}

/* ---- all passes ---- */

static imp_status make_passes(imp_cluster_job *job, imp_assigner *assigner, imp_error *error)
{
    size_t wanted = imp_cluster_passes_wanted(job), most = wanted > 0 ? wanted : MOST_PASSES;
    job->passes = job->hard ? 0 : wanted;
    for (; job->steps < most && !(job->hard && job->converged); job->steps++) {
        job->state.passes = job->steps;
        imp_status status = job->hard ? step_hard(job, assigner, error)
                                      : step_softly(job, assigner, job->steps + 2 >= most, error);
        if (status)
            return keep_state(job, status, error);
    }
    return job->means->resume ? check_assigned(job, error) : IMP_OK;
}

imp_status imp_cluster_make_passes(imp_cluster_job *job, imp_error *error)
{
    imp_assigner *assigner;
    imp_status status = imp_assigner_create(job->source, job->order, &job->crew, &assigner, error);
    if (!status && !job->hard)
        imp_assigner_limit(assigner, job->source->count);
    if (!status)
        status = take_state(job, assigner, error);
    if (!status)
        status = make_passes(job, assigner, error);
    imp_assigner_free(assigner);
    return status;
}
