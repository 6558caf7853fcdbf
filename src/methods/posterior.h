/*
 * posterior.h - clusters of a Dirichlet process mixture whose means are integrated out: what map-dp
 * and gibbs share.
 *
 * A cluster is the posterior of its mean given its members, and is scored by the predictive density
 * times how many they are.
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

/* Places cluster c by its weight, which counts its members, and their sum. */
void imp_posterior_place(imp_clusters *clusters, size_t c, const imp_base *base);

/* Point x joins cluster c (by = 1) or leaves it (by = -1); the cluster is not placed anew. */
void imp_posterior_join(imp_clusters *clusters, size_t c, const float *x, double by);

/* ln alpha + ln N(x; mu_0, sigma_0 + sigma): the score of a new cluster. */
double imp_posterior_new(const imp_base *base, double alpha, const float *x, size_t dimensions);

/* One cluster per class, placed by its labelled points, which have their shares; mu_0(dimensions)
 * becomes the mean of the class means. */
imp_status imp_posterior_begin(imp_run *run, imp_base *base, double *mu_0, imp_error *error);

/* Places all clusters by the shares, those of labelled points first, and mu_0 with them. */
void imp_posterior_place_all(imp_run *run, imp_base *base, double *mu_0);

#endif
