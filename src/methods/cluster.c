/*
 * cluster.c - clustering without labels: Algorithm 1 with nothing but unlabelled points, and
 * DP-means (Kulis and Jordan, 2012, Algorithm 1) to convergence.
 *
 * Shares are never kept, so that the memory needed beside the points is one number per point and
 * the clusters.
 */
#include <imp/cluster.h>

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/parallel.h"
#include "base/random.h"
#include "methods/assign.h"
#include "methods/farthest_first.h"
#include "methods/imp.h"
#include "methods/option_checks.h"
#include "methods/refine.h"

enum {
    DEFAULT_STEPS = 5,   /* of the soft rule */
    MOST_PASSES = 10000, /* of DP-means, which could go in circles only through rounding */
};

/* A clustering being made. */
typedef struct job {
    const imp_cluster_options *options;
    imp_points points;
    uint32_t *order;
    imp_clusters clusters;
    imp_shares block;
    int32_t *assignment;
    double lambda, sigma;
    size_t steps;
    bool converged;
} job;

/* ---- the soft rule ---- */

/* The densest cluster. All have one variance, so that is the nearest. */
static size_t assign_densest(job *work)
{
    const imp_points *points = &work->points;
    size_t changed = 0;
    for (size_t i = 0; i < points->first_count; i++) {
        double distance;
        size_t nearest = imp_nearest_cluster(&work->clusters, imp_points_row(points, i),
                                             IMP_UNLABELED, &distance);
        changed += work->assignment[i] != (int32_t)nearest;
        work->assignment[i] = (int32_t)nearest;
    }
    return changed;
}

static imp_status cluster_softly(job *work, imp_error *error)
{
    size_t steps = work->options->steps > 0 ? work->options->steps : DEFAULT_STEPS;
    imp_clusters *clusters = &work->clusters;
    for (; work->steps < steps; work->steps++) {
        size_t before = clusters->count;
        imp_status status = imp_grow_clusters(clusters, &work->points, work->lambda, work->sigma,
                                              work->sigma, error);
        bool grew = clusters->count > before;
        if (status == IMP_OK)
            status = imp_refine_in_blocks(clusters, &work->points, &work->block, error);
        if (status != IMP_OK)
            return status;
        /* Whether a pass changed anything matters only for the last one. */
        if (work->steps + 2 >= steps)
            work->converged = assign_densest(work) == 0 && !grew;
    }
    return IMP_OK;
}

/* ---- DP-means ---- */

/* Each cluster's mean; empty clusters are dropped and the assignments renumbered. */
static void find_means(job *work, imp_assigner *assigner)
{
    imp_clusters *clusters = &work->clusters;
    imp_means_begin(clusters);
    imp_assigner_sums(assigner, work->assignment, clusters);
    size_t before = clusters->count;
    imp_means_finish(clusters, NULL);
    if (clusters->count == before)
        return;
    for (size_t i = 0; i < work->points.first_count; i++)
        work->assignment[i] = (int32_t)clusters->moved[work->assignment[i]];
    imp_assigner_renumber(assigner, clusters->moved);
}

static imp_status cluster_hard(job *work, imp_error *error)
{
    size_t steps = work->options->steps > 0 ? work->options->steps : MOST_PASSES;
    imp_assigner *assigner;
    imp_status status =
        imp_assigner_create(&work->points, work->options->threads, &assigner, error);
    while (status == IMP_OK && work->steps < steps && !work->converged) {
        size_t changed;
        status = imp_assigner_pass(assigner, &work->clusters, work->lambda, work->sigma,
                                   work->assignment, &changed, error);
        if (status != IMP_OK)
            break;
        work->converged = changed == 0;
        work->steps++;
        find_means(work, assigner);
    }
    imp_assigner_free(assigner);
    return status;
}

/* ---- the result ---- */

enum { PART = 256, TOGETHER = 32 * PART }; /* points that one thread measures, and all threads */

/* Squared distances of some points to their means. */
typedef struct measuring {
    const job *work;
    size_t begin, end;
    double distance[TOGETHER];
} measuring;

