/*
 * test_source.c - folders and archives list the same names in the same order and give the same
 * bytes; damage is told and survived.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include <archive.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <imp/memory.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "data/source.h"
#include "failing_readdir.h"
#include "pictures.h"
#include "scratch.h"

/* Not in order, and with what must not be seen. */
static const archive_member members[] = {
    {"b/two.png", {(uint8_t *)"22", 2}},        {"a/one.png", {(uint8_t *)"1", 1}},
    {"a-b/three.png", {(uint8_t *)"333", 3}},   {"a/.hidden.png", {(uint8_t *)"x", 1}},
    {".git/config", {(uint8_t *)"x", 1}},       {"Z.txt", {(uint8_t *)"", 0}},
    {"a/\xC3\xA9.png", {(uint8_t *)"4444", 4}},
};
enum { MEMBERS = sizeof members / sizeof *members, VISIBLE = 5 };
static const char *const expected[VISIBLE] = {"Z.txt", "a-b/three.png", "a/one.png",
                                              "a/\xC3\xA9.png", "b/two.png"};
static const char *const contents[VISIBLE] = {"", "333", "1", "4444", "22"};

typedef struct visits {
    int count[VISIBLE];
    int faults;
} visits;

static void note(size_t member, const uint8_t *bytes, size_t size, const imp_error *fault,
                 void *context)
{
    visits *seen = context;
    if (fault != NULL) {
        __atomic_add_fetch(&seen->faults, 1, __ATOMIC_RELAXED);
        return;
    }
    if (size == strlen(contents[member]) && memcmp(bytes, contents[member], size) == 0)
        __atomic_add_fetch(&seen->count[member], 1, __ATOMIC_RELAXED);
}

static void check(const char *path, size_t kept_limit)
{
    imp_source source;
    imp_error error = {0};
    if (imp_source_open_keeping(&source, path, kept_limit, &error) != IMP_OK)
        fail_msg("%s", error.message);
    assert_int_equal(source.kept != NULL, source.archive && kept_limit >= 10);
    assert_int_equal(source.count, VISIBLE);
    for (size_t i = 0; i < VISIBLE; i++) {
        assert_string_equal(source.names[i], expected[i]);
        assert_int_equal(imp_source_find(&source, expected[i]), i);
    }
    assert_int_equal(imp_source_find(&source, "a"), VISIBLE);
    for (int threads = 1; threads <= 5; threads += 2) {
        visits seen = {0};
        const bool wanted[VISIBLE] = {true, true, false, true, true};
        assert_int_equal(imp_source_read(&source, wanted, threads, note, &seen, &error), IMP_OK);
        for (size_t i = 0; i < VISIBLE; i++)
            assert_int_equal(seen.count[i], wanted[i]);
        assert_int_equal(seen.faults, 0);
    }
    imp_source_clear(&source);
}

/* Whatever is put in its place: fewer files, more, or others. */
static void an_archive_that_changes_is_noticed(void **state)
{
    scratch_path path = scratch_file(state, "a.zip");
    const size_t counts[] = {MEMBERS - 1, MEMBERS, MEMBERS};
    for (size_t change = 0; change < 3; change++) {
        archive_member others[MEMBERS];
        memcpy(others, members, sizeof others);
        if (change == 1)
            others[0].name = "another";
        archive_save(path.text, "zip", members, change == 2 ? MEMBERS - 1 : MEMBERS);
        imp_source source;
        imp_error error;
        assert_int_equal(imp_source_open_keeping(&source, path.text, 0, &error), IMP_OK);
        archive_save(path.text, "zip", others, counts[change]);
        visits seen = {0};
        const bool wanted[VISIBLE] = {false};
        for (int threads = 1; threads <= 3; threads += 2)
            assert_int_equal(imp_source_read(&source, wanted, threads, note, &seen, &error),
                             IMP_EIO);
        assert_non_null(strstr(error.message, "changed while it was read"));
        imp_source_clear(&source);
    }
}

static void a_folder(void **state)
{
    for (size_t i = 0; i < MEMBERS; i++) {
        scratch_path path = scratch_file(state, members[i].name);
        char *slash = strrchr(path.text, '/');
        *slash = '\0';
        make_folders(path.text);
        *slash = '/';
        scratch_write(path.text, members[i].content.bytes, members[i].content.size);
    }
    check(*state, 100);
}

