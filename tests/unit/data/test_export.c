/* test_export.c - pictures come out as they were in their files, whatever happened on the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "data/dataset.h"
#include "pictures.h"
#include "scratch.h"

static void add_picture(void **state, const char *name, picture_bytes picture)
{
    scratch_path path = scratch_file(state, name);
    char *slash = strrchr(path.text, '/');
    *slash = '\0';
    make_folders(path.text);
    *slash = '/';
    picture_save(path.text, picture);
}

static imp_dataset *open_ok(const char *name, const imp_dataset_options *options)
{
    imp_dataset *dataset;
    imp_error error;
    if (imp_dataset_open(name, options, &dataset, &error) != IMP_OK)
        fail_msg("%s", error.message);
    return dataset;
}

/* Exports to a new folder, and fails unless that has the fingerprint. */
static void check_export(void **state, const imp_dataset *dataset, const char *fingerprint)
{
    scratch_path folder = scratch_file(state, "exported");
    imp_error error;
    if (imp_dataset_export(dataset, folder.text, NULL, &error) != IMP_OK)
        fail_msg("%s", error.message);
    imp_dataset *exported = open_ok(folder.text, NULL);
    assert_string_equal(imp_dataset_fingerprint(exported), fingerprint);
    imp_dataset_free(exported);
    char *text = strdup(folder.text);
    void *tree = text;
    tree_teardown(&tree);
}

/* Opens the data with and without inversion, and exports it and its pack. */
static void check_all(void **state, const char *name, imp_dataset_options options,
                      const char *fingerprint)
{
    scratch_path path = scratch_file(state, "pack");
    for (int ink = IMP_INK_OWN; ink <= IMP_INK_INVERT; ink++) {
        options.ink = (imp_ink)ink;
        imp_dataset *dataset = open_ok(name, &options);
        assert_int_equal(imp_dataset_pack(dataset, path.text, NULL), IMP_OK);
        imp_dataset *packed = open_ok(path.text, NULL);
        assert_int_equal(packed->inverted, dataset->inverted);
        assert_string_equal(packed->kind, dataset->kind);
        check_export(state, dataset, fingerprint);
        check_export(state, packed, fingerprint);
        imp_dataset_free(dataset);
        imp_dataset_free(packed);
    }
}

static void ink_is_as_it_was_in_a_folder(void **state)
{
    add_picture(state, "d/a/0.png", picture_ramp(6, 6, 10));
    add_picture(state, "d/b/0.png", picture_ramp(6, 6, 90));
    scratch_path path = scratch_file(state, "d");
    imp_dataset *as_is = open_ok(path.text, NULL);
    check_all(state, path.text, imp_dataset_defaults(), imp_dataset_fingerprint(as_is));
    imp_dataset_free(as_is);
}

static void ink_is_as_it_was_in_omniglot(void **state)
{
    add_picture(state, "d/images_background/Greek/character01/0001_01.png",
                picture_ramp(28, 28, 10));
    add_picture(state, "d/images_evaluation/Tengwar/character01/0002_01.png",
                picture_ramp(28, 28, 90));
    scratch_path path = scratch_file(state, "d");
    imp_dataset_options options = imp_dataset_defaults();
    options.ink = IMP_INK_AS_IS;
    imp_dataset *as_is = open_ok(path.text, &options);
    assert_string_equal(as_is->kind, "omniglot");
    check_all(state, path.text, options, imp_dataset_fingerprint(as_is));
    imp_dataset_free(as_is);
}

static void glyphs_are_ink_on_paper(void **state)
{
    imp_dataset_options options = imp_dataset_defaults();
    options.glyphs = (imp_glyph_options){
        .alphabets = 1, .fewest_characters = 2, .most_characters = 2, .drawings = 1};
    options.ink = IMP_INK_INVERT;
    imp_dataset *dark = open_ok("glyphs", &options);
    check_all(state, "glyphs", options, imp_dataset_fingerprint(dark));
    imp_dataset_free(dark);
}

static void names_keep_their_endings(void **state)
{
    add_picture(state, "d/a/x.png", picture_ramp(6, 6, 10));
    add_picture(state, "d/a/x.PNG", picture_ramp(6, 6, 20));
    add_picture(state, "d/a/x.jpg", picture_jpeg(6, 6, 1, 30, 0));
    add_picture(state, "d/b.png/x.jpeg", picture_jpeg(6, 6, 1, 40, 0));
    imp_dataset *dataset = open_ok(scratch_file(state, "d").text, NULL);
    imp_error error;
    if (imp_dataset_export(dataset, scratch_file(state, "e").text, NULL, &error) != IMP_OK)
        fail_msg("%s", error.message);
    imp_dataset_free(dataset);
    static const char *const names[] = {"a/x.PNG", "a/x.jpg.png", "a/x.png", "b.png/x.jpeg.png"};
    dataset = open_ok(scratch_file(state, "e").text, NULL);
    assert_int_equal(dataset->picture_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(imp_picture_name(dataset, i), names[i]);
    imp_dataset_free(dataset);
}

static void two_pictures_for_one_file_are_refused(void **state)
{
    add_picture(state, "d/a/x.jpg", picture_jpeg(6, 6, 1, 30, 0));
    add_picture(state, "d/a/x.jpg.png", picture_ramp(6, 6, 10));
    imp_dataset *dataset = open_ok(scratch_file(state, "d").text, NULL);
    scratch_path folder = scratch_file(state, "e");
    imp_error error;
    assert_int_equal(imp_dataset_export(dataset, folder.text, NULL, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "'a/x.jpg' and 'a/x.jpg.png' would both become '"));
    assert_int_equal(access(folder.text, F_OK), -1);
    imp_dataset_free(dataset);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, tree_teardown)
    const struct CMUnitTest tests[] = {
        TEST(ink_is_as_it_was_in_a_folder),
        TEST(ink_is_as_it_was_in_omniglot),
        TEST(glyphs_are_ink_on_paper),
        TEST(names_keep_their_endings),
        TEST(two_pictures_for_one_file_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
