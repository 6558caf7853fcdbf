/*
 * posterior.h - clusters of a Dirichlet process mixture whose means are integrated out: shared by
 * map-dp and gibbs.
 *
 * A cluster is the posterior of its mean given its members, and is scored by the predictive density
 * times their number.
 */
#ifndef IMP_METHODS_POSTERIOR_H
#define IMP_METHODS_POSTERIOR_H

#include "methods/method.h"

/* sigma is the variance of a point around its cluster's mean, sigma_0 that of the mean itself
 * around mu_0, which is the mean of the class means. */
typedef struct imp_base {
    double sigma, sigma_0;
    const double *mu_0; /* (dimensions) */
} imp_base;

/* Places cluster c from its weight, the number of its members, and their sum. */
void imp_posterior_place(imp_clusters *clusters, size_t c, const imp_base *base);

/* Point x joins cluster c (by = 1) or leaves it (by = -1); does not update its mean and variance.
 */
void imp_posterior_join(imp_clusters *clusters, size_t c, const float *x, double by);

/* ln alpha + ln N(x; mu_0, sigma_0 + sigma): the score of a new cluster. */
double imp_posterior_new(const imp_base *base, double alpha, const float *x, size_t dimensions);

/* One cluster per class, placed by its labelled points, which have their shares; mu_0(dimensions)
 * becomes the mean of the class means. */
imp_status imp_posterior_begin(imp_run *run, imp_base *base, double *mu_0, imp_error *error);

/* Places all clusters and mu_0 from the shares, those of labelled points first. */
void imp_posterior_place_all(imp_run *run, imp_base *base, double *mu_0);

#endif
