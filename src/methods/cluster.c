/*
 * cluster.c - clustering without labels: Algorithm 1 with nothing but unlabelled points, and
 * DP-means (Kulis and Jordan, 2012, Algorithm 1) to convergence.
 *
 * Responsibilities are never stored, so the memory needed besides the points is a few numbers per
 * point, which may be on disk, and the clusters.
 */
#include "methods/cluster.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/parallel.h"
#include "base/random.h"
#include "methods/assign.h"
#include "methods/cluster_state.h"
#include "methods/constraints.h"
#include "methods/farthest_first.h"
#include "methods/imp.h"
#include "methods/method.h"
#include "methods/refine.h"
#include "methods/rule.h"
#include "methods/seeds.h"
#include "methods/work.h"

enum {
    DEFAULT_STEPS = 5,   /* of the soft rule */
    MOST_PASSES = 10000, /* of DP-means, which could cycle only because of rounding */
    FEW_FOR_GAP = 200,   /* with fewer points, a few far apart may be a cluster */
};

/* Ratios of radii that indicate clusters: if there is no other evidence, and otherwise. */
static const double least_gap = 2, clear_gap = 4;

/* A clustering and the memory of its assignment. */
typedef struct held {
    imp_clustering clustering; /* the public part */
    imp_spill room;
} held;

/* A clustering in progress. */
typedef struct job {
    const imp_cluster_options *options;
    const imp_cluster_means *means;
    const imp_point_source *source;
    imp_crew crew;
    imp_spill room; /* of the assignment */
    uint32_t *order;
    imp_clusters clusters;
    int32_t *assignment;
    double lambda, sigma;
    imp_cluster_choice choice;
    imp_seeds seeds; /* initial means of clusters, if chosen */
    imp_constraints *constraints;
    size_t steps;  /* made */
    size_t passes; /* to make; 0: as many as it takes */
    bool converged;
    imp_cluster_print print; /* of points and options, where a state may be kept */
    imp_cluster_state state; /* that it goes on from */
    bool stopped;            /* somebody wanted so */
    bool hard;               /* DP-means */
} job;

static size_t steps_wanted(const job *work, size_t otherwise)
{
    double steps = work->options->rule.steps;
    return isnan(steps) ? otherwise : (size_t)steps;
}

/* ---- per-point data, a block at a time ---- */

enum { BLOCK = 1 << 20 };

/* Called after each block of a pass: gives back its memory and reports progress. */
static imp_status block_done(size_t begin, size_t end, void *context, imp_error *error)
{
    job *work = context;
    const imp_cluster_means *means = work->means;
    if (!work->order)
        imp_spill_leave(&work->room, begin, end);
    const imp_cluster_progress progress = {.pass = work->steps + 1,
                                           .passes = work->passes,
                                           .done = end,
                                           .points = work->source->count,
                                           .clusters = work->clusters.count};
    work->stopped = means->proceed && !means->proceed(&progress, means->context);
    if (work->stopped)
        return imp_fail(error, IMP_EIO, "the clustering was ended in pass %zu", progress.pass);
    return IMP_OK;
}

static void forget_assignment(job *work)
{
    size_t n = work->source->count;
    for (size_t begin = 0, end; begin < n; begin = end) {
        end = n - begin < BLOCK ? n : begin + BLOCK;
        for (size_t i = begin; i < end; i++)
            work->assignment[i] = -1;
        imp_spill_leave(&work->room, begin, end);
    }
}

/* Called after clusters were dropped. Returns whether a point's cluster was renumbered or dropped.
 */
static bool renumber(job *work, imp_assigner *assigner)
{
    const uint32_t *moved = work->clusters.moved;
    bool renumbered = false;
    for (size_t i = 0; i < work->source->count && !renumbered; i++)
        renumbered =
            work->assignment[i] >= 0 && moved[work->assignment[i]] != (uint32_t)work->assignment[i];
    imp_assigner_renumber(assigner, moved, work->assignment);
    return renumbered;
}

/* ---- stopping ---- */

/* Where a clustering may be stopped and go on: what it is of, and how far it was. */
static imp_status take_state(job *work, imp_assigner *assigner, imp_error *error)
{
    const char *path = work->means->state;
    if (!path)
        return IMP_OK;
    imp_status status = imp_cluster_print_of(work->source, work->options, &work->print, error);
    if (status || !work->means->resume)
        return status;
    imp_clusters_restart(&work->clusters, work->source->dimensions);
    status = imp_cluster_state_load(path, &work->print, &work->state, &work->clusters,
                                    work->assignment, work->source->count, NULL, error);
    work->steps = work->state.passes;
    imp_assigner_know_nothing(assigner);
    return status;
}

