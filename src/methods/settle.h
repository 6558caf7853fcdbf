/*
 * settle.h - Algorithm 1 for labelled points and unlabelled ones of lower weight, each kind with
 * its own threshold.
 */
#ifndef IMP_METHODS_SETTLE_H
#define IMP_METHODS_SETTLE_H

#include <stddef.h>
#include <stdint.h>

#include "methods/cluster_state.h"
#include "methods/clusters.h"
#include "methods/crew.h"
#include "methods/point_source.h"

typedef struct imp_settling {
    size_t dimensions, way;
    const float *labeled;         /* (labeled_count, dimensions) */
    const int32_t *label;         /* (labeled_count): 0 .. way-1 */
    const double *labeled_weight; /* (labeled_count): the weight of each; NULL: 1 */
    size_t labeled_count;
    const imp_point_source *unlabeled;
    const imp_crew *crew; /* told of every block of unlabelled points; NULL: nobody is */
    double lambda;   /* of labelled points; 0: each is a cluster, INFINITY: each class is one */
    double lambda_u; /* of unlabelled points */
    double sigma;    /* of all clusters */
    double weight;   /* of unlabelled points in clusters that have a label */
    size_t steps;
    imp_cluster_state *state; /* how far it is, if the crew ends it; NULL: nobody asks */
    bool resumed;             /* it goes on from there, with the clusters of then */
} imp_settling;

/* Fills an empty list of clusters, with sums and weights, to the same bits on any number of
 * threads. IMP_EINVAL if a class has no cluster left, IMP_ENOMEM, and as the crew and reading
 * unlabelled points do. */
imp_status imp_settle(const imp_settling *settling, imp_clusters *clusters, imp_error *error);

#endif
