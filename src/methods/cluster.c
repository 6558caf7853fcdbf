/*
 * cluster.c - clustering without labels: what the caller's options mean for these points, and
 * where the clustering starts. cluster_passes.c carries it out.
 */
#include "methods/cluster.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/random.h"
#include "methods/assign.h"
#include "methods/cluster_job.h"
#include "methods/farthest_first.h"
#include "methods/imp.h"
#include "methods/method.h"
#include "methods/rule.h"
#include "methods/work.h"

enum { FEW_FOR_GAP = 200 }; /* with fewer points, a few far apart may be a cluster */

/* Ratios of radii that indicate clusters: if there is no other evidence, and otherwise. */
static const double least_gap = 2, clear_gap = 4;

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
static imp_status begin_at_seeds(imp_cluster_job *job, imp_error *error)
{
    const imp_seeds *seeds = &job->seeds;
    size_t d = job->source->dimensions;
    imp_status status = imp_clusters_reserve(&job->clusters, seeds->count, error);
    if (isnan(job->sigma))
        job->sigma = within_bounds(seeds->within / (double)d);
    for (size_t c = 0; c < seeds->count && !status; c++)
        status =
            imp_clusters_add(&job->clusters, IMP_UNLABELED, job->sigma, seeds->mean + c * d, error);
    job->lambda = INFINITY;
    return status;
}

/* Tells of many clusters: of a small threshold, or wanted. */
static imp_status foresee(const imp_cluster_job *job, double lambda, size_t wanted,
                          imp_error *error)
{
    const imp_plan_of_work plan = {.source = job->source,
                                   .lambda = lambda,
                                   .lambda_u = lambda,
                                   .clusters = wanted,
                                   .passes = imp_cluster_passes_wanted(job)};
    return imp_foresee(&plan, error);
}

/* lambda and sigma as given, or chosen. A chosen variance follows the scale of the points: much
 * wider clusters would all be drawn to the center. lambda / d is the mean squared deviation of a
 * coordinate at the threshold. */
static imp_status choose(imp_cluster_job *job, imp_error *error)
{
    const imp_cluster_options *options = job->options;
    size_t n = job->source->count;
    job->lambda = options->rule.lambda;
    job->sigma = options->rule.sigma_u;
    if (!isnan(job->lambda)) {
        job->choice = IMP_CLUSTER_GIVEN;
        job->sigma = isnan(job->sigma) ? 5 : job->sigma;
        return foresee(job, job->lambda, 0, error);
    }
    imp_distance_gap gap = {0, 0};
    imp_status status = IMP_OK;
    bool few = n < IMP_FEWEST_FOR_SEEDS;
    if (options->clusters == 0 && n < FEW_FOR_GAP)
        status =
            imp_find_gap(job->source, few ? least_gap : clear_gap, options->threads, &gap, error);
    if (!status && options->clusters > 0)
        status = foresee(job, INFINITY, options->clusters, error);
    if (!status && (options->clusters > 0 || !few))
        status = imp_seeds_find(&job->seeds, job->source, options->clusters, &job->crew, error);
    if (status)
        return status;
    if (gap.clusters <= job->seeds.count) {
        job->choice = options->clusters > 0  ? IMP_CLUSTER_WANTED
                      : job->seeds.spherical ? IMP_CLUSTER_LIKELY
                                             : IMP_CLUSTER_APART;
        return begin_at_seeds(job, error);
    }
    imp_seeds_release(&job->seeds);
    job->choice = IMP_CLUSTER_GAP;
    job->lambda = gap.lambda;
    if (isnan(job->sigma))
        job->sigma = within_bounds(job->lambda / (8 * (double)job->source->dimensions));
    return IMP_OK;
}

