/*
 * map_dp.c - MAP-DP (Raykov et al.): the appendix's first alternative to Algorithm 1.
 *
 * One pass over the unlabelled points, each going wholly to its most probable cluster under a
 * Chinese restaurant process prior, or to a new one. A cluster is the posterior of its mean given
 * its members, and is scored by the predictive density. Which cluster a point goes to is a constant
 * to the gradient; posterior means and variances are not. (The appendix prints argmin for what must
 * be the most probable, and scores by the posterior variance alone.)
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "methods/method.h"

/* sigma is the variance of a point around its cluster's mean, sigma_0 that of the mean itself
 * around mu_0, which is the mean of the class means. */
typedef struct base_distribution {
    double sigma, sigma_0;
    const double *mu_0; /* (dimensions) */
} base_distribution;

/* Cluster c's posterior from its count and sum of members: the mean's variance
 * s = 1 / (1/sigma_0 + N/sigma) and place s (sum/sigma + mu_0/sigma_0); a point's variance under it
 * is s + sigma. */
static void place_cluster(imp_clusters *clusters, size_t c, const base_distribution *base)
{
    double members = clusters->weight[c];
    double total = base->sigma + members * base->sigma_0;
    const double *sum = imp_clusters_sum(clusters, c);
    double *mean = imp_clusters_mean(clusters, c);
    for (size_t j = 0; j < clusters->dimensions; j++)
        mean[j] = (base->sigma_0 * sum[j] + base->sigma * base->mu_0[j]) / total;
    double spread = base->sigma * base->sigma_0 / total;
    imp_clusters_set_density(clusters, c, spread + base->sigma, log(members));
}

/* The gradient of place_cluster(): adds to the members' sum's gradient, to mu_0's and to those of
 * log sigma and log sigma_0. */
static void differentiate_cluster(const imp_run *run, size_t c, const base_distribution *base,
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

static void add_member(imp_clusters *clusters, size_t c, const float *x)
{
    double *sum = imp_clusters_sum(clusters, c);
    clusters->weight[c]++;
    for (size_t j = 0; j < clusters->dimensions; j++)
        sum[j] += x[j];
}

/* The cluster that x most probably belongs to; clusters.count for a new one. */
static size_t most_probable(const imp_run *run, const float *x, const base_distribution *base)
{
    const imp_clusters *clusters = &run->clusters;
    size_t dimensions = clusters->dimensions, chosen = 0;
    double most = -INFINITY;
    for (size_t c = 0; c < clusters->count; c++) {
        double score = imp_clusters_log_density(clusters, c, x);
        if (score > most) {
            chosen = c;
            most = score;
        }
    }
    double new_score =
        log(run->options->alpha) + imp_log_density(imp_squared_distance(x, base->mu_0, dimensions),
                                                   base->sigma_0 + base->sigma, dimensions);
    return new_score > most ? clusters->count : chosen;
}

static imp_status infer(imp_run *run, imp_error *error)
{
    const imp_points *points = &run->points;
    imp_clusters *clusters = &run->clusters;
    size_t dimensions = points->dimensions;
    base_distribution base = {exp(run->values[0]), exp(run->values[1]), NULL};

    imp_status status = imp_clusters_add_class_means(clusters, points, run->way, base.sigma, error);
    if (status == IMP_OK)
        status = imp_shares_add_labeled(&run->shares, points, error);
    /* mu_0 and, for the gradient, that of mu_0 and of one sum */
    size_t scratch;
    if (status == IMP_OK)
        status =
            imp_run_scratch(run, imp_multiply(3, dimensions, &scratch) ? scratch : SIZE_MAX, error);
    if (status != IMP_OK)
        return status;
    imp_clusters_center(clusters, run->way, run->scratch);
    base.mu_0 = run->scratch;
    for (size_t c = 0; c < clusters->count; c++)
        place_cluster(clusters, c, &base);

    for (size_t position = 0; position < imp_points_count(points); position++) {
        size_t i = imp_points_at(points, position);
        const float *x = imp_points_row(points, i);
        if (imp_points_label(points, i) >= 0)
            continue; /* labelled points stay with their class */

        size_t chosen = most_probable(run, x, &base);
        if (chosen == clusters->count) {
            status = imp_clusters_add(clusters, IMP_UNLABELED, base.sigma, x, error);
            if (status != IMP_OK)
                return status;
        }
        add_member(clusters, chosen, x);
        place_cluster(clusters, chosen, &base);
        status = imp_shares_add(&run->shares, i, chosen, 1, error);
        if (status != IMP_OK)
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
    imp_clusters *clusters = &run->clusters;
    base_distribution base = {exp(run->values[0]), exp(run->values[1]), run->scratch};
    center_of_classes(run);
    imp_means_begin(clusters);
    imp_means_add(clusters, &run->points, &run->shares);
    for (size_t c = 0; c < clusters->count; c++)
        place_cluster(clusters, c, &base);
}

static void differentiate(imp_run *run)
{
    const imp_points *points = &run->points;
    size_t dimensions = points->dimensions;
    double *sum_gradient = run->scratch + dimensions, *mu_0_gradient = sum_gradient + dimensions;
    base_distribution base = {exp(run->values[0]), exp(run->values[1]), run->scratch};

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
    .name = "map-dp",
    .parameters = imp_sigma_parameters,
    .parameter_count = 2,
    .value_count = 2,
    .initialize = imp_initialize_sigmas,
    .infer = infer,
    .place = place,
    .differentiate = differentiate,
};
