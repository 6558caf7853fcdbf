/*
 * test_propagate.c - labels that unlabelled points get from their neighbours: along chains, on any
 * scale, not across gaps; the means to which points with a label move; and mixtures that profit.
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
    float two[3] = {0, 1, 0.1F}, same[4] = {0, 0, 0, 0};
    int32_t found[2];
    double sure[2];
    assert_int_equal(imp_propagate(two, 1, label, 2, 1, 2, found, sure, NULL), IMP_OK);
    assert_int_equal(found[0], 0);
    assert_int_equal(imp_propagate(same, 1, label, 2, 2, 2, found, sure, NULL), IMP_OK);
    assert_true(sure[0] == 0.5 && sure[1] == 0.5);
}

/* Of two groups of three, and a pair that no label reaches. Class 1 has two of its own group, which
 * are as sure as labels are, because nothing else reaches them. */
static void points_with_a_label_move_to_the_mean_of_their_neighbours(void **state)
{
    (void)state;
    const int32_t label[3] = {0, 1, 1};
    float x[9] = {0, 10, 13, 1, 2, 11, 500, 501, 502};
    const float moved[9] = {1, 34 / 3.0F, 34 / 3.0F, 1, 1, 34 / 3.0F, 500, 501, 502};
    int32_t found[6];
    double sure[6];
    assert_int_equal(imp_propagate(x, 1, label, 3, 6, 2, found, sure, NULL), IMP_OK);
    const int32_t labels[6] = {0, 0, 1, -1, -1, -1};
    assert_memory_equal(found, labels, sizeof labels);
    for (size_t i = 0; i < 9; i++)
        assert_true(fabsf(x[i] - moved[i]) < 1e-5F);
}

/* A neighbour of another class does not draw a point, and an unsure one draws it less. */
static void points_move_by_their_own_class(void **state)
{
    (void)state;
    const int32_t label[2] = {0, 1};
    float x[3] = {0, 10, 4};
    int32_t found[1];
    double sure[1];
    assert_int_equal(imp_propagate(x, 1, label, 2, 1, 2, found, sure, NULL), IMP_OK);
    assert_int_equal(found[0], 0);
    assert_true(sure[0] > 0.5 && sure[0] < 1);
    assert_true(x[1] == 10);
    assert_true(fabs(x[0] - 4 * sure[0] / (1 + sure[0])) < 1e-6);
    assert_true(x[0] == x[2]);
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

/* Where classes overlap, the nearest of many points with a label from neighbours is a noisier
 * answer than the label was: new points have to profit as much. */
static void overlapping_classes_profit_from_one_label_each(void **state)
{
    (void)state;
    enum { WAY = 10, MANY = 64, MORE = 300, ASKED = 300, SEEDS = 5 };
    static float center[WAY * MANY], x[(WAY + MORE) * MANY], query[ASKED * MANY];
    static int32_t y[WAY + MORE], found[ASKED];
    size_t right[2] = {0};
    for (size_t seed = 0; seed < SEEDS; seed++) {
        imp_random random = imp_random_start(seed, IMP_STREAM_TEST, 0);
        for (size_t i = 0; i < sizeof center / sizeof *center; i++)
            center[i] = (float)(0.5 * imp_random_normal(&random));
        for (size_t i = 0; i < WAY + MORE + ASKED; i++) {
            float *row = i < WAY + MORE ? x + i * MANY : query + (i - WAY - MORE) * MANY;
            for (size_t j = 0; j < MANY; j++)
                row[j] = center[i % WAY * MANY + j] + (float)imp_random_normal(&random);
        }
        for (size_t i = 0; i < WAY + MORE; i++)
            y[i] = i < WAY ? (int32_t)i : IMP_UNLABELED;
        for (size_t helped = 0; helped < 2; helped++) {
            imp_mixture *mixture;
            const imp_mixture_predictions out = {.label = found};
            size_t n = helped ? WAY + MORE : WAY;
            assert_int_equal(imp_mixture_fit(x, y, n, MANY, NULL, &mixture, NULL), IMP_OK);
            assert_int_equal(imp_mixture_predict(mixture, query, ASKED, MANY, false, &out, NULL),
                             IMP_OK);
            for (size_t i = 0; i < ASKED; i++)
                right[helped] += found[i] == (int32_t)(i % WAY);
            imp_mixture_free(mixture);
        }
    }
    assert_true(right[0] < 6 * SEEDS * ASKED / 10);
    assert_true(right[1] > 3 * SEEDS * ASKED / 4);
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
        cmocka_unit_test(points_with_a_label_move_to_the_mean_of_their_neighbours),
        cmocka_unit_test(points_move_by_their_own_class),
        cmocka_unit_test(labeled_rows_come_first),
        cmocka_unit_test(unlabelled_points_show_the_way),
        cmocka_unit_test(overlapping_classes_profit_from_one_label_each),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
