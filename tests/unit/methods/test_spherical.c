/*
 * test_spherical.c - groups of spherical noise in many dimensions are found though no pair of
 * distances and few principal components show them; points of another shape are left alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "failing_allocator.h"
#include "methods/components.h"
#include "methods/spherical.h"

enum { DIMENSIONS = 256, EACH = 50 };

/* How the points of a group lie around its mean. */
typedef enum shape { SPHERE, WIDTHS, LONG } shape;

/* `count` groups, one after the other, whose means are at least about six standard deviations
 * apart, seven on average. WIDTHS: every other group is half as wide; LONG: all are four times as
 * long as wide. */
static float *draw(size_t count, shape of, uint64_t seed)
{
    float *x = malloc(sizeof *x * count * EACH * DIMENSIONS);
    double mean[DIMENSIONS];
    imp_random random = imp_random_start(seed, IMP_STREAM_DEMO, 0);
    for (size_t k = 0; x && k < count; k++) {
        for (size_t j = 0; j < DIMENSIONS; j++)
            mean[j] = imp_random_normal(&random) * 7 / sqrt(2 * DIMENSIONS);
        for (size_t i = k * EACH; i < (k + 1) * EACH; i++)
            for (size_t j = 0; j < DIMENSIONS; j++) {
                double width = of == WIDTHS && k % 2 ? 0.5 : of == LONG && j == 0 ? 4 : 1;
                x[i * DIMENSIONS + j] = (float)(mean[j] + width * imp_random_normal(&random));
            }
    }
    return x;
}

static imp_status find(const float *x, size_t n, int threads, int32_t *group, size_t *groups,
                       bool *found, imp_error *error)
{
    float *reduced;
    size_t q;
    imp_status status =
        imp_principal_components(x, n, DIMENSIONS, IMP_MOST_COMPONENTS, &reduced, &q, error);
    if (!status)
        status = imp_spherical_groups(x, n, DIMENSIONS, reduced, q, threads, group, groups, found,
                                      error);
    imp_release(reduced);
    return status;
}

/* The number of groups found, 0 if the points are none. */
static size_t count_groups(const float *x, size_t n, int threads, int32_t *group)
{
    size_t groups = 0;
    bool found;
    imp_error error;
    memset(group, -1, n * sizeof *group);
    if (find(x, n, threads, group, &groups, &found, &error))
        fail_msg("%s", error.message);
    assert_true(found == (groups > 0));
    return groups;
}

static void groups_are_found(void **state)
{
    (void)state;
    int32_t group[30 * EACH];
    for (size_t count = 2; count <= 30; count = count == 2 ? 10 : 3 * count) {
        float *x = draw(count, SPHERE, count);
        assert_int_equal(count_groups(x, count * EACH, 2, group), count);
        size_t wrong = 0;
        for (size_t k = 0; k < count; k++) {
            size_t most = 0;
            for (size_t c = 0; c < count; c++) {
                size_t here = 0;
                for (size_t i = 0; i < EACH; i++)
                    here += group[k * EACH + i] == (int32_t)c;
                most = here > most ? here : most;
            }
            wrong += EACH - most;
        }
        assert_true(wrong <= count * EACH / 20);
        free(x);
    }
}

static void noise_and_other_shapes_are_left_alone(void **state)
{
    (void)state;
    int32_t group[10 * EACH];
    float *one = draw(1, SPHERE, 1), *widths = draw(10, WIDTHS, 2), *longer = draw(10, LONG, 3);
    assert_int_equal(count_groups(one, EACH, 2, group), 0);
    assert_int_equal(count_groups(widths, 10 * EACH, 2, group), 0);
    assert_int_equal(count_groups(longer, 10 * EACH, 2, group), 0);
    for (size_t i = 0; i < 10 * EACH; i++)
        assert_int_equal(group[i], -1);
    free(one);
    free(widths);
    free(longer);
}

/* Points that coincide have no noise, and rounding is none. */
static void points_that_coincide_are_left_alone(void **state)
{
    (void)state;
    int32_t group[10 * EACH];
    float *x = draw(10, SPHERE, 5);
    const double widths[] = {0, 1e-7, 1e-5};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        for (size_t i = 0; i < sizeof group / sizeof *group; i++)
            for (size_t j = 0; j < DIMENSIONS; j++) {
                float *value = &x[i * DIMENSIONS + j];
                float center = x[i / EACH * EACH * DIMENSIONS + j];
                *value = (float)(center + widths[w] * (*value - center));
            }
        assert_int_equal(count_groups(x, sizeof group / sizeof *group, 2, group), 0);
    }
    free(x);
}

/* Neither the number of threads nor the unit of the points matters. */
static void groups_are_the_same(void **state)
{
    (void)state;
    int32_t group[10 * EACH], again[10 * EACH];
    float *x = draw(10, SPHERE, 4);
    size_t groups = count_groups(x, 10 * EACH, 1, group);
    assert_int_equal(count_groups(x, 10 * EACH, 4, again), groups);
    assert_memory_equal(group, again, sizeof group);
    for (size_t i = 0; i < sizeof group / sizeof *group * DIMENSIONS; i++)
        x[i] *= 100;
    assert_int_equal(count_groups(x, 10 * EACH, 2, again), groups);
    assert_memory_equal(group, again, sizeof group);
    free(x);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    float *x = draw(2, SPHERE, 2);
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        int32_t group[2 * EACH];
        size_t groups;
        bool found;
        imp_error error;
        failing_allocator_expect(&memory, find(x, 2 * EACH, 1, group, &groups, &found, &error));
    }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_found),
        cmocka_unit_test(noise_and_other_shapes_are_left_alone),
        cmocka_unit_test(points_that_coincide_are_left_alone),
        cmocka_unit_test(groups_are_the_same),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
