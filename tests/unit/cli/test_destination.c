/* test_destination.c - where scratch files go. */
#define _POSIX_C_SOURCE 200809L /* setenv */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "cli/destination.h"

static void expect(const char *output, const char *folder)
{
    char *found = imp_scratch_folder(output);
    assert_string_equal(found, folder);
    free(found);
}

static void scratch_is_beside_the_output(void **state)
{
    (void)state;
    setenv("TMPDIR", "/elsewhere", 1);
    expect("found.npy", ".");
    expect("a/b/found.npy", "a/b/");
    expect("/found.npy", "/");
}

/* An empty variable is not the root folder. */
static void without_output_it_is_in_a_temporary_folder(void **state)
{
    (void)state;
    setenv("TMPDIR", "/elsewhere", 1);
    expect(NULL, "/elsewhere");
    setenv("TMPDIR", "", 1);
    expect(NULL, "/tmp");
    unsetenv("TMPDIR");
    expect(NULL, "/tmp");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scratch_is_beside_the_output),
        cmocka_unit_test(without_output_it_is_in_a_temporary_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
