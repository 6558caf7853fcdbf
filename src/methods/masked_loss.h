/*
 * masked_loss.h - classifying queries by each class's best cluster, and the loss that does the
 * same.
 */
#ifndef IMP_METHODS_MASKED_LOSS_H
#define IMP_METHODS_MASKED_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "methods/clusters.h"

/* A class without clusters has no best one. */
#define IMP_NO_CLUSTER SIZE_MAX

/* For each class of 0 .. way-1, its most likely cluster for x and that one's log density; entry
 * `way` is the same for the clusters without a label. IMP_NO_CLUSTER and -INFINITY where there is
 * none. Of equals the first counts. */
void imp_best_clusters(const imp_clusters *clusters, size_t way, const float *x, size_t *best,
                       double *score);

typedef struct imp_queries {
    const float *x;       /* (count, dimensions) */
    const int32_t *label; /* a class each; NULL: no loss */
    size_t count;
    size_t way;
    bool open_set;
    size_t *best;  /* scratch: way + 1 */
    double *score; /* scratch: way + 1 */
    double *row;   /* scratch: dimensions */
} imp_queries;

/* Where the answers go. */
typedef struct imp_answers {
    double loss;          /* NAN without labels or queries */
    int32_t *predictions; /* (queries) */
    float *probabilities; /* (queries, way, or way + 1 in open-set mode) */

    /* Gradients of the loss, overwritten; all NULL when they are not wanted. */
    float *query_gradient;  /* (queries, dimensions) */
    double *mean_gradient;  /* (clusters, dimensions) */
    double *sigma_gradient; /* (clusters): with respect to log sigma of each cluster */
} imp_answers;

void imp_classify(const imp_clusters *clusters, const imp_queries *queries, imp_answers *answers);

#endif
