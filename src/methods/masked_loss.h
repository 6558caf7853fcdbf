/*
 * masked_loss.h - classifies an episode's queries and computes the loss, by each class's best
 * cluster or by all of them.
 */
#ifndef IMP_METHODS_MASKED_LOSS_H
#define IMP_METHODS_MASKED_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "methods/classify.h"
#include "methods/clusters.h"
#include "methods/method.h"

typedef struct imp_queries {
    const float *x;       /* (count, dimensions) */
    const int32_t *label; /* a class each; NULL: no loss */
    size_t count;
    size_t way;
    bool open_set;
    imp_scoring scoring;
    size_t *best;  /* scratch: way + 1 */
    double *score; /* scratch: way + 1 */
    double *sum;   /* scratch: way + 1 */
    double *row;   /* scratch: dimensions */
} imp_queries;

/* Where the results go. */
typedef struct imp_answers {
    double loss; /* NAN without labels or queries */
    imp_decisions decisions;
    int32_t *open_label; /* (queries): of the best of all clusters, labelled or not */

    /* Gradients of the loss, overwritten; all NULL when they are not wanted. */
    float *query_gradient;  /* (queries, dimensions) */
    double *mean_gradient;  /* (clusters, dimensions) */
    double *sigma_gradient; /* (clusters): with respect to log sigma of each cluster */
} imp_answers;

/* Overwrites clusters->score. */
void imp_classify(imp_clusters *clusters, const imp_queries *queries, imp_answers *answers);

#endif
