/* test_error.c - sentences: formatted, cut where they are too long, prefixed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <imp/version.h>

#include "base/error.h"

static void every_status_has_its_name(void **state)
{
    (void)state;
    assert_string_equal(imp_status_name(IMP_OK), "IMP_OK");
    assert_string_equal(imp_status_name(IMP_EINVAL), "IMP_EINVAL");
    assert_string_equal(imp_status_name(IMP_ENOMEM), "IMP_ENOMEM");
    assert_string_equal(imp_status_name(IMP_EIO), "IMP_EIO");
    assert_string_equal(imp_status_name(IMP_EFORMAT), "IMP_EFORMAT");
    assert_string_equal(imp_status_name(IMP_EUNSUPPORTED), "IMP_EUNSUPPORTED");
    assert_string_equal(imp_status_name((imp_status)77), "unknown status");
}

static void fail_stores_status_and_sentence(void **state)
{
    (void)state;
    imp_error error;
    assert_int_equal(imp_fail(&error, IMP_EINVAL, "row %d of '%s'", 7, "x.npy"), IMP_EINVAL);
    assert_int_equal(error.status, IMP_EINVAL);
    assert_string_equal(error.message, "row 7 of 'x.npy'");
    assert_int_equal(imp_fail_memory(&error, "a table"), IMP_ENOMEM);
    assert_int_equal(error.status, IMP_ENOMEM);
    assert_string_equal(error.message, "out of memory for a table");
}

static void no_error_is_wanted(void **state)
{
    (void)state;
    assert_int_equal(imp_fail(NULL, IMP_EIO, "%s", "unheard"), IMP_EIO);
    assert_int_equal(imp_fail_memory(NULL, "unheard"), IMP_ENOMEM);
    imp_error_prefix(NULL, "unheard");
}

static void long_sentence_ends_in_dots(void **state)
{
    (void)state;
    imp_error error;
    char text[sizeof error.message + 100];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';

    text[sizeof error.message - 1] = '\0'; /* just fits */
    imp_fail(&error, IMP_EIO, "%s", text);
    assert_string_equal(error.message, text);

    text[sizeof error.message - 1] = 'a'; /* one too many */
    text[sizeof error.message] = '\0';
    imp_fail(&error, IMP_EIO, "%s", text);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    assert_string_equal(error.message + sizeof error.message - 5, "a...");
}

/* Whatever the offset, a row of two-, three- or four-byte characters is never cut inside one. */
static void cut_keeps_characters_whole(void **state)
{
    (void)state;
    static const char *const characters[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x99\x82"};
    for (size_t which = 0; which < 3; which++) {
        size_t width = strlen(characters[which]);
        for (size_t offset = 0; offset < 4; offset++) {
            imp_error error;
            char text[sizeof error.message * 2];
            size_t used = offset;
            memset(text, 'a', offset);
            for (; used + width < sizeof text; used += width)
                memcpy(text + used, characters[which], width);
            text[used] = '\0';
            imp_fail(&error, IMP_EIO, "%s", text);
            size_t length = strlen(error.message);
            assert_string_equal(error.message + length - 3, "...");
            assert_int_equal((length - 3 - offset) % width, 0);
            assert_memory_equal(error.message, text, length - 3);
        }
    }
}

static void prefix_comes_first_and_keeps_the_status(void **state)
{
    (void)state;
    imp_error error;
    imp_fail(&error, IMP_EFORMAT, "it is empty");
    imp_error_prefix(&error, "x.npy");
    assert_int_equal(error.status, IMP_EFORMAT);
    assert_string_equal(error.message, "x.npy: it is empty");

    for (int i = 0; i < 100; i++)
        imp_error_prefix(&error, "folder");
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    assert_string_equal(error.message + sizeof error.message - 4, "...");
}

static void sentence_may_quote_the_old_one(void **state)
{
    (void)state;
    imp_error error;
    imp_fail(&error, IMP_EIO, "first");
    imp_fail(&error, IMP_EINVAL, "second, after %s", error.message);
    assert_string_equal(error.message, "second, after first");
}

static void version_is_the_headers(void **state)
{
    (void)state;
    assert_string_equal(imp_version(), IMP_VERSION_STRING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_name),
        cmocka_unit_test(fail_stores_status_and_sentence),
        cmocka_unit_test(no_error_is_wanted),
        cmocka_unit_test(long_sentence_ends_in_dots),
        cmocka_unit_test(cut_keeps_characters_whole),
        cmocka_unit_test(prefix_comes_first_and_keeps_the_status),
        cmocka_unit_test(sentence_may_quote_the_old_one),
        cmocka_unit_test(version_is_the_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
