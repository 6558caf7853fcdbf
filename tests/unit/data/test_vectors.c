/* test_vectors.c - sets of vectors: what they become, how they are split, and what they are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include <imp/episode.h>

#include "base/npy.h"
#include "data/dataset.h"
#include "failing_allocator.h"
#include "scratch.h"

enum { POINTS = 60, D = 3 };

typedef struct set {
    float x[POINTS][D];
    scratch_path points, labels;
    char name[1200];
} set;

/* Points that say which they are, with labels from a text. */
static set make_set(void **state, const char *label_of(size_t))
{
    set s = {.points = scratch_file(state, "x.npy"), .labels = scratch_file(state, "y.txt")};
    char text[POINTS * 12] = "";
    for (size_t i = 0; i < POINTS; i++) {
        for (size_t j = 0; j < D; j++)
            s.x[i][j] = (float)(10 * i + j);
        strcat(text, label_of(i));
        strcat(text, "\n");
    }
    imp_array array = {
        .dtype = IMP_FLOAT32, .rank = 2, .shape = {POINTS, D}, .count = POINTS * D, .data = s.x};
    assert_int_equal(imp_npy_save(s.points.text, &array, NULL), IMP_OK);
    scratch_write(s.labels.text, text, strlen(text));
    snprintf(s.name, sizeof s.name, "vectors:%s,%s", s.points.text, s.labels.text);
    return s;
}

/* Three classes and a few points without a label. */
static const char *few(size_t i)
{
    static const char *const names[] = {"dog", "cat", "bird"};
    return i % 10 == 9 ? "" : names[i % 3];
}

static const char *many(size_t i)
{
    static char name[8];
    snprintf(name, sizeof name, "%zu", i % 30);
    return name;
}

static imp_dataset *open_ok(const char *name, const char *split)
{
    imp_dataset *dataset;
    imp_error error;
    imp_dataset_options options = imp_dataset_defaults();
    options.split = split;
    if (imp_dataset_open(name, &options, &dataset, &error) != IMP_OK)
        fail_msg("%s", error.message);
    return dataset;
}

static void refuses(const char *name, imp_dataset_options options, const char *sentence)
{
    imp_dataset *dataset;
    imp_error error;
    assert_int_not_equal(imp_dataset_open(name, &options, &dataset, &error), IMP_OK);
    assert_null(dataset);
    if (strstr(error.message, sentence) == NULL)
        fail_msg("'%s' is not in '%s'", sentence, error.message);
}

/* Every point is in a class of its label, with its own numbers. */
static void check_points(const imp_dataset *dataset, const char *label_of(size_t))
{
    bool seen[POINTS] = {false};
    for (size_t c = 0; c < imp_dataset_classes(dataset); c++) {
        imp_class_info about = imp_dataset_class(dataset, c);
        for (size_t i = 0; i < about.images; i++) {
            const float *row = imp_dataset_vector(dataset, about.first_image + i);
            size_t point = (size_t)row[0] / 10;
            size_t length = strlen(label_of(point));
            assert_true(point < POINTS && !seen[point] && row[2] == row[0] + 2);
            assert_memory_equal(about.name, label_of(point), length);
            assert_true(about.name[length] == '\0' || about.name[length] == '@');
            seen[point] = true;
            char name[100];
            imp_dataset_image_name(dataset, about.first_image + i, name, sizeof name);
            assert_int_equal(imp_dataset_find_image(dataset, name), about.first_image + i);
        }
    }
    for (size_t i = 0; i < POINTS; i++)
        assert_int_equal(seen[i], label_of(i)[0] != '\0');
}

/* 32-bit floats stay in their files, shard by shard; other numbers are read. Both are the same set.
 */
