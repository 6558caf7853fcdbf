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

/* Whether unlabelled points do anything. */
static bool are_free(const imp_settling *given)
{
    return given->unlabeled->count > 0 && (given->weight > 0 || isfinite(given->lambda_u));
}

/* What is done with a block of unlabelled points, whose rows are the second of `points`. */
typedef imp_status visit(const imp_settling *given, imp_clusters *clusters,
                         const imp_points *points, imp_shares *shares, imp_error *error);

/* Takes the unlabelled points in order, a block at a time. */
static imp_status each_block(const imp_settling *given, imp_clusters *clusters, imp_shares *shares,
                             visit *take, imp_error *error)
{
    const imp_point_source *source = given->unlabeled;
    imp_points points = labeled_points(given);
    imp_reader reader;
    imp_status status = imp_reader_create(&reader, source, NULL, imp_source_block(source), error);
    for (size_t begin = 0, end; begin < source->count && !status; begin = end) {
        end = source->count - begin < reader.most ? source->count : begin + reader.most;
        points.second_count = points.unlabeled_count = end - begin;
        status = imp_reader_read(&reader, begin, end - begin, &points.second, error);
        if (!status)
            status = take(given, clusters, &points, shares, error);
        if (!status && given->crew)
            status = imp_crew_done(given->crew, begin, end, error);
    }
    imp_reader_release(&reader);
    return status;
}

/* Step 3 for unlabelled points. */
static imp_status grow(const imp_settling *given, imp_clusters *clusters, const imp_points *points,
                       imp_shares *shares, imp_error *error)
{
    (void)shares;
    const imp_points block = {.dimensions = given->dimensions,
                              .first = points->second,
                              .first_count = points->second_count,
                              .unlabeled_count = points->second_count};
    return imp_grow_clusters(clusters, &block, given->lambda_u, given->sigma, given->sigma, NULL,
                             error);
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
    if (status || given->unlabeled->count == 0 || !isfinite(given->lambda_u))
        return status;
    return each_block(given, clusters, NULL, grow, error);
}

/* Step 4 for unlabelled points, and their part of step 5. */
static imp_status share(const imp_settling *given, imp_clusters *clusters, const imp_points *points,
                        imp_shares *shares, imp_error *error)
{
    enum { BLOCK = 1024 };
    size_t count = imp_points_count(points);
    for (size_t begin = given->labeled_count; begin < count; begin += BLOCK) {
        size_t end = count - begin < BLOCK ? count : begin + BLOCK;
        shares->count = 0;
        imp_status status = imp_assign_softly(clusters, points, begin, end, shares, error);
        if (status)
            return status;
        for (size_t i = 0; i < shares->count; i++)
            if (clusters->label[shares->share[i].cluster] >= 0)
                shares->share[i].z *= given->weight;
        imp_means_add(clusters, points, shares);
    }
    return IMP_OK;
}

/* Steps 4 and 5. */
static imp_status refine(const imp_settling *given, imp_clusters *clusters, imp_shares *shares,
                         imp_error *error)
{
    const imp_points points = labeled_points(given);
    imp_status status = IMP_OK;
    imp_means_begin(clusters);
    shares->count = 0;
    for (size_t i = 0; i < given->labeled_count && !status; i++) {
        double distance;
        const float *x = given->labeled + i * given->dimensions;
        size_t c = imp_nearest_cluster(clusters, x, given->label[i], &distance);
        status = imp_shares_add(shares, i, c, weight_of(given, i), error);
    }
    if (status)
        return status;
    imp_means_add(clusters, &points, shares);
    if (are_free(given))
        status = each_block(given, clusters, shares, share, error);
    if (!status)
        imp_means_finish(clusters, NULL);
    return status;
}

imp_status imp_settle(const imp_settling *given, imp_clusters *clusters, imp_error *error)
{
    imp_clusters_restart(clusters, given->dimensions);
    imp_status status = start(given, clusters, error);
    if (given->lambda == 0 && !are_free(given)) {
        for (size_t i = 0; i < clusters->count && !status; i++) {
            double weight = clusters->weight[i] = weight_of(given, i);
            for (size_t j = 0; j < given->dimensions; j++)
                imp_clusters_sum(clusters, i)[j] = weight * imp_clusters_mean(clusters, i)[j];
        }
        return status;
    }
    imp_shares shares = {0};
    for (size_t step = 0; step < given->steps && !status; step++)
        status = refine(given, clusters, &shares, error);
    imp_shares_release(&shares);
    return status ? status : imp_check_classes(clusters, given->way, error);
}
