/*
 * dp_means.c - DP-means (Kulis & Jordan) in the place of imp: hard assignments, no variances.
 *
 * Clusters start as in Algorithm 1, with the same threshold; then each point belongs wholly to its
 * nearest cluster. Queries score by minus the squared distance, which is a density of variance 1/2
 * up to a constant. sigma_l and sigma_u serve only to estimate lambda.
 */
#include <math.h>

#include "methods/imp.h"
#include "methods/method.h"

static const double sigma = 0.5;

static imp_status infer(imp_run *run, imp_error *error)
{
    const imp_points *points = &run->points;
    const imp_method_options *options = run->options;
    imp_clusters *clusters = &run->clusters;
    imp_status status = imp_clusters_add_class_means(clusters, points, run->way, sigma, error);
    if (status != IMP_OK)
        return status;

    run->lambda = options->lambda;
    if (isnan(run->lambda))
        run->lambda = imp_estimate_lambda(
            clusters, imp_lambda_sigma(points, options->sigma_l, options->sigma_u), options->alpha);

    for (size_t step = 0; step < options->cluster_steps; step++) {
        status = imp_grow_clusters(clusters, points, run->lambda, sigma, sigma, error);
        if (status != IMP_OK)
            return status;
        run->shares.count = 0;
        status =
            imp_assign_hard(clusters, points, 0, imp_points_count(points), &run->shares, error);
        if (status != IMP_OK)
            return status;
        imp_weighted_means(clusters, points, &run->shares);
    }
    return IMP_OK;
}

static void place(imp_run *run)
{
    imp_weighted_means(&run->clusters, &run->points, &run->shares);
}

static void differentiate(imp_run *run)
{
    imp_weighted_means_gradient(&run->clusters, &run->shares, run->mean_gradient,
                                run->point_gradient);
}

const imp_method_kind imp_kind_dp_means = {
    .name = "dp-means",
    .has_lambda = true,
    .has_steps = true,
    .infer = infer,
    .place = place,
    .differentiate = differentiate,
};
