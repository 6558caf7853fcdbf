/* test_json.c - strict reading, atomic writing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "base/json.h"
#include "base/memory.h"
#include "failing_allocator.h"
#include "scratch.h"

static void sound_text_is_parsed(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}", "[]", " {\"a\": [1, 2.5, \"x\", null, true], \"b\": {}} \n", "3", "\"text\"", "null",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        json_t *value;
        imp_error error;
        assert_int_equal(imp_json_parse(texts[i], strlen(texts[i]), &value, &error), IMP_OK);
        assert_non_null(value);
        json_decref(value);
    }

    json_t *value;
    assert_int_equal(imp_json_parse("{\"a\": 1}garbage", 8, &value, NULL), IMP_OK);
    assert_int_equal(json_integer_value(json_object_get(value, "a")), 1);
    json_decref(value);
}

static void any_bytes_become_text(void **state)
{
    (void)state;
    json_t *value = imp_json_any_text("caf\xe9 \"\u00e9\xc3");
    assert_string_equal(json_string_value(value), "caf\ufffd \"\u00e9\ufffd");
    json_decref(value);
}

static void an_interval_is_two_numbers(void **state)
{
    (void)state;
    json_t *value = imp_json_interval(0.5, NAN);
    assert_true(json_real_value(json_object_get(value, "mean")) == 0.5);
    assert_true(json_is_null(json_object_get(value, "interval")));
    assert_int_equal(json_object_size(value), 2);
    json_decref(value);
}

static void unsound_text_gets_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
        const char *sentence;
    } cases[] = {
        {"", 0, "line 1, column 0: "},
        {"{\"a\": 1,\n \"a\": 2}", 17, "line 2, column 4: duplicate object key"},
        {"{\n\"a\": 1,\n}", 11, "line 3, column 1: "},
        {"{} {}", 5, "end of file expected"},
        {"{}\0", 3, "end of file expected"},
        {"[1, 2", 5, "line 1, column 5: ']' expected"},
        {"{\"a\\u0000b\": 1}", 15, "NUL byte in object key"},
        {"[\"a\\u0000b\"]", 12, "\\u0000 is not allowed"},
        {"[\"\xff\"]", 5, "unable to decode byte 0xff"},
        {"[nan]", 5, "invalid token"},
        {"[1e999]", 7, "real number overflow"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *value;
        imp_error error = {0};
        assert_int_equal(imp_json_parse(cases[i].text, cases[i].size, &value, &error), IMP_EFORMAT);
        if (strstr(error.message, cases[i].sentence) == NULL)
            fail_msg("%s gave '%s', not '%s'", cases[i].text, error.message, cases[i].sentence);
        assert_null(value);
    }

    /* Nested deeper than any honest file, to overflow a stack. */
    char *deep = malloc(1000000);
    memset(deep, '[', 1000000);
    json_t *value;
    imp_error error;
    assert_int_equal(imp_json_parse(deep, 1000000, &value, &error), IMP_EFORMAT);
    assert_non_null(strstr(error.message, "maximum parsing depth"));
    free(deep);
}

static void values_are_saved_readably(void **state)
{
    scratch_path path = scratch_file(state, "result.json");
    const char *expected = "{\n  \"seed\": 1,\n  \"accuracy\": [\n    0.5\n  ]\n}\n";
    json_t *value = json_pack("{s:i, s:[f]}", "seed", 1, "accuracy", 0.5);
    imp_error error;
    assert_int_equal(imp_json_save(path.text, value, &error), IMP_OK);
    json_decref(value);
    assert_true(scratch_holds(path.text, expected, strlen(expected)));
    assert_int_equal(scratch_entries(state), 1);
    assert_int_equal(imp_json_save(path.text, NULL, &error), IMP_EINVAL);
    assert_true(scratch_holds(path.text, expected, strlen(expected)));
    assert_int_equal(imp_json_save("no/such/folder.json", json_null(), &error), IMP_EIO);
    assert_string_equal(error.message,
                        "cannot write 'no/such/folder.json': No such file or directory");
}

static void parsing_survives_lack_of_memory(void **state)
{
    (void)state;
    const char *text = "{\"seed\": 12345678901234567, \"values\": [1.5, \"a text of many "
                       "characters\", {\"a\": null}]}";
    json_t *expected;
    assert_int_equal(imp_json_parse(text, strlen(text), &expected, NULL), IMP_OK);
    char *whole = json_dumps(expected, JSON_COMPACT);
    json_decref(expected);
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        json_t *value;
        imp_error error;
        imp_status status = imp_json_parse(text, strlen(text), &value, &error);
        memory.fail_at = 0;
        char dump[200] = {0};
        if (status == IMP_OK)
            json_dumpb(value, dump, sizeof dump, JSON_COMPACT);
        json_decref(value);
        /* jansson takes some of its own failures for faults of the text. */
        if (failing_allocator_end(&memory))
            assert_true(status == IMP_ENOMEM || status == IMP_EFORMAT);
        else
            assert_int_equal(status, IMP_OK);
        if (status == IMP_OK)
            assert_string_equal(dump, whole);
    }
    free(whole);
}

static void saving_survives_lack_of_memory(void **state)
{
    scratch_path path = scratch_file(state, "result.json");
    scratch_write(path.text, "old", 3);
    json_t *value = json_pack("{s:i, s:[f, s]}", "seed", 1, "values", 0.5, "text");
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_status status = imp_json_save(path.text, value, NULL);
        bool failed = failing_allocator_expect(&memory, status);
        assert_int_equal(scratch_entries(state), 1);
        assert_int_equal(scratch_holds(path.text, "old", 3), failed);
    }
    json_decref(value);
}

/* The text is the library's memory, whoever allocates for jansson. */
static void texts_survive_lack_of_memory(void **state)
{
    (void)state;
    assert_null(imp_json_text(NULL));
    json_t *value = json_pack("{s:i, s:[f, s]}", "seed", 1, "values", 0.5, "text");
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        char *text = imp_json_text(value);
        bool right = text != NULL && strcmp(text, "{\"seed\":1,\"values\":[0.5,\"text\"]}") == 0;
        imp_release(text);
        assert_int_equal(right, !failing_allocator_end(&memory));
    }
    json_decref(value);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_text_is_parsed),
        cmocka_unit_test(any_bytes_become_text),
        cmocka_unit_test(an_interval_is_two_numbers),
        cmocka_unit_test(unsound_text_gets_a_sentence),
        WITH_FOLDER(values_are_saved_readably),
        cmocka_unit_test(parsing_survives_lack_of_memory),
        WITH_FOLDER(saving_survives_lack_of_memory),
        cmocka_unit_test(texts_survive_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