/* Wherever the disk gives up, the names it still told are not taken for all. */
static void a_folder_that_cannot_be_read_to_its_end(void **state)
{
    make_folders(scratch_file(state, "a").text);
    scratch_write(scratch_file(state, "a/one.png").text, "1", 1);
    unsigned n = 1;
    for (; n < 100; n++) {
        imp_source source;
        imp_error error;
        failing_readdir_set(n);
        imp_status status = imp_source_open(&source, *state, &error);
        failing_readdir_set(0);
        size_t count = source.count;
        imp_source_clear(&source);
        if (status == IMP_OK) {
            assert_int_equal(count, 1);
            break;
        }
        assert_int_equal(status, IMP_EIO);
        assert_non_null(strstr(error.message, "': Input/output error"));
    }
    assert_int_equal(n, 1 + 4 + 4); /* itself, its parent, an entry and the end, of two folders */
}

static void archives_of_every_format(void **state)
{
    const char *const formats[] = {"zip", "tar", "tar.gz"};
    for (size_t i = 0; i < 3; i++) {
        scratch_path path = scratch_file(state, formats[i]);
        archive_save(path.text, formats[i], members, MEMBERS);
        /* Kept in memory, not kept, and given up half-way. */
        check(path.text, 100);
        check(path.text, 10);
        check(path.text, 9);
        check(path.text, 1);
        check(path.text, 0);
    }
    assert_int_equal(scratch_entries(state), 3); /* nothing was unpacked */
}

/* Says of every name of a zip that it is UTF-8, as most programs do. */
static void declare_utf8(uint8_t *zip, size_t size)
{
    static const struct {
        char magic[4];
        size_t flags; /* where their second byte is */
    } headers[] = {{"PK\3\4", 7}, {"PK\1\2", 9}};
    for (size_t at = 0; at + 10 < size; at++)
        for (size_t i = 0; i < 2; i++)
            if (memcmp(zip + at, headers[i].magic, 4) == 0)
                zip[at + headers[i].flags] |= 8;
}

/* The tests run in the locale C, which has no letter for what libarchive then knows to be an
 * accent.
 */
static void names_are_utf8_in_every_locale(void **state)
{
    scratch_path path = scratch_file(state, "a.zip");
    archive_save(path.text, "zip", members, MEMBERS);
    unsigned char *zip;
    size_t size;
    assert_int_equal(imp_file_read(path.text, 1 << 20, &zip, &size, NULL), IMP_OK);
    declare_utf8(zip, size);
    scratch_write(path.text, zip, size);
    check(path.text, 100);
    check(path.text, 0);

    /* Declared, but not so. */
    for (size_t at = 0; at + 1 < size; at++)
        if (zip[at] == 0xC3 && zip[at + 1] == 0xA9)
            zip[at] = 0xFF;
    scratch_write(path.text, zip, size);
    imp_release(zip);
    imp_source source;
    imp_error error;
    assert_int_equal(imp_source_open(&source, path.text, &error), IMP_EFORMAT);
    assert_non_null(strstr(error.message, "a.zip' holds 1 file whose name cannot be read"));
    assert_null(source.names);
}

static void a_name_that_stands_twice(void **state)
{
    const archive_member twice[] = {{"a/x.png", {(uint8_t *)"1", 1}},
                                    {"a/x.png", {(uint8_t *)"2", 1}}};
    scratch_path path = scratch_file(state, "twice.tar");
    archive_save(path.text, "tar", twice, 2);
    imp_source source;
    imp_error error;
    assert_int_equal(imp_source_open(&source, path.text, &error), IMP_EFORMAT);
    assert_non_null(strstr(error.message, "holds 'a/x.png' twice"));
    assert_null(source.names);
}

static void what_cannot_be_opened(void **state)
{
    imp_source source;
    imp_error error;
    assert_int_equal(imp_source_open(&source, scratch_file(state, "none").text, &error), IMP_EIO);
    assert_non_null(strstr(error.message, "No such file"));
    scratch_path path = scratch_file(state, "text.zip");
    scratch_write(path.text, "this is no archive", 18);
    assert_int_equal(imp_source_open(&source, path.text, &error), IMP_EFORMAT);
    assert_non_null(strstr(error.message, "text.zip"));
    path = scratch_file(state, "pipe");
    assert_int_equal(mkfifo(path.text, 0600), 0);
    assert_int_equal(imp_source_open(&source, path.text, &error), IMP_EFORMAT);
    assert_non_null(strstr(error.message, "a device or a pipe"));
}

static void an_archive_nobody_may_read(void **state)
{
    enum { NOBODY = 65534 };
    scratch_path path = scratch_file(state, "secret.zip");
    archive_save(path.text, "zip", members, MEMBERS);
    assert_int_equal(chmod(path.text, 0), 0);
    bool root = geteuid() == 0; /* who may read anything */
    if (root)
        assert_int_equal(chmod(*state, 0711) | seteuid(NOBODY), 0);
    imp_source source;
    imp_error error;
    imp_status status = imp_source_open(&source, path.text, &error);
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(status, IMP_EIO);
    assert_non_null(strstr(error.message, "secret.zip': Permission denied"));
}