static void floats_stay_where_they_are(void **state)
{
    set s = make_set(state, few);
    scratch_path folder = scratch_file(state, "parts");
    assert_int_equal(mkdir(folder.text, 0777), 0);
    static const size_t ends[] = {0, 1, 1, 40, POINTS};
    double wide[POINTS][D];
    for (size_t p = 0; p + 1 < sizeof ends / sizeof *ends; p++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%zu.npy", folder.text, p);
        imp_array part = {.dtype = IMP_FLOAT32,
                          .rank = 2,
                          .shape = {ends[p + 1] - ends[p], D},
                          .count = (ends[p + 1] - ends[p]) * D,
                          .data = s.x[ends[p]]};
        assert_int_equal(imp_npy_save(path, &part, NULL), IMP_OK);
    }
    for (size_t i = 0; i < POINTS; i++)
        for (size_t j = 0; j < D; j++)
            wide[i][j] = s.x[i][j];
    char shards[1300];
    snprintf(shards, sizeof shards, "vectors:%s,%s", folder.text, s.labels.text);
    imp_dataset *one = open_ok(s.name, NULL), *many_files = open_ok(shards, NULL);
    assert_int_equal(one->vector_map.count, 1);
    assert_int_equal(many_files->vector_map.count, 3); /* one shard is empty */
    assert_null(many_files->owned_vectors);
    check_points(one, few);
    check_points(many_files, few);
    imp_array array = {
        .dtype = IMP_FLOAT64, .rank = 2, .shape = {POINTS, D}, .count = POINTS * D, .data = wide};
    assert_int_equal(imp_npy_save(s.points.text, &array, NULL), IMP_OK);
    imp_dataset *loaded = open_ok(s.name, NULL);
    assert_int_equal(loaded->vector_map.count, 0);
    check_points(loaded, few);
    assert_string_equal(loaded->fingerprint_text, many_files->fingerprint_text);
    assert_string_equal(loaded->fingerprint_text, one->fingerprint_text);
    imp_dataset_free(one);
    imp_dataset_free(many_files);
    imp_dataset_free(loaded);
}

static void few_classes_are_split_by_points(void **state)
{
    set s = make_set(state, few);
    imp_dataset *dataset = open_ok(s.name, NULL);
    assert_string_equal(imp_dataset_kind(dataset), "vectors");
    assert_int_equal(imp_dataset_size(dataset), 1);
    assert_int_equal(imp_dataset_channels(dataset), D);
    assert_int_equal(imp_dataset_images(dataset), 54);
    assert_int_equal(dataset->unlabeled, 6);
    assert_int_equal(imp_dataset_classes(dataset), 9);
    assert_string_equal(imp_dataset_class(dataset, 0).name, "bird");
    assert_string_equal(imp_dataset_class(dataset, 1).name, "bird@test");
    assert_int_equal(imp_dataset_class(dataset, 1).split, IMP_SPLIT_TEST);
    assert_int_equal(imp_dataset_class(dataset, 2).split, IMP_SPLIT_VALIDATION);
    check_points(dataset, few);

    imp_dataset *other = open_ok(s.name, "points:0.5/0.5/0");
    assert_int_equal(imp_dataset_classes(other), 6);
    check_points(other, few);
    assert_string_equal(imp_dataset_fingerprint(dataset), imp_dataset_fingerprint(other));
    imp_dataset_free(other);
    imp_dataset_free(dataset);
}

static void many_classes_are_split_by_classes(void **state)
{
    set s = make_set(state, many);
    imp_dataset *dataset = open_ok(s.name, NULL);
    size_t counts[4] = {0};
    assert_int_equal(imp_dataset_classes(dataset), 30);
    for (size_t c = 0; c < 30; c++)
        counts[imp_dataset_class(dataset, c).split]++;
    assert_int_equal(counts[IMP_SPLIT_TRAIN], 19);
    assert_int_equal(counts[IMP_SPLIT_TEST], 6);
    check_points(dataset, many);
    imp_dataset_free(dataset);
    dataset = open_ok(s.name, "classes:1/0/0");
    for (size_t c = 0; c < 30; c++)
        assert_int_equal(imp_dataset_class(dataset, c).split, IMP_SPLIT_TRAIN);
    imp_dataset_free(dataset);
}

/* Some sort otherwise as classes, before a '/', than as words. */
static const char *similar(size_t i)
{
    static const char *const names[] = {"a", "a-b", "ab", "a.b", "a0", "B"};
    return names[i % 6];
}

