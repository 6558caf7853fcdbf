/*
 * threads.c - fits the same mixture on one thread and on all of them.
 *
 * Last line: both give the same probabilities
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <imp/mixture.h>
#include <imp/threads.h>

enum { POINTS = 8, DIMENSIONS = 2, CLASSES = 2 };

static const float x[POINTS * DIMENSIONS] = {0, 0, 1, 0, 0, 1, 1, 2, 8, 8, 9, 8, 8, 9, 7, 8};
static const int32_t y[POINTS] = {0, 0, 0, 0, 1, 1, 1, 1};

/* Fits a mixture to the points and predicts their own probabilities; false on failure. */
static bool fit(float *probability)
{
    imp_mixture *mixture;
    imp_error error;
    const imp_mixture_predictions wanted = {.probability = probability};
    bool done = !imp_mixture_fit(x, y, POINTS, DIMENSIONS, NULL, &mixture, &error) &&
                !imp_mixture_predict(mixture, x, POINTS, DIMENSIONS, false, &wanted, &error);
    if (!done)
        fprintf(stderr, "%s\n", error.message);
    imp_mixture_free(mixture);
    return done;
}

int main(void)
{
    float one[POINTS * CLASSES], all[POINTS * CLASSES];
    int before = imp_limit_threads(1);
    bool done = fit(one);
    imp_limit_threads(before);
    if (!done || !fit(all))
        return 1;
    bool same = memcmp(one, all, sizeof one) == 0;
    printf("both give %s probabilities\n", same ? "the same" : "different");
    return same ? 0 : 1;
}
