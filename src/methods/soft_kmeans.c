/*
 * soft_kmeans.c - semi-supervised prototypes (Ren et al.): soft k-means, and soft k-means with one
 * more cluster for distractors.
 *
 * The unlabelled points are softly assigned to the class means, which are then recomputed with
 * them. The distractor cluster starts at the origin without a label; its variance sigma_u is
 * learned. As in imp, the assignments are constants to the gradient.
 */
#include <math.h>

#include "methods/imp.h"
#include "methods/method.h"
#include "methods/rule.h"

/* Alternates soft assignments and means, as many times as asked for. Labelled points may join only
 * the cluster of their class, so they stay there. */
static imp_status assign(imp_run *run, imp_error *error)
{
    imp_status status = IMP_OK;
    size_t steps = (size_t)run->options->rule.steps;
    for (size_t step = 0; step < steps && !status; step++) {
        if (step > 0)
            imp_weighted_means(&run->clusters, &run->points, &run->shares);
        status = imp_assign_all_softly(&run->clusters, &run->points, &run->shares, error);
    }
    return status;
}

/* ---- soft-kmeans ---- */

static imp_status decide(imp_run *run, imp_error *error)
{
    imp_status status =
        imp_clusters_add_class_means(&run->clusters, &run->points, run->way, 1, error);
    return status ? status : assign(run, error);
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

const imp_method_kind imp_kind_soft_kmeans = {
    .info = {.name = "soft-kmeans",
             .summary = "class means refined by the unlabelled points (Ren et al.)",
             .rule = IMP_USUAL_RULE,
             .has_steps = true,
             .uses_unlabeled = true},
    .decide = decide,
    .place = place,
    .differentiate = differentiate,
};

/* ---- soft-kmeans-cluster ---- */

static void initialize(const imp_method_options *options, double *values)
{
    values[0] = log(options->rule.sigma_u);
}

static imp_status decide_with_distractors(imp_run *run, imp_error *error)
{
    imp_status status =
        imp_clusters_add_class_means(&run->clusters, &run->points, run->way, 1, error);
    if (!status)
        status = imp_clusters_add(&run->clusters, IMP_UNLABELED, exp(run->values[0]), NULL, error);
    return status ? status : assign(run, error);
}

static void place_with_distractors(imp_run *run)
{
    place(run);
    imp_clusters_set_sigmas(&run->clusters, 1, exp(run->values[0]));
}

static void differentiate_with_distractors(imp_run *run)
{
    differentiate(run);
    imp_run_sum_sigma_gradient(run, NULL, &run->value_gradient[0]);
}

static const imp_method_parameter parameters[] = {{.name = "log_sigma_u", .count = 1}};

const imp_method_kind imp_kind_soft_kmeans_cluster = {
    .info = {.name = "soft-kmeans-cluster",
             .summary = "soft-kmeans with one more cluster, for distractors",
             .rule = {.alpha = 0.1, .sigma_l = 5, .sigma_u = 100, .lambda = IMP_AUTO, .steps = 1},
             .has_steps = true,
             .uses_unlabeled = true},
    .distractors = true,
    .parameters = parameters,
    .parameter_count = 1,
    .value_count = 1,
    .initialize = initialize,
    .decide = decide_with_distractors,
    .place = place_with_distractors,
    .differentiate = differentiate_with_distractors,
};