/* Keeps how far a clustering was that is stopped. What goes wrong is told instead of that. */
static imp_status keep_state(const job *work, imp_status status, imp_error *error)
{
    if (!work->stopped || !work->means->state)
        return status;
    imp_status kept =
        imp_cluster_state_save(work->means->state, &work->print, &work->state, &work->clusters,
                               work->assignment, work->source->count, NULL, error);
    return kept ? kept
                : imp_fail(error, status,
                           "pass %zu was ended, and '%s' is from where it can be resumed",
                           work->steps + 1, work->means->state);
}

/* ---- the soft rule ---- */

/* Steps 3 to 5 of Algorithm 1, from where the state says. In the end each point belongs to the
 * cluster of highest density, which is the nearest since all have the same variance. `last` is for
 * the two last steps: only for the last does it matter whether it changed anything. */
static imp_status step_softly(job *work, imp_assigner *assigner, bool last, imp_error *error)
{
    imp_clusters *clusters = &work->clusters;
    imp_cluster_state *state = &work->state;
    imp_status status = IMP_OK;
    if (state->part == IMP_PART_FIRST) {
        if (state->done == 0)
            state->before = clusters->count;
        status = imp_assigner_grow_from(assigner, clusters, work->lambda, work->sigma, work->sigma,
                                        work->assignment, &state->done, error);
        if (status)
            return status;
        state->grown = clusters->count;
        state->part = IMP_PART_MEANS;
        state->done = 0;
    }
    if (state->part == IMP_PART_MEANS) {
        status = imp_refine_from(clusters, work->source, &work->crew, &state->done, error);
        if (status)
            return status;
        state->renumbered = clusters->count < state->grown && renumber(work, assigner);
        state->part = IMP_PART_ASSIGN;
        state->done = state->changed = 0;
    }
    if (last && clusters->count > 0)
        status = imp_assigner_find_from(assigner, clusters, work->assignment, &state->done,
                                        &state->changed, error);
    if (status)
        return status;
    work->converged = state->changed == 0 && !state->renumbered && state->grown == state->before;
    state->part = IMP_PART_FIRST;
    state->done = 0;
    return IMP_OK;
}

static imp_status cluster_softly(job *work, imp_error *error)
{
    size_t steps = steps_wanted(work, DEFAULT_STEPS);
    imp_assigner *assigner;
    imp_status status =
        imp_assigner_create(work->source, work->order, &work->crew, &assigner, error);
    if (!status) {
        imp_assigner_limit(assigner, work->source->count);
        status = take_state(work, assigner, error);
    }
    work->passes = steps;
    for (; work->steps < steps && !status; work->steps++) {
        work->state.passes = work->steps;
        status = step_softly(work, assigner, work->steps + 2 >= steps, error);
        if (status) {
            status = keep_state(work, status, error);
            break;
        }
    }
    imp_assigner_free(assigner);
    return status;
}

/* ---- DP-means ---- */

/* Each cluster's mean; empty clusters are dropped and the assignments renumbered. */
static void find_means(job *work, imp_assigner *assigner)
{
    imp_clusters *clusters = &work->clusters;
    size_t before = clusters->count;
    imp_means_finish(clusters, NULL);
    if (clusters->count < before)
        renumber(work, assigner);
}

static imp_status cluster_hard(job *work, imp_error *error)
{
    size_t steps = steps_wanted(work, MOST_PASSES);
    imp_assigner *assigner;
    imp_status status =
        imp_assigner_create(work->source, work->order, &work->crew, &assigner, error);
    if (!status)
        status = take_state(work, assigner, error);
    while (status == IMP_OK && work->steps < steps && !work->converged) {
        imp_cluster_state *state = &work->state;
        state->passes = work->steps;
        status = imp_assigner_pass_from(assigner, &work->clusters, work->lambda, work->sigma,
                                        work->assignment, &state->done, &state->changed, error);
        if (status != IMP_OK) {
            status = keep_state(work, status, error);
            break;
        }
        work->converged = state->changed == 0;
        state->done = 0;
        work->steps++;
        find_means(work, assigner);
    }
    imp_assigner_free(assigner);
    return status;
}

/* ---- the result ---- */

enum {
    PART = 256,
    TOGETHER = 32 * PART
}; /* points measured by one thread, and by all threads together */

