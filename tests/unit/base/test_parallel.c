/*
 * test_parallel.c - every block once, every worker alone, nested calls and forked processes serial,
 * and all of it also with fewer threads than were asked for.
 *
 * The bodies only record: an assertion that fails on another thread would jump into the wrong
 * stack, so all of them are made afterwards.
 */
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <imp/threads.h>

#include "base/parallel.h"
#include "failing_threads.h"

enum { MOST_BLOCKS = 100, MOST_WORKERS = 8, PATIENCE = 600000 };

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

/* A system that has no thread to give, or fewer than are wanted: those that there are do the work.
 * This test is the first, since threads that were started stay. */
static void threads_may_be_refused(void **state)
{
    (void)state;
    for (size_t left = 0; left < 4; left++) {
        failing_threads_allow(left);
        record r = {.threads = MOST_WORKERS, .caller = pthread_self()};
        imp_parallel(MOST_BLOCKS, MOST_WORKERS, note, &r);
        assert_int_equal(failing_threads_allow(SIZE_MAX), left + 1);
        for (size_t i = 0; i < MOST_BLOCKS; i++)
            assert_int_equal(r.times[i], 1);
        assert_int_equal(r.strangers, 0);
        assert_int_equal(r.clashes, 0);
        if (left == 0)
            assert_int_equal(r.elsewhere, 0);
    }
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

/* ---- hosts with threads of their own ---- */

enum { HOSTS = 6, CALLS = 50 };

typedef struct host {
    pthread_t thread;
    size_t wrong;
} host;

static void *call_often(void *argument)
{
    host *h = argument;
    for (int call = 0; call < CALLS; call++) {
        record r = {.threads = 4, .caller = pthread_self()};
        imp_parallel(MOST_WORKERS, 4, note, &r);
        for (size_t i = 0; i < MOST_WORKERS; i++)
            h->wrong += r.times[i] != 1;
        h->wrong += (size_t)(r.strangers + r.clashes);
    }
    return NULL;
}

/* All have their blocks done, and together no more workers than one of them would. */
static void many_hosts_share_the_workers(void **state)
{
    (void)state;
    host hosts[HOSTS] = {0};
    imp_parallel(MOST_BLOCKS, MOST_WORKERS, note, &(record){.threads = MOST_WORKERS});
    failing_threads_allow(SIZE_MAX);
    for (size_t i = 0; i < HOSTS; i++)
        assert_int_equal(pthread_create(&hosts[i].thread, NULL, call_often, &hosts[i]), 0);
    for (size_t i = 0; i < HOSTS; i++) {
        pthread_join(hosts[i].thread, NULL);
        assert_int_equal(hosts[i].wrong, 0);
    }
    assert_int_equal(failing_threads_allow(SIZE_MAX), HOSTS);
}

/* ---- what a worker takes over from its caller, and what not ---- */

typedef struct look {
    atomic_int other_rounding, open_to_signals, elsewhere;
    int rounding;
    pthread_t caller;
} look;

static void look_around(size_t block, int worker, void *context)
{
    (void)block, (void)worker;
    look *l = context;
    if (fegetround() != l->rounding)
        atomic_fetch_add(&l->other_rounding, 1);
    sigset_t blocked;
    if (!pthread_equal(pthread_self(), l->caller)) {
        if (pthread_sigmask(SIG_SETMASK, NULL, &blocked) != 0 || !sigismember(&blocked, SIGINT))
            atomic_fetch_add(&l->open_to_signals, 1);
        atomic_fetch_add(&l->elsewhere, 1);
    } else { /* stays until another has had a block, however long that takes to wake up */
        for (int i = 0; i < PATIENCE && atomic_load(&l->elsewhere) == 0; i++)
            usleep(1000);
    }
}

/* A program may change how it rounds long after the workers were started. */
static void workers_round_as_the_caller_does(void **state)
{
    (void)state;
    int before = fegetround();
    const int roundings[] = {FE_UPWARD, FE_DOWNWARD, FE_TONEAREST};
    int elsewhere = 0;
    for (size_t i = 0; i < 3; i++) {
        look l = {.rounding = roundings[i], .caller = pthread_self()};
        fesetround(roundings[i]);
        imp_parallel(MOST_BLOCKS, 4, look_around, &l);
        fesetround(before);
        assert_int_equal(l.other_rounding, 0);
        elsewhere += l.elsewhere;
    }
    assert_true(elsewhere > 0);
}

static void signals_are_for_the_host(void **state)
{
    (void)state;
    look l = {.rounding = fegetround(), .caller = pthread_self()};
    imp_parallel(MOST_BLOCKS, 4, look_around, &l);
    assert_true(l.elsewhere > 0);
    assert_int_equal(l.open_to_signals, 0);
    sigset_t blocked;
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &blocked), 0);
    assert_false(sigismember(&blocked, SIGINT));
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
        alarm(600); /* ends a child that waits for threads it does not have */
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

static void a_thread_can_be_limited(void **state)
{
    (void)state;
    int usual = imp_parallel_threads(0);
    assert_int_equal(imp_limit_threads(1), 0);
    assert_int_equal(imp_parallel_threads(0), 1);
    assert_int_equal(imp_parallel_threads(3), 3);
    assert_int_equal(imp_limit_threads(2), 1);
    assert_int_equal(imp_parallel_threads(0), 2);
    assert_int_equal(imp_limit_threads(-1), 2);
    assert_int_equal(imp_parallel_threads(0), usual);
}

static void threads_are_at_least_one(void **state)
{
    (void)state;
    assert_true(imp_parallel_threads(0) >= 1);
    assert_true(imp_parallel_threads(-5) >= 1);
    assert_int_equal(imp_parallel_threads(1), 1);
    assert_true(imp_parallel_threads(2147483647) <= 1024);
    assert_int_equal(imp_parallel_threads(3), 3);
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
        cmocka_unit_test(threads_may_be_refused),
        cmocka_unit_test(every_block_runs_once),
        cmocka_unit_test(serial_work_stays_on_the_caller),
        cmocka_unit_test(nested_calls_are_serial),
        cmocka_unit_test(many_hosts_share_the_workers),
        cmocka_unit_test(workers_round_as_the_caller_does),
        cmocka_unit_test(signals_are_for_the_host),
        cmocka_unit_test(a_forked_process_works_alone),
        cmocka_unit_test(a_thread_can_be_limited),
        cmocka_unit_test(threads_are_at_least_one),
        cmocka_unit_test(blocks_are_dealt_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