static void measure_part(size_t part, int worker, void *context)
{
    (void)worker;
    measuring *m = context;
    size_t begin = m->begin + part * PART, end = m->end - begin < PART ? m->end : begin + PART;
    for (size_t i = begin; i < end; i++)
        m->distance[i - m->begin] =
            imp_clusters_distance(&m->work->clusters, (size_t)m->work->assignment[i],
                                  imp_points_row(&m->work->points, i));
}

/* Added up in the order of the points, whoever measured them. */
static double objective(const job *work)
{
    double sum = work->lambda * (double)work->clusters.count;
    size_t n = work->points.first_count;
    measuring m = {.work = work};
    for (; m.begin < n; m.begin = m.end) {
        m.end = n - m.begin < TOGETHER ? n : m.begin + TOGETHER;
        imp_parallel((m.end - m.begin + PART - 1) / PART,
                     imp_parallel_threads(work->options->threads), measure_part, &m);
        for (size_t i = m.begin; i < m.end; i++)
            sum += m.distance[i - m.begin];
    }
    return sum;
}

void imp_clustering_free(imp_clustering *clustering)
{
    if (!clustering)
        return;
    imp_release(clustering->assignment);
    imp_release(clustering->cluster_size);
    imp_release(clustering->mean);
    imp_release(clustering);
}

/* The result, which takes the assignment over; NULL when memory ran out. */
static imp_clustering *finish(job *work)
{
    const imp_clusters *clusters = &work->clusters;
    size_t values;
    imp_clustering *result = imp_allocate_zeroed(1, sizeof *result);
    if (!result)
        return NULL;
    result->cluster_size = imp_allocate_zeroed(clusters->count, sizeof *result->cluster_size);
    if (imp_multiply(clusters->count, clusters->dimensions, &values))
        result->mean = imp_allocate(values, sizeof *result->mean);
    if (!result->cluster_size || !result->mean) {
        imp_clustering_free(result);
        return NULL;
    }
    result->points = work->points.first_count;
    result->dimensions = clusters->dimensions;
    result->clusters = clusters->count;
    result->lambda = work->lambda;
    result->sigma = work->sigma;
    result->objective = objective(work);
    result->steps = work->steps;
    result->converged = work->converged;
    for (size_t i = 0; i < values; i++)
        result->mean[i] = (float)clusters->mean[i];
    for (size_t i = 0; i < result->points; i++)
        result->cluster_size[work->assignment[i]]++;
    result->assignment = work->assignment;
    work->assignment = NULL;
    return result;
}

/* ---- options and order ---- */

void imp_cluster_options_init(imp_cluster_options *options)
{
    *options = (imp_cluster_options){
        .size = sizeof *options,
        .lambda = NAN,
        .sigma = NAN,
        .seed = 1,
    };
}

static imp_status check(const imp_cluster_options *given, const float *x, size_t n, size_t d,
                        imp_cluster_options *options, imp_error *error)
{
    imp_cluster_options_init(options);
    imp_status status =
        imp_take_options(options, sizeof *options, given, "imp_cluster_options", error);
    if (status != IMP_OK)
        return status;
    if ((unsigned)options->rule > IMP_CLUSTER_DP_MEANS)
        return imp_fail(error, IMP_EINVAL, "%d is no rule of clustering", (int)options->rule);
    if ((unsigned)options->order > IMP_ORDER_FARTHEST_FIRST)
        return imp_fail(error, IMP_EINVAL, "%d is no order of points", (int)options->order);
    if (n == 0)
        return imp_fail(error, IMP_EINVAL, "there are no points to cluster; at least 1 is needed");
    if (d == 0)
        return imp_fail(error, IMP_EINVAL, "the points have no dimensions; they need at least 1");
    if (n > INT32_MAX)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "there are %zu points; at most %d can be clustered", n, INT32_MAX);
    if (!isnan(options->sigma))
        status = imp_check_sigma(options->sigma, "sigma", error);
    if (status == IMP_OK)
        status = imp_check_lambda(options->lambda, error);
    if (status != IMP_OK)
        return status;
    if (options->clusters > n)
        return imp_fail(error, IMP_EINVAL, "%zu clusters are wanted of %zu points",
                        options->clusters, n);
    return imp_check_finite(x, n, d, options->threads, "point", error);
}