/* Squared distances of some points to their means. */
typedef struct measuring {
    const job *work;
    size_t begin, end;
    const float *rows; /* of points begin .. end - 1 */
    size_t first_part; /* of this rank */
    double distance[TOGETHER];
} measuring;

static void measure_part(size_t part, int worker, void *context)
{
    (void)worker;
    measuring *m = context;
    size_t begin = m->begin + (m->first_part + part) * PART,
           end = m->end - begin < PART ? m->end : begin + PART;
    for (size_t i = begin; i < end; i++)
        m->distance[i - m->begin] =
            imp_clusters_distance(&m->work->clusters, (size_t)m->work->assignment[i],
                                  m->rows + (i - m->begin) * m->work->source->dimensions);
}

/* Measures points begin .. end - 1, whose rows are loaded. */
static imp_status measure(const job *work, measuring *m, imp_error *error)
{
    const imp_ranks *ranks = work->crew.ranks;
    size_t parts = (m->end - m->begin + PART - 1) / PART, end;
    imp_ranks_share(ranks, imp_rank_of(ranks), parts, &m->first_part, &end);
    imp_parallel(end - m->first_part, imp_parallel_threads(work->options->threads), measure_part,
                 m);
    /* in whole parts; what follows the last point is ignored */
    return imp_ranks_gather(ranks, m->distance, parts, PART * sizeof *m->distance, error);
}

/* Summed in the order of the points, whichever thread or rank measured them. If seeds were chosen,
 * lambda is the largest of all distances, with which no point would start a cluster. */
static imp_status find_objective(job *work, double *objective, imp_error *error)
{
    double sum = 0, largest = 0;
    size_t n = work->source->count;
    measuring m = {.work = work};
    imp_reader reader;
    imp_status status = imp_reader_create(&reader, work->source, NULL, TOGETHER, error);
    for (; m.begin < n && !status; m.begin = m.end) {
        m.end = n - m.begin < TOGETHER ? n : m.begin + TOGETHER;
        status = imp_reader_read(&reader, m.begin, m.end - m.begin, &m.rows, error);
        if (status)
            break;
        status = measure(work, &m, error);
        for (size_t i = m.begin; i < m.end && !status; i++) {
            sum += m.distance[i - m.begin];
            largest = fmax(largest, m.distance[i - m.begin]);
        }
        imp_spill_leave(&work->room, m.begin, m.end);
    }
    imp_reader_release(&reader);
    if (work->choice == IMP_CLUSTER_APART || work->choice == IMP_CLUSTER_WANTED)
        work->lambda = largest;
    *objective = sum + work->lambda * (double)work->clusters.count;
    return status;
}

void imp_clustering_free(imp_clustering *clustering)
{
    if (!clustering)
        return;
    imp_spill_release(&((held *)clustering)->room); /* the clustering is its first member */
    imp_release(clustering->cluster_size);
    imp_release(clustering->mean);
    imp_release(clustering->cluster_label);
    imp_release(clustering);
}

/* Numbers clusters by their first points; those without any come last. A cluster's number in the
 * result is in `moved`. */
static void number_by_first(job *work)
{
    imp_clusters *clusters = &work->clusters;
    uint32_t found = 0;
    for (size_t c = 0; c < clusters->count; c++)
        clusters->moved[c] = UINT32_MAX;
    size_t n = work->source->count;
    for (size_t begin = 0, end; begin < n; begin = end) {
        end = n - begin < BLOCK ? n : begin + BLOCK;
        for (size_t i = begin; i < end; i++) {
            uint32_t *number = &clusters->moved[work->assignment[i]];
            if (*number == UINT32_MAX)
                *number = found++;
            work->assignment[i] = (int32_t)*number;
        }
        imp_spill_leave(&work->room, begin, end);
    }
    for (size_t c = 0; c < clusters->count; c++)
        if (clusters->moved[c] == UINT32_MAX)
            clusters->moved[c] = found++;
}

imp_status imp_clustering_each(const imp_clustering *clustering,
                               imp_status (*visit)(const int32_t *assignment, size_t begin,
                                                   size_t count, void *context, imp_error *error),
                               void *context, imp_error *error)
{
    const held *result = (const held *)clustering;
    imp_status status = IMP_OK;
    for (size_t begin = 0, count; begin < clustering->points && !status; begin += count) {
        count = clustering->points - begin < BLOCK ? clustering->points - begin : BLOCK;
        status = visit(clustering->assignment + begin, begin, count, context, error);
        imp_spill_leave(&result->room, begin, begin + count);
    }
    return status;
}

