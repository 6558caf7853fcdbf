/* test_axis.c - ticks are round, in the range, and written so that they can be told apart. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "draw/axis.h"

/* All texts of an axis, with spaces between. */
static void assert_ticks(imp_axis axis, const char *expected)
{
    char all[600] = "";
    for (size_t i = 0; i < axis.tick_count; i++) {
        if (i > 0)
            strcat(all, " ");
        strcat(all, imp_axis_text(&axis, i).text);
    }
    assert_string_equal(all, expected);
}

static void test_linear(void **state)
{
    (void)state;
    assert_ticks(imp_axis_linear(0, 1, 5), "0 0.2 0.4 0.6 0.8 1.0");
    assert_ticks(imp_axis_linear(-0.05, 0.93, 6), "0 0.2 0.4 0.6 0.8");
    assert_ticks(imp_axis_linear(0, 12000, 6), "0 2,000 4,000 6,000 8,000 10,000 12,000");
    assert_ticks(imp_axis_linear(-1500, 1500, 3), "-1,000 0 1,000");
    assert_ticks(imp_axis_linear(0.971, 0.9793, 5), "0.972 0.974 0.976 0.978");
    assert_ticks(imp_axis_linear(0.97, 0.970004, 4),
                 "0.970000 0.970001 0.970002 0.970003 0.970004");
    assert_ticks(imp_axis_linear(20000001, 20000003, 2), "20000001 20000002 20000003");
    assert_ticks(imp_axis_linear(0, 3e7, 3), "0 1e+07 2e+07 3e+07");
    assert_ticks(imp_axis_linear(0, 2e-7, 4), "0 5e-08 1e-07 1.5e-07 2e-07");
}

static void test_logarithmic(void **state)
{
    (void)state;
    assert_ticks(imp_axis_logarithmic(1, 1000, 8), "1 10 100 1,000");
    assert_ticks(imp_axis_logarithmic(1, 100, 8), "1 2 5 10 20 50 100");
    assert_ticks(imp_axis_logarithmic(3, 70000, 6), "10 100 1,000 10,000");
    assert_ticks(imp_axis_logarithmic(0.001, 1, 4), "0.001 0.01 0.1 1");
    assert_ticks(imp_axis_logarithmic(1e-6, 1e6, 6), "1e-06 0.0001 0.01 1 100 10,000 1,000,000");
    assert_ticks(imp_axis_logarithmic(21, 48, 6), "25 30 35 40 45");
}

/* Whatever the range, ticks lie in it, ascend, and have texts of their own. */
static void test_any_range(void **state)
{
    (void)state;
    for (int e = -12; e <= 12; e++)
        for (int k = 1; k < 40; k++) {
            double low = (k % 7 - 3) * pow(10, e), high = low + k * pow(10, e - k % 3);
            imp_axis axes[] = {imp_axis_linear(low, high, 2 + k % 8),
                               imp_axis_logarithmic(pow(10, e), k * k * pow(10, e), 2 + k % 8)};
            for (size_t a = 0; a < 2; a++) {
                const imp_axis *axis = &axes[a];
                assert_in_range(axis->tick_count, 2, 14);
                for (size_t i = 0; i < axis->tick_count; i++) {
                    double place = imp_axis_place(axis, axis->ticks[i]);
                    assert_true(place > -1e-6 && place < 1 + 1e-6);
                    assert_true(i == 0 || axis->ticks[i] > axis->ticks[i - 1]);
                    assert_true(i == 0 || strcmp(imp_axis_text(axis, i).text,
                                                 imp_axis_text(axis, i - 1).text) != 0);
                }
            }
        }
}

static void test_range_without_length(void **state)
{
    (void)state;
    static const double values[] = {0, 3, -2e9, 1e-9, 5e-324, 1e149};
    for (size_t i = 0; i < 6; i++) {
        imp_axis axis = imp_axis_linear(values[i], values[i], 5);
        assert_true(axis.low < values[i] && values[i] < axis.high && axis.tick_count >= 2);
    }
    imp_axis axis = imp_axis_logarithmic(3, 3, 5);
    assert_true(axis.low < 3 && 3 < axis.high && axis.tick_count >= 2);
}

static void test_place(void **state)
{
    (void)state;
    imp_axis linear = imp_axis_linear(-1, 3, 4), logarithmic = imp_axis_logarithmic(1, 100, 4);
    assert_true(fabs(imp_axis_place(&linear, 0) - 0.25) < 1e-12);
    assert_true(fabs(imp_axis_place(&logarithmic, 10) - 0.5) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),    cmocka_unit_test(test_logarithmic),
        cmocka_unit_test(test_any_range), cmocka_unit_test(test_range_without_length),
        cmocka_unit_test(test_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
