/* test_rooms.c - arrays that are made, made larger and given back together, and memory that ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rooms.h"
#include "failing_allocator.h"

static void rooms_come_and_go_together(void **state)
{
    (void)state;
    float *first = NULL;
    int64_t *second = NULL;
    size_t capacity = 0;
    const imp_room rooms[] = {IMP_ROOM(first, 3, 5), IMP_ROOM(second, 3, 1)};
    assert_true(imp_rooms_reserve(rooms, 2, 3, &capacity));
    assert_true(capacity == 3 && first && second);
    first[14] = 1;
    second[2] = 2;
    float *before = first;
    assert_true(imp_rooms_reserve(rooms, 2, 2, &capacity));
    assert_true(capacity == 3 && first == before);
    const imp_room more[] = {IMP_ROOM(first, 4, 5), IMP_ROOM(second, SIZE_MAX, 2)};
    assert_false(imp_rooms_reserve(more, 2, 4, &capacity));
    assert_true(capacity == 0 && !first && !second);

    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        bool made = imp_rooms_make(rooms, 2);
        assert_true(made == (first && second) && made == (first || second));
        imp_rooms_release(rooms, 2);
        imp_rooms_release(rooms, 2); /* nothing is left to give back */
        failing_allocator_expect(&memory, made ? IMP_OK : IMP_ENOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rooms_come_and_go_together)};
    return cmocka_run_group_tests_name("rooms", tests, NULL, NULL);
}
