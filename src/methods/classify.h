/*
 * classify.h - step 6 of Algorithm 1: classifies queries by each class's best cluster.
 */
#ifndef IMP_METHODS_CLASSIFY_H
#define IMP_METHODS_CLASSIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"
#include "methods/clusters.h"
#include "methods/point_source.h"

/* The best cluster of a class without clusters. */
#define IMP_NO_CLUSTER SIZE_MAX

/* For each class of 0 .. way-1, its most likely cluster for x and that one's log density; entry
 * `way` is the same for the clusters without a label. IMP_NO_CLUSTER and -INFINITY if there is
 * none. Ties go to the first. */
void imp_best_clusters(const imp_clusters *clusters, size_t way, const float *x, size_t *best,
                       double *score);

/* Where the results for queries go; each array may be NULL if it is not wanted. */
typedef struct imp_decisions {
    int32_t *label;     /* (queries): a class; IMP_UNLABELED for none of these in open-set mode, and
                           always when there are no classes */
    float *probability; /* (queries, way), or (queries, way + 1) in open-set mode */
    float *distance;    /* (queries): squared, to the mean of the cluster that decided */
    int32_t *cluster;   /* (queries): that cluster; -1 if there is none */
} imp_decisions;

/* The decision for a query. */
typedef struct imp_decision {
    size_t class, cluster; /* cluster is IMP_NO_CLUSTER if all clusters were dropped */
    double distance;       /* squared, to that cluster's mean */
} imp_decision;

/* Writes all but the probabilities of query q. */
void imp_write_decision(const imp_decision *made, size_t way, size_t q,
                        const imp_decisions *decisions);

/* Writes the results for query q, whose row is x, from its best clusters and their scores. */
void imp_decide(const imp_clusters *clusters, size_t way, bool open_set, const float *x,
                const size_t *best, const double *score, size_t q, const imp_decisions *decisions);

/* Makes rounded probabilities agree with the exact decision: if another outcome has a probability
 * at least as large, the chosen one becomes the next larger float, so that it is the first maximum.
 */
void imp_agree(float *probability, size_t outcomes, size_t chosen);

/* Decides all queries of a source on several threads (0: as many as the machine offers). Labels,
 * clusters and distances are exactly those of taking the queries one by one in double precision;
 * the error of probabilities is less than 1e-6. Fails as the source does, and with IMP_ENOMEM; some
 * results may have been written then. */
imp_status imp_decide_all(const imp_clusters *clusters, size_t way, bool open_set,
                          const imp_point_source *queries, int threads,
                          const imp_decisions *decisions, imp_error *error);

#endif
