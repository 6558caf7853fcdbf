/*
 * clusters.h - a growing list of clusters, the points' shares in them, and the weighted means.
 *
 * A share is a responsibility, the z of Algorithm 1. Shares are stored sparsely: a labelled point
 * has shares only in the clusters of its class, and zeros are left out.
 */
#ifndef IMP_METHODS_CLUSTERS_H
#define IMP_METHODS_CLUSTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

#include "methods/gaussian.h"
#include "methods/points.h"

/* Clusters whose shares sum to no more than this are dropped. */
#define IMP_LEAST_WEIGHT 1e-3

/* Cluster c is entry c of every array, in the order of creation. */
typedef struct imp_clusters {
    size_t dimensions, count;
    size_t capacity;     /* clusters there is room for, in these dimensions */
    size_t rows, values; /* what is allocated: clusters, and values in each array of vectors */
    int32_t *label;      /* a class or IMP_UNLABELED */
    double *sigma;       /* the variance of its density */
    double
        *offset; /* of its log density: the normaliser, plus the log prior if the method has one */
    double *weight;  /* sum of the shares */
    double *sum;     /* (count, dimensions): sum of the shares times the points */
    double *mean;    /* (count, dimensions) */
    double *score;   /* scratch: one number per cluster */
    uint32_t *moved; /* scratch: its new number after imp_means_finish() */
} imp_clusters;

/* Empties the list and sets its dimensions, keeping its memory. */
void imp_clusters_restart(imp_clusters *clusters, size_t dimensions);

/* Room for `capacity` clusters. On failure the list is as it was. */
imp_status imp_clusters_reserve(imp_clusters *clusters, size_t capacity, imp_error *error);

/* Makes room for one more cluster, growing geometrically. On failure the list is as it was. */
imp_status imp_clusters_make_room(imp_clusters *clusters, imp_error *error);

/* Adds a cluster with weight 0 and the mean `mean`, or at the origin if NULL. */
imp_status imp_clusters_add(imp_clusters *clusters, int32_t label, double sigma, const float *mean,
                            imp_error *error);

/* Gives cluster `c` the density N(mean, sigma I) times exp(log_prior). */
void imp_clusters_set_density(imp_clusters *clusters, size_t c, double sigma, double log_prior);

/* Gives all labelled clusters the variance sigma_l and the others sigma_u. */
void imp_clusters_set_sigmas(imp_clusters *clusters, double sigma_l, double sigma_u);

/* Moves cluster `from` to index `to`, overwriting what was there. */
void imp_clusters_move(imp_clusters *clusters, size_t from, size_t to);

void imp_clusters_release(imp_clusters *clusters);

static inline double *imp_clusters_mean(const imp_clusters *clusters, size_t c)
{
    return clusters->mean + c * clusters->dimensions;
}

static inline double *imp_clusters_sum(const imp_clusters *clusters, size_t c)
{
    return clusters->sum + c * clusters->dimensions;
}

/* |x - mean of c|^2 */
static inline double imp_clusters_distance(const imp_clusters *clusters, size_t c, const float *x)
{
    return imp_squared_distance(x, imp_clusters_mean(clusters, c), clusters->dimensions);
}

/* log N(x; mean of c, sigma of c), plus the log prior if it has one. */
static inline double imp_clusters_log_density(const imp_clusters *clusters, size_t c,
                                              const float *x)
{
    return clusters->offset[c] - imp_clusters_distance(clusters, c, x) / (2 * clusters->sigma[c]);
}

/* A labelled point may join only clusters of its label, an unlabelled one any. */
static inline bool imp_may_join(int32_t point_label, int32_t cluster_label)
{
    return point_label < 0 || point_label == cluster_label;
}

/* Adds, for each class of 0 .. way-1, a cluster at the mean of its labelled points. */
imp_status imp_clusters_add_class_means(imp_clusters *clusters, const imp_points *points,
                                        size_t way, double sigma, imp_error *error);

/* mean(dimensions) = the mean of clusters 0 .. way-1's means. */
void imp_clusters_center(const imp_clusters *clusters, size_t way, double *center);

/* The share z of point `point` in cluster `cluster`. */
typedef struct imp_share {
    uint32_t point, cluster;
    double z;
} imp_share;

/* Shares in the order of the points. */
typedef struct imp_shares {
    size_t count, capacity;
    imp_share *share;
} imp_shares;

/* Room for `capacity` shares. On failure they are as they were. */
imp_status imp_shares_reserve(imp_shares *shares, size_t capacity, imp_error *error);

imp_status imp_shares_add(imp_shares *shares, size_t point, size_t cluster, double z,
                          imp_error *error);
void imp_shares_release(imp_shares *shares);

/* Shares of 1 for the labelled points, each in the cluster numbered as its class. */
imp_status imp_shares_add_labeled(imp_shares *shares, const imp_points *points, imp_error *error);

/* mean_c = sum_i z_ic x_i / sum_i z_ic, from shares added in one or several calls. finish() drops
 * clusters with a weight of at most IMP_LEAST_WEIGHT, renumbers the clusters in `shares` (may be
 * NULL) and removes the shares of dropped ones. */
void imp_means_begin(imp_clusters *clusters);
void imp_means_add(imp_clusters *clusters, const imp_points *points, const imp_shares *shares);
void imp_means_finish(imp_clusters *clusters, imp_shares *shares);

/* imp_means_add() for the dimensions begin .. end-1; the first of them also adds the weights. */
void imp_means_add_to(imp_clusters *clusters, const imp_points *points, const imp_shares *shares,
                      size_t begin, size_t end);

/* All three at once. */
void imp_weighted_means(imp_clusters *clusters, const imp_points *points, imp_shares *shares);

/* The gradient of imp_weighted_means() for constant shares: backpropagates mean_gradient (clusters,
 * dimensions) and adds the result to point_gradient (points, dimensions). */
void imp_weighted_means_gradient(const imp_clusters *clusters, const imp_shares *shares,
                                 const double *mean_gradient, double *point_gradient);

#endif
