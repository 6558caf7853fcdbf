/*
 * test_work.c - work that grows with the square of the points is told of before it begins, and not
 * begun if it is declined; other work is not told of.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <imp/cluster.h>
#include <imp/mixture.h>
#include <imp/work.h>

#include "base/random.h"
#include "failing_allocator.h"

enum { POINTS = 40000, DIMENSIONS = 2, CLASSES = 2 };

/* Two heaps; declines what it is told of. */
typedef struct data {
    float x[POINTS * DIMENSIONS];
    int32_t y[POINTS];
    imp_work told;
    size_t times;
} data;

static bool decline(const imp_work *work, void *context)
{
    data *of = context;
    of->told = *work;
    of->times++;
    assert_non_null(strstr(work->sentence, "square of the points"));
    return false;
}

static int make(void **state)
{
    data *of = *state = calloc(1, sizeof *of);
    imp_random random = imp_random_start(1, IMP_STREAM_DEMO, 0);
    for (size_t i = 0; of && i < POINTS; i++) {
        of->y[i] = (int32_t)(i % CLASSES);
        for (size_t j = 0; j < DIMENSIONS; j++)
            of->x[i * DIMENSIONS + j] = (float)(30 * of->y[i] + imp_random_normal(&random));
    }
    imp_notice_work(decline, of);
    return of ? 0 : -1;
}

static int end(void **state)
{
    imp_notice_work(NULL, NULL);
    free(*state);
    return 0;
}

static imp_status cluster(const data *of, size_t n, double lambda, size_t wanted)
{
    imp_cluster_options options = imp_cluster_defaults();
    options.rule.lambda = wanted > 0 ? IMP_AUTO : lambda;
    options.clusters = wanted;
    imp_clustering *clustering;
    imp_error error;
    imp_status status = imp_cluster(of->x, n, DIMENSIONS, &options, &clustering, &error);
    imp_clustering_free(clustering);
    return status;
}

static imp_status fit(const data *of, size_t n, double lambda, imp_preset preset,
                      imp_mixture **mixture)
{
    imp_mixture_options options = imp_mixture_defaults();
    options.rule.lambda = lambda;
    options.preset = preset;
    imp_error error;
    return imp_mixture_fit(of->x, of->y, n, DIMENSIONS, &options, mixture, &error);
}

static void assert_told(const data *of, size_t times, double clusters)
{
    assert_int_equal(of->times, times);
    assert_int_equal(of->told.points, POINTS);
    assert_true((double)of->told.clusters > 0.7 * clusters);
    assert_true((double)of->told.clusters < 1.3 * clusters);
}

static void clusters_are_foreseen(void **state)
{
    data *of = *state;
    assert_int_equal(cluster(of, POINTS, 0, 0), IMP_EIO);
    assert_told(of, 1, POINTS);
    assert_true(of->told.distances == (double)POINTS * POINTS);
    assert_int_equal(of->told.passes, 5);
    assert_int_equal(cluster(of, POINTS, 0, 5000), IMP_EIO);
    assert_told(of, 2, 5000);
    assert_int_equal(cluster(of, POINTS, 400, 0), IMP_OK);
    assert_int_equal(cluster(of, 1000, 0, 0), IMP_OK);
    assert_int_equal(of->times, 2);
}

/* More clusters than a small sample has points are not taken for one of each point. */
static void a_thousand_clusters_are_not_told_of(void **state)
{
    enum { CLUSTERS = 1000, WIDTH = 40 };
    data *of = *state;
    for (size_t i = 0; i < POINTS; i++) {
        size_t k = i * 7919 % CLUSTERS;
        of->x[i * DIMENSIONS] += 100 * (float)(k % WIDTH);
        of->x[i * DIMENSIONS + 1] += 100 * (float)(k / WIDTH);
        for (size_t j = 0; j < DIMENSIONS; j++)
            of->x[i * DIMENSIONS + j] -= (float)(30 * of->y[i]);
    }
    assert_int_equal(cluster(of, POINTS, 400, 0), IMP_OK);
    assert_int_equal(of->times, 0);
}

/* Points are compared only with those of their class, which are half of them. */
static void fits_are_foreseen(void **state)
{
    data *of = *state;
    imp_mixture *mixture;
    assert_int_equal(fit(of, POINTS, 0, IMP_PRESET_PAPER, &mixture), IMP_EIO);
    assert_null(mixture);
    assert_told(of, 1, POINTS);
    assert_true(of->told.distances > 0.4 * POINTS * POINTS);
    assert_true(of->told.distances < 0.6 * POINTS * POINTS);
    assert_int_equal(fit(of, POINTS, 1e-9, IMP_PRESET_AUTO, &mixture), IMP_EIO);
    assert_told(of, 2, POINTS);
    /* Labelled points that are clusters themselves are not compared. */
    assert_int_equal(fit(of, POINTS, 0, IMP_PRESET_AUTO, &mixture), IMP_OK);
    imp_mixture_free(mixture);
    assert_int_equal(of->times, 2);
}

static void additions_are_foreseen(void **state)
{
    data *of = *state;
    imp_mixture *mixture, *grown;
    imp_error error;
    assert_int_equal(fit(of, 10, 0, IMP_PRESET_PAPER, &mixture), IMP_OK);
    assert_int_equal(imp_mixture_add(mixture, of->x, of->y, POINTS, DIMENSIONS, &grown, &error),
                     IMP_EIO);
    assert_null(grown);
    assert_told(of, 1, POINTS);
    assert_int_equal(imp_mixture_add(mixture, of->x, of->y, 10, DIMENSIONS, &grown, &error),
                     IMP_OK);
    assert_int_equal(of->times, 1);
    imp_mixture_free(grown);
    imp_mixture_free(mixture);
}

static void every_allocation_may_fail(void **state)
{
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_status status = cluster(*state, POINTS, 0, 0);
        failing_allocator_expect(&memory, status == IMP_EIO ? IMP_OK : status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(clusters_are_foreseen, make, end),
        cmocka_unit_test_setup_teardown(a_thousand_clusters_are_not_told_of, make, end),
        cmocka_unit_test_setup_teardown(fits_are_foreseen, make, end),
        cmocka_unit_test_setup_teardown(additions_are_foreseen, make, end),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, make, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