static imp_status count_members(const int32_t *assignment, size_t begin, size_t count,
                                void *context, imp_error *error)
{
    (void)begin, (void)error;
    size_t *cluster_size = context;
    for (size_t i = 0; i < count; i++)
        cluster_size[assignment[i]]++;
    return IMP_OK;
}

/* Makes the result, which takes over the assignment. */
static imp_status finish(job *work, imp_clustering **out, imp_error *error)
{
    const imp_clusters *clusters = &work->clusters;
    size_t values;
    held *holder = imp_allocate_zeroed(1, sizeof *holder);
    if (!holder)
        return imp_fail_memory(error, "the clusters");
    imp_clustering *result = &holder->clustering;
    result->cluster_size = imp_allocate_zeroed(clusters->count, sizeof *result->cluster_size);
    if (imp_multiply(clusters->count, clusters->dimensions, &values))
        result->mean = imp_allocate(values, sizeof *result->mean);
    if (work->options->label)
        result->cluster_label = imp_allocate(clusters->count, sizeof *result->cluster_label);
    imp_status status =
        result->cluster_size && result->mean && (result->cluster_label || !work->options->label)
            ? find_objective(work, &result->objective, error)
            : imp_fail_memory(error, "the clusters");
    if (status) {
        imp_clustering_free(result);
        return status;
    }
    result->points = work->source->count;
    result->dimensions = clusters->dimensions;
    result->clusters = clusters->count;
    result->lambda = work->lambda;
    result->sigma = work->sigma;
    result->steps = work->steps;
    result->converged = work->converged;
    result->choice = work->choice;
    result->sampled = work->seeds.sampled;
    result->groups = work->seeds.groups;
    result->apart = work->seeds.count > 0 ? work->seeds.least : INFINITY;
    number_by_first(work);
    for (size_t c = 0; c < clusters->count && result->cluster_label; c++)
        result->cluster_label[clusters->moved[c]] = clusters->label[c];
    for (size_t c = 0; c < clusters->count; c++)
        for (size_t j = 0; j < clusters->dimensions; j++)
            result->mean[clusters->moved[c] * clusters->dimensions + j] =
                (float)imp_clusters_mean(clusters, c)[j];
    result->assignment = work->assignment;
    holder->room = work->room;
    work->room = (imp_spill){0};
    *out = result;
    return imp_clustering_each(result, count_members, result->cluster_size, error);
}

/* ---- options and order ---- */

void imp_cluster_options_init(imp_cluster_options *options, size_t size)
{
    const imp_cluster_options defaults = {.rule = IMP_RULE_AUTO, .seed = 1};
    imp_give_options(options, size, &defaults, sizeof defaults);
}

/* Takes the caller's options and finds the method that they name. */
static imp_status take_options(const imp_cluster_options *given, imp_cluster_options *options,
                               const imp_method_info **method, imp_error *error)
{
    *options = imp_cluster_defaults();
    imp_status status =
        imp_take_options(options, sizeof *options, given, "imp_cluster_options", error);
    if (!status)
        status = imp_find_clustering(options->method, method, error);
    if (!status && (unsigned)options->order > IMP_ORDER_FARTHEST_FIRST)
        status = imp_fail(error, IMP_EINVAL, "%d is not an order of points", (int)options->order);
    return status;
}

static imp_status check(const imp_cluster_options *options, size_t n, size_t d, imp_error *error)
{
    if (n == 0)
        return imp_fail(error, IMP_EINVAL, "there are no points to cluster; at least 1 is needed");
    if (d == 0)
        return imp_fail(error, IMP_EINVAL, "the points have no dimensions; they need at least 1");
    if (n > INT32_MAX)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "there are %zu points; at most %d can be clustered", n, INT32_MAX);
    imp_status status = imp_check_rule(&options->rule, error);
    if (status)
        return status;
    if (options->clusters > n)
        return imp_fail(error, IMP_EINVAL, "%zu clusters are wanted of %zu points",
                        options->clusters, n);
    return IMP_OK;
}

static double within_bounds(double sigma)
{
    return fmin(fmax(sigma, IMP_LEAST_SIGMA), IMP_MOST_SIGMA);
}