static imp_status prepare(imp_cluster_job *job, imp_error *error)
{
    const imp_cluster_options *options = job->options;
    size_t n = job->source->count;
    imp_status status = choose(job, error);
    if (status)
        return status;
    if (job->clusters.count > 0)
        return IMP_OK; /* the order does not matter then */

    imp_cluster_order order = options->order;
    if (order == IMP_ORDER_DEFAULT || order == IMP_ORDER_GIVEN)
        return IMP_OK;
    job->order = imp_allocate(n, sizeof *job->order);
    if (!job->order)
        return imp_fail_memory(error, "the order of the points");
    if (order == IMP_ORDER_FARTHEST_FIRST)
        return imp_order_farthest_first(job->source, job->lambda, options->threads, job->order,
                                        error);
    imp_random random = imp_random_start(options->seed, IMP_STREAM_ORDER, 0);
    for (size_t i = 0; i < n; i++)
        job->order[i] = (uint32_t)i;
    imp_random_shuffle(&random, job->order, n);
    return IMP_OK;
}

/* ---- running ---- */

static void forget_assignment(imp_cluster_job *job)
{
    size_t n = job->source->count;
    for (size_t begin = 0, end; begin < n; begin = end) {
        end = n - begin < IMP_CLUSTER_BLOCK ? n : begin + IMP_CLUSTER_BLOCK;
        for (size_t i = begin; i < end; i++)
            job->assignment[i] = -1;
        imp_spill_leave(&job->room, begin, end);
    }
}

/* Clusters points; they and the options have been checked. */
static imp_status run(const imp_point_source *source, const imp_cluster_options *options,
                      const imp_cluster_means *means, const imp_method_info *method,
                      imp_clustering **out, imp_error *error)
{
    static const imp_cluster_means alone;
    imp_cluster_job job = {.options = options,
                           .source = source,
                           .means = means ? means : &alone,
                           .hard = method->hard};
    job.crew = (imp_crew){.threads = options->threads,
                          .ranks = job.means->ranks,
                          .place = &job.means->place,
                          .done = imp_cluster_block_done,
                          .context = &job};
    imp_clusters_restart(&job.clusters, source->dimensions);
    imp_status status =
        imp_spill_create(&job.room, job.crew.place, source->count, sizeof *job.assignment, error);
    job.assignment = job.room.values;
    if (!status) {
        forget_assignment(&job);
        status = imp_constraints_create(options, source, &job.constraints, error);
    }
    if (!status)
        status = imp_cluster_begin(&job, error);
    if (!status)
        status = prepare(&job, error);
    if (!status)
        status = imp_cluster_make_passes(&job, error);
    if (!status && job.clusters.count == 0)
        status = imp_fail(error, IMP_EINVAL, "every cluster was dropped; take a larger lambda");
    if (!status && job.constraints)
        status = imp_constraints_settle(job.constraints, source, &job.clusters, options->threads,
                                        job.assignment, &job.steps, &job.converged, error);
    if (!status)
        status = imp_cluster_finish(&job, out, error);
    imp_clusters_release(&job.clusters);
    imp_seeds_release(&job.seeds);
    imp_constraints_free(job.constraints);
    imp_release(job.order);
    imp_spill_release(&job.room);
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
    return status ? status : imp_check_finite(x, n, d, 0, "point", error);
}

/* One pass of DP-means without a threshold. */
imp_status imp_cluster_assign(const float *mean, size_t clusters, const float *x, size_t n,
                              size_t d, int32_t *assignment, imp_error *error)
{
    imp_status status = check_assign(mean, clusters, x, n, d, error);
    if (status || n == 0)
        return status;
    imp_clusters list = {0};
    imp_clusters_restart(&list, d);
    status = imp_clusters_reserve(&list, clusters, error);
    for (size_t c = 0; c < clusters && !status; c++)
        status = imp_clusters_add(&list, IMP_UNLABELED, 1, mean + c * d, error);

    imp_point_source points = imp_source_of_rows(x, n, d);
    const imp_crew crew = {.threads = 0};
    imp_assigner *assigner = NULL;
    size_t changed;
    if (!status)
        status = imp_assigner_create(&points, NULL, &crew, &assigner, error);
    for (size_t i = 0; i < n; i++)
        assignment[i] = -1;
    if (!status)
        status = imp_assigner_pass(assigner, &list, INFINITY, 1, assignment, &changed, error);
    imp_assigner_free(assigner);
    imp_clusters_release(&list);
    return status;
}
