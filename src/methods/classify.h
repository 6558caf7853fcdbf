/*
 * classify.h - step 6 of Algorithm 1: queries by each class's best cluster.
 */
#ifndef IMP_METHODS_CLASSIFY_H
#define IMP_METHODS_CLASSIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"
#include "methods/clusters.h"
#include "methods/point_source.h"

/* A class without clusters has no best one. */
#define IMP_NO_CLUSTER SIZE_MAX

/* For each class of 0 .. way-1, its most likely cluster for x and that one's log density; entry
 * `way` is the same for the clusters without a label. IMP_NO_CLUSTER and -INFINITY where there is
 * none. Of equals the first counts. */
void imp_best_clusters(const imp_clusters *clusters, size_t way, const float *x, size_t *best,
                       double *score);

/* Where the answers for queries go; each array may be NULL if it is not wanted. */
typedef struct imp_decisions {
    int32_t *label;     /* (queries): a class; IMP_UNLABELED for none of these in open-set mode, and
                           always when there are no classes */
    float *probability; /* (queries, way), or (queries, way + 1) in open-set mode */
    float *distance;    /* (queries): squared, to the mean of the cluster that decided */
    int32_t *cluster;   /* (queries): that cluster; -1 if there is none */
} imp_decisions;

/* Writes the answers for query q, which x is, from its best clusters and their scores. */
void imp_decide(const imp_clusters *clusters, size_t way, bool open_set, const float *x,
                const size_t *best, const double *score, size_t q, const imp_decisions *decisions);

/* Probabilities are rounded, the decision is not: where another outcome came out as large as the
 * chosen one, that one is made the next larger number, so that the first of the largest is it. */
void imp_agree(float *probability, size_t outcomes, size_t chosen);

/* Decides all queries of a source on several threads (0: as many as the machine offers). Labels,
 * clusters and distances are exactly those of taking the queries one by one in double precision;
 * probabilities are off by less than 1e-6. Fails as the source does, and with IMP_ENOMEM; some
 * answers may be written then. */
imp_status imp_decide_all(const imp_clusters *clusters, size_t way, bool open_set,
                          const imp_point_source *queries, int threads,
                          const imp_decisions *decisions, imp_error *error);

#endif
