/*
 * test_metrics.c - expected mutual information where it can be worked out by hand; check_metrics.py
 * compares everything else with scikit-learn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "failing_allocator.h"
#include "methods/contingency.h"

/* `points` points in classes of `class_size` and clusters of `cluster_size`. */
static double expected_information(size_t points, size_t class_size, size_t cluster_size)
{
    int32_t *label = malloc(2 * points * sizeof *label);
    assert_non_null(label);
    for (size_t i = 0; i < points; i++) {
        label[i] = (int32_t)(i / class_size);
        label[points + i] = (int32_t)(i / cluster_size);
    }
    imp_contingency *contingency;
    double information;
    assert_int_equal(imp_contingency_create(label, label + points, points, &contingency, NULL),
                     IMP_OK);
    assert_int_equal(imp_expected_information(contingency, &information, NULL), IMP_OK);
    imp_contingency_free(contingency);
    free(label);
    return information;
}

/* Few labels, added up one by one, and more than 2^22 pairs of them, added up by their sizes. */
static const size_t sizes[] = {12, 600, 4800, 30000};

static void pairs_against_pairs(void **state)
{
    (void)state;
    for (size_t s = 0; s < 4; s++) {
        /* A class and a cluster of two points each share one or both of them by chance. */
        double n = (double)sizes[s], labels = n / 2;
        double one = 4 * (n - 2) / (n * (n - 1)), both = 2 / (n * (n - 1));
        double by_hand = labels * labels * (one / n * log(n / 4) + both * 2 / n * log(n / 2));
        assert_true(fabs(expected_information(sizes[s], 2, 2) / by_hand - 1) < 1e-8);
    }
}

static void points_of_their_own(void **state)
{
    (void)state;
    /* Where every point is a class, what a clustering tells is its entropy, however it is dealt. */
    for (size_t s = 0; s < 4; s++)
        assert_true(fabs(expected_information(sizes[s], 1, 3) / log((double)sizes[s] / 3) - 1) <
                    1e-8);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    enum { POINTS = 4800 };
    static int32_t label[POINTS];
    for (int32_t i = 0; i < POINTS; i++)
        label[i] = i / 2;
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        failing_allocator allocator;
        failing_allocator_install(&allocator, n);
        imp_contingency *contingency;
        double information;
        imp_status status = imp_contingency_create(label, label, POINTS, &contingency, NULL);
        if (status == IMP_OK)
            status = imp_expected_information(contingency, &information, NULL);
        imp_contingency_free(contingency);
        assert_int_equal(atomic_load(&allocator.live), 0);
        failed = failing_allocator_remove(&allocator);
        assert_int_equal(status, failed ? IMP_ENOMEM : IMP_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_against_pairs),
        cmocka_unit_test(points_of_their_own),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
