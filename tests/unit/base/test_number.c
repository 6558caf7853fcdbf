/* test_number.c - numbers are read and written the same in every locale. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"
#include "comma_locale.h"
#include "scratch.h"

static void check(void)
{
    char text[40], *end;
    imp_number_write(0.1 + 0.2, 17, text, sizeof text);
    assert_string_equal(text, "0.30000000000000004");
    assert_true(imp_number_read(text, &end) == 0.1 + 0.2 && *end == '\0');
    imp_number_write(-1234567.5, 9, text, sizeof text);
    assert_string_equal(text, "-1234567.5");
    imp_number_write(DBL_MAX, 17, text, sizeof text);
    assert_true(imp_number_read(text, &end) == DBL_MAX && *end == '\0');
    imp_number_write(0.125, 9, text, 4); /* cut, and ended */
    assert_string_equal(text, "0.1");

    assert_true(imp_number_read("0.5/2", &end) == 0.5);
    assert_string_equal(end, "/2");
    assert_true(imp_number_read("0,5", &end) == 0.0);
    assert_string_equal(end, ",5");
    const char *none = "half";
    assert_true(imp_number_read(none, &end) == 0.0 && end == none);
    errno = 0;
    assert_true(isinf(imp_number_read("1e999", &end)));
    assert_int_equal(errno, ERANGE);
}

static void in_the_c_locale(void **state)
{
    (void)state;
    check();
}

static void in_a_locale_with_a_comma(void **state)
{
    comma_locale_enter(state);
    check();
    comma_locale_leave();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_the_c_locale),
        cmocka_unit_test_setup_teardown(in_a_locale_with_a_comma, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
