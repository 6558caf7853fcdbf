/* softmax.h - from scores, which are logarithms, to probabilities. */
#ifndef IMP_METHODS_SOFTMAX_H
#define IMP_METHODS_SOFTMAX_H

#include <stdbool.h>
#include <stddef.h>

/* Among `count` scores the first that is largest. */
size_t imp_largest(const double *score, size_t count);

/* The logarithm of the sum of exponentials of `count` scores; -INFINITY if all are that. */
double imp_log_sum_exp(const double *score, size_t count);

/* Turns `count` scores into probabilities. False where all are -INFINITY: then there are none, and
 * each becomes 0. */
bool imp_softmax(double *score, size_t count);

/* The same, into another array. Scores that are all -INFINITY are equals. */
void imp_probabilities(const double *score, size_t count, float *probability);

#endif
