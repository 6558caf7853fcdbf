/*
 * test_unpacked.c - files of an archive in any order, from memory and from a temporary file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "data/unpacked.h"
#include "pictures.h"
#include "scratch.h"

static picture_bytes text(const char *words)
{
    picture_bytes content = {malloc(strlen(words)), strlen(words)};
    memcpy(content.bytes, words, content.size);
    return content;
}

static void files_come_in_any_order(void **state)
{
    archive_member members[] = {
        {"c", text("third")}, {"a", text("first")}, {"b", text("")}, {"d", text("unwanted")}};
    scratch_path path = scratch_file(state, "x.tar.gz");
    archive_save(path.text, "tar.gz", members, 4);
    for (size_t i = 0; i < 4; i++)
        free(members[i].content.bytes);
    static const size_t limits[] = {0, 1 << 20}; /* to a temporary file, and kept in memory */
    for (size_t i = 0; i < 2; i++) {
        imp_unpacked *archive;
        assert_int_equal(imp_unpacked_open(path.text, limits[i], &archive, NULL), IMP_OK);
        assert_int_equal(imp_unpacked_source(archive)->count, 4);
        assert_int_equal(imp_unpacked_source(archive)->kept != NULL, i == 1);
        const bool wanted[] = {true, true, true, false};
        assert_int_equal(imp_unpacked_take(archive, wanted, 2, NULL), IMP_OK);
        static const size_t order[] = {2, 0, 1, 0};
        static const char *const contents[] = {"first", "", "third"};
        for (size_t k = 0; k < 4; k++) {
            uint8_t *bytes;
            size_t size;
            assert_int_equal(imp_unpacked_read(archive, order[k], &bytes, &size, NULL), IMP_OK);
            assert_int_equal(size, strlen(contents[order[k]]));
            assert_memory_equal(bytes, contents[order[k]], size);
            imp_release(bytes);
        }
        imp_unpacked_free(archive);
    }
    assert_int_equal(scratch_entries(state), 1);
}

static void no_room_for_a_temporary_file_is_a_sentence(void **state)
{
    archive_member members[] = {{"a", text("first")}};
    scratch_path path = scratch_file(state, "x.zip");
    archive_save(path.text, "zip", members, 1);
    free(members[0].content.bytes);
    const char *before = getenv("TMPDIR");
    setenv("TMPDIR", "/no/such/folder", 1);
    imp_unpacked *archive;
    imp_error error;
    assert_int_equal(imp_unpacked_open(path.text, 0, &archive, &error), IMP_OK);
    assert_int_equal(imp_unpacked_take(archive, &(bool){true}, 1, &error), IMP_EIO);
    assert_non_null(strstr(error.message, "cannot make a temporary file in '/no/such/folder'"));
    imp_unpacked_free(archive);
    if (before)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_come_in_any_order, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(no_room_for_a_temporary_file_is_a_sentence, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
