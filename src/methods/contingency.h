/* contingency.h - two labelings counted against each other, sparsely. */
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

/* The different values among `count` labels in rising order, in new memory at *values; release it
 * with imp_release(). */
imp_status imp_distinct_labels(const int32_t *label, size_t count, int32_t **values,
                               size_t *distinct, imp_error *error);

/* The same of the labels of both labelings. */
imp_status imp_distinct_of_both(const int32_t *truth, const int32_t *found, size_t count,
                                int32_t **values, size_t *distinct, imp_error *error);

/* Where `label` stands in the rising `values`; it must be there. */
size_t imp_label_rank(const int32_t *values, size_t distinct, int32_t label);

/* E[MI] of two labelings with those sizes when the points are dealt out at random (Vinh et al.). */
imp_status imp_expected_information(const imp_contingency *contingency, double *information,
                                    imp_error *error);

/* Adjusted mutual information, given that: by several averages it need be computed only once. */
double imp_adjusted_information(const imp_contingency *contingency, imp_average average,
                                double expected);

#endif