/* Starts clusters at the seeds. No point will start another. */
static imp_status begin_at_seeds(job *work, imp_error *error)
{
    const imp_seeds *seeds = &work->seeds;
    size_t d = work->source->dimensions;
    imp_status status = imp_clusters_reserve(&work->clusters, seeds->count, error);
    if (isnan(work->sigma))
        work->sigma = within_bounds(seeds->within / (double)d);
    for (size_t c = 0; c < seeds->count && !status; c++)
        status = imp_clusters_add(&work->clusters, IMP_UNLABELED, work->sigma, seeds->mean + c * d,
                                  error);
    work->lambda = INFINITY;
    return status;
}

/* Tells of many clusters: of a small threshold, or wanted. */
static imp_status foresee(const job *work, double lambda, size_t wanted, imp_error *error)
{
    const imp_plan_of_work plan = {.source = work->source,
                                   .lambda = lambda,
                                   .lambda_u = lambda,
                                   .clusters = wanted,
                                   .passes = steps_wanted(work, work->hard ? 0 : DEFAULT_STEPS)};
    return imp_foresee(&plan, error);
}

/* lambda and sigma as given, or chosen. A chosen variance follows the scale of the points: much
 * wider clusters would all be drawn to the center. lambda / d is the mean squared deviation of a
 * coordinate at the threshold. */
static imp_status choose(job *work, imp_error *error)
{
    const imp_cluster_options *options = work->options;
    size_t n = work->source->count;
    work->lambda = options->rule.lambda;
    work->sigma = options->rule.sigma_u;
    if (!isnan(work->lambda)) {
        work->choice = IMP_CLUSTER_GIVEN;
        work->sigma = isnan(work->sigma) ? 5 : work->sigma;
        return foresee(work, work->lambda, 0, error);
    }
    imp_distance_gap gap = {0, 0};
    imp_status status = IMP_OK;
    bool few = n < IMP_FEWEST_FOR_SEEDS;
    if (options->clusters == 0 && n < FEW_FOR_GAP)
        status =
            imp_find_gap(work->source, few ? least_gap : clear_gap, options->threads, &gap, error);
    if (!status && options->clusters > 0)
        status = foresee(work, INFINITY, options->clusters, error);
    if (!status && (options->clusters > 0 || !few))
        status = imp_seeds_find(&work->seeds, work->source, options->clusters, &work->crew, error);
    if (status)
        return status;
    if (gap.clusters <= work->seeds.count) {
        work->choice = options->clusters > 0 ? IMP_CLUSTER_WANTED : IMP_CLUSTER_APART;
        return begin_at_seeds(work, error);
    }
    imp_seeds_release(&work->seeds);
    work->choice = IMP_CLUSTER_GAP;
    work->lambda = gap.lambda;
    if (isnan(work->sigma))
        work->sigma = within_bounds(work->lambda / (8 * (double)work->source->dimensions));
    return IMP_OK;
}

static imp_status prepare(job *work, imp_error *error)
{
    const imp_cluster_options *options = work->options;
    size_t n = work->source->count;
    imp_status status = choose(work, error);
    if (status)
        return status;
    if (work->clusters.count > 0)
        return IMP_OK; /* the order does not matter then */

    imp_cluster_order order = options->order;
    if (order == IMP_ORDER_DEFAULT || order == IMP_ORDER_GIVEN)
        return IMP_OK;
    work->order = imp_allocate(n, sizeof *work->order);
    if (!work->order)
        return imp_fail_memory(error, "the order of the points");
    if (order == IMP_ORDER_FARTHEST_FIRST)
        return imp_order_farthest_first(work->source, work->lambda, options->threads, work->order,
                                        error);
    imp_random random = imp_random_start(options->seed, IMP_STREAM_ORDER, 0);
    for (size_t i = 0; i < n; i++)
        work->order[i] = (uint32_t)i;
    imp_random_shuffle(&random, work->order, n);
    return IMP_OK;
}

/* A state may say that steps were made which left points out. */
static imp_status check_assigned(const job *work, imp_error *error)
{
    for (size_t i = 0; i < work->source->count; i++)
        if (work->assignment[i] < 0)
            return imp_fail(error, IMP_EFORMAT,
                            "'%s' is not what a stopped clustering leaves: point %zu is in no "
                            "cluster",
                            work->means->state, i);
    return IMP_OK;
}

