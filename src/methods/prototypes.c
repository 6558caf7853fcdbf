/*
 * prototypes.c - prototypical networks (Snell et al.): Equations 3 and 4 of the paper.
 *
 * One cluster per class at the mean of its supports, of variance 1 or of a learned one. Unlabelled
 * points are ignored.
 */
#include <math.h>

#include "methods/method.h"
#include "methods/rule.h"

static imp_status decide(imp_run *run, imp_error *error)
{
    imp_status status =
        imp_clusters_add_class_means(&run->clusters, &run->points, run->way, 1, error);
    if (status == IMP_OK)
        status = imp_shares_add_labeled(&run->shares, &run->points, error);
    return status;
}

static void place_with(imp_run *run, double sigma)
{
    imp_weighted_means(&run->clusters, &run->points, &run->shares);
    imp_clusters_set_sigmas(&run->clusters, sigma, sigma);
}

static void differentiate_means(imp_run *run)
{
    imp_weighted_means_gradient(&run->clusters, &run->shares, run->mean_gradient,
                                run->point_gradient);
}

/* ---- variance 1 ---- */

static void place(imp_run *run)
{
    place_with(run, 1);
}

/* ---- a learned variance ---- */

static void initialize(const imp_method_options *options, double *values)
{
    values[0] = log(options->rule.sigma_l);
}

static void place_learned(imp_run *run)
{
    place_with(run, exp(run->values[0]));
}

static void differentiate_learned(imp_run *run)
{
    differentiate_means(run);
    imp_run_sum_sigma_gradient(run, &run->value_gradient[0], NULL);
}

/* ---- which of the two ---- */

enum { LEARN_SIGMA };

static const imp_option_info options[] = {
    [LEARN_SIGMA] = {.name = "learn-sigma",
                     .help = "learn the variance, from sigma-l on, instead of 1",
                     .kind = IMP_FLAG,
                     .most = 1},
};

static const imp_method_kind *variant(const double *own);

const imp_method_kind imp_kind_prototypes = {
    .info = {.name = "prototypes",
             .summary = "one mean per class (Snell et al.)",
             .rule = IMP_USUAL_RULE,
             .options = options,
             .option_count = sizeof options / sizeof *options},
    .variant = variant,
    .decide = decide,
    .place = place,
    .differentiate = differentiate_means,
};

static const imp_method_kind learned = {
    .info = {.name = "prototypes", .rule = IMP_USUAL_RULE},
    .parameters = imp_sigma_parameters,
    .parameter_count = 1,
    .value_count = 1,
    .initialize = initialize,
    .decide = decide,
    .place = place_learned,
    .differentiate = differentiate_learned,
};

static const imp_method_kind *variant(const double *own)
{
    return own[LEARN_SIGMA] != 0 ? &learned : &imp_kind_prototypes;
}
