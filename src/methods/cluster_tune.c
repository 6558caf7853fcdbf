/*
 * cluster_tune.c - chooses lambda for clustering on validation episodes by adjusted mutual
 * information, as the paper does in its unsupervised experiment.
 *
 * Candidates are spaced logarithmically over all thresholds that could matter, then twice more
 * between the neighbours of the best. Episodes are clustered in parallel.
 */
#include "methods/cluster_tune.h"

#include <math.h>

#include <imp/metrics.h>

#include "base/error.h"
#include "base/first_failure.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/parallel.h"
#include "methods/farthest_first.h"
#include "methods/points.h"
#include "methods/rule.h"

enum {
    COARSE = 24,
    FINE = 8,
    REFINEMENTS = 2,
    CANDIDATES = COARSE + REFINEMENTS * FINE,
    FAR_BELOW =
        3, /* this many candidates in a row that are half as good as the best end a search */
};

/* Below this AMI, "half as good as the best" is not applied: the first candidate, one cluster of
 * all points, has an AMI of 0, and small values occur by chance. */
static const double something = 0.1;

typedef struct range {
    double least, most;
} range;

typedef struct search {
    const imp_tuning *tuning;
    const imp_labeled_points *episodes;
    size_t count, dimensions;
    imp_cluster_options options; /* with the candidate being tried */
    int threads;
    size_t tried;  /* candidates */
    range *ranges; /* (count): of each episode's thresholds */
    double *ami;   /* (count): with the candidate */
    imp_first_failure failure;
} search;

/* ---- the thresholds that could matter ---- */

/* From the threshold at which every point is its own cluster to that at which all are one. */
static imp_status find_range(const imp_labeled_points *episode, size_t d, range *found,
                             imp_error *error)
{
    imp_traversal traversal;
    imp_point_source source = imp_source_of_rows(episode->x, episode->count, d);
    imp_status status = imp_traversal_begin(&traversal, &source, 1, error);
    if (status != IMP_OK)
        return status;
    *found = (range){.least = INFINITY};
    size_t row;
    for (size_t k = 0; k < episode->count && !status; k++) {
        status = imp_traversal_next(&traversal, &row, error);
        double radius = imp_traversal_radius(&traversal);
        found->most = fmax(found->most, radius);
        found->least = radius > 0 ? fmin(found->least, radius) : found->least;
    }
    imp_traversal_end(&traversal);
    return status;
}

static void find_range_of(size_t e, int worker, void *context)
{
    (void)worker;
    search *work = context;
    imp_error error;
    imp_status status = find_range(&work->episodes[e], work->dimensions, &work->ranges[e], &error);
    imp_first_failure_note(&work->failure, e, status, &error);
}

static imp_status find_ranges(search *work, range *whole, imp_error *error)
{
    imp_first_failure_begin(&work->failure);
    imp_parallel(work->count, work->threads, find_range_of, work);
    imp_status status = imp_first_failure_end(&work->failure, error);
    *whole = (range){.least = INFINITY};
    for (size_t e = 0; e < work->count && status == IMP_OK; e++) {
        whole->least = fmin(whole->least, work->ranges[e].least);
        whole->most = fmax(whole->most, work->ranges[e].most);
    }
    /* Points that all coincide are one cluster at any threshold. */
    if (whole->most == 0)
        whole->least = 0;
    return status;
}

/* ---- one candidate ---- */

static imp_status score(const search *work, size_t e, double *ami, imp_error *error)
{
    const imp_labeled_points *episode = &work->episodes[e];
    imp_clustering *clustering;
    imp_contingency *contingency = NULL;
    imp_status status = imp_cluster(episode->x, episode->count, work->dimensions, &work->options,
                                    &clustering, error);
    if (status == IMP_OK)
        status = imp_contingency_create(episode->label, clustering->assignment, episode->count,
                                        &contingency, error);
    if (status == IMP_OK)
        status = imp_ami(contingency, IMP_ARITHMETIC, ami, error);
    imp_contingency_free(contingency);
    imp_clustering_free(clustering);
    return status;
}

static void score_of(size_t e, int worker, void *context)
{
    (void)worker;
    search *work = context;
    imp_error error;
    imp_status status = score(work, e, &work->ami[e], &error);
    imp_first_failure_note(&work->failure, e, status, &error);
}

/* The mean adjusted mutual information of the clusterings with a threshold. */
static imp_status try_candidate(search *work, double lambda, double *mean, imp_error *error)
{
    work->options.rule.lambda = lambda;
    imp_first_failure_begin(&work->failure);
    imp_parallel(work->count, work->threads, score_of, work);
    imp_status status = imp_first_failure_end(&work->failure, error);
    *mean = 0;
    for (size_t e = 0; e < work->count && status == IMP_OK; e++)
        *mean += work->ami[e] / (double)work->count;
    work->tried++;
    if (work->tuning->progress)
        work->tuning->progress(work->tried, CANDIDATES, work->tuning->context);
    return status;
}

