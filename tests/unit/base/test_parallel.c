/*
 * test_parallel.c - every block once, every worker alone, nested calls and forked processes serial.
 *
 * The bodies only record: an assertion that fails on another thread would jump into the wrong
 * stack, so all of them are made afterwards.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/parallel.h"

enum { MOST_BLOCKS = 100, MOST_WORKERS = 8 };

typedef struct record {
    int threads;
    atomic_int times[MOST_BLOCKS]; /* each block was done */
    atomic_int busy[MOST_WORKERS]; /* workers at work now */
    atomic_int strangers;          /* calls with a worker out of range */
    atomic_int clashes;            /* calls with a worker that was busy already */
    atomic_int elsewhere;          /* calls on another thread than the caller's */
    pthread_t caller;
} record;

static void note(size_t block, int worker, void *context)
{
    record *r = context;
    atomic_fetch_add(&r->times[block], 1);
    if (!pthread_equal(pthread_self(), r->caller))
        atomic_fetch_add(&r->elsewhere, 1);
    if (worker < 0 || worker >= r->threads) {
        atomic_fetch_add(&r->strangers, 1);
        return;
    }
    if (atomic_exchange(&r->busy[worker], 1) != 0)
        atomic_fetch_add(&r->clashes, 1);
    for (volatile int spin = 0; spin < 2000; spin++)
        ;
    atomic_store(&r->busy[worker], 0);
}

static void every_block_runs_once(void **state)
{
    (void)state;
    const int threads[] = {1, 2, 3, 8};
    const size_t blocks[] = {0, 1, 2, 7, MOST_BLOCKS};
    for (size_t t = 0; t < 4; t++)
        for (size_t b = 0; b < 5; b++) {
            record r = {.threads = threads[t], .caller = pthread_self()};
            imp_parallel(blocks[b], threads[t], note, &r);
            for (size_t i = 0; i < MOST_BLOCKS; i++)
                assert_int_equal(r.times[i], i < blocks[b] ? 1 : 0);
            assert_int_equal(r.strangers, 0);
            assert_int_equal(r.clashes, 0);
        }
}

/* One thread, one block, or no sensible number of threads: the caller does it all itself. */
static void serial_work_stays_on_the_caller(void **state)
{
    (void)state;
    const struct {
        size_t blocks;
        int threads;
    } cases[] = {{MOST_BLOCKS, 1}, {1, 8}, {MOST_BLOCKS, 0}, {MOST_BLOCKS, -3}};
    for (size_t i = 0; i < 4; i++) {
        record r = {.threads = 1, .caller = pthread_self()};
        imp_parallel(cases[i].blocks, cases[i].threads, note, &r);
        assert_int_equal(r.times[0], 1);
        assert_int_equal(r.times[MOST_BLOCKS - 1], cases[i].blocks == MOST_BLOCKS ? 1 : 0);
        assert_int_equal(r.strangers, 0);
        assert_int_equal(r.elsewhere, 0);
    }
}

typedef struct nest {
    record inner[MOST_WORKERS];
} nest;

static void note_nested(size_t block, int worker, void *context)
{
    (void)worker;
    record *r = &((nest *)context)->inner[block];
    r->threads = 1; /* all the inner blocks are worker 0's */
    r->caller = pthread_self();
    imp_parallel(MOST_BLOCKS, 4, note, r);
}

static void nested_calls_are_serial(void **state)
{
    (void)state;
    static nest n;
    memset(&n, 0, sizeof n);
    imp_parallel(MOST_WORKERS, 3, note_nested, &n);
    for (size_t i = 0; i < MOST_WORKERS; i++) {
        for (size_t block = 0; block < MOST_BLOCKS; block++)
            assert_int_equal(n.inner[i].times[block], 1);
        assert_int_equal(n.inner[i].strangers, 0);
        assert_int_equal(n.inner[i].clashes, 0);
        assert_int_equal(n.inner[i].elsewhere, 0);
    }
}

/* Python's multiprocessing forks, for one. */
static void a_forked_process_works_alone(void **state)
{
    (void)state;
    record before = {.threads = 4, .caller = pthread_self()};
    imp_parallel(MOST_BLOCKS, 4, note, &before);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60); /* ends a child that waits for threads it does not have */
        record r = {.threads = 4, .caller = pthread_self()};
        imp_parallel(MOST_BLOCKS, 4, note, &r);
        bool done = r.strangers == 0 && r.elsewhere == 0;
        for (size_t i = 0; i < MOST_BLOCKS; i++)
            done = done && r.times[i] == 1;
        _exit(done ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    every_block_runs_once(NULL);
}

static void threads_are_at_least_one(void **state)
{
    (void)state;
    assert_true(imp_parallel_threads(0) >= 1);
    assert_true(imp_parallel_threads(-5) >= 1);
    assert_int_equal(imp_parallel_threads(1), 1);
    assert_true(imp_parallel_threads(2147483647) <= 1024);
#ifdef _OPENMP
    assert_int_equal(imp_parallel_threads(3), 3);
#endif
}

static void blocks_are_dealt_evenly(void **state)
{
    (void)state;
    for (size_t count = 0; count < 200; count++)
        for (size_t blocks = 1; blocks < 40; blocks++) {
            assert_int_equal(imp_block_begin(count, blocks, 0), 0);
            assert_int_equal(imp_block_begin(count, blocks, blocks), count);
            for (size_t block = 0; block < blocks; block++) {
                size_t share = imp_block_begin(count, blocks, block + 1) -
                               imp_block_begin(count, blocks, block);
                assert_true(share == count / blocks || share == count / blocks + 1);
            }
        }
    assert_true(imp_block_begin(SIZE_MAX, 3, 3) == SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_runs_once),
        cmocka_unit_test(serial_work_stays_on_the_caller),
        cmocka_unit_test(nested_calls_are_serial),
        cmocka_unit_test(a_forked_process_works_alone),
        cmocka_unit_test(threads_are_at_least_one),
        cmocka_unit_test(blocks_are_dealt_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
