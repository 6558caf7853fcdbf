/*
 * test_pack.c - a pack is the dataset it was made from, and any damage to it is noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/error.h"
#include "data/checksum.h"
#include "data/pack.h"
#include "failing_allocator.h"
#include "scratch.h"

static imp_dataset *make(uint32_t alphabets, uint32_t size, uint32_t rotations)
{
    imp_dataset_options options = imp_dataset_defaults();
    options.glyphs = (imp_glyph_options){
        .alphabets = alphabets, .fewest_characters = 2, .most_characters = 3, .drawings = 2};
    options.size = size;
    options.rotations = rotations;
    imp_dataset *dataset;
    imp_error error;
    if (imp_dataset_open("glyphs", &options, &dataset, &error) != IMP_OK)
        fail_msg("%s", error.message);
    return dataset;
}

static void a_pack_is_the_same_dataset(void **state)
{
    /* 200 x 200 makes it larger than one block of checksums. */
    imp_dataset *dataset = make(10, 200, 4), *packed;
    scratch_path path = scratch_file(state, "pack"), again = scratch_file(state, "again");
    assert_int_equal(imp_dataset_pack(dataset, path.text, NULL), IMP_OK);
    imp_dataset_options options = imp_dataset_defaults();
    options.rotations = 4;
    options.threads = 2;
    imp_error error;
    if (imp_dataset_open(path.text, &options, &packed, &error) != IMP_OK)
        fail_msg("%s", error.message);
    assert_string_equal(imp_dataset_kind(packed), "glyphs");
    assert_string_equal(imp_dataset_fingerprint(packed), imp_dataset_fingerprint(dataset));
    assert_int_equal(imp_dataset_classes(packed), imp_dataset_classes(dataset));
    assert_int_equal(imp_dataset_images(packed), imp_dataset_images(dataset));
    for (size_t c = 0; c < imp_dataset_classes(dataset); c++) {
        imp_class_info a = imp_dataset_class(dataset, c), b = imp_dataset_class(packed, c);
        assert_string_equal(a.name, b.name);
        assert_int_equal(a.super_class, b.super_class);
        assert_int_equal(a.split, b.split);
        assert_int_equal(a.first_image, b.first_image);
    }
    uint8_t *a = malloc(200 * 200), *b = malloc(200 * 200);
    for (size_t i = 0; i < imp_dataset_images(dataset); i++) {
        imp_dataset_image(dataset, i, a);
        imp_dataset_image(packed, i, b);
        assert_memory_equal(a, b, 200 * 200);
    }
    free(a);
    free(b);
    /* Packed again it is the same file. */
    assert_int_equal(imp_dataset_pack(packed, again.text, NULL), IMP_OK);
    imp_dataset_free(packed);
    imp_dataset_free(dataset);
    char command[1200];
    snprintf(command, sizeof command, "cmp -s '%s' '%s'", path.text, again.text);
    assert_int_equal(system(command), 0); // NOLINT(bugprone-command-processor)
}

static int questions;

/* Says no the second time. */
static imp_status stop_soon(imp_error *error)
{
    return ++questions < 2 ? IMP_OK : imp_fail(error, IMP_EIO, "stopped");
}

static void a_pack_that_is_stopped_leaves_nothing(void **state)
{
    imp_dataset *dataset = make(10, 200, 1); /* more than one block */
    scratch_path path = scratch_file(state, "pack");
    imp_error error;
    questions = 0;
    assert_int_equal(imp_dataset_pack_while(dataset, path.text, stop_soon, &error), IMP_EIO);
    assert_string_equal(error.message, "stopped");
    assert_int_equal(questions, 2);
    assert_int_equal(scratch_entries(state), 0);
    imp_dataset_free(dataset);
}

static void an_export_that_is_stopped_leaves_nothing(void **state)
{
    imp_dataset *dataset = make(2, 8, 1);
    scratch_path path = scratch_file(state, "folder");
    imp_error error;
    questions = 0;
    assert_int_equal(imp_dataset_export(dataset, path.text, stop_soon, &error), IMP_EIO);
    assert_string_equal(error.message, "stopped");
    assert_int_equal(questions, 2);
    assert_int_equal(scratch_entries(state), 0);
    imp_dataset_free(dataset);
}

static void a_pipe_is_no_pack(void **state)
{
    scratch_path path = scratch_file(state, "pipe");
    assert_int_equal(mkfifo(path.text, 0600), 0);
    assert_false(imp_is_pack(path.text)); /* and does not wait for a writer */
    char name[600];
    imp_dataset *dataset;
    snprintf(name, sizeof name, "pack:%s", path.text);
    assert_int_equal(imp_dataset_open(name, NULL, &dataset, NULL), IMP_EFORMAT);
}

