/*
 * softmax.c - softmax and log-sum-exp, relative to the largest score so that nothing overflows.
 */
#include "methods/softmax.h"

#include <math.h>

size_t imp_largest(const double *score, size_t count)
{
    size_t largest = 0;
    for (size_t k = 1; k < count; k++)
        if (score[k] > score[largest])
            largest = k;
    return largest;
}

double imp_log_sum_exp(const double *score, size_t count)
{
    if (count == 0)
        return -INFINITY;
    double most = score[imp_largest(score, count)], sum = 0;
    if (most == -INFINITY)
        return -INFINITY;
    for (size_t k = 0; k < count; k++)
        sum += exp(score[k] - most);
    return most + log(sum);
}

bool imp_softmax(double *score, size_t count)
{
    double most = count > 0 ? score[imp_largest(score, count)] : -INFINITY, sum = 0;
    for (size_t k = 0; k < count; k++) {
        score[k] = score[k] == -INFINITY ? 0 : exp(score[k] - most);
        sum += score[k];
    }
    for (size_t k = 0; k < count && sum > 0; k++)
        score[k] /= sum;
    return sum > 0;
}

void imp_probabilities(const double *score, size_t count, float *probability)
{
    if (count == 0)
        return;
    double most = score[imp_largest(score, count)], sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += score[k] == most ? 1 : exp(score[k] - most);
    for (size_t k = 0; k < count; k++)
        probability[k] = (float)((score[k] == most ? 1 : exp(score[k] - most)) / sum);
}
