/*
 * map_dp.c - MAP-DP (Raykov et al.): the appendix's first alternative to Algorithm 1.
 *
 * One pass over the unlabelled points, each assigned to its most probable cluster under a Chinese
 * restaurant process prior, or to a new one. A cluster is the posterior of its mean given its
 * members, and is scored by the predictive density. The assignments are constants to the gradient;
 * posterior means and variances are not. (The appendix prints argmin for what must be the most
 * probable, and scores by the posterior variance alone.)
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "methods/posterior.h"
#include "methods/rule.h"

/* The gradient of imp_posterior_place(): adds to the members' sum's gradient, to mu_0's and to
 * those of log sigma and log sigma_0. */
static void differentiate_cluster(const imp_run *run, size_t c, const imp_base *base,
                                  double *sum_gradient, double *mu_0_gradient)
{
    const imp_clusters *clusters = &run->clusters;
    double sigma = base->sigma, sigma_0 = base->sigma_0, members = clusters->weight[c];
    double total = sigma + members * sigma_0;
    const double *sum = imp_clusters_sum(clusters, c), *mean = imp_clusters_mean(clusters, c);
    const double *gradient = run->mean_gradient + c * clusters->dimensions;

    /* mean = (sigma_0 sum + sigma mu_0) / total */
    double by_sigma = 0, by_sigma_0 = 0;
    for (size_t j = 0; j < clusters->dimensions; j++) {
        sum_gradient[j] = gradient[j] * sigma_0 / total;
        mu_0_gradient[j] += gradient[j] * sigma / total;
        by_sigma += gradient[j] * (base->mu_0[j] - mean[j]) / total;
        by_sigma_0 += gradient[j] * (sum[j] - members * mean[j]) / total;
    }
    /* variance = sigma sigma_0 / total + sigma; sigma_gradient is that of its logarithm */
    double by_variance = run->sigma_gradient[c] / clusters->sigma[c];
    double share = sigma_0 / total, share_0 = sigma / total;
    by_sigma += by_variance * (1 + members * share * share);
    by_sigma_0 += by_variance * share_0 * share_0;

    run->value_gradient[0] += by_sigma * sigma;
    run->value_gradient[1] += by_sigma_0 * sigma_0;
}

/* The cluster that x most probably belongs to; clusters.count for a new one. */
static size_t most_probable(const imp_run *run, const float *x, const imp_base *base)
{
    const imp_clusters *clusters = &run->clusters;
    size_t chosen = 0;
    double most = -INFINITY;
    for (size_t c = 0; c < clusters->count; c++) {
        double score = imp_clusters_log_density(clusters, c, x);
        if (score > most) {
            chosen = c;
            most = score;
        }
    }
    double new_score = imp_posterior_new(base, run->options->rule.alpha, x, clusters->dimensions);
    return new_score > most ? clusters->count : chosen;
}

static imp_status decide(imp_run *run, imp_error *error)
{
    const imp_points *points = &run->points;
    imp_clusters *clusters = &run->clusters;
    size_t dimensions = points->dimensions;
    imp_base base = {exp(run->values[0]), exp(run->values[1]), NULL};

    /* mu_0 and, for the gradient, that of mu_0 and of one sum */
    size_t scratch;
    imp_status status =
        imp_run_scratch(run, imp_multiply(3, dimensions, &scratch) ? scratch : SIZE_MAX, error);
    if (!status)
        status = imp_posterior_begin(run, &base, run->scratch, error);
    if (status)
        return status;

    for (size_t position = 0; position < imp_points_count(points); position++) {
        size_t i = imp_points_at(points, position);
        const float *x = imp_points_row(points, i);
        if (imp_points_label(points, i) >= 0)
            continue; /* labelled points stay in their class */

        size_t chosen = most_probable(run, x, &base);
        if (chosen == clusters->count) {
            status = imp_clusters_add(clusters, IMP_UNLABELED, base.sigma, x, error);
            if (status)
                return status;
        }
        imp_posterior_join(clusters, chosen, x, 1);
        imp_posterior_place(clusters, chosen, &base);
        status = imp_shares_add(&run->shares, i, chosen, 1, error);
        if (status)
            return status;
    }
    return IMP_OK;
}

/* mu_0 = the mean of the class means, from the labelled points' shares. The classes' clusters hold
 * unlabelled members too, so their sums are not those of the class means. */
static void center_of_classes(imp_run *run)
{
    const imp_points *points = &run->points;
    imp_clusters *clusters = &run->clusters;
    double *mu_0 = run->scratch;
    memset(mu_0, 0, points->dimensions * sizeof *mu_0);
    for (size_t c = 0; c < run->way; c++)
        clusters->score[c] = 0;
    for (size_t i = 0; i < points->first_count; i++)
        if (imp_points_label(points, i) >= 0)
            clusters->score[imp_points_label(points, i)]++;
    for (size_t i = 0; i < points->first_count; i++) {
        if (imp_points_label(points, i) < 0)
            continue;
        double share = 1 / (clusters->score[imp_points_label(points, i)] * (double)run->way);
        for (size_t j = 0; j < points->dimensions; j++)
            mu_0[j] += share * imp_points_row(points, i)[j];
    }
}

/* The gradient of center_of_classes(), which left the classes' counts in clusters->score. */
static void differentiate_center(imp_run *run, const double *mu_0_gradient)
{
    const imp_points *points = &run->points;
    for (size_t i = 0; i < points->first_count; i++) {
        if (imp_points_label(points, i) < 0)
            continue;
        double share = 1 / (run->clusters.score[imp_points_label(points, i)] * (double)run->way);
        double *gradient = run->point_gradient + i * points->dimensions;
        for (size_t j = 0; j < points->dimensions; j++)
            gradient[j] += share * mu_0_gradient[j];
    }
}

static void place(imp_run *run)
{
    imp_base base = {exp(run->values[0]), exp(run->values[1]), NULL};
    imp_posterior_place_all(run, &base, run->scratch);
}

static void differentiate(imp_run *run)
{
    const imp_points *points = &run->points;
    size_t dimensions = points->dimensions;
    double *sum_gradient = run->scratch + dimensions, *mu_0_gradient = sum_gradient + dimensions;
    imp_base base = {exp(run->values[0]), exp(run->values[1]), run->scratch};

    center_of_classes(run);
    memset(mu_0_gradient, 0, dimensions * sizeof *mu_0_gradient);
    /* From here on mean_gradient holds the gradients of the sums. */
    for (size_t c = 0; c < run->clusters.count; c++) {
        differentiate_cluster(run, c, &base, sum_gradient, mu_0_gradient);
        memcpy(run->mean_gradient + c * dimensions, sum_gradient,
               dimensions * sizeof *sum_gradient);
    }
    for (size_t s = 0; s < run->shares.count; s++) {
        const imp_share *share = &run->shares.share[s];
        const double *from = run->mean_gradient + share->cluster * dimensions;
        double *to = run->point_gradient + share->point * dimensions;
        for (size_t j = 0; j < dimensions; j++)
            to[j] += share->z * from[j];
    }
    differentiate_center(run, mu_0_gradient);
}

const imp_method_kind imp_kind_map_dp = {
    .info = {.name = "map-dp",
             .summary = "one pass of most probable assignments under a Chinese restaurant process",
             .rule = IMP_USUAL_RULE,
             .uses_unlabeled = true,
             .hard = true},
    .parameters = imp_sigma_parameters,
    .parameter_count = 2,
    .value_count = 2,
    .initialize = imp_initialize_sigmas,
    .decide = decide,
    .place = place,
    .differentiate = differentiate,
};
