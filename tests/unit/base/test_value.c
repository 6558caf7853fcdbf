/* test_value.c - values of named options: read, checked, described. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/value.h"

static const imp_option_info flag = {.name = "no-prior", .kind = IMP_FLAG, .most = 1};
static const imp_option_info count = {
    .name = "k", .kind = IMP_INTEGER, .least = 1, .most = 1000000, .initial = 3};
static const imp_option_info threshold = {
    .name = "lambda", .kind = IMP_NUMBER, .least = 0, .most = INFINITY, .initial = IMP_AUTO};

static void values_are_read(void **state)
{
    (void)state;
    static const struct {
        const imp_option_info *option;
        const char *text;
        double value;
    } good[] = {{&flag, "yes", 1},
                {&flag, "no", 0},
                {&count, "1", 1},
                {&count, "1000000", 1e6},
                {&threshold, "0.25", 0.25},
                {&threshold, "1e3", 1000},
                {&threshold, "auto", IMP_AUTO}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double value = 77;
        assert_true(imp_value_parse(good[i].option, good[i].text, &value));
        assert_true(imp_same_value(value, good[i].value));
    }
    static const struct {
        const imp_option_info *option;
        const char *text;
    } bad[] = {{&flag, "1"},         {&flag, "auto"},     {&count, "0"},        {&count, "1000001"},
               {&count, "1.5"},      {&count, "1e3"},     {&count, "auto"},     {&count, ""},
               {&threshold, "-1"},   {&threshold, " 1"},  {&threshold, "1x"},   {&threshold, "inf"},
               {&threshold, "0x10"}, {&threshold, "nan"}, {&threshold, "1e999"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double value = 77;
        assert_false(imp_value_parse(bad[i].option, bad[i].text, &value));
        assert_true(value == 77);
    }
}

static void values_are_checked_and_described(void **state)
{
    (void)state;
    imp_error error;
    assert_int_equal(imp_value_check(&count, 2, &error), IMP_OK);
    assert_int_equal(imp_value_check(&threshold, IMP_AUTO, &error), IMP_OK);
    assert_int_equal(imp_value_check(&count, IMP_AUTO, &error), IMP_EINVAL);
    assert_int_equal(imp_value_check(&count, 2.5, &error), IMP_EINVAL);
    assert_string_equal(error.message, "k is 2.5; it must be an integer from 1 to 1000000");
    assert_int_equal(imp_value_check(&threshold, INFINITY, &error), IMP_EINVAL);
    assert_string_equal(error.message, "lambda is inf; it must be a number of at least 0, or auto");
    assert_int_equal(imp_value_check(&flag, 2, &error), IMP_EINVAL);
    assert_string_equal(error.message, "no-prior is 2; it must be yes or no");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_read),
        cmocka_unit_test(values_are_checked_and_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
