/* test_utf8.c - characters are found in texts of any bytes, and what is none is replaced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "failing_allocator.h"

static void only_proper_characters_have_a_size(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
    } cases[] = {
        {"a", 1},
        {"\xC3\xA9", 2},         /* e acute */
        {"\xE2\x82\xAC", 3},     /* the euro's sign */
        {"\xF0\x9F\x98\x80", 4}, /* a face */
        {"\xE9", 0},             /* e acute in Latin-1 */
        {"\xC3", 0},             /* cut off */
        {"\xE2\x82", 0},
        {"\xC0\x80", 0},         /* zero in two bytes */
        {"\xE0\x80\x80", 0},     /* and in three */
        {"\xED\xA0\x80", 0},     /* half of a surrogate pair */
        {"\xF4\x90\x80\x80", 0}, /* beyond the last character */
        {"\x80", 0},
        {"\xFF", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(imp_utf8_size(cases[i].text), cases[i].size);
}

static void control_characters_are_told_from_others(void **state)
{
    (void)state;
    assert_int_equal(imp_utf8_control("\n"), 1);
    assert_int_equal(imp_utf8_control("\033[2J"), 1);
    assert_int_equal(imp_utf8_control("\x7F"), 1);
    assert_int_equal(imp_utf8_control("\xC2\x9B"), 2);
    assert_int_equal(imp_utf8_control("\xC2\xA0"), 0);
    assert_int_equal(imp_utf8_control(" "), 0);
    assert_int_equal(imp_utf8_control("\x9B"), 0); /* no character at all */
    assert_int_equal(imp_utf8_control(""), 0);
}

static void a_text_is_as_long_as_it_has_characters(void **state)
{
    (void)state;
    assert_int_equal(imp_utf8_length(""), 0);
    assert_int_equal(imp_utf8_length("caf\xC3\xA9"), 4);
    assert_int_equal(imp_utf8_length("caf\xE9!"), 5);
}

static void every_stray_byte_is_replaced(void **state)
{
    (void)state;
    char *text = imp_utf8_repair("caf\xE9 caf\xC3\xA9 \xF0\x9F\x98");
    assert_string_equal(text, "caf\xEF\xBF\xBD caf\xC3\xA9 \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    imp_release(text);
    text = imp_utf8_repair("");
    assert_string_equal(text, "");
    imp_release(text);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    failing_allocator memory = {0};
    failing_allocator_install(&memory, 1);
    assert_null(imp_utf8_repair("text"));
    assert_true(failing_allocator_end(&memory));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_proper_characters_have_a_size),
        cmocka_unit_test(control_characters_are_told_from_others),
        cmocka_unit_test(a_text_is_as_long_as_it_has_characters),
        cmocka_unit_test(every_stray_byte_is_replaced),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
