/*
 * apart.c - tests two Gaussians on a line against one, by a few steps of EM.
 *
 * The line goes through the means of two groups, and the numbers are projections of held-out
 * points: in many dimensions any two halves of one cloud look far apart on the points that formed
 * them, but not on others.
 */
#include "methods/apart.h"

#include <math.h>

enum { STEPS = 15 };

static const double nothing = 1e-12, fewest = 1.5;

/* The log likelihood of all numbers under one Gaussian, up to a constant. */
static double likelihood_of_one(const double *t, size_t count)
{
    double mean = 0, variance = 0, n = (double)count;
    for (size_t i = 0; i < count; i++)
        mean += t[i] / n;
    for (size_t i = 0; i < count; i++)
        variance += (t[i] - mean) * (t[i] - mean) / n;
    return -0.5 * n * (log(variance + nothing) + 1);
}

double imp_evidence_of_two(double *t, size_t count, double *share)
{
    double n = (double)count, two = 0;
    for (size_t i = 0; i < count; i++) {
        t[i] = fmin(fmax(t[i], -1), 2);
        share[i] = t[i] > 0.5;
    }
    for (int step = 0; step < STEPS; step++) {
        double weight = 0, a = 0, b = 0, variance = nothing;
        for (size_t i = 0; i < count; i++) {
            weight += share[i];
            a += (1 - share[i]) * t[i];
            b += share[i] * t[i];
        }
        if (weight < fewest || n - weight < fewest)
            return 0;
        a /= n - weight;
        b /= weight;
        for (size_t i = 0; i < count; i++)
            variance +=
                ((1 - share[i]) * (t[i] - a) * (t[i] - a) + share[i] * (t[i] - b) * (t[i] - b)) / n;
        double prior_a = log((n - weight) / n), prior_b = log(weight / n);
        two = -0.5 * n * log(variance);
        for (size_t i = 0; i < count; i++) {
            double of_a = prior_a - 0.5 * (t[i] - a) * (t[i] - a) / variance;
            double of_b = prior_b - 0.5 * (t[i] - b) * (t[i] - b) / variance;
            double most = fmax(of_a, of_b);
            double sum = most + log(exp(of_a - most) + exp(of_b - most));
            share[i] = exp(of_b - sum);
            two += sum;
        }
    }
    return two - likelihood_of_one(t, count);
}
