/*
 * neighbors.c - deep nearest neighbours, at the other end of the spectrum from prototypes
 * (Section 2.2 of the paper).
 *
 * Every labelled point is a cluster of its own with the learned variance sigma_l, and the loss is
 * masked to the nearest neighbour of each class as in imp, or over all of them. Unlabelled points
 * are ignored.
 */
#include "methods/neighbors.h"

#include <math.h>

#include "methods/rule.h"

void imp_neighbors_initialize(const imp_method_options *options, double *values)
{
    values[0] = log(options->rule.sigma_l);
}

imp_status imp_neighbors_decide(imp_run *run, imp_error *error)
{
    imp_status status = IMP_OK;
    for (size_t i = 0; i < run->points.first_count && !status; i++) {
        int32_t label = imp_points_label(&run->points, i);
        if (label < 0)
            continue;
        status = imp_clusters_add(&run->clusters, label, exp(run->values[0]),
                                  imp_points_row(&run->points, i), error);
        if (!status)
            status = imp_shares_add(&run->shares, i, run->clusters.count - 1, 1, error);
    }
    return status;
}

void imp_neighbors_place(imp_run *run)
{
    imp_weighted_means(&run->clusters, &run->points, &run->shares);
    imp_clusters_set_sigmas(&run->clusters, exp(run->values[0]), exp(run->values[0]));
}

void imp_neighbors_differentiate(imp_run *run)
{
    imp_weighted_means_gradient(&run->clusters, &run->shares, run->mean_gradient,
                                run->point_gradient);
    imp_run_sum_sigma_gradient(run, &run->value_gradient[0], NULL);
}

const imp_method_kind imp_kind_neighbors = {
    .info = {.name = "neighbors",
             .summary = "every labelled point is a cluster",
             .rule = IMP_USUAL_RULE,
             .options = &imp_unmasked_option,
             .option_count = 1},
    .scoring = imp_unmasked_scoring,
    .parameters = imp_sigma_parameters,
    .parameter_count = 1,
    .value_count = 1,
    .initialize = imp_neighbors_initialize,
    .decide = imp_neighbors_decide,
    .place = imp_neighbors_place,
    .differentiate = imp_neighbors_differentiate,
};
