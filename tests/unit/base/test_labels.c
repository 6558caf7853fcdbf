/* test_labels.c - labels of every kind a file may hold, and files that hold none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/labels.h"
#include "failing_allocator.h"
#include "scratch.h"

/* A .npy file of that type and shape with that data; free with free(). */
static unsigned char *npy(const char *descr, const char *shape, const void *data, size_t bytes,
                          size_t *size)
{
    char header[200];
    int length = snprintf(header, sizeof header,
                          "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
    unsigned char *file = malloc(10 + (size_t)length + bytes);
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (unsigned char)length;
    file[9] = 0;
    memcpy(file + 10, header, (size_t)length);
    memcpy(file + 10 + length, data, bytes);
    *size = 10 + (size_t)length + bytes;
    return file;
}

/* The numbers, a bar, the names: "0 1 -1|cat dog"; or the sentence. */
static const char *told(const unsigned char *bytes, size_t size)
{
    static char text[600];
    imp_labels labels;
    imp_error error;
    if (imp_labels_parse(bytes, size, &labels, &error)) {
        assert_null(labels.label);
        snprintf(text, sizeof text, "%s", error.message);
        return text;
    }
    text[0] = '\0';
    for (size_t i = 0; i < labels.count; i++)
        sprintf(text + strlen(text), "%s%d", i ? " " : "", (int)labels.label[i]);
    strcat(text, "|");
    for (size_t c = 0; c < labels.classes; c++)
        sprintf(text + strlen(text), "%s%s", c ? " " : "", labels.names[c]);
    if (labels.integers)
        strcat(text, "|integers");
    imp_labels_clear(&labels);
    return text;
}

static const char *told_npy(const char *descr, const char *shape, const void *data, size_t bytes)
{
    size_t size;
    unsigned char *file = npy(descr, shape, data, bytes, &size);
    const char *text = told(file, size);
    free(file);
    return text;
}

static void integers_and_gaps(void **state)
{
    (void)state;
    const int64_t wide[] = {7, 3, -1, 7, 20000000000};
    assert_string_equal(told_npy("<i8", "(5,)", wide, sizeof wide),
                        "1 0 -1 1 2|3 7 20000000000|integers");
    const int8_t narrow[] = {1, 0, -1}, below[] = {1, -5};
    assert_string_equal(told_npy("|i1", "(3,)", narrow, 3), "1 0 -1|0 1|integers");
    assert_string_equal(told_npy("|i1", "(2,)", below, 2),
                        "label 1 is -5; labels are 0 or more, and -1 means no label");
    const uint8_t flags[] = {1, 0, 1};
    assert_string_equal(told_npy("|b1", "(3,)", flags, 3), "1 0 1|0 1|integers");
    assert_string_equal(told_npy("<i8", "(0,)", wide, 0), "||integers");
}

/* More values than are merged at once, none in order, each at least once. */
static void many_values_are_numbered_by_value(void **state)
{
    (void)state;
    enum { VALUES = 4999, COUNT = 3 * VALUES };
    int64_t *values = malloc(COUNT * sizeof *values);
    for (size_t i = 0; i < COUNT; i++)
        values[i] = (int64_t)(i * 3001 % VALUES) * 10 + 5;
    size_t size;
    unsigned char *file = npy("<i8", "(14997,)", values, COUNT * sizeof *values, &size);
    imp_labels labels;
    assert_int_equal(imp_labels_parse(file, size, &labels, NULL), IMP_OK);
    assert_int_equal(labels.classes, VALUES);
    for (size_t c = 0; c < VALUES; c++)
        assert_int_equal(strtoll(labels.names[c], NULL, 10), 10 * c + 5);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(labels.label[i], values[i] / 10);
    imp_labels_clear(&labels);
    free(file);
    free(values);
}

static void texts_of_numpy(void **state)
{
    (void)state;
    const uint32_t wide[] = {'d', 'o', 'g', 0x20ac, 0, 0, 0xe9, 0, 0, 'd', 'o', 'g', 0, 0, 0};
    assert_string_equal(told_npy("<U3", "(5,)", wide, sizeof wide),
                        "0 2 1 0 -1|dog \xc3\xa9 \xe2\x82\xac");
    assert_string_equal(told_npy("|S3", "(3,)", "cat\0\0\0ab\0", 9), "1 -1 0|ab cat");
    assert_string_equal(told_npy("|S2", "(1,)", "\xff\xfe", 2), "label 0 is not valid UTF-8");
    assert_string_equal(told_npy("|S3", "(1,)", "a\0b", 3), "label 0 is not valid UTF-8");
    const uint32_t surrogate[] = {0xd800};
    assert_string_equal(told_npy("<U1", "(1,)", surrogate, 4), "label 0 is not valid Unicode");
    assert_non_null(strstr(told_npy("<U1", "(2,)", surrogate, 4), "are not 2 texts of 1"));
    assert_non_null(strstr(told_npy("<U1", "(1, 1)", surrogate, 4), "one per point"));
}

static void lines(void **state)
{
    (void)state;
    const struct {
        const char *text, *expected;
    } cases[] = {
        {"", "|"},
        {"cat\ndog\ncat\n", "0 1 0|cat dog"},
        {"cat\r\n\r\ndog", "0 -1 1|cat dog"},
        {"10\n9\n-1\n\n9\n", "1 0 -1 -1 0|9 10|integers"},
        {"10\nnine\n", "0 1|10 nine"},
        {"with a blank\n\xc3\xa9\n", "0 1|with a blank \xc3\xa9"},
        {"\xff\n", "it is neither a .npy file nor text in UTF-8, a line for each label"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(told((const unsigned char *)cases[i].text, strlen(cases[i].text)),
                            cases[i].expected);
    assert_non_null(strstr(told((const unsigned char *)"a\0b", 3), "neither"));
}

static void other_files_get_a_sentence(void **state)
{
    (void)state;
    const float floats[] = {0, 1};
    assert_string_equal(told_npy("<f4", "(2,)", floats, 8),
                        "it holds float32 of shape (2,); labels are integers or texts, one per "
                        "point");
    assert_non_null(strstr(told_npy("|O", "(2,)", floats, 8), "Python objects"));
    assert_non_null(strstr(told_npy("<i4", "(1, 2)", floats, 8), "one per point"));
    assert_non_null(strstr(told((const unsigned char *)"PK\3\4....", 8), "(.npz)"));
    imp_labels labels;
    imp_error error;
    assert_int_equal(imp_labels_read("no/such.npy", &labels, &error), IMP_EIO);
}

static void an_endless_file_is_read_only_at_its_beginning(void **state)
{
    (void)state;
    imp_labels labels;
    imp_error error;
    assert_int_equal(imp_labels_read("/dev/zero", &labels, &error), IMP_EFORMAT);
    assert_non_null(strstr(error.message, "/dev/zero"));
}

static void classes_are_renumbered(void **state)
{
    (void)state;
    const char *text = "dog\nbird\n\ncat\n", *const known[] = {"cat", "dog"};
    imp_labels labels;
    assert_int_equal(imp_labels_parse((const unsigned char *)text, strlen(text), &labels, NULL),
                     IMP_OK);
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_status status = imp_labels_renumber(&labels, known, 2, NULL);
        if (failing_allocator_expect(&memory, status))
            assert_string_equal(labels.names[labels.label[0]], "dog");
    }
    const int32_t expected[] = {1, 2, -1, 0};
    assert_memory_equal(labels.label, expected, sizeof expected);
    assert_int_equal(labels.classes, 3);
    assert_string_equal(labels.names[2], "bird");
    assert_int_equal(imp_name_find((const char *const *)labels.names, 3, "dog"), 1);
    assert_int_equal(imp_name_find((const char *const *)labels.names, 3, "cow"), -1);
    imp_labels_clear(&labels);
    assert_true(imp_names_are_numbers((const char *const[]){"0", "1"}, 2));
    assert_false(imp_names_are_numbers((const char *const[]){"1", "2"}, 2));
}

/* What is written is read again, from each kind of file. */
static void classes_are_written(void **state)
{
    const char *const texts[] = {"3\n7\n", "cat\n\xc3\xa9l\xe2\x82\xac\n"};
    const char *const ends[] = {"y.npy", "y.txt"};
    const int32_t answer[] = {1, -1, 0, 1};
    for (size_t t = 0; t < 2; t++)
        for (size_t e = 0; e < 2; e++) {
            scratch_path path = scratch_file(state, ends[e]);
            imp_labels names, again;
            imp_error error;
            assert_int_equal(
                imp_labels_parse((const unsigned char *)texts[t], strlen(texts[t]), &names, NULL),
                IMP_OK);
            assert_int_equal(imp_labels_save(path.text, answer, 4, &names, &error), IMP_OK);
            if (imp_labels_read(path.text, &again, &error))
                fail_msg("%s", error.message);
            assert_int_equal(again.integers, t == 0);
            assert_memory_equal(again.label, answer, sizeof answer);
            assert_string_equal(again.names[1], names.names[1]);
            imp_labels_clear(&names);
            imp_labels_clear(&again);
        }
}

static void reading_survives_lack_of_memory(void **state)
{
    (void)state;
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_labels labels;
        imp_status status = imp_labels_parse((const unsigned char *)"b\na\n", 4, &labels, NULL);
        imp_labels_clear(&labels);
        failing_allocator_expect(&memory, status);
    }
    failing_allocator other = {0};
    while (failing_allocator_next(&other)) {
        imp_labels labels;
        imp_status status = imp_labels_parse((const unsigned char *)"2\n1\n", 4, &labels, NULL);
        imp_labels_clear(&labels);
        failing_allocator_expect(&other, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_and_gaps),
        cmocka_unit_test(many_values_are_numbered_by_value),
        cmocka_unit_test(texts_of_numpy),
        cmocka_unit_test(lines),
        cmocka_unit_test(other_files_get_a_sentence),
        cmocka_unit_test(an_endless_file_is_read_only_at_its_beginning),
        cmocka_unit_test(classes_are_renumbered),
        cmocka_unit_test_setup_teardown(classes_are_written, scratch_setup, scratch_teardown),
        cmocka_unit_test(reading_survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
