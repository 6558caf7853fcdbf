/*
 * test_propagate.c - labels that unlabelled points get from their neighbours: along chains, on any
 * scale, not across gaps; and mixtures that profit from it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include <imp/mixture.h>

#include "base/random.h"
#include "failing_allocator.h"
#include "methods/propagate.h"

enum { CHAIN = 60, HEAP = 20, ALL = 2 + 2 * CHAIN + HEAP, UNLABELED = ALL - 2, D = 2 };

/* Two arcs around each other with a label at one end of each, and a heap far from both. */
static void make(float *x, double scale)
{
    imp_random random = imp_random_start(1, IMP_STREAM_TEST, 0);
    for (size_t i = 0; i < ALL; i++) {
        bool heap = i >= ALL - HEAP;
        size_t arc = i < 2 ? i : (i - 2) % 2, step = i < 2 ? 0 : (i - 2) / 2 + 1;
        double angle = 3.1416 * (double)step / CHAIN + (arc ? 3.1416 : 0);
        double place[D] = {cos(angle) + (arc ? 1 : 0), sin(angle) + (arc ? 0.5 : 0)};
        for (size_t j = 0; j < D; j++) {
            double value = heap ? 50 + imp_random_normal(&random)
                                : place[j] + 0.03 * imp_random_normal(&random);
            x[i * D + j] = (float)(scale * value);
        }
    }
}

static void labels_follow_chains(void **state)
{
    (void)state;
    const int32_t label[2] = {0, 1};
    const double scales[] = {1, 100, 1e-3};
    float x[ALL * D];
    int32_t found[UNLABELED];
    double sure[UNLABELED];
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
        make(x, scales[s]);
        assert_int_equal(imp_propagate(x, D, label, 2, UNLABELED, 2, found, sure, NULL), IMP_OK);
        for (size_t i = 0; i < 2 * (size_t)CHAIN; i++) {
            assert_int_equal(found[i], i % 2);
            assert_true(sure[i] > 0.5 && sure[i] <= 1);
        }
        for (size_t i = 2 * (size_t)CHAIN; i < UNLABELED; i++)
            assert_int_equal(found[i], IMP_UNLABELED);
    }
}

static void few_and_equal_points(void **state)
{
    (void)state;
    const int32_t label[2] = {0, 1};
    const float two[3] = {0, 1, 0.1F}, same[4] = {0, 0, 0, 0};
    int32_t found[2];
    double sure[2];
    assert_int_equal(imp_propagate(two, 1, label, 2, 1, 2, found, sure, NULL), IMP_OK);
    assert_int_equal(found[0], 0);
    assert_int_equal(imp_propagate(same, 1, label, 2, 2, 2, found, sure, NULL), IMP_OK);
    assert_true(sure[0] == 0.5 && sure[1] == 0.5);
}

static void labeled_rows_come_first(void **state)
{
    (void)state;
    float x[5] = {0, 1, 2, 3, 4};
    int32_t label[5] = {7, -1, 5, -1, 6};
    double weight[5] = {1, 0, 0.5, 0, 0.25};
    assert_int_equal(imp_keep_labeled(x, 1, label, weight, 1, 4), 2);
    const float rows[3] = {0, 2, 4};
    const int32_t labels[5] = {7, 5, 6, -1, -1};
    assert_memory_equal(x, rows, sizeof rows);
    assert_memory_equal(label, labels, sizeof labels);
    assert_true(weight[1] == 0.5 && weight[2] == 0.25);
}

/* One label per arc is enough where unlabelled points show the arcs, on any scale. */
static void unlabelled_points_show_the_way(void **state)
{
    (void)state;
    const double scales[] = {1, 100, 1e-3};
    float x[ALL * D];
    int32_t y[ALL] = {0, 1}, found[2 * CHAIN];
    for (size_t i = 2; i < ALL; i++)
        y[i] = IMP_UNLABELED;
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
        make(x, scales[s]);
        imp_mixture *mixture;
        const imp_mixture_predictions out = {.label = found};
        assert_int_equal(imp_mixture_fit(x, y, ALL - HEAP, D, NULL, &mixture, NULL), IMP_OK);
        assert_int_equal(
            imp_mixture_predict(mixture, x + 2 * D, 2 * (size_t)CHAIN, D, false, &out, NULL),
            IMP_OK);
        for (size_t i = 0; i < 2 * (size_t)CHAIN; i++)
            assert_int_equal(found[i], i % 2);
        imp_mixture_free(mixture);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const int32_t label[2] = {0, 1};
    float x[ALL * D];
    int32_t found[UNLABELED];
    double sure[UNLABELED];
    make(x, 1);
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_status status = imp_propagate(x, D, label, 2, UNLABELED, 2, found, sure, NULL);
        failing_allocator_expect(&memory, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_follow_chains),
        cmocka_unit_test(few_and_equal_points),
        cmocka_unit_test(labeled_rows_come_first),
        cmocka_unit_test(unlabelled_points_show_the_way),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
