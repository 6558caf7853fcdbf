/*
 * imp.h - the steps of Algorithm 1 that dp-means, fitted mixtures and unsupervised clustering
 * share.
 */
#ifndef IMP_METHODS_IMP_H
#define IMP_METHODS_IMP_H

#include "methods/clusters.h"

/* Step 2: the threshold from the means of all clusters given, which are one per class. */
double imp_estimate_lambda(const imp_clusters *class_means, double sigma, double alpha);

/* The variance that step 2 takes. */
static inline double imp_lambda_sigma(const imp_points *points, double sigma_l, double sigma_u)
{
    return points->unlabeled_count == 0 ? sigma_l : 0.5 * (sigma_l + sigma_u);
}

/* The cluster nearest to x among those that a point of that label may join, and the squared
 * distance to it; INFINITY when there is none. Of equals the first counts. */
size_t imp_nearest_cluster(const imp_clusters *clusters, const float *x, int32_t label,
                           double *distance);

/* Step 3: takes all points in order and starts a cluster at each that is farther than lambda from
 * every cluster it may join. */
imp_status imp_grow_clusters(imp_clusters *clusters, const imp_points *points, double lambda,
                             double sigma_l, double sigma_u, imp_error *error);

/* z of the point x over the clusters, written to clusters->score: its normalised densities in those
 * that it may join, 0 in the others. */
void imp_soft_assignment(const imp_clusters *clusters, const float *x, int32_t label);

/* Step 4: appends the shares of the points whose turns are begin .. end-1. */
imp_status imp_assign_softly(const imp_clusters *clusters, const imp_points *points, size_t begin,
                             size_t end, imp_shares *shares, imp_error *error);

/* Steps 4 and 5 without keeping the shares, for many points: `block` holds those of one block of
 * points at a time. Clusters that nobody joined are dropped. */
imp_status imp_refine_clusters(imp_clusters *clusters, const imp_points *points, imp_shares *block,
                               imp_error *error);

/* Step 4 with hard assignments: a share of 1 in the nearest cluster. */
imp_status imp_assign_hard(const imp_clusters *clusters, const imp_points *points, size_t begin,
                           size_t end, imp_shares *shares, imp_error *error);

#endif
