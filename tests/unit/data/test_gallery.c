/*
 * test_gallery.c - pictures are found wherever they are and read as they are wanted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/gallery.h"
#include "failing_allocator.h"
#include "pictures.h"
#include "scratch.h"

/* Writes a picture, the folders before it too. */
static void put(void **state, const char *name, picture_bytes picture)
{
    scratch_path path = scratch_file(state, name);
    char *slash = strrchr(path.text, '/');
    *slash = '\0';
    make_folders(path.text);
    *slash = '/';
    picture_save(path.text, picture);
}

static void put_all(void **state)
{
    static const char *const names[] = {"all/b/2.png",          "all/b/1.PNG",
                                        "all/a b/3.png",        "all/a/deep/er/4.png",
                                        "all/_unlabeled/5.png", "all/6.png"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put(state, names[i], picture_ramp(3, 3, (uint8_t)(10 * i)));
    put(state, "all/b/7.jpeg", picture_jpeg(5, 2, 3, 200, 0));
    scratch_write(scratch_file(state, "all/b/notes.txt").text, "not a picture", 13);
    scratch_write(scratch_file(state, "all/b/8.SVG").text, "none that is read", 17);
}

/* What the gallery calls the picture, below the scratch folder. */
static const char *name_of(void **state, const imp_gallery *gallery, size_t picture)
{
    return gallery->pictures[picture].path + strlen(*state) + 1;
}

static void folders_are_classes(void **state)
{
    put_all(state);
    imp_gallery gallery = {0};
    imp_error error;
    if (imp_gallery_add_classes(&gallery, scratch_file(state, "all//").text, &error) != IMP_OK)
        fail_msg("%s", error.message);
    static const struct {
        const char *name;
        int32_t class;
    } expected[] = {
        {"all/6.png", -1},          {"all/_unlabeled/5.png", -1}, {"all/a b/3.png", 0},
        {"all/a/deep/er/4.png", 1}, {"all/b/1.PNG", 2},           {"all/b/2.png", 2},
        {"all/b/7.jpeg", 2},
    };
    assert_int_equal(gallery.count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < gallery.count; i++) {
        assert_string_equal(name_of(state, &gallery, i), expected[i].name);
        assert_int_equal(gallery.pictures[i].class, expected[i].class);
    }
    assert_int_equal(gallery.passed_count, 1);
    assert_non_null(strstr(gallery.passed_over[0], "all/b/8.SVG"));
    assert_int_equal(gallery.class_count, 3);
    assert_string_equal(gallery.classes[0], "a b");
    assert_string_equal(gallery.classes[1], "a");
    assert_string_equal(gallery.classes[2], "b");
    imp_gallery_clear(&gallery);
}

static void files_and_folders_mix(void **state)
{
    put_all(state);
    imp_gallery gallery = {0};
    /* What is named itself is taken whatever it is called. */
    assert_int_equal(imp_gallery_add(&gallery, scratch_file(state, "all/b/notes.txt").text, NULL),
                     IMP_OK);
    assert_int_equal(imp_gallery_add(&gallery, scratch_file(state, "all/b").text, NULL), IMP_OK);
    assert_int_equal(gallery.count, 4);
    assert_string_equal(name_of(state, &gallery, 0), "all/b/notes.txt");
    assert_string_equal(name_of(state, &gallery, 1), "all/b/1.PNG");
    assert_int_equal(gallery.pictures[3].class, -1);
    for (size_t i = 0; i < 40; i++) /* beyond the first room */
        assert_int_equal(imp_gallery_add(&gallery, scratch_file(state, "all").text, NULL), IMP_OK);
    assert_int_equal(gallery.count, 4 + 40 * 7);
    imp_gallery_clear(&gallery);
}

static void what_is_not_there_is_a_sentence(void **state)
{
    imp_gallery gallery = {0};
    imp_error error;
    assert_int_equal(imp_gallery_add(&gallery, "/no/such", &error), IMP_EIO);
    assert_string_equal(error.message, "cannot read '/no/such': No such file or directory");
    scratch_write(scratch_file(state, "file").text, "x", 1);
    assert_int_equal(imp_gallery_add_classes(&gallery, scratch_file(state, "file").text, &error),
                     IMP_EINVAL);
    assert_non_null(strstr(error.message, "' is neither a folder"));
    make_folders(scratch_file(state, "empty").text);
    assert_int_equal(imp_gallery_add(&gallery, scratch_file(state, "empty").text, &error),
                     IMP_EINVAL);
    assert_non_null(strstr(error.message, "there are no pictures (.png, .jpg, .jpeg"));
    imp_gallery_clear(&gallery);
}

static void pictures_are_read_as_wanted(void **state)
{
    put(state, "p/dark.png", picture_ramp(4, 4, 10));
    put(state, "p/light.png", picture_ramp(4, 4, 240));
    imp_gallery gallery = {0};
    assert_int_equal(imp_gallery_add(&gallery, scratch_file(state, "p").text, NULL), IMP_OK);
    static const uint8_t first[][2] = {{10, 240}, {245, 15}, {10, 15}};
    for (int inversion = IMP_INVERT_NONE; inversion <= IMP_INVERT_LIGHT; inversion++)
        for (int threads = 1; threads <= 2; threads++) {
            imp_picture_format format = {4, 1, (imp_inversion)inversion};
            uint8_t planes[2][16];
            assert_int_equal(imp_gallery_read(&gallery, 0, 2, &format, threads, planes[0], NULL),
                             IMP_OK);
            assert_int_equal(planes[0][0], first[inversion][0]);
            assert_int_equal(planes[1][0], first[inversion][1]);
        }
    imp_picture_format small = {2, 3, IMP_INVERT_NONE};
    uint8_t planes[12];
    assert_int_equal(imp_gallery_read(&gallery, 1, 1, &small, 1, planes, NULL), IMP_OK);
    assert_int_equal(planes[0], 241); /* the mean of 240, 241, 241 and 242 */
    assert_int_equal(planes[8], planes[0]);
    imp_gallery_clear(&gallery);
}

static void a_broken_picture_has_a_fault_and_can_be_dropped(void **state)
{
    put(state, "p/1.png", picture_ramp(2, 2, 0));
    put(state, "p/3.png", picture_ramp(2, 2, 30));
    scratch_write(scratch_file(state, "p/2.png").text, "text", 4);
    imp_gallery gallery = {0};
    assert_int_equal(imp_gallery_add(&gallery, scratch_file(state, "p").text, NULL), IMP_OK);
    assert_null(imp_gallery_fault(&gallery));
    imp_picture_format format = {2, 1, IMP_INVERT_NONE};
    uint8_t planes[3][4];
    assert_int_equal(imp_gallery_read(&gallery, 0, 3, &format, 2, planes[0], NULL), IMP_OK);
    assert_int_equal(planes[2][0], 30);
    const imp_fault *fault = imp_gallery_fault(&gallery);
    assert_non_null(fault);
    assert_int_equal(fault->status, IMP_EFORMAT);
    assert_non_null(strstr(fault->sentence, "p/2.png: the file is not a picture of a known kind "
                                            "(PNG, JPEG, WebP, HEIF, TIFF, GIF, BMP)"));
    imp_gallery_drop_broken(&gallery);
    assert_int_equal(gallery.count, 2);
    assert_string_equal(name_of(state, &gallery, 1), "p/3.png");
    assert_null(imp_gallery_fault(&gallery));
    imp_gallery_clear(&gallery);
}

/* The same pictures as members of an archive, below one folder named as it is. */
static scratch_path pack(void **state, const char *name, const char *format)
{
    archive_member members[] = {
        {"all/b/2.png", picture_ramp(3, 3, 0)},   {"all/b/1.png", picture_ramp(3, 3, 50)},
        {"all/a/4.png", picture_ramp(3, 3, 100)}, {"all/6.png", picture_ramp(3, 3, 150)},
        {"all/a/7.svg", picture_ramp(3, 3, 150)},
    };
    scratch_path path = scratch_file(state, name);
    archive_save(path.text, format, members, sizeof members / sizeof *members);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        free(members[i].content.bytes);
    return path;
}

static void archives_are_folders(void **state)
{
    static const char *const formats[] = {"zip", "tar", "tar.gz"};
    for (size_t i = 0; i < 3; i++) {
        char name[20];
        snprintf(name, sizeof name, "x.%s", formats[i]);
        scratch_path path = pack(state, name, formats[i]);
        imp_gallery gallery = {0};
        imp_error error;
        if (imp_gallery_add_classes(&gallery, path.text, &error) != IMP_OK)
            fail_msg("%s", error.message);
        assert_int_equal(gallery.count, 4);
        assert_int_equal(gallery.class_count, 2);
        assert_string_equal(gallery.classes[0], "a");
        assert_string_equal(gallery.classes[1], "b");
        assert_int_equal(gallery.pictures[0].class, -1);
        assert_int_equal(gallery.pictures[3].class, 1);
        assert_int_equal(gallery.passed_count, 1);
        assert_non_null(strstr(gallery.pictures[3].path, "all/b/2.png"));
        imp_picture_format format = {3, 1, IMP_INVERT_NONE};
        uint8_t planes[4][9];
        assert_int_equal(imp_gallery_read(&gallery, 0, 4, &format, 2, planes[0], NULL), IMP_OK);
        assert_null(imp_gallery_fault(&gallery));
        static const uint8_t starts[] = {150, 100, 50, 0}; /* 6, 4, 1, 2 */
        for (size_t k = 0; k < 4; k++)
            assert_int_equal(planes[k][8], starts[k] + 4);
        imp_gallery_clear(&gallery);

        gallery = (imp_gallery){.any = true}; /* with what is no picture */
        assert_int_equal(imp_gallery_add(&gallery, path.text, NULL), IMP_OK);
        assert_int_equal(gallery.count, 5);
        assert_int_equal(gallery.class_count, 0);
        imp_gallery_clear(&gallery);
    }
}

static void memory_may_run_out_in_archives(void **state)
{
    scratch_path path = pack(state, "x.zip", "zip");
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_gallery gallery = {0};
        imp_picture_format format = {2, 1, IMP_INVERT_NONE};
        uint8_t planes[5][4];
        imp_status status = imp_gallery_add_classes(&gallery, path.text, NULL);
        if (status == IMP_OK)
            status = imp_gallery_read(&gallery, 0, gallery.count, &format, 1, planes[0], NULL);
        imp_gallery_clear(&gallery);
        /* Without memory to keep it an archive is read again. */
        bool failed = failing_allocator_end(&memory);
        assert_true(status == IMP_OK || (status == IMP_ENOMEM && failed));
    }
}

static void memory_may_run_out_anywhere(void **state)
{
    put_all(state);
    scratch_path folder = scratch_file(state, "all");
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_gallery gallery = {0};
        imp_picture_format format = {2, 1, IMP_INVERT_NONE};
        uint8_t planes[7][4];
        imp_status status = imp_gallery_add_classes(&gallery, folder.text, NULL);
        if (status == IMP_OK)
            status = imp_gallery_read(&gallery, 0, gallery.count, &format, 1, planes[0], NULL);
        imp_gallery_clear(&gallery);
        failing_allocator_expect(&memory, status);
    }
}

int main(void)
{
#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_setup, tree_teardown)
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(folders_are_classes),
        IN_A_FOLDER(files_and_folders_mix),
        IN_A_FOLDER(what_is_not_there_is_a_sentence),
        IN_A_FOLDER(pictures_are_read_as_wanted),
        IN_A_FOLDER(a_broken_picture_has_a_fault_and_can_be_dropped),
        IN_A_FOLDER(archives_are_folders),
        IN_A_FOLDER(memory_may_run_out_in_archives),
        IN_A_FOLDER(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
