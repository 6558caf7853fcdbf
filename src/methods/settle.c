/*
 * settle.c - Algorithm 1 with unlabelled points that weigh less than labelled ones.
 *
 * Growing (step 3) is the paper's, with one threshold for labelled points and another for the
 * others. A labelled point belongs to the nearest cluster of its class, so that the initial class
 * mean of a multi-modal class disappears; an unlabelled one has soft shares (step 4), which are
 * weighted in the means of labelled clusters (step 5). At a threshold of 0 every labelled point is
 * a cluster and there are no class means, so the nearest neighbour decides.
 */
#include "methods/settle.h"

#include <math.h>
#include <string.h>

#include "methods/imp.h"

static imp_points labeled_points(const imp_settling *given)
{
    return (imp_points){.dimensions = given->dimensions,
                        .first = given->labeled,
                        .label = given->label,
                        .first_count = given->labeled_count};
}

static double weight_of(const imp_settling *given, size_t i)
{
    return given->labeled_weight ? given->labeled_weight[i] : 1;
}

/* One cluster per class, and those that lambda adds. */
static imp_status start(const imp_settling *given, imp_clusters *clusters, imp_error *error)
{
    imp_points points = labeled_points(given);
    double sigma = given->sigma;
    imp_status status = IMP_OK;
    if (given->lambda > 0) {
        status = imp_clusters_add_class_means(clusters, &points, given->way, sigma, error);
        if (!status && isfinite(given->lambda))
            status = imp_grow_clusters(clusters, &points, given->lambda, sigma, sigma, NULL, error);
    }
    for (size_t i = 0; i < given->labeled_count && !status && given->lambda == 0; i++) {
        const float *x = given->labeled + i * given->dimensions;
        status = imp_clusters_add(clusters, given->label[i], sigma, x, error);
    }
    if (status || given->unlabeled_count == 0 || !isfinite(given->lambda_u))
        return status;
    points = (imp_points){.dimensions = given->dimensions,
                          .first = given->unlabeled,
                          .first_count = given->unlabeled_count,
                          .unlabeled_count = given->unlabeled_count};
    return imp_grow_clusters(clusters, &points, given->lambda_u, sigma, sigma, NULL, error);
}

/* Steps 4 and 5. */
static imp_status refine(const imp_settling *given, imp_clusters *clusters, imp_shares *block,
                         imp_error *error)
{
    enum { BLOCK = 1024 };
    imp_points points = labeled_points(given);
    bool free_points = given->weight > 0 || isfinite(given->lambda_u);
    if (free_points) {
        points.second = given->unlabeled;
        points.second_count = points.unlabeled_count = given->unlabeled_count;
    }
    size_t count = imp_points_count(&points);
    imp_means_begin(clusters);
    block->count = 0;
    for (size_t i = 0; i < given->labeled_count; i++) {
        double distance;
        const float *x = given->labeled + i * given->dimensions;
        size_t c = imp_nearest_cluster(clusters, x, given->label[i], &distance);
        imp_status status = imp_shares_add(block, i, c, weight_of(given, i), error);
        if (status)
            return status;
    }
    imp_means_add(clusters, &points, block);
    for (size_t begin = given->labeled_count; begin < count; begin += BLOCK) {
        size_t end = count - begin < BLOCK ? count : begin + BLOCK;
        block->count = 0;
        imp_status status = imp_assign_softly(clusters, &points, begin, end, block, error);
        if (status)
            return status;
        for (size_t i = 0; i < block->count; i++)
            if (clusters->label[block->share[i].cluster] >= 0)
                block->share[i].z *= given->weight;
        imp_means_add(clusters, &points, block);
    }
    imp_means_finish(clusters, NULL);
    return IMP_OK;
}

imp_status imp_settle(const imp_settling *given, imp_clusters *clusters, imp_error *error)
{
    imp_clusters_restart(clusters, given->dimensions);
    imp_status status = start(given, clusters, error);
    bool free_points =
        given->unlabeled_count > 0 && (given->weight > 0 || isfinite(given->lambda_u));
    if (given->lambda == 0 && !free_points) {
        for (size_t i = 0; i < clusters->count && !status; i++) {
            double weight = clusters->weight[i] = weight_of(given, i);
            for (size_t j = 0; j < given->dimensions; j++)
                imp_clusters_sum(clusters, i)[j] = weight * imp_clusters_mean(clusters, i)[j];
        }
        return status;
    }
    imp_shares block = {0};
    for (size_t step = 0; step < given->steps && !status; step++)
        status = refine(given, clusters, &block, error);
    imp_shares_release(&block);
    return status ? status : imp_check_classes(clusters, given->way, error);
}
