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

/* Vinh, Epps and Bailey (2010), pair by pair: the chance that a class and a cluster share k points,
 * times what that tells. */
static double sum_over_pairs(const imp_contingency *c)
{
    size_t n = c->points;
    double sum = 0, *log_factorial = malloc((n + 1) * sizeof *log_factorial);
    assert_non_null(log_factorial);
    for (size_t i = 0; i <= n; i++)
        log_factorial[i] = lgamma((double)i + 1);
    for (size_t i = 0; i < c->classes; i++)
        for (size_t j = 0; j < c->clusters; j++) {
            size_t a = c->class_size[i], b = c->cluster_size[j];
            double fixed = log_factorial[a] + log_factorial[b] + log_factorial[n - a] +
                           log_factorial[n - b] - log_factorial[n];
            for (size_t k = a + b > n ? a + b - n : 1; k <= a && k <= b; k++)
                sum += (double)k / (double)n *
                       log((double)n * (double)k / ((double)a * (double)b)) *
                       exp(fixed - log_factorial[k] - log_factorial[a - k] - log_factorial[b - k] -
                           log_factorial[n - a - b + k]);
        }
    free(log_factorial);
    return sum;
}

/* Classes of 1 to 4 and clusters of 1 to 3 points, few, and so many that they are grouped. */
static void labels_of_mixed_sizes(void **state)
{
    (void)state;
    for (size_t points = 60; points <= 6000; points *= 100) {
        int32_t *label = calloc(2 * points, sizeof *label);
        assert_non_null(label);
        for (int side = 0; side < 2; side++)
            for (size_t i = 0, name = 0, left = 0; i < points; i++, left--) {
                if (left == 0)
                    left = 1 + name++ % (side ? 3 : 4);
                label[(side ? points : 0) + i] = (int32_t)name;
            }
        imp_contingency *contingency;
        double information;
        assert_int_equal(imp_contingency_create(label, label + points, points, &contingency, NULL),
                         IMP_OK);
        assert_int_equal(imp_expected_information(contingency, &information, NULL), IMP_OK);
        assert_true(points < 1000 || contingency->classes * contingency->clusters > (1 << 22));
        assert_true(fabs(information - sum_over_pairs(contingency)) < 1e-9);
        imp_contingency_free(contingency);
        free(label);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    enum { POINTS = 4800 };
    static int32_t label[POINTS];
    for (int32_t i = 0; i < POINTS; i++)
        label[i] = i / 2;
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_contingency *contingency;
        double information;
        imp_status status = imp_contingency_create(label, label, POINTS, &contingency, NULL);
        if (status == IMP_OK)
            status = imp_expected_information(contingency, &information, NULL);
        imp_contingency_free(contingency);
        failing_allocator_expect(&memory, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_against_pairs),
        cmocka_unit_test(points_of_their_own),
        cmocka_unit_test(labels_of_mixed_sizes),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
