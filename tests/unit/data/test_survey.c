/*
 * test_survey.c - a folder and its archive are counted alike, and a sample tells drawings from
 * photographs.
 */
#include <png.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/survey.h"
#include "failing_allocator.h"
#include "pictures.h"
#include "scratch.h"

enum { SIDE = 4 };

/* An RGB picture of one colour. */
static picture_bytes plain(uint8_t red, uint8_t green, uint8_t blue)
{
    uint8_t rows[SIDE * SIDE * 3];
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        rows[3 * i] = red;
        rows[3 * i + 1] = green;
        rows[3 * i + 2] = blue;
    }
    return picture_png(SIDE, SIDE, PNG_COLOR_TYPE_RGB, 8, 0, 0, rows);
}

static void put(void **state, const char *name, picture_bytes picture)
{
    scratch_path path = scratch_file(state, name);
    char *slash = strrchr(path.text, '/');
    *slash = '\0';
    make_folders(path.text);
    *slash = '/';
    picture_save(path.text, picture);
}

static imp_survey survey_of(const char *path)
{
    imp_survey survey;
    imp_error error;
    if (imp_survey_make(&survey, path, &error) != IMP_OK)
        fail_msg("%s", error.message);
    return survey;
}

static void classes_are_counted(void **state)
{
    put(state, "d/a/1.png", plain(0, 0, 0));
    put(state, "d/a/2.png", plain(0, 0, 0));
    put(state, "d/a b/1.png", plain(0, 0, 0));
    put(state, "d/c/1.png", plain(0, 0, 0));
    put(state, "d/c/2.png", plain(0, 0, 0));
    put(state, "d/c/3.png", plain(0, 0, 0));
    scratch_write(scratch_file(state, "d/c/4.txt").text, "x", 1);
    put(state, "d/beside.png", plain(255, 0, 0));
    put(state, "d/_unlabeled/far/down/1.png", plain(255, 0, 0));
    make_folders(scratch_file(state, "d/none/at/all").text);
    make_folders(scratch_file(state, "d/c/none").text);
    imp_survey survey = survey_of(scratch_file(state, "d").text);
    assert_int_equal(survey.pictures, 6);
    assert_int_equal(survey.classes, 3);
    assert_int_equal(survey.super_classes, 0);
    assert_int_equal(survey.smallest, 1);
    assert_string_equal(survey.smallest_class, "a b");
    assert_int_equal(survey.largest, 3);
    assert_int_equal(survey.unlabeled, 2);
    assert_int_equal(survey.empty, 2);
    assert_string_equal(survey.first_empty, "c/none");
    assert_false(survey.coloured);
    assert_false(survey.on_light);
}

static void archives_and_super_classes_too(void **state)
{
    picture_bytes one = plain(200, 40, 40);
    const archive_member members[] = {
        {"Greek/a/1.png", one}, {"Greek/b/1.png", one}, {"Latin/a/1.png", one}};
    scratch_path path = scratch_file(state, "d.zip");
    archive_save(path.text, "zip", members, 3);
    imp_survey survey = survey_of(path.text);
    assert_int_equal(survey.classes, 3);
    assert_int_equal(survey.super_classes, 2);
    assert_int_equal(survey.smallest, 1);
    assert_true(survey.coloured);
    free(one.bytes);
}

static void a_sample_tells_the_kind(void **state)
{
    /* Yellowed paper is no colour, and one photograph among drawings changes nothing. */
    for (int i = 0; i < 200; i++) {
        char name[40];
        snprintf(name, sizeof name, "d/a/%03d.png", i);
        put(state, name, i == 60 ? plain(10, 90, 10) : plain(250, 245, 238));
    }
    scratch_write(scratch_file(state, "d/a/000.png").text, "broken", 6);
    imp_survey survey = survey_of(scratch_file(state, "d").text);
    assert_int_equal(survey.pictures, 200);
    assert_false(survey.coloured);
    assert_true(survey.on_light);
}

static void nothing_is_counted_as_nothing(void **state)
{
    make_folders(scratch_file(state, "empty").text);
    imp_survey survey = survey_of(scratch_file(state, "empty").text);
    assert_int_equal(survey.pictures, 0);
    assert_int_equal(survey.classes, 0);
    imp_error error;
    assert_int_equal(imp_survey_make(&survey, "/no/such", &error), IMP_EIO);
}

static void a_folder_is_told_from_other_data(void **state)
{
    const char *path;
    assert_true(imp_names_folder("folder:anything", &path));
    assert_string_equal(path, "anything");
    assert_false(imp_names_folder("omniglot:x", &path));
    assert_false(imp_names_folder("glyphs", &path));
    make_folders(scratch_file(state, "d/images_background").text);
    assert_false(imp_names_folder(scratch_file(state, "d").text, &path));
    make_folders(scratch_file(state, "e/cats").text);
    assert_true(imp_names_folder(scratch_file(state, "e").text, &path));
}

static void memory_may_run_out_anywhere(void **state)
{
    put(state, "d/a/1.png", plain(0, 0, 0));
    scratch_path path = scratch_file(state, "d");
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_survey survey;
        imp_status status = imp_survey_make(&survey, path.text, NULL);
        /* A picture of the sample that cannot be decoded tells nothing, whatever the reason. */
        if (failing_allocator_end(&memory))
            assert_true(status == IMP_ENOMEM || (status == IMP_OK && survey.pictures == 1));
        else
            assert_int_equal(status, IMP_OK);
    }
}

int main(void)
{
#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_setup, tree_teardown)
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(classes_are_counted),
        IN_A_FOLDER(archives_and_super_classes_too),
        IN_A_FOLDER(a_sample_tells_the_kind),
        IN_A_FOLDER(nothing_is_counted_as_nothing),
        IN_A_FOLDER(a_folder_is_told_from_other_data),
        IN_A_FOLDER(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