static void points_have_names_in_their_order(void **state)
{
    static const char *const classes[] = {"B", "a-b", "a.b", "a", "a0", "ab"};
    set s = make_set(state, similar);
    imp_dataset *dataset = open_ok(s.name, "classes:1/0/0");
    char name[100], before[100] = "";
    for (size_t c = 0; c < 6; c++)
        assert_string_equal(imp_dataset_class(dataset, c).name, classes[c]);
    for (size_t i = 0; i < POINTS; i++) {
        imp_dataset_image_name(dataset, i, name, sizeof name);
        assert_true(strcmp(before, name) < 0);
        strcpy(before, name);
    }
    imp_dataset_image_name(dataset, 11, name, sizeof name);
    assert_string_equal(name, "a-b/07");
    assert_int_equal(imp_dataset_find_image(dataset, "a-b/07"), 11);
    static const char *const unknown[] = {"a-b/08", "a-b/7", "a-b/007", "a-b/7x", "a-b",
                                          "07",     "/07",   "",        "c/07",   "a-b/60"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_int_equal(imp_dataset_find_image(dataset, unknown[i]), POINTS);
    imp_dataset_free(dataset);
}

static void an_episode_holds_the_vectors(void **state)
{
    set s = make_set(state, many);
    imp_dataset *dataset = open_ok(s.name, NULL);
    imp_episode_options options = imp_episode_defaults();
    options.way = 4;
    options.shot = options.queries = 1;
    imp_episode episode;
    imp_error error;
    assert_int_equal(imp_episode_draw(dataset, &options, 0, &episode, &error), IMP_OK);
    float pixels[8 * D];
    imp_episode_pixels(dataset, &episode, pixels);
    for (size_t i = 0; i < 8; i++)
        assert_memory_equal(pixels + i * D, imp_dataset_vector(dataset, episode.images[i]),
                            D * sizeof *pixels);
    imp_episode_clear(&episode);
    options.augment.flip = 0.5;
    assert_int_equal(imp_episode_draw(dataset, &options, 0, &episode, &error), IMP_EUNSUPPORTED);
    assert_string_equal(error.message,
                        "augmentation is for pictures, and this is a set of vectors");
    assert_int_equal(imp_dataset_pack(dataset, "no.pack", &error), IMP_EUNSUPPORTED);
    assert_int_equal(imp_dataset_export(dataset, "no", NULL, &error), IMP_EUNSUPPORTED);
    imp_sheet_cell cell = {0};
    assert_int_equal(imp_contact_sheet_save(dataset, &cell, 1, 1, "no.png", &error),
                     IMP_EUNSUPPORTED);
    imp_dataset_free(dataset);
}

static void faults_get_a_sentence(void **state)
{
    set s = make_set(state, few);
    imp_dataset_options usual = imp_dataset_defaults(), options = usual;
    refuses("vectors:x.npy", usual, "is not two files: vectors:POINTS.npy,LABELS.npy");
    refuses("vectors:,y.npy", usual, "is not two files");
    refuses("vectors:no.npy,y.npy", usual, "no.npy");
    options.size = 28;
    refuses(s.name, options, "a size goes with pictures");
    options = usual;
    options.rotations = 4;
    refuses(s.name, options, "rotations goes with pictures");
    options = usual;
    options.split = "points:0.6/0.6/0";
    refuses(s.name, options, "sum to 1.2");
    options.split = "points:0.99/0.01/0";
    refuses(s.name, options, "leaves it empty");
    refuses("glyphs", options, "is for sets of vectors");
    options.split = "vinyals";
    refuses(s.name, options, "vinyals");
    scratch_write(s.labels.text, "a\nb\n", 4);
    refuses(s.name, usual, "has 2 labels for the 60 points of");
    char text[POINTS * 4 + 1] = "";
    for (size_t i = 0; i < POINTS; i++)
        strcat(text, "a/b\n");
    scratch_write(s.labels.text, text, strlen(text));
    refuses(s.name, usual, "the label 'a/b' must not hold a '/'");
    *text = '\0';
    for (size_t i = 0; i < POINTS; i++)
        strcat(text, "..\n");
    scratch_write(s.labels.text, text, strlen(text));
    refuses(s.name, usual, "the label '..' is not a name, but a path");
    char mixed[POINTS * 6 + 1] = "";
    for (size_t i = 0; i < POINTS; i++)
        strcat(mixed, i % 2 ? "a\n" : "a@val\n");
    scratch_write(s.labels.text, mixed, strlen(mixed));
    refuses(s.name, usual, "the class 'a@val' is a label and the val points of another");
    memset(text, '\n', POINTS);
    scratch_write(s.labels.text, text, POINTS);
    refuses(s.name, usual, "no point has a label");
}

static void opening_survives_lack_of_memory(void **state)
{
    set s = make_set(state, few);
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_dataset *dataset;
        imp_status status = imp_dataset_open(s.name, NULL, &dataset, NULL);
        imp_dataset_free(dataset);
        failing_allocator_expect(&memory, status);
    }
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(floats_stay_where_they_are),
        WITH_FOLDER(few_classes_are_split_by_points),
        WITH_FOLDER(many_classes_are_split_by_classes),
        WITH_FOLDER(points_have_names_in_their_order),
        WITH_FOLDER(an_episode_holds_the_vectors),
        WITH_FOLDER(faults_get_a_sentence),
        WITH_FOLDER(opening_survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
