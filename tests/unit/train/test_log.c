/* test_log.c - what a line of the log looks like in its two files. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "comma_locale.h"
#include "scratch.h"
#include "train/log.h"

static const imp_train_line line = {.update = 7,
                                    .loss = 0.5,
                                    .accuracy = 0.25,
                                    .clusters = 5.5,
                                    .sigma_l = 1.0 / 3,
                                    .sigma_u = NAN,
                                    .rate = 1e-3,
                                    .norm = 2,
                                    .validation = NAN,
                                    .images_per_second = 1234567.5,
                                    .seconds = 1e-9,
                                    .validation_open = 0.75};

static void check(void **state)
{
    static const char json[] =
        "{\"update\": 7, \"loss\": 0.5, \"accuracy\": 0.25, \"clusters\": 5.5, \"sigma_l\": "
        "0.333333333, \"sigma_u\": null, \"rate\": 0.001, \"gradient_norm\": 2, \"validation\": "
        "null, \"images_per_second\": 1234567.5, \"seconds\": 1e-09, "
        "\"validation_open\": 0.75}\n";
    static const char csv[] =
        "update,loss,accuracy,clusters,sigma_l,sigma_u,rate,gradient_norm,validation,"
        "images_per_second,seconds,validation_open\n"
        "7,0.5,0.25,5.5,0.333333333,,0.001,2,,1234567.5,1e-09,0.75\n";
    imp_log log;
    imp_error error;
    if (imp_log_open(&log, *state, 0, 0, &error) != IMP_OK)
        fail_msg("%s", error.message);
    assert_int_equal(imp_log_write(&log, &line, &error), IMP_OK);
    imp_log_close(&log);
    assert_true(scratch_holds(scratch_file(state, "log.jsonl").text, json, strlen(json)));
    assert_true(scratch_holds(scratch_file(state, "log.csv").text, csv, strlen(csv)));
}

static void a_line(void **state)
{
    check(state);
}

static void a_line_in_another_locale(void **state)
{
    comma_locale_enter(state);
    check(state);
    comma_locale_leave();
}

/* A run that an older version began keeps the columns that its table has. */
static void an_older_table_goes_on(void **state)
{
    static const char header[] =
        "update,loss,accuracy,clusters,sigma_l,sigma_u,rate,gradient_norm,validation,"
        "images_per_second,seconds\n";
    static const char row[] = "7,0.5,0.25,5.5,0.333333333,,0.001,2,,1234567.5,1e-09\n";
    char whole[sizeof header + sizeof row];
    imp_log log;
    imp_error error;
    snprintf(whole, sizeof whole, "%s%s", header, row);
    scratch_write(scratch_file(state, "log.csv").text, header, strlen(header));
    if (imp_log_open(&log, *state, 0, strlen(header), &error) != IMP_OK)
        fail_msg("%s", error.message);
    assert_int_equal(imp_log_write(&log, &line, &error), IMP_OK);
    imp_log_close(&log);
    assert_true(scratch_holds(scratch_file(state, "log.csv").text, whole, strlen(whole)));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {TEST(a_line), TEST(a_line_in_another_locale),
                                       TEST(an_older_table_goes_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
