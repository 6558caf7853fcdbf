/*
 * test_memory_long.c - a hundred thousand updates: what grows by a few bytes an update shows.
 * Shorter, it is part of test_memory.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scratch.h"
#include "tiny_run.h"

static void test_resident(void **state)
{
    assert_flat_memory(scratch_file(state, "run").text, 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_resident, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
