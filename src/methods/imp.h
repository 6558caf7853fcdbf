/*
 * imp.h - Algorithm 1, which dp-means and fitted mixtures run too, and its steps, which
 * unsupervised clustering and soft k-means take one by one.
 */
#ifndef IMP_METHODS_IMP_H
#define IMP_METHODS_IMP_H

#include "methods/clusters.h"

/* Algorithm 1 with all it can be told. */
typedef struct imp_algorithm {
    double sigma_l, sigma_u; /* variances of labelled and of unlabelled clusters */
    double lambda;           /* NAN: estimated, by the next two */
    double lambda_sigma;     /* see imp_lambda_sigma() */
    double alpha;
    size_t steps; /* how often to repeat steps 3 to 5 */

    /* Steps 4 and 5; the shares are its to use. */
    imp_status (*refine)(imp_clusters *clusters, const imp_points *points, imp_shares *shares,
                         imp_error *error);
} imp_algorithm;

/* Runs it on an empty list of clusters; *lambda becomes the threshold. IMP_EINVAL if that cannot be
 * estimated, IMP_ENOMEM. */
imp_status imp_run_algorithm(const imp_algorithm *algorithm, const imp_points *points, size_t way,
                             imp_clusters *clusters, imp_shares *shares, double *lambda,
                             imp_error *error);

/* Step 2: the threshold for classes whose means, (count, dimensions), these are. Where there are no
 * classes, points may stand for them: each is then taken for a class of its own. At least 0. */
double imp_estimate_lambda(const double *means, size_t count, size_t dimensions, double sigma,
                           double alpha);

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
 * that it may join, of which there must be one, and 0 in the others. */
void imp_soft_assignment(imp_clusters *clusters, const float *x, int32_t label);

/* Step 4: appends the shares of the points whose turns are begin .. end-1. */
imp_status imp_assign_softly(imp_clusters *clusters, const imp_points *points, size_t begin,
                             size_t end, imp_shares *shares, imp_error *error);

/* Steps 4 and 5: the shares of all points replace what was in `shares`, and clusters that nobody
 * joined are dropped. */
imp_status imp_refine_softly(imp_clusters *clusters, const imp_points *points, imp_shares *shares,
                             imp_error *error);

#endif
