/* test_spill.c - numbers of many points in memory and on disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/spill.h"
#include "failing_allocator.h"
#include "scratch.h"

enum { COUNT = 100000 };

static void what_is_left_stays(void **state)
{
    const imp_spill_place places[] = {
        {.folder = *state, .memory = 0}, {.folder = *state, .memory = 1 << 30}, {.folder = NULL}};
    for (size_t p = 0; p < 3; p++) {
        imp_spill spill;
        assert_int_equal(imp_spill_create(&spill, &places[p], COUNT, sizeof(uint64_t), NULL),
                         IMP_OK);
        assert_int_equal(spill.mapped, p == 0);
        assert_int_equal(scratch_entries(state), 0); /* it has no name */
        uint64_t *values = spill.values;
        for (size_t begin = 0; begin < COUNT; begin += 999) {
            size_t end = begin + 999 < COUNT ? begin + 999 : COUNT;
            for (size_t i = begin; i < end; i++)
                values[i] = i * i;
            imp_spill_leave(&spill, begin, end);
        }
        for (size_t i = 0; i < COUNT; i++)
            assert_true(values[i] == i * i);
        imp_spill_release(&spill);
        imp_spill_release(&spill);
    }
}

static void failures_are_told(void **state)
{
    (void)state;
    imp_spill spill;
    imp_error error;
    const imp_spill_place nowhere = {.folder = "no/such", .memory = 0};
    assert_int_equal(imp_spill_create(&spill, &nowhere, 10, 8, &error), IMP_EIO);
    assert_non_null(strstr(error.message, "scratch in 'no/such': No such file"));
    assert_int_equal(imp_spill_create(&spill, NULL, SIZE_MAX / 2, 8, &error), IMP_ENOMEM);
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_status status = imp_spill_create(&spill, NULL, 10, 8, NULL);
        if (!status)
            imp_spill_release(&spill);
        failing_allocator_expect(&memory, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_left_stays, scratch_setup, scratch_teardown),
        cmocka_unit_test(failures_are_told),
    };
    return cmocka_run_group_tests_name("spill", tests, NULL, NULL);
}
