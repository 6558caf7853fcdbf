/* test_ranks.c - work dealt out to ranks comes together in order, to the bits of one process. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/ranks.h"
#include "thread_ranks.h"

enum { EPISODES = 7, COUNT = 40000 };

static float *terms; /* (EPISODES, COUNT) */
static float expected[COUNT];
static _Atomic int wrong; /* cmocka's assertions are for its own thread */

/* Numbers of very different sizes, whose sum depends on the order. */
static void make_terms(void)
{
    terms = malloc(sizeof *terms * EPISODES * COUNT);
    for (size_t i = 0; i < (size_t)EPISODES * COUNT; i++)
        terms[i] = (float)ldexp(sin((double)i), (int)(i * 7 % 23) - 11);
    for (size_t e = 0; e < EPISODES; e++)
        for (size_t i = 0; i < COUNT; i++)
            expected[i] += terms[e * COUNT + i];
}

static void add(const imp_ranks *ranks, void *context)
{
    (void)context;
    size_t begin, end;
    float *sum = calloc(COUNT, sizeof *sum);
    imp_ranks_share(ranks, ranks->rank, EPISODES, &begin, &end);
    imp_status status =
        imp_ranks_add_in_order(ranks, sum, terms + begin * COUNT, end - begin, COUNT, NULL);
    wrong |= status || memcmp(sum, expected, sizeof expected) != 0;
    free(sum);
}

static void sums_are_those_of_one_process(void **state)
{
    (void)state;
    make_terms();
    for (int size = 1; size <= 8; size++)
        thread_ranks_run(size, add, NULL);
    assert_false(wrong);
    free(terms);
}

static void share(const imp_ranks *ranks, void *context)
{
    (void)context;
    for (size_t count = 0; count < 20; count++) {
        double items[20] = {0};
        size_t begin, end;
        imp_ranks_share(ranks, ranks->rank, count, &begin, &end);
        for (size_t i = begin; i < end; i++)
            items[i] = (double)i + 1;
        wrong |= imp_ranks_gather(ranks, items, count, sizeof *items, NULL) != IMP_OK;
        for (size_t i = 0; i < 20; i++)
            wrong |= items[i] != (i < count ? (double)i + 1 : 0);
    }
    uint64_t all[8];
    wrong |= imp_ranks_exchange(ranks, 100 + (uint64_t)ranks->rank, all, NULL) != IMP_OK;
    for (int r = 0; r < ranks->size; r++)
        wrong |= all[r] != 100 + (uint64_t)r;
}

static void shares_come_together(void **state)
{
    (void)state;
    for (int size = 1; size <= 8; size++)
        thread_ranks_run(size, share, NULL);
    assert_false(wrong);
    uint64_t all;
    assert_int_equal(imp_ranks_exchange(NULL, 5, &all, NULL), IMP_OK);
    assert_int_equal(all, 5);
    assert_int_equal(imp_ranks_gather(NULL, NULL, 3, 8, NULL), IMP_OK);
}

static void compare(const imp_ranks *ranks, void *context)
{
    imp_error error;
    uint64_t odd = *(const uint64_t *)context;
    wrong |= imp_ranks_agree(ranks, "data", 7, &error) != IMP_OK;
    if (ranks->size < 2)
        return;
    uint64_t own = (uint64_t)ranks->rank == odd ? 8 : 7;
    imp_status status = imp_ranks_agree(ranks, "data", own, &error);
    wrong |= status != IMP_EINVAL;
    wrong |= odd > 0 && strncmp(error.message, "rank ", 5) != 0;
    wrong |= odd > 0 && (uint64_t)strtoul(error.message + 5, NULL, 10) != odd;
}

static void all_ranks_learn_that_one_differs(void **state)
{
    (void)state;
    for (int size = 1; size <= 4; size++)
        for (uint64_t odd = 0; odd < (uint64_t)size; odd++)
            thread_ranks_run(size, compare, &odd);
    assert_false(wrong);
    assert_int_equal(imp_ranks_agree(NULL, "data", 7, NULL), IMP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_one_process),
        cmocka_unit_test(shares_come_together),
        cmocka_unit_test(all_ranks_learn_that_one_differs),
    };
    return cmocka_run_group_tests_name("ranks", tests, NULL, NULL);
}
