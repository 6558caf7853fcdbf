/*
 * metrics.h - how well predictions or clusters agree with the truth.
 *
 * Information-theoretic measures use natural logarithms; all measures agree with scikit-learn 1.2
 * to 1e-9, degenerate labelings included, except for the case described at imp_ami(). Labels are
 * any integers; only accuracy and the confusion matrix depend on their values, the other measures
 * only on which points share a label.
 */
#ifndef IMP_METRICS_H
#define IMP_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include <imp/export.h>
#include <imp/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A mean with half the width of its 95% interval, 1.96 standard deviations / sqrt(count), where the
 * deviation is the unbiased one. NAN where there are too few values: none for the mean, fewer than
 * two for the interval. */
typedef struct imp_interval {
    double mean, half_width;
} imp_interval;

/* The interval of any values, such as the accuracies of test episodes. */
IMP_API imp_interval imp_mean_interval(const double *values, size_t count);

/* The fraction of points whose two labels are equal. */
IMP_API imp_interval imp_accuracy(const int32_t *truth, const int32_t *found, size_t count);

/* How often each label of one labeling meets each of another. Immutable: any number of threads may
 * read it at once. */
typedef struct imp_contingency imp_contingency;

/* Counts `count` points, each labelled twice; `count` may be 0. On success *out is new; free it
 * with imp_contingency_free(). On failure *out is NULL: IMP_ENOMEM, or IMP_EUNSUPPORTED for more
 * than 2^31 - 1 points. */
IMP_API imp_status imp_contingency_create(const int32_t *truth, const int32_t *found, size_t count,
                                          imp_contingency **out, imp_error *error);

/* NULL is allowed. */
IMP_API void imp_contingency_free(imp_contingency *contingency);

/* How many different labels the two labelings have. */
IMP_API size_t imp_contingency_classes(const imp_contingency *contingency);
IMP_API size_t imp_contingency_clusters(const imp_contingency *contingency);

/* Which mean of the two entropies normalises mutual information. */
typedef enum imp_average { IMP_ARITHMETIC, IMP_GEOMETRIC, IMP_MIN, IMP_MAX } imp_average;

/* The fraction of points that belong to the most frequent class of their cluster; 1 if there are no
 * points. */
IMP_API double imp_purity(const imp_contingency *contingency);

/* Normalised mutual information, from 0 to 1. */
IMP_API double imp_nmi(const imp_contingency *contingency, imp_average average);

/* Adjusted mutual information: 0 is expected by chance, 1 is perfect agreement. Where chance alone
 * already gives perfect agreement (every point is a class of its own, and the minimum normalises),
 * the adjustment is 0/0 and the result is 0; scikit-learn's result is then a rounding error.
 * IMP_ENOMEM is the only failure. */
IMP_API imp_status imp_ami(const imp_contingency *contingency, imp_average average, double *ami,
                           imp_error *error);

/* The adjusted Rand index. */
IMP_API double imp_adjusted_rand(const imp_contingency *contingency);

/* Rows are true labels, columns found ones; both are the sorted union of the labels that occur. */
typedef struct imp_confusion {
    size_t count;
    int32_t *label;   /* (count) */
    uint64_t *points; /* (count, count) */
} imp_confusion;

/* Fills *confusion, whose memory grows with the square of the number of labels; release it with
 * imp_confusion_clear(). On failure (IMP_ENOMEM) it is zeroed. */
IMP_API imp_status imp_confusion_matrix(const int32_t *truth, const int32_t *found, size_t count,
                                        imp_confusion *confusion, imp_error *error);

/* Releases the arrays and zeroes the struct; harmless on a zeroed one. */
IMP_API void imp_confusion_clear(imp_confusion *confusion);

#ifdef __cplusplus
}
#endif

#endif
