/*
 * em.c - expectation maximisation for a Dirichlet process mixture: the appendix's second
 * alternative to Algorithm 1.
 *
 * One pass over the unlabelled points with soft assignments to the clusters and to a new one, under
 * a Chinese restaurant process prior or without it; if the probability of the new one exceeds
 * epsilon, it is started. Then the means are computed once more. Queries score labelled clusters
 * with the prior too. As in imp, the assignments are constants to the gradient, and so are the
 * counts in the prior; the variances are learned through the queries' densities.
 */
#include <math.h>

#include "methods/imp.h"
#include "methods/method.h"
#include "methods/rule.h"
#include "methods/softmax.h"

static const double epsilon = 1e-3;

enum { NO_PRIOR };

static const imp_option_info options[] = {
    [NO_PRIOR] = {.name = "no-prior",
                  .help = "without the Chinese restaurant process prior, of points and of queries",
                  .kind = IMP_FLAG,
                  .most = 1},
};

static bool has_prior(const imp_run *run)
{
    return run->own[NO_PRIOR] == 0;
}

/* z of an unlabelled point x over the clusters, written to clusters->score, and over a new one,
 * which is returned. clusters->weight holds the soft counts so far; there is room for one more
 * cluster. */
static double assign(imp_run *run, const float *x, const double *mu_0, double sigma_0)
{
    imp_clusters *clusters = &run->clusters;
    size_t dimensions = clusters->dimensions, known = clusters->count;
    bool prior = has_prior(run);
    double *z = clusters->score;
    for (size_t c = 0; c < known; c++)
        z[c] = imp_clusters_log_density(clusters, c, x) + (prior ? log(clusters->weight[c]) : 0);
    z[known] = imp_log_density(imp_squared_distance(x, mu_0, dimensions),
                               sigma_0 + exp(run->values[0]), dimensions) +
               (prior ? log(run->options->rule.alpha) : 0);
    if (!imp_softmax(z, known + 1)) {
        /* Too far from all clusters even for a log density: the nearest takes all. */
        double distance;
        z[imp_nearest_cluster(clusters, x, IMP_UNLABELED, &distance)] = 1;
    }
    return z[known];
}

static imp_status decide(imp_run *run, imp_error *error)
{
    const imp_points *points = &run->points;
    imp_clusters *clusters = &run->clusters;
    double sigma = exp(run->values[0]), sigma_0 = exp(run->values[1]);

    imp_status status = imp_clusters_add_class_means(clusters, points, run->way, sigma, error);
    if (!status)
        status = imp_shares_add_labeled(&run->shares, points, error);
    if (!status)
        status = imp_run_scratch(run, points->dimensions, error);
    if (status)
        return status;
    double *mu_0 = run->scratch;
    imp_clusters_center(clusters, run->way, mu_0);

    for (size_t position = 0; position < imp_points_count(points); position++) {
        size_t i = imp_points_at(points, position), known = clusters->count;
        const float *x = imp_points_row(points, i);
        if (imp_points_label(points, i) >= 0)
            continue; /* labelled points stay in their class */

        status = imp_clusters_make_room(clusters, error);
        if (status)
            return status;
        double z_new = assign(run, x, mu_0, sigma_0);
        for (size_t c = 0; c < known && !status; c++) {
            clusters->weight[c] += clusters->score[c];
            if (clusters->score[c] > 0)
                status = imp_shares_add(&run->shares, i, c, clusters->score[c], error);
        }
        if (!status && z_new > epsilon) {
            status = imp_clusters_add(clusters, IMP_UNLABELED, sigma_0, NULL, error);
            if (status)
                return status;
            /* the posterior mean given the one point */
            double *mean = imp_clusters_mean(clusters, known);
            for (size_t j = 0; j < points->dimensions; j++)
                mean[j] = (sigma * mu_0[j] + sigma_0 * x[j]) / (sigma + sigma_0);
            clusters->weight[known] = z_new;
            status = imp_shares_add(&run->shares, i, known, z_new, error);
        }
        if (status)
            return status;
    }
    return IMP_OK;
}

static void place(imp_run *run)
{
    imp_weighted_means(&run->clusters, &run->points, &run->shares);
    imp_clusters_set_sigmas(&run->clusters, exp(run->values[0]), exp(run->values[1]));
    imp_clusters *clusters = &run->clusters;
    for (size_t c = 0; c < clusters->count && has_prior(run); c++)
        if (clusters->label[c] >= 0)
            imp_clusters_set_density(clusters, c, clusters->sigma[c], log(clusters->weight[c]));
}

static void differentiate(imp_run *run)
{
    imp_weighted_means_gradient(&run->clusters, &run->shares, run->mean_gradient,
                                run->point_gradient);
    imp_run_sum_sigma_gradient(run, &run->value_gradient[0], &run->value_gradient[1]);
}

const imp_method_kind imp_kind_em = {
    .info = {.name = "em",
             .summary = "one pass of soft assignments under a Chinese restaurant process",
             .rule = IMP_USUAL_RULE,
             .uses_unlabeled = true,
             .options = options,
             .option_count = sizeof options / sizeof *options},
    .parameters = imp_sigma_parameters,
    .parameter_count = 2,
    .value_count = 2,
    .initialize = imp_initialize_sigmas,
    .decide = decide,
    .place = place,
    .differentiate = differentiate,
};