/* ---- all of them ---- */

/* The best so far, and the thresholds between which a better one may lie. */
typedef struct finding {
    double ami, lambda;
    range around;
} finding;

/* Tries `count` candidates, spaced logarithmically, starting at fraction `first` of the range and
 * going down by `step` of it. Small thresholds make the most clusters and take the longest, and
 * need not be tried once the best lies well above. */
static imp_status narrow(search *work, finding *best, size_t count, double first, double step,
                         imp_error *error)
{
    double most = best->around.most, ratio = most > 0 ? best->around.least / most : 1;
    double neighbour = pow(ratio, step);
    size_t until = work->tried + count, worse = 0;
    for (size_t i = 0; i < count && worse < FAR_BELOW; i++) {
        double ami, lambda = most * pow(ratio, first + (double)i * step);
        imp_status status = try_candidate(work, lambda, &ami, error);
        if (status != IMP_OK)
            return status;
        /* Ties go to the largest lambda: the fewest clusters. */
        if (ami > best->ami || (ami == best->ami && lambda > best->lambda)) {
            best->ami = ami;
            best->lambda = lambda;
        }
        bool below = lambda < best->lambda && best->ami > something && ami < best->ami / 2;
        worse = below ? worse + 1 : 0;
    }
    work->tried = until;
    best->around.most = fmin(most, best->lambda / neighbour);
    best->around.least = fmax(best->around.least, best->lambda * neighbour);
    return IMP_OK;
}

static imp_status run(search *work, double *lambda, imp_error *error)
{
    finding best = {.ami = -INFINITY};
    imp_status status = find_ranges(work, &best.around, error);
    if (status == IMP_OK)
        status = narrow(work, &best, COARSE, 0, 1 / (double)(COARSE - 1), error);
    /* An even number of candidates avoids the ends and the middle of a range, which are known.
     */
    for (int i = 0; i < REFINEMENTS && status == IMP_OK; i++)
        status = narrow(work, &best, FINE, 1 / (double)(FINE + 1), 1 / (double)(FINE + 1), error);
    if (status == IMP_OK)
        *lambda = best.lambda;
    return status;
}

static imp_status check(const imp_labeled_points *episodes, size_t count, size_t d, int threads,
                        imp_error *error)
{
    if (count == 0)
        return imp_fail(error, IMP_EINVAL, "there are no episodes to choose lambda on");
    if (d == 0)
        return imp_fail(error, IMP_EINVAL, "the points have no dimensions; they need at least 1");
    for (size_t e = 0; e < count; e++) {
        if (episodes[e].count == 0)
            return imp_fail(error, IMP_EINVAL, "episode %zu has no points", e);
        imp_status status =
            imp_check_finite(episodes[e].x, episodes[e].count, d, threads, "validation", error);
        if (status != IMP_OK)
            return status;
    }
    return IMP_OK;
}

imp_status imp_cluster_tune_by(const imp_tuning *tuning, const imp_labeled_points *episodes,
                               size_t count, size_t d, const imp_cluster_options *options,
                               double *lambda, imp_error *error)
{
    search work = {.tuning = tuning, .episodes = episodes, .count = count, .dimensions = d};
    work.options = imp_cluster_defaults();
    imp_status status =
        imp_take_options(&work.options, sizeof work.options, options, "imp_cluster_options", error);
    work.threads =
        imp_parallel_threads(tuning->threads > 0 ? tuning->threads : work.options.threads);
    if (status == IMP_OK)
        status = check(episodes, count, d, work.threads, error);
    if (status != IMP_OK)
        return status;
    work.options.size = sizeof work.options;
    work.options.label = NULL; /* labels and pairs belong to other points */
    work.options.pair_count = 0;
    work.ranges = imp_allocate(count, sizeof *work.ranges);
    work.ami = imp_allocate(count, sizeof *work.ami);
    status = work.ranges && work.ami ? run(&work, lambda, error)
                                     : imp_fail_memory(error, "the choice of lambda");
    imp_release(work.ranges);
    imp_release(work.ami);
    return status;
}

imp_status imp_cluster_tune(const imp_labeled_points *episodes, size_t count, size_t d,
                            const imp_cluster_options *options, double *lambda, imp_error *error)
{
    return imp_cluster_tune_by(&(imp_tuning){0}, episodes, count, d, options, lambda, error);
}