static size_t read_pack(const char *path, uint8_t **bytes)
{
    FILE *file = fopen(path, "rb");
    *bytes = malloc(1 << 16);
    size_t size = fread(*bytes, 1, 1 << 16, file);
    fclose(file);
    return size;
}

static size_t read_small(void **state, uint8_t **bytes)
{
    imp_dataset *dataset = make(2, 5, 1);
    scratch_path path = scratch_file(state, "small");
    assert_int_equal(imp_dataset_pack(dataset, path.text, NULL), IMP_OK);
    imp_dataset_free(dataset);
    return read_pack(path.text, bytes);
}

static imp_status open_bytes(void **state, const uint8_t *bytes, size_t size, imp_error *error)
{
    scratch_path path = scratch_file(state, "changed");
    scratch_write(path.text, bytes, size);
    char name[600];
    snprintf(name, sizeof name, "pack:%s", path.text);
    imp_dataset_options options = imp_dataset_defaults();
    options.threads = 1;
    imp_dataset *dataset;
    imp_status status = imp_dataset_open(name, &options, &dataset, error);
    /* What was accepted makes sense. */
    for (size_t c = 0; status == IMP_OK && c < imp_dataset_classes(dataset); c++) {
        imp_class_info about = imp_dataset_class(dataset, c);
        assert_true((unsigned)about.split <= IMP_SPLIT_NONE && about.images > 0);
        assert_true(about.super_class < (int64_t)imp_dataset_super_classes(dataset));
        assert_int_equal(about.super_class < 0, imp_dataset_super_classes(dataset) == 0);
        assert_true(about.first_image + about.images <= imp_dataset_images(dataset));
    }
    imp_dataset_free(dataset);
    return status;
}

static void every_flipped_byte_is_noticed(void **state)
{
    uint8_t *bytes;
    size_t size = read_small(state, &bytes);
    imp_error error;
    assert_int_equal(open_bytes(state, bytes, size, &error), IMP_OK);
    imp_pack_layout layout;
    assert_true(imp_pack_layout_of((const imp_pack_header *)bytes, &layout));
    for (size_t i = 0; i < size; i++) {
        /* Of the padding a few are enough. */
        if (i > layout.table_end && i < layout.pixels && i % 257 != 0)
            continue;
        bytes[i] ^= 0x10;
        assert_int_not_equal(open_bytes(state, bytes, size, &error), IMP_OK);
        assert_non_null(strstr(error.message, "changed: "));
        bytes[i] ^= 0x10;
    }
    for (size_t kept = 0; kept < size; kept += 101)
        assert_int_equal(open_bytes(state, bytes, kept, &error), IMP_EFORMAT);
    free(bytes);
}

/* Makes the checksums right again. */
static void sign(uint8_t *bytes)
{
    imp_pack_header *header = (imp_pack_header *)bytes;
    imp_pack_layout layout;
    assert_true(imp_pack_layout_of(header, &layout));
    header->table_checksum = imp_checksum(bytes + sizeof *header, layout.pixels - sizeof *header);
    header->header_checksum = imp_pack_header_checksum(header);
}

/* Numbers that are wrong under a right checksum: a file made to hurt. */
static void hostile_numbers_are_refused(void **state)
{
    uint8_t *bytes;
    size_t size = read_small(state, &bytes);
    imp_pack_header *header = (imp_pack_header *)bytes;
    imp_pack_layout layout;
    assert_true(imp_pack_layout_of(header, &layout));
    uint8_t *clean = malloc(size);
    memcpy(clean, bytes, size);

    for (size_t at = sizeof *header; at + 4 <= layout.table_end; at += 4) {
        const uint32_t values[] = {UINT32_MAX, 0, 7};
        for (size_t v = 0; v < 3; v++) {
            memcpy(bytes + at, &values[v], 4);
            sign(bytes);
            (void)open_bytes(state, bytes, size, NULL); /* must not crash */
            memcpy(bytes, clean, size);
        }
    }
    const size_t counts[] = {offsetof(imp_pack_header, size), offsetof(imp_pack_header, classes),
                             offsetof(imp_pack_header, super_classes),
                             offsetof(imp_pack_header, pictures),
                             offsetof(imp_pack_header, text_size)};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        const uint32_t values[] = {0, 1, UINT32_MAX, 1u << 31};
        for (size_t v = 0; v < 4; v++) {
            memcpy(bytes + counts[c], &values[v], 4);
            header->header_checksum = imp_pack_header_checksum(header);
            assert_int_not_equal(open_bytes(state, bytes, size, NULL), IMP_OK);
            memcpy(bytes, clean, size);
        }
    }
    free(bytes);
    free(clean);
}

