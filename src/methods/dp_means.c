/*
 * dp_means.c - DP-means (Kulis & Jordan) as a method: hard assignments, no variances.
 *
 * Clusters start as in Algorithm 1, with the same threshold, and a point belongs entirely to the
 * cluster that it starts or that is nearest at its turn, even if a later point starts a nearer one.
 * Queries score by minus the squared distance, which is a density of variance 1/2 up to a constant.
 * sigma_l and sigma_u are used only to estimate lambda.
 */
#include "methods/imp.h"
#include "methods/method.h"
#include "methods/rule.h"

static const double sigma = 0.5;

static imp_status decide(imp_run *run, imp_error *error)
{
    const imp_rule *rule = &run->options->rule;
    imp_algorithm algorithm = {
        .rule = *rule,
        .lambda_sigma = imp_lambda_sigma(&run->points, rule->sigma_l, rule->sigma_u),
        .move = imp_weighted_means,
    };
    algorithm.rule.sigma_l = algorithm.rule.sigma_u = sigma;
    return imp_algorithm_run(&algorithm, &run->points, run->way, &run->clusters, &run->shares,
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
    .info = {.name = "dp-means",
             .summary = "Algorithm 1 with hard assignments (Kulis and Jordan)",
             .rule = IMP_USUAL_RULE,
             .has_lambda = true,
             .has_steps = true,
             .uses_unlabeled = true,
             .hard = true,
             .unsupervised = true},
    .decide = decide,
    .place = place,
    .differentiate = differentiate,
};
