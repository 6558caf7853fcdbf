/*
 * dp_means.c - DP-means (Kulis & Jordan) in the place of imp: hard assignments, no variances.
 *
 * Clusters start as in Algorithm 1, with the same threshold; then each point belongs wholly to its
 * nearest cluster. Queries score by minus the squared distance, which is a density of variance 1/2
 * up to a constant. sigma_l and sigma_u serve only to estimate lambda.
 */
#include "methods/imp.h"
#include "methods/method.h"

static const double sigma = 0.5;

/* Steps 4 and 5 with hard assignments: a share of 1 in the nearest cluster. */
static imp_status refine(imp_clusters *clusters, const imp_points *points, imp_shares *shares,
                         imp_error *error)
{
    shares->count = 0;
    for (size_t position = 0; position < imp_points_count(points); position++) {
        size_t i = imp_points_at(points, position);
        double distance;
        size_t nearest = imp_nearest_cluster(clusters, imp_points_row(points, i),
                                             imp_points_label(points, i), &distance);
        imp_status status = imp_shares_add(shares, i, nearest, 1, error);
        if (status != IMP_OK)
            return status;
    }
    imp_weighted_means(clusters, points, shares);
    return IMP_OK;
}

static imp_status infer(imp_run *run, imp_error *error)
{
    const imp_method_options *options = run->options;
    const imp_algorithm algorithm = {
        .sigma_l = sigma,
        .sigma_u = sigma,
        .lambda = options->lambda,
        .lambda_sigma = imp_lambda_sigma(&run->points, options->sigma_l, options->sigma_u),
        .alpha = options->alpha,
        .steps = options->cluster_steps,
        .refine = refine,
    };
    return imp_run_algorithm(&algorithm, &run->points, run->way, &run->clusters, &run->shares,
                             &run->lambda, error);
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
