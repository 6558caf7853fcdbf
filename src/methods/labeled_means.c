/* labeled_means.c - places clusters at means of labelled points, with the gradient. */
#include "methods/labeled_means.h"

#include <math.h>

static void place_with(imp_run *run, double sigma)
{
    imp_weighted_means(&run->clusters, &run->points, &run->shares);
    imp_clusters_set_sigmas(&run->clusters, sigma, sigma);
}

void imp_means_place(imp_run *run)
{
    place_with(run, 1);
}

void imp_means_differentiate(imp_run *run)
{
    imp_weighted_means_gradient(&run->clusters, &run->shares, run->mean_gradient,
                                run->point_gradient);
}

void imp_means_initialize_learned(const imp_method_options *options, double *values)
{
    values[0] = log(options->rule.sigma_l);
}

void imp_means_place_learned(imp_run *run)
{
    place_with(run, exp(run->values[0]));
}

void imp_means_differentiate_learned(imp_run *run)
{
    imp_means_differentiate(run);
    imp_run_sum_sigma_gradient(run, &run->value_gradient[0], NULL);
}
