/* cluster_tune.h - imp_cluster_tune() with a number of threads and progress. */
#ifndef IMP_METHODS_CLUSTER_TUNE_H
#define IMP_METHODS_CLUSTER_TUNE_H

#include <imp/cluster.h>

typedef struct imp_tuning {
    int threads; /* 0: as in the clustering options; lambda does not depend on it */

    /* Called after each candidate; may be NULL. */
    void (*progress)(size_t done, size_t total, void *context);
    void *context;
} imp_tuning;

imp_status imp_cluster_tune_by(const imp_tuning *tuning, const imp_labeled_points *episodes,
                               size_t count, size_t d, const imp_cluster_options *options,
                               double *lambda, imp_error *error);

#endif
