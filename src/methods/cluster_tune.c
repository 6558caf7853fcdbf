/*
 * cluster_tune.c - choosing lambda for clustering on validation episodes by adjusted mutual
 * information, as the paper does for its unsupervised experiment.
 */
#include <imp/cluster.h>

#include <math.h>

#include <imp/metrics.h>

#include "base/error.h"
#include "base/memory.h"
#include "methods/farthest_first.h"
#include "methods/option_checks.h"
#include "methods/points.h"

enum { CANDIDATES = 40 };

/* The smallest and largest thresholds worth trying: from where every point would be its own cluster
 * to where all would be one. */
static imp_status find_range(const imp_labeled_points *episodes, size_t count, size_t d,
                             double *least, double *most, imp_error *error)
{
    *least = INFINITY;
    *most = 0;
    for (size_t e = 0; e < count; e++) {
        imp_traversal traversal;
        imp_status status =
            imp_traversal_begin(&traversal, episodes[e].x, episodes[e].count, d, error);
        if (status != IMP_OK)
            return status;
        for (size_t k = 0; k < episodes[e].count; k++) {
            imp_traversal_next(&traversal);
            double radius = imp_traversal_radius(&traversal);
            *most = fmax(*most, radius);
            *least = radius > 0 ? fmin(*least, radius) : *least;
        }
        imp_traversal_end(&traversal);
    }
    return IMP_OK;
}

/* The mean adjusted mutual information of clusterings by `options`. */
static imp_status score(const imp_labeled_points *episodes, size_t count, size_t d,
                        const imp_cluster_options *options, double *mean, imp_error *error)
{
    *mean = 0;
    imp_status status = IMP_OK;
    for (size_t e = 0; e < count && status == IMP_OK; e++) {
        imp_clustering *clustering;
        imp_contingency *contingency = NULL;
        double ami = 0;
        status = imp_cluster(episodes[e].x, episodes[e].count, d, options, &clustering, error);
        if (status == IMP_OK)
            status = imp_contingency_create(episodes[e].label, clustering->assignment,
                                            episodes[e].count, &contingency, error);
        if (status == IMP_OK)
            status = imp_ami(contingency, IMP_ARITHMETIC, &ami, error);
        imp_contingency_free(contingency);
        imp_clustering_free(clustering);
        *mean += ami / (double)count;
    }
    return status;
}

imp_status imp_cluster_tune(const imp_labeled_points *episodes, size_t count, size_t d,
                            const imp_cluster_options *options, double *lambda, imp_error *error)
{
    if (count == 0)
        return imp_fail(error, IMP_EINVAL, "there are no episodes to choose lambda on");
    if (d == 0)
        return imp_fail(error, IMP_EINVAL, "the points have no dimensions; they need at least 1");
    for (size_t e = 0; e < count; e++) {
        if (episodes[e].count == 0)
            return imp_fail(error, IMP_EINVAL, "episode %zu has no points", e);
        imp_status status =
            imp_check_finite(episodes[e].x, episodes[e].count, d, "validation", error);
        if (status != IMP_OK)
            return status;
    }

    imp_cluster_options all;
    imp_cluster_options_init(&all);
    imp_status status =
        imp_take_options(&all, sizeof all, options, "imp_cluster_options_init", error);
    all.size = sizeof all;
    double least, most, best = -INFINITY, chosen = 0;
    if (status == IMP_OK)
        status = find_range(episodes, count, d, &least, &most, error);
    if (status != IMP_OK)
        return status;
    /* Points that all coincide are one cluster by any threshold. */
    double ratio = most > 0 ? most / least : 1;
    for (size_t i = 0; i < CANDIDATES; i++) {
        double mean;
        all.lambda = most * pow(ratio, -(double)i / (CANDIDATES - 1));
        status = score(episodes, count, d, &all, &mean, error);
        if (status != IMP_OK)
            return status;
        /* Of equals the largest: the fewest clusters. */
        if (mean > best) {
            best = mean;
            chosen = all.lambda;
        }
    }
    *lambda = chosen;
    return IMP_OK;
}