/* libarchive takes its memory where it wants; this is its first. */
static bool memory_is_out;

struct archive *archive_read_new(void)
{
    struct archive *(*next)(void);
    *(void **)&next = dlsym(RTLD_NEXT, "archive_read_new");
    return memory_is_out ? NULL : next();
}

static void an_archive_without_memory(void **state)
{
    scratch_path path = scratch_file(state, "archive.zip");
    archive_save(path.text, "zip", members, MEMBERS);
    imp_source source;
    imp_error error;
    memory_is_out = true;
    imp_status status = imp_source_open(&source, path.text, &error);
    memory_is_out = false;
    assert_int_equal(status, IMP_ENOMEM);
    assert_string_equal(error.message, "out of memory for reading an archive");
}

/* Cut anywhere, an archive is refused or gives fewer files; it never crashes. */
static void every_truncation_is_survived(void **state)
{
    const char *const formats[] = {"zip", "tar", "tar.gz"};
    for (size_t f = 0; f < 3; f++) {
        scratch_path path = scratch_file(state, "whole"), cut = scratch_file(state, "cut");
        archive_save(path.text, formats[f], members, MEMBERS);
        FILE *file = fopen(path.text, "rb");
        char bytes[1 << 15];
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        for (size_t kept = 0; kept < size; kept += f == 1 ? 97 : 13) {
            scratch_write(cut.text, bytes, kept);
            imp_source source;
            imp_error error;
            if (imp_source_open(&source, cut.text, &error) != IMP_OK)
                continue;
            assert_true(source.count <= VISIBLE);
            bool wanted[VISIBLE] = {true, true, true, true, true};
            visits seen = {0};
            (void)imp_source_read(&source, wanted, 2, note, &seen, &error);
            imp_source_clear(&source);
        }
    }
}

/* Remembers the largest block that was asked for. */
static void *allocate_and_note(size_t size, size_t alignment, void *context)
{
    size_t *largest = context;
    *largest = size > *largest ? size : *largest;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void release_any(void *pointer, void *context)
{
    (void)context;
    free(pointer);
}

/* Thirty-two megabytes of nothing, packed to a few kilobytes: listing takes no more memory than
 * it is allowed to keep. */
static void a_small_archive_of_a_large_file(void **state)
{
    enum { SIZE = 32 << 20 };
    const archive_member large[] = {{"a/x.png", {calloc(SIZE, 1), SIZE}},
                                    {"a/y.png", {(uint8_t *)"2", 1}}};
    scratch_path path = scratch_file(state, "large.zip");
    archive_save(path.text, "zip", large, 2);
    free(large[0].content.bytes);
    size_t largest = 0;
    imp_set_allocator(&(imp_allocator){allocate_and_note, release_any, &largest});
    imp_source source;
    imp_error error;
    imp_status status = imp_source_open_keeping(&source, path.text, 1 << 20, &error);
    assert_int_equal(status, IMP_OK);
    assert_int_equal(source.count, 2);
    assert_null(source.kept);
    imp_source_clear(&source);
    imp_set_allocator(NULL);
    assert_in_range(largest, 1, (1 << 20) + 1);
}

static void a_circle_of_links_ends(void **state)
{
    scratch_path link = scratch_file(state, "circle");
    assert_int_equal(symlink(".", link.text), 0);
    imp_source source;
    imp_error error;
    assert_int_equal(imp_source_open(&source, *state, &error), IMP_EUNSUPPORTED);
    assert_non_null(strstr(error.message, "folders deep; does a symbolic link"));
}

static void paths_have_one_slash(void **state)
{
    (void)state;
    static const char *const folders[][2] = {{"a", "a/x"},   {"a/b", "a/b/x"}, {"a/", "a/x"},
                                             {"a//", "a/x"}, {"/", "/x"},      {"//", "/x"}};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *path = imp_source_join(folders[i][0], "x");
        assert_string_equal(path, folders[i][1]);
        imp_release(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_folder, scratch_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(an_archive_that_changes_is_noticed, scratch_setup,
                                        tree_teardown),
        cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_read_to_its_end, scratch_setup,
                                        tree_teardown),
        cmocka_unit_test_setup_teardown(archives_of_every_format, scratch_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(names_are_utf8_in_every_locale, scratch_setup,
                                        tree_teardown),
        cmocka_unit_test_setup_teardown(a_name_that_stands_twice, scratch_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_opened, scratch_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(an_archive_nobody_may_read, scratch_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(an_archive_without_memory, scratch_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(every_truncation_is_survived, scratch_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(a_small_archive_of_a_large_file, scratch_setup,
                                        tree_teardown),
        cmocka_unit_test_setup_teardown(a_circle_of_links_ends, scratch_setup, tree_teardown),
        cmocka_unit_test(paths_have_one_slash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
