/* cluster_tune.h - imp_cluster_tune() for a caller that knows how many threads it may use. */
#ifndef IMP_METHODS_CLUSTER_TUNE_H
#define IMP_METHODS_CLUSTER_TUNE_H

#include <imp/cluster.h>

/* On up to `threads` threads (0: as many as the machine offers); lambda does not depend on them. */
imp_status imp_cluster_tune_on(const imp_labeled_points *episodes, size_t count, size_t d,
                               const imp_cluster_options *options, int threads, double *lambda,
                               imp_error *error);

#endif