/* The variance where none is given. A wanted number of clusters brings a lambda that may have
 * nothing to do with the usual variance; much wider clusters would all be drawn to the center, and
 * each pass would have to start more of them for the points left behind. lambda / d is what the
 * coordinates of a point at the threshold deviate by. */
static double choose_sigma(double lambda, size_t d, bool number_wanted)
{
    if (!number_wanted)
        return 5;
    return fmin(fmax(lambda / (8 * (double)d), IMP_LEAST_SIGMA), IMP_MOST_SIGMA);
}

static imp_status prepare(job *work, imp_error *error)
{
    const imp_cluster_options *options = work->options;
    imp_points *points = &work->points;
    size_t n = points->first_count, d = points->dimensions;
    imp_status status = IMP_OK;
    work->lambda = options->lambda;
    if (isnan(work->lambda))
        status = imp_choose_lambda(points->first, n, d, options->clusters, &work->lambda, error);
    if (status != IMP_OK)
        return status;
    bool number_wanted = isnan(options->lambda) && options->clusters > 0;
    work->sigma =
        isnan(options->sigma) ? choose_sigma(work->lambda, d, number_wanted) : options->sigma;

    imp_cluster_order order = options->order;
    if (order == IMP_ORDER_DEFAULT && number_wanted)
        order = IMP_ORDER_FARTHEST_FIRST;
    if (order == IMP_ORDER_DEFAULT || order == IMP_ORDER_GIVEN)
        return IMP_OK;
    points->order = work->order = imp_allocate(n, sizeof *work->order);
    if (!work->order)
        return imp_fail_memory(error, "the order of the points");
    if (order == IMP_ORDER_FARTHEST_FIRST)
        return imp_order_farthest_first(points->first, n, d, work->lambda, work->order, error);
    imp_random random = imp_random_start(options->seed, IMP_STREAM_ORDER, 0);
    for (size_t i = 0; i < n; i++)
        work->order[i] = (uint32_t)i;
    imp_random_shuffle(&random, work->order, n);
    return IMP_OK;
}

imp_status imp_cluster(const float *x, size_t n, size_t d, const imp_cluster_options *given,
                       imp_clustering **out, imp_error *error)
{
    *out = NULL;
    imp_cluster_options options;
    imp_status status = check(given, x, n, d, &options, error);
    if (status != IMP_OK)
        return status;

    job work = {
        .options = &options,
        .points = {.dimensions = d, .first = x, .first_count = n, .unlabeled_count = n},
        .assignment = imp_allocate(n, sizeof *work.assignment),
    };
    imp_clusters_restart(&work.clusters, d);
    if (!work.assignment)
        status = imp_fail_memory(error, "the assignments of the points");
    for (size_t i = 0; work.assignment && i < n; i++)
        work.assignment[i] = -1;
    if (status == IMP_OK)
        status = prepare(&work, error);
    if (status == IMP_OK)
        status = options.rule == IMP_CLUSTER_DP_MEANS ? cluster_hard(&work, error)
                                                      : cluster_softly(&work, error);
    if (status == IMP_OK && work.clusters.count == 0)
        status = imp_fail(error, IMP_EINVAL, "every cluster was dropped; take a larger lambda");
    if (status == IMP_OK) {
        *out = finish(&work);
        if (!*out)
            status = imp_fail_memory(error, "the clusters");
    }
    imp_clusters_release(&work.clusters);
    imp_shares_release(&work.block);
    imp_release(work.order);
    imp_release(work.assignment);
    return status;
}

/* ---- more points ---- */

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

/* One pass of DP-means whose threshold no point is beyond. */
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

    imp_points points = {.dimensions = d, .first = x, .first_count = n, .unlabeled_count = n};
    imp_assigner *assigner = NULL;
    size_t changed;
    if (status == IMP_OK)
        status = imp_assigner_create(&points, 0, &assigner, error);
    for (size_t i = 0; i < n; i++)
        assignment[i] = -1;
    if (status == IMP_OK)
        status = imp_assigner_pass(assigner, &list, INFINITY, 1, assignment, &changed, error);
    imp_assigner_free(assigner);
    imp_clusters_release(&list);
    return status;
}
