/* test_trail.c - what was made stays, or is taken back without anything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/create.h"
#include "base/trail.h"
#include "failing_allocator.h"
#include "scratch.h"

enum { FILES = 70 }; /* more than a list begins with room for */

/* A folder in an empty one that was there before, and files in it. */
static imp_status make(void **state, imp_trail *made)
{
    scratch_path old = scratch_file(state, "old"), fresh = scratch_file(state, "old/fresh");
    assert_int_equal(imp_create_folder(old.text, NULL), IMP_OK);
    imp_status status = imp_trail_folder(made, old.text, NULL);
    if (status == IMP_OK)
        status = imp_trail_folder(made, fresh.text, NULL);
    for (int i = 0; i < FILES && status == IMP_OK; i++) {
        char name[40];
        snprintf(name, sizeof name, "old/fresh/%d", i);
        scratch_path path = scratch_file(state, name);
        status = imp_create_file(path.text, "x", 1, NULL);
        if (status == IMP_OK)
            status = imp_trail_note(made, path.text, NULL);
    }
    return status;
}

static void what_was_made_stays(void **state)
{
    imp_trail made = {0};
    assert_int_equal(make(state, &made), IMP_OK);
    imp_trail_end(&made, true);
    assert_true(scratch_holds(scratch_file(state, "old/fresh/0").text, "x", 1));
    assert_true(scratch_holds(scratch_file(state, "old/fresh/69").text, "x", 1));
}

static void what_was_made_is_taken_back(void **state)
{
    imp_trail made = {0};
    assert_int_equal(make(state, &made), IMP_OK);
    imp_trail_end(&made, false);
    /* Only an empty folder is removed: that it is gone says that so are the files. */
    assert_int_equal(imp_create_folder_probe(scratch_file(state, "old").text, NULL), IMP_OK);
    assert_int_equal(scratch_entries(state), 1);
}

static void what_others_made_stays(void **state)
{
    imp_trail made = {0};
    assert_int_equal(make(state, &made), IMP_OK);
    scratch_path other = scratch_file(state, "old/fresh/other");
    scratch_write(other.text, "y", 1);
    imp_trail_end(&made, false);
    assert_true(scratch_holds(other.text, "y", 1));
    assert_false(scratch_holds(scratch_file(state, "old/fresh/0").text, "x", 1));
}

static void without_memory_nothing_is_left(void **state)
{
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_trail made = {0};
        imp_status status = make(state, &made);
        imp_trail_end(&made, false);
        failing_allocator_expect(&memory, status);
        assert_int_equal(imp_create_folder(scratch_file(state, "old").text, NULL), IMP_OK);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_made_stays),
        TEST(what_was_made_is_taken_back),
        TEST(what_others_made_stays),
        TEST(without_memory_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
