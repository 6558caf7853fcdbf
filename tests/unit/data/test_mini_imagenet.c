/*
 * test_mini_imagenet.c - the kind mini-imagenet on made pictures in its layout and, where it is
 * there, on a hundredth of the real one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <imp/dataset.h>

#include "pictures.h"
#include "scratch.h"

static const char *const lists[] = {"train.csv", "val.csv", "test.csv"};

static scratch_path folder_of(void **state)
{
    return scratch_file(state, "d");
}

static void add_text(void **state, const char *name, const char *text)
{
    scratch_path path = scratch_file(state, name);
    scratch_write(path.text, text, strlen(text));
}

/* Two pictures of each of three classes, one for a list, named as ImageNet's are. */
static void add_lists(void **state)
{
    for (int split = 0; split < 3; split++) {
        char name[20], text[200];
        snprintf(name, sizeof name, "d/%s", lists[split]);
        snprintf(text, sizeof text, "filename,label\nn0%d0001.jpg,n0%d\nn0%d0002.jpg,n0%d\n", split,
                 split, split, split);
        add_text(state, name, text);
    }
}

static picture_bytes picture_of(int split, int index)
{
    /* the second is gray, and of another size than the rest */
    return index == 1 ? picture_jpeg(84, 84, 3, (uint8_t)(50 + 50 * split), 0)
                      : picture_jpeg(100, 60, 1, (uint8_t)(60 + 50 * split), 1);
}

static void add_archive(void **state)
{
    archive_member members[6];
    char names[6][40];
    for (int i = 0; i < 6; i++) {
        snprintf(names[i], sizeof names[i], "images/n0%d000%d.jpg", i / 2, 1 + i % 2);
        members[i] = (archive_member){names[i], picture_of(i / 2, 1 + i % 2)};
    }
    archive_save(scratch_file(state, "d/images.zip").text, "zip", members, 6);
    for (int i = 0; i < 6; i++)
        free(members[i].content.bytes);
}

static void add_folder(void **state)
{
    make_folders(scratch_file(state, "d/some/where").text);
    for (int i = 0; i < 6; i++) {
        char name[60];
        snprintf(name, sizeof name, "d/some/where/n0%d000%d.jpg", i / 2, 1 + i % 2);
        picture_save(scratch_file(state, name).text, picture_of(i / 2, 1 + i % 2));
    }
}

static imp_dataset *open_ok(const char *folder, const imp_dataset_options *options)
{
    char name[700];
    imp_dataset *dataset;
    imp_error error;
    snprintf(name, sizeof name, "mini-imagenet:%s", folder);
    if (imp_dataset_open(name, options, &dataset, &error) != IMP_OK)
        fail_msg("%s", error.message);
    assert_string_equal(imp_dataset_kind(dataset), "mini-imagenet");
    return dataset;
}

static void refuses(const char *folder, const char *sentence)
{
    char name[700];
    imp_dataset *dataset;
    imp_error error;
    snprintf(name, sizeof name, "mini-imagenet:%s", folder);
    assert_int_not_equal(imp_dataset_open(name, NULL, &dataset, &error), IMP_OK);
    assert_null(dataset);
    if (strstr(error.message, sentence) == NULL)
        fail_msg("'%s' is not in '%s'", sentence, error.message);
}

/* One class of two pictures in each split, 84 x 84 in RGB. */
static void check_made(const imp_dataset *dataset)
{
    static uint8_t pixels[3 * 84 * 84];
    assert_int_equal(imp_dataset_size(dataset), 84);
    assert_int_equal(imp_dataset_channels(dataset), 3);
    assert_int_equal(imp_dataset_classes(dataset), 3);
    assert_int_equal(imp_dataset_images(dataset), 6);
    for (size_t c = 0; c < 3; c++) {
        imp_class_info about = imp_dataset_class(dataset, c);
        assert_int_equal(about.split, c);
        assert_int_equal(about.images, 2);
        imp_dataset_image(dataset, about.first_image, pixels);
        assert_in_range(pixels[0], 48 + 50 * c, 52 + 50 * c);
        imp_dataset_image(dataset, about.first_image + 1, pixels);
        for (size_t channel = 0; channel < 3; channel++) /* gray is the same in all */
            assert_in_range(pixels[channel * 84 * 84 + 1000], 58 + 50 * c, 62 + 50 * c);
    }
}

static void an_archive_a_folder_and_a_pack(void **state)
{
    make_folders(folder_of(state).text);
    add_lists(state);
    add_archive(state);
    imp_dataset *dataset = open_ok(folder_of(state).text, NULL);
    check_made(dataset);
    char fingerprint[65];
    snprintf(fingerprint, sizeof fingerprint, "%s", imp_dataset_fingerprint(dataset));
    scratch_path pack = scratch_file(state, "d.pack");
    imp_error error;
    assert_int_equal(imp_dataset_pack(dataset, pack.text, &error), IMP_OK);
    imp_dataset_free(dataset);

    assert_int_equal(imp_dataset_open(pack.text, NULL, &dataset, &error), IMP_OK);
    assert_string_equal(imp_dataset_kind(dataset), "mini-imagenet");
    assert_string_equal(imp_dataset_fingerprint(dataset), fingerprint);
    check_made(dataset);
    imp_dataset_free(dataset);

    unlink(scratch_file(state, "d/images.zip").text);
    add_folder(state);
    dataset = open_ok(folder_of(state).text, NULL);
    assert_string_equal(imp_dataset_fingerprint(dataset), fingerprint);
    imp_dataset_free(dataset);
}