/* Clusters points; they and the options have been checked. */
static imp_status run(const imp_point_source *source, const imp_cluster_options *options,
                      const imp_cluster_means *means, const imp_method_info *method,
                      imp_clustering **out, imp_error *error)
{
    static const imp_cluster_means alone;
    job work = {.options = options,
                .source = source,
                .means = means ? means : &alone,
                .hard = method->hard};
    work.crew = (imp_crew){.threads = options->threads,
                           .ranks = work.means->ranks,
                           .place = &work.means->place,
                           .done = block_done,
                           .context = &work};
    imp_clusters_restart(&work.clusters, source->dimensions);
    imp_status status = imp_spill_create(&work.room, work.crew.place, source->count,
                                         sizeof *work.assignment, error);
    work.assignment = work.room.values;
    if (status == IMP_OK) {
        forget_assignment(&work);
        status = imp_constraints_create(options, source, &work.constraints, error);
    }
    if (status == IMP_OK)
        status = prepare(&work, error);
    if (status == IMP_OK)
        status = work.hard ? cluster_hard(&work, error) : cluster_softly(&work, error);
    if (status == IMP_OK && work.means->resume)
        status = check_assigned(&work, error);
    if (status == IMP_OK && work.clusters.count == 0)
        status = imp_fail(error, IMP_EINVAL, "every cluster was dropped; take a larger lambda");
    if (status == IMP_OK && work.constraints)
        status = imp_constraints_settle(work.constraints, source, &work.clusters, options->threads,
                                        work.assignment, &work.steps, &work.converged, error);
    if (status == IMP_OK)
        status = finish(&work, out, error);
    imp_clusters_release(&work.clusters);
    imp_seeds_release(&work.seeds);
    imp_constraints_free(work.constraints);
    imp_release(work.order);
    imp_spill_release(&work.room);
    return status;
}

imp_status imp_cluster_source(const imp_point_source *source, const imp_cluster_options *given,
                              const imp_cluster_means *means, imp_clustering **out,
                              imp_error *error)
{
    *out = NULL;
    imp_cluster_options options;
    const imp_method_info *method;
    imp_status status = take_options(given, &options, &method, error);
    if (!status)
        status = check(&options, source->count, source->dimensions, error);
    return status ? status : run(source, &options, means, method, out, error);
}

imp_status imp_cluster(const float *x, size_t n, size_t d, const imp_cluster_options *given,
                       imp_clustering **out, imp_error *error)
{
    *out = NULL;
    imp_cluster_options options;
    const imp_method_info *method;
    imp_status status = take_options(given, &options, &method, error);
    if (!status)
        status = check(&options, n, d, error);
    if (!status)
        status = imp_check_finite(x, n, d, options.threads, "point", error);
    imp_point_source source = imp_source_of_rows(x, n, d);
    return status ? status : run(&source, &options, NULL, method, out, error);
}

/* ---- assigning further points ---- */

static imp_status check_assign(const float *mean, size_t clusters, const float *x, size_t n,
                               size_t d, imp_error *error)
{
    if (clusters == 0)
        return imp_fail(error, IMP_EINVAL, "there are no means to assign points to");
    if (d == 0)
        return imp_fail(error, IMP_EINVAL, "the points have no dimensions; they need at least 1");
    if (n > INT32_MAX || clusters > INT32_MAX)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "there are %zu points and %zu means; at most %d of each can be compared", n,
                        clusters, INT32_MAX);
    imp_status status = imp_check_finite(mean, clusters, d, 0, "mean", error);
    return status == IMP_OK ? imp_check_finite(x, n, d, 0, "point", error) : status;
}

/* One pass of DP-means without a threshold. */
imp_status imp_cluster_assign(const float *mean, size_t clusters, const float *x, size_t n,
                              size_t d, int32_t *assignment, imp_error *error)
{
    imp_status status = check_assign(mean, clusters, x, n, d, error);
    if (status != IMP_OK || n == 0)
        return status;
    imp_clusters list = {0};
    imp_clusters_restart(&list, d);
    status = imp_clusters_reserve(&list, clusters, error);
    for (size_t c = 0; c < clusters && status == IMP_OK; c++)
        status = imp_clusters_add(&list, IMP_UNLABELED, 1, mean + c * d, error);

    imp_point_source points = imp_source_of_rows(x, n, d);
    const imp_crew crew = {.threads = 0};
    imp_assigner *assigner = NULL;
    size_t changed;
    if (status == IMP_OK)
        status = imp_assigner_create(&points, NULL, &crew, &assigner, error);
    for (size_t i = 0; i < n; i++)
        assignment[i] = -1;
    if (status == IMP_OK)
        status = imp_assigner_pass(assigner, &list, INFINITY, 1, assignment, &changed, error);
    imp_assigner_free(assigner);
    imp_clusters_release(&list);
    return status;
}
