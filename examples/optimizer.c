/*
 * optimizer.c - fits a line to points by gradient steps, stops half-way, and resumes from what a
 * checkpoint would keep.
 *
 * Last line: y = 2.00 x + 1.00, the same with and without the stop
 */
#include <stdbool.h>
#include <string.h>

#include <imp/optimizer.h>

#include "must.h"

/* The gradient of the mean squared error with respect to slope and intercept. */
static void differentiate(const float *line, float *gradient)
{
    enum { POINTS = 5 };
    gradient[0] = gradient[1] = 0;
    for (int i = 0; i < POINTS; i++) {
        float x = (float)i - 2, y = 2 * x + 1;
        float error = line[0] * x + line[1] - y;
        gradient[0] += 2 * error * x / POINTS;
        gradient[1] += 2 * error / POINTS;
    }
}

static void take_steps(imp_optimizer *optimizer, float *line, int count)
{
    for (int i = 0; i < count; i++) {
        float gradient[2];
        differentiate(line, gradient);
        imp_optimizer_step(optimizer, line, gradient, 0.05);
    }
}

int main(void)
{
    imp_optimizer_options options = imp_optimizer_defaults(IMP_ADAM);
    imp_optimizer *first, *second, *whole;
    imp_error error;
    float line[2] = {0}, whole_line[2] = {0};
    must(imp_optimizer_create(2, &options, &whole, &error), &error);
    take_steps(whole, whole_line, 400);

    must(imp_optimizer_create(2, &options, &first, &error), &error);
    take_steps(first, line, 200);
    size_t count;
    float *state = imp_optimizer_state(first, &count);

    must(imp_optimizer_create(2, &options, &second, &error), &error);
    memcpy(imp_optimizer_state(second, NULL), state, count * sizeof *state);
    imp_optimizer_set_steps(second, imp_optimizer_steps(first));
    take_steps(second, line, 200);

    bool same = memcmp(line, whole_line, sizeof line) == 0;
    printf("y = %.2f x + %.2f, %s with and without the stop\n", line[0], line[1],
           same ? "the same" : "not the same");
    imp_optimizer_free(whole);
    imp_optimizer_free(first);
    imp_optimizer_free(second);
    return 0;
}
