/* contingency.h - a sparse contingency table of two labelings. */
#ifndef IMP_METHODS_CONTINGENCY_H
#define IMP_METHODS_CONTINGENCY_H

#include <stddef.h>
#include <stdint.h>

#include <imp/metrics.h>

struct imp_contingency {
    size_t points, classes, clusters;
    uint32_t *class_size;   /* (classes), in the order of the labels' values */
    uint32_t *cluster_size; /* (clusters), the same */

    /* The pairs that occur, ordered by cluster and then by class. */
    size_t pairs;
    uint32_t *pair_class, *pair_cluster, *pair_size;
};

/* The distinct values among `count` labels in ascending order, in new memory at *values; release it
 * with imp_release(). */
imp_status imp_distinct_labels(const int32_t *label, size_t count, int32_t **values,
                               size_t *distinct, imp_error *error);

/* The same for the labels of both labelings. */
imp_status imp_distinct_of_both(const int32_t *truth, const int32_t *found, size_t count,
                                int32_t **values, size_t *distinct, imp_error *error);

/* The index of `label` in the ascending `values`; it must be there. */
size_t imp_label_rank(const int32_t *values, size_t distinct, int32_t label);

/* The expected mutual information of two random labelings with those sizes (Vinh et al.). */
imp_status imp_expected_information(const imp_contingency *contingency, double *information,
                                    imp_error *error);

/* Adjusted mutual information, given the expectation, which needs to be computed only once for
 * several averages. */
double imp_adjusted_information(const imp_contingency *contingency, imp_average average,
                                double expected);

#endif
