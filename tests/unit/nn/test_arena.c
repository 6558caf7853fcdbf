/* test_arena.c - arrays that live at the same time never share memory, and others do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "nn/arena.h"

static void test_memory_is_used_again(void **state)
{
    (void)state;
    imp_span chain[] = {{100, 0, 1, 0}, {40, 1, 2, 0}, {16, 2, 3, 0}, {0, 3, 4, 0}, {90, 3, 4, 0}};
    assert_int_equal(imp_arena_place(chain, 5), 112 + 48);
    assert_int_equal(chain[0].at, 0);
    assert_int_equal(chain[1].at, 112);
    assert_int_equal(chain[2].at, 0);
    assert_int_equal(chain[4].at, 16);
    assert_int_equal(imp_arena_place(NULL, 0), 0);
}

static void test_nothing_overlaps(void **state)
{
    (void)state;
    enum { SPANS = 40, ROUNDS = 200 };
    imp_random random = imp_random_start(1, 0, 0);
    for (size_t round = 0; round < ROUNDS; round++) {
        imp_span spans[SPANS];
        size_t sum = 0;
        for (size_t i = 0; i < SPANS; i++) {
            uint32_t born = imp_random_below(&random, 30);
            spans[i] = (imp_span){.floats = imp_random_below(&random, 1000),
                                  .born = born,
                                  .dies = born + imp_random_below(&random, 8)};
            sum += (spans[i].floats + 15) / 16 * 16;
        }
        size_t used = imp_arena_place(spans, SPANS);
        assert_true(used < sum);
        for (size_t i = 0; i < SPANS; i++) {
            assert_int_equal(spans[i].at % 16, 0);
            assert_true(spans[i].at + spans[i].floats <= used);
            for (size_t j = 0; j < i; j++) {
                const imp_span *a = &spans[i], *b = &spans[j];
                bool together = a->born <= b->dies && b->born <= a->dies;
                bool apart = a->at + a->floats <= b->at || b->at + b->floats <= a->at;
                assert_true(!together || apart || a->floats == 0 || b->floats == 0);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_used_again),
        cmocka_unit_test(test_nothing_overlaps),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
