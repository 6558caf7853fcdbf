/* softmax.h - from scores (log probabilities up to a constant) to probabilities. */
#ifndef IMP_METHODS_SOFTMAX_H
#define IMP_METHODS_SOFTMAX_H

#include <stdbool.h>
#include <stddef.h>

/* The index of the largest of `count` scores; ties go to the first. */
size_t imp_largest(const double *score, size_t count);

/* The logarithm of the sum of the exponentials of `count` scores; -INFINITY if all are. */
double imp_log_sum_exp(const double *score, size_t count);

/* Turns `count` scores into probabilities. Returns false, and sets all to 0, if all are -INFINITY.
 */
bool imp_softmax(double *score, size_t count);

/* The same, into another array; if all scores are -INFINITY, the probabilities are equal. */
void imp_probabilities(const double *score, size_t count, float *probability);

#endif