static void another_size_and_gray(void **state)
{
    make_folders(folder_of(state).text);
    add_lists(state);
    add_archive(state);
    imp_dataset_options options = imp_dataset_defaults();
    options.size = 20;
    options.channels = 1;
    imp_dataset *dataset = open_ok(folder_of(state).text, &options);
    assert_int_equal(imp_dataset_size(dataset), 20);
    assert_int_equal(imp_dataset_channels(dataset), 1);
    imp_dataset_free(dataset);
}

static void what_is_missing_is_said(void **state)
{
    refuses("/nowhere/at/all", "'/nowhere/at/all' is not mini-ImageNet: it has no train.csv");
    make_folders(folder_of(state).text);
    add_lists(state);
    refuses(folder_of(state).text,
            "n00/n000001.jpg: line 2 of train.csv names it, but there is no such picture");
    add_archive(state);
    add_text(state, "d/test.csv", "filename,label\nn000001.jpg,n00\n");
    refuses(folder_of(state).text, "the splits overlap: class 'n00' is in train");
    unlink(scratch_file(state, "d/test.csv").text);
    refuses(folder_of(state).text, "it has no test.csv; train.csv, val.csv and test.csv belong");
}

/* ---- the real one ---- */

static char shared[600];

/* Every hundredth line of a list, which leaves six pictures of each class. */
static void thin_out(void **state, const char *list)
{
    char path[700], line[200], *text;
    size_t size;
    snprintf(path, sizeof path, "%s/%s", shared, list);
    FILE *from = fopen(path, "r"), *to = open_memstream(&text, &size);
    assert_non_null(from);
    for (int i = 0; fgets(line, sizeof line, from) != NULL; i++)
        if (i == 0 || i % 100 == 1)
            fputs(line, to);
    fclose(from);
    fclose(to);
    snprintf(path, sizeof path, "d/%s", list);
    add_text(state, path, text);
    free(text);
}

static void a_hundredth_of_the_real_one(void **state)
{
    char path[700];
    make_folders(folder_of(state).text);
    snprintf(path, sizeof path, "%s/images.zip", shared);
    assert_int_equal(symlink(path, scratch_file(state, "d/images.zip").text), 0);
    for (int split = 0; split < 3; split++)
        thin_out(state, lists[split]);
    imp_dataset *dataset = open_ok(folder_of(state).text, NULL);
    size_t classes[3] = {0};
    for (size_t c = 0; c < imp_dataset_classes(dataset); c++) {
        imp_class_info about = imp_dataset_class(dataset, c);
        classes[about.split]++;
        assert_int_equal(about.images, 6);
    }
    assert_int_equal(classes[IMP_SPLIT_TRAIN], 64);
    assert_int_equal(classes[IMP_SPLIT_VALIDATION], 16);
    assert_int_equal(classes[IMP_SPLIT_TEST], 20);
    assert_int_equal(imp_dataset_images(dataset), 600);
    assert_int_equal(imp_dataset_size(dataset), 84);
    assert_int_equal(imp_dataset_channels(dataset), 3);

    /* Photographs: neither dark nor bright, and not gray. */
    static uint8_t pixels[3][84 * 84];
    double sum = 0, apart = 0;
    for (size_t i = 0; i < imp_dataset_images(dataset); i += 7) {
        imp_dataset_image(dataset, i, pixels[0]);
        for (size_t p = 0; p < sizeof pixels[0]; p++) {
            sum += pixels[1][p];
            apart += abs(pixels[0][p] - pixels[2][p]);
        }
    }
    double count = 86.0 * sizeof pixels[0];
    assert_true(sum / count > 90 && sum / count < 140);
    assert_true(apart / count > 10);
    imp_dataset_free(dataset);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, tree_teardown)
    const struct CMUnitTest made[] = {
        TEST(an_archive_a_folder_and_a_pack),
        TEST(another_size_and_gray),
        TEST(what_is_missing_is_said),
    };
    int failed = cmocka_run_group_tests(made, NULL, NULL);
    if (failed)
        return failed;
    const char *place = getenv("IMP_SHARED");
    snprintf(shared, sizeof shared, "%s/data/mini-imagenet", place != NULL ? place : "../shared");
    char path[700];
    snprintf(path, sizeof path, "%s/images.zip", shared);
    if (access(path, R_OK) != 0) {
        printf("skipped: there is no mini-ImageNet in %s\n", shared);
        return 77;
    }
    const struct CMUnitTest real[] = {TEST(a_hundredth_of_the_real_one)};
    return cmocka_run_group_tests(real, NULL, NULL);
}
