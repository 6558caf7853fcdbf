/* test_memory.c - alignment, overflow, and the allocator that can be replaced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "failing_allocator.h"

static void blocks_are_aligned(void **state)
{
    (void)state;
    for (size_t size = 0; size < 300; size++) {
        char *block = imp_allocate(size, 1);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 64, 0);
        memset(block, 1, size);
        imp_release(block);
    }
}

static void large_blocks_lie_on_huge_pages(void **state)
{
    (void)state;
    const size_t sizes[] = {(4u << 20) - 1, 4u << 20, (5u << 20) + 12345};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *block = imp_allocate(sizes[i], 1);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % (i == 0 ? 64 : 2u << 20), 0);
        block[0] = block[sizes[i] - 1] = 7;
        imp_release(block);
    }
}

static void zeroed_blocks_are_zero(void **state)
{
    (void)state;
    unsigned char *block = imp_allocate_zeroed(1000, 3);
    assert_non_null(block);
    for (size_t i = 0; i < 3000; i++)
        assert_int_equal(block[i], 0);
    imp_release(block);
    imp_release(imp_allocate_zeroed(0, 8));
}

static void overflow_gives_null(void **state)
{
    (void)state;
    assert_null(imp_allocate(SIZE_MAX, 2));
    assert_null(imp_allocate(SIZE_MAX / 8 + 1, 8));
    assert_null(imp_allocate_zeroed((size_t)1 << 33, (size_t)1 << 33));
    assert_null(imp_allocate(SIZE_MAX, 1)); /* fits in size_t, but no object is that large */
    assert_null(imp_allocate((size_t)PTRDIFF_MAX + 1, 1));
}

static void sizes_are_checked(void **state)
{
    (void)state;
    size_t result;
    assert_true(imp_multiply(3, 5, &result));
    assert_int_equal(result, 15);
    assert_true(imp_multiply(0, SIZE_MAX, &result));
    assert_int_equal(result, 0);
    assert_true(imp_multiply(SIZE_MAX, 1, &result));
    assert_true(result == SIZE_MAX);
    assert_false(imp_multiply(SIZE_MAX / 2 + 1, 2, &result));
    assert_true(imp_add(SIZE_MAX - 1, 1, &result));
    assert_true(result == SIZE_MAX);
    assert_false(imp_add(SIZE_MAX, 1, &result));
}

static void larger_blocks_begin_with_what_there_was(void **state)
{
    (void)state;
    const int32_t items[] = {7, 8, 9};
    int32_t *larger = imp_enlarge(items, 2, 100, sizeof *items);
    assert_memory_equal(larger, items, 2 * sizeof *items);
    larger[99] = 1; /* the sanitizer sees that it is there */
    imp_release(larger);
    larger = imp_enlarge(NULL, 0, 1, sizeof *items);
    assert_non_null(larger);
    imp_release(larger);
    assert_null(imp_enlarge(items, 2, SIZE_MAX, sizeof *items));
}

static void strings_are_copied(void **state)
{
    (void)state;
    const char *text = "blocks.0.conv.weight";
    char *copy = imp_duplicate(text);
    assert_ptr_not_equal(copy, text);
    assert_string_equal(copy, text);
    imp_release(copy);
    copy = imp_duplicate("");
    assert_string_equal(copy, "");
    imp_release(copy);
    imp_release(NULL);
}

static void allocator_can_be_replaced(void **state)
{
    (void)state;
    failing_allocator memory = {0};
    failing_allocator_install(&memory, 3);
    void *first = imp_allocate(10, 1), *second = imp_allocate_zeroed(10, 1);
    assert_non_null(first);
    assert_non_null(second);
    assert_null(imp_duplicate("third"));
    assert_int_equal(memory.calls, 3);
    assert_int_equal(memory.live, 2);
    imp_release(first);
    imp_release(second);
    imp_release(NULL);
    assert_int_equal(memory.live, 0);
    assert_null(imp_allocate(SIZE_MAX, 2));
    assert_int_equal(memory.calls, 3); /* an impossible size is nobody's question */
    assert_true(failing_allocator_end(&memory));

    imp_release(imp_allocate(10, 1));
    assert_int_equal(memory.calls, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned),
        cmocka_unit_test(large_blocks_lie_on_huge_pages),
        cmocka_unit_test(zeroed_blocks_are_zero),
        cmocka_unit_test(overflow_gives_null),
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(larger_blocks_begin_with_what_there_was),
        cmocka_unit_test(strings_are_copied),
        cmocka_unit_test(allocator_can_be_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
