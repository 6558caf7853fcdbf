/*
 * test_divide.c - groups of many dimensions: two in one are divided, halves of one stay as they are
 * or are merged, noise is left alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/random.h"
#include "failing_allocator.h"
#include "methods/divide.h"

enum { POINTS = 160, DIMENSIONS = 128 };

/* Groups of `each` points, one after the other, six standard deviations from the origin, each in
 * its own direction. */
static float *draw(size_t each, uint64_t seed)
{
    float *x = malloc(sizeof *x * POINTS * DIMENSIONS);
    imp_random random = imp_random_start(seed, IMP_STREAM_DEMO, 0);
    for (size_t i = 0; x && i < POINTS; i++)
        for (size_t j = 0; j < DIMENSIONS; j++)
            x[i * DIMENSIONS + j] = (float)(imp_random_normal(&random) + (j == i / each ? 6 : 0));
    return x;
}

/* The number of groups that all points in one become. */
static size_t divide(const float *x, int32_t *assignment)
{
    size_t groups = 1;
    imp_error error;
    for (size_t i = 0; i < POINTS; i++)
        assignment[i] = 0;
    if (imp_divide(x, POINTS, DIMENSIONS, 2, assignment, &groups, &error))
        fail_msg("%s", error.message);
    return groups;
}

static void groups_are_divided(void **state)
{
    (void)state;
    int32_t assignment[POINTS];
    for (size_t count = 2; count <= 4; count *= 2) {
        float *x = draw(POINTS / count, count);
        assert_int_equal(divide(x, assignment), count);
        size_t wrong = 0;
        for (size_t i = 0; i < POINTS; i++) {
            size_t first = i / (POINTS / count) * (POINTS / count);
            wrong += assignment[i] != assignment[first];
        }
        assert_true(wrong <= POINTS / 20);
        free(x);
    }
}

static void noise_is_one_group(void **state)
{
    (void)state;
    int32_t assignment[POINTS];
    for (uint64_t seed = 10; seed < 20; seed++) {
        float *x = draw(POINTS, seed);
        assert_int_equal(divide(x, assignment), 1);
        free(x);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    float *x = draw(POINTS / 2, 2);
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        int32_t assignment[POINTS] = {0};
        size_t groups = 1;
        imp_error error;
        failing_allocator_expect(&memory,
                                 imp_divide(x, POINTS, DIMENSIONS, 1, assignment, &groups, &error));
    }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_divided),
        cmocka_unit_test(noise_is_one_group),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