static void super_classes_without_classes_are_refused(void **state)
{
    uint8_t *bytes;
    size_t size = read_small(state, &bytes);
    imp_pack_header *header = (imp_pack_header *)bytes;
    imp_pack_layout layout;
    assert_true(imp_pack_layout_of(header, &layout));
    imp_pack_class *classes = (imp_pack_class *)(bytes + layout.classes);
    imp_error error;
    for (uint32_t only = 0; only < 2; only++) {
        for (size_t c = 0; c < header->classes; c++)
            classes[c].super_class = only;
        sign(bytes);
        assert_int_equal(open_bytes(state, bytes, size, &error), IMP_EFORMAT);
    }
    free(bytes);
}

/* The number that says "no super-class" is one less than zero, which a sum takes for the number
 * before the first. */
static void no_super_class_among_super_classes_is_refused(void **state)
{
    imp_dataset *dataset = make(1, 5, 1);
    scratch_path path = scratch_file(state, "one");
    assert_int_equal(imp_dataset_pack(dataset, path.text, NULL), IMP_OK);
    imp_dataset_free(dataset);
    uint8_t *bytes;
    size_t size = read_pack(path.text, &bytes);
    imp_pack_header *header = (imp_pack_header *)bytes;
    imp_pack_layout layout;
    assert_true(imp_pack_layout_of(header, &layout));
    assert_int_equal(header->super_classes, 1);
    imp_error error;
    assert_int_equal(open_bytes(state, bytes, size, &error), IMP_OK);
    ((imp_pack_class *)(bytes + layout.classes))->super_class = IMP_NO_SUPER_CLASS;
    sign(bytes);
    assert_int_equal(open_bytes(state, bytes, size, &error), IMP_EFORMAT);
    assert_non_null(strstr(error.message, "its classes make no sense"));
    free(bytes);
}

/* A name is a path that pictures are exported to. */
static void names_that_lead_elsewhere_are_refused(void **state)
{
    static const char *const names[] = {"../../../../x.png", "/etc/x.png", "a/./x.png",
                                        "a//x.png",          "a/..",       ""};
    uint8_t *bytes;
    size_t size = read_small(state, &bytes);
    imp_pack_layout layout;
    assert_true(imp_pack_layout_of((const imp_pack_header *)bytes, &layout));
    const uint32_t *offsets = (const uint32_t *)(bytes + layout.picture_names);
    char *name = (char *)bytes + layout.text + offsets[0];
    imp_error error;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_true(strlen(names[i]) < strlen("alphabet01/character01/01.png"));
        strcpy(name, names[i]);
        sign(bytes);
        assert_int_equal(open_bytes(state, bytes, size, &error), IMP_EFORMAT);
        assert_non_null(strstr(error.message, "the name of a picture of it is no path"));
    }
    strcpy(name, "..a/.b/x..png"); /* odd, but it stays where it is put */
    sign(bytes);
    assert_int_equal(open_bytes(state, bytes, size, &error), IMP_OK);
    free(bytes);
}

static void other_sizes_are_refused(void **state)
{
    imp_dataset *dataset = make(3, 9, 1);
    scratch_path path = scratch_file(state, "pack");
    assert_int_equal(imp_dataset_pack(dataset, path.text, NULL), IMP_OK);
    imp_dataset_free(dataset);
    imp_dataset_options options = imp_dataset_defaults();
    options.size = 28;
    imp_error error;
    assert_int_equal(imp_dataset_open(path.text, &options, &dataset, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "holds 9 x 9 pixels"));
}

static void memory_may_run_out_anywhere(void **state)
{
    imp_dataset *dataset = make(2, 5, 1);
    scratch_path path = scratch_file(state, "pack");
    assert_int_equal(imp_dataset_pack(dataset, path.text, NULL), IMP_OK);
    imp_dataset_free(dataset);
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_status status = imp_dataset_open(path.text, NULL, &dataset, NULL);
        if (status == IMP_OK)
            status = imp_dataset_pack(dataset, scratch_file(state, "again").text, NULL);
        imp_dataset_free(dataset);
        failing_allocator_expect(&memory, status);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_pack_that_is_stopped_leaves_nothing),
        TEST(an_export_that_is_stopped_leaves_nothing),
        TEST(a_pipe_is_no_pack),
        TEST(a_pack_is_the_same_dataset),
        TEST(every_flipped_byte_is_noticed),
        TEST(hostile_numbers_are_refused),
        TEST(other_sizes_are_refused),
        TEST(super_classes_without_classes_are_refused),
        TEST(no_super_class_among_super_classes_is_refused),
        TEST(names_that_lead_elsewhere_are_refused),
        TEST(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
