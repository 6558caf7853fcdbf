/*
 * imp.h - Algorithm 1, which dp-means and mixtures run too, and its steps, which unsupervised
 * clustering and soft k-means use individually.
 */
#ifndef IMP_METHODS_IMP_H
#define IMP_METHODS_IMP_H

#include <imp/rule.h>

#include "methods/clusters.h"

/* Algorithm 1 and its parameters. */
typedef struct imp_algorithm {
    imp_rule rule;       /* only lambda may be open; it is then estimated */
    double lambda_sigma; /* from alpha and this variance, see imp_lambda_sigma() */

    /* Step 4: replaces `shares` by those of all points. NULL: step 3 makes hard assignments to the
     * cluster that is nearest at the point's turn. */
    imp_status (*assign)(imp_clusters *clusters, const imp_points *points, imp_shares *shares,
                         imp_error *error);
    /* Step 5: the weighted means. */
    void (*move)(imp_clusters *clusters, const imp_points *points, imp_shares *shares);
} imp_algorithm;

/* Steps 1 and 2, on an empty list of clusters: one for each class, and the threshold. IMP_EINVAL if
 * that cannot be estimated, IMP_ENOMEM. */
imp_status imp_algorithm_begin(const imp_algorithm *algorithm, const imp_points *points, size_t way,
                               imp_clusters *clusters, double *lambda, imp_error *error);

/* Runs the algorithm on an empty list of clusters up to the last step 4, leaving step 5 to the
 * caller; *lambda becomes the threshold. IMP_EINVAL if that cannot be estimated, IMP_ENOMEM. */
imp_status imp_algorithm_run(const imp_algorithm *algorithm, const imp_points *points, size_t way,
                             imp_clusters *clusters, imp_shares *shares, double *lambda,
                             imp_error *error);

/* Step 2: the threshold for classes with these means (count, dimensions). Without classes, points
 * may be given instead: each then counts as a class of its own. At least 0. */
double imp_estimate_lambda(const double *means, size_t count, size_t dimensions, double sigma,
                           double alpha);

/* The variance that step 2 uses. */
static inline double imp_lambda_sigma(const imp_points *points, double sigma_l, double sigma_u)
{
    return points->unlabeled_count == 0 ? sigma_l : 0.5 * (sigma_l + sigma_u);
}

/* The cluster nearest to x among those that a point of that label may join, and the squared
 * distance to it; INFINITY if there is none. Ties go to the first. */
size_t imp_nearest_cluster(const imp_clusters *clusters, const float *x, int32_t label,
                           double *distance);

/* Step 3: takes all points in order and starts a cluster at each that is farther than lambda from
 * every cluster it may join. Unless `shares` is NULL, it is replaced by shares of 1 in the cluster
 * that each point started or was nearest to at its turn. */
imp_status imp_grow_clusters(imp_clusters *clusters, const imp_points *points, double lambda,
                             double sigma_l, double sigma_u, imp_shares *shares, imp_error *error);

/* z(clusters) = of the point x: its normalised densities in the clusters that it may join, of which
 * there must be one, and 0 in the others. */
void imp_soft_assignment(const imp_clusters *clusters, const float *x, int32_t label, double *z);

/* Step 4: appends the shares of the points whose turns are begin .. end-1. z(clusters) is scratch.
 */
imp_status imp_assign_softly(const imp_clusters *clusters, const imp_points *points, size_t begin,
                             size_t end, double *z, imp_shares *shares, imp_error *error);

/* The same for all points, replacing `shares`. */
imp_status imp_assign_all_softly(imp_clusters *clusters, const imp_points *points,
                                 imp_shares *shares, imp_error *error);

/* Fails unless each of `way` classes has a cluster left. With points spread over a thousand
 * clusters, no weight may be large enough to keep any. */
imp_status imp_check_classes(const imp_clusters *clusters, size_t way, imp_error *error);

#endif
