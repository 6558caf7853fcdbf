/*
 * parallel.c - the loop over blocks, on the library's own thread pool.
 *
 * The caller works on blocks itself and hires idle workers to help. Each thread takes the next
 * block when it is free: blocks are large enough that this costs nothing, and a slow core delays
 * the end by one block at most. When no blocks are left, the caller waits only for workers that
 * have begun one; those that have not woken up are released again. So a thread that cannot be
 * started, or is slow to wake, costs speed and nothing else.
 *
 * Workers are started when first needed and stay. Nothing here allocates: a thread that was started
 * has all it needs.
 */
#define _GNU_SOURCE /* sched_getaffinity, CPU_COUNT */

#include "base/parallel.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <imp/threads.h>

#include "base/clock.h"
#include "base/thread.h"

enum {
    MOST_THREADS = 1024,  /* more is a typing error */
    STACK_SIZE = 1 << 20, /* ten times what a block takes */
    CACHE_LINE = 64,      /* two workers never share one */
    LOOKS = 64            /* at a state, before one at the clock */
};

/* Seconds that a thread spins before it sleeps, because waking up is slow. The serial parts of a
 * training step are shorter than this. */
static const double patience = 4e-3;

typedef struct job {
    size_t blocks;
    imp_parallel_body *body;
    void *context;
    fenv_t rounding;    /* the caller's rounding mode, which workers adopt */
    int processor;      /* where the caller runs */
    atomic_size_t next; /* next block to take */
} job;

/* Who may change a worker's state, from what to what:
 *
 *   caller   IDLE or ASLEEP -> HIRED, HIRED -> IDLE (taken back), BUSY -> AWAITED
 *   worker   IDLE -> ASLEEP, HIRED -> BUSY, BUSY or AWAITED -> IDLE
 */
enum { IDLE, ASLEEP, HIRED, BUSY, AWAITED };

typedef struct worker {
    alignas(CACHE_LINE) atomic_int state;
    job *job;             /* from HIRED on */
    int number;           /* in that job */
    atomic_int processor; /* where it did its last job */
    struct worker *next;
    pthread_mutex_t
        mutex; /* for sleeping: of the worker while ASLEEP, of its caller while AWAITED */
    pthread_cond_t changed;
} worker;

static struct {
    pthread_mutex_t mutex; /* guards what follows */
    worker *idle;          /* most recently used first */
    int started;           /* of `workers` */
    atomic_bool crowded;   /* more threads than processors, so spinning would hold others up */
    worker workers[MOST_THREADS - 1];
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* Whether this thread is inside a block: all processors are busy then, and more threads would only
 * compete. The TLS model reserves it when a thread starts, so that no allocation can fail later. */
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));

/* ---- the machine ---- */

static pthread_once_t asked = PTHREAD_ONCE_INIT;
static int processors;
static int usual_threads;

static atomic_bool used;  /* whether anybody has asked for a worker */
static atomic_bool alone; /* whether there can be none: the process was forked, without the threads
                             of `pool`, or forks could not be detected */

static void note_fork(void)
{
    alone = alone || used;
}

static void ask(void)
{
    cpu_set_t allowed;
    processors = sched_getaffinity(0, sizeof allowed, &allowed) == 0
                     ? CPU_COUNT(&allowed)
                     : (int)sysconf(_SC_NPROCESSORS_ONLN);
    const char *text = getenv("OMP_NUM_THREADS");
    long wanted = text != NULL ? strtol(text, NULL, 10) : 0;
    usual_threads = wanted > 0 && wanted <= MOST_THREADS ? (int)wanted : processors;
    alone = pthread_atfork(NULL, NULL, note_fork) != 0;
}

static _Thread_local int limit; /* of this thread's calls; 0: none */

int imp_limit_threads(int threads)
{
    int before = limit;
    limit = threads > 0 ? threads : 0;
    return before;
}

int imp_parallel_threads(int wanted)
{
    pthread_once(&asked, ask);
    int threads = wanted > 0 ? wanted : limit > 0 ? limit : usual_threads;
    if (threads > MOST_THREADS)
        threads = MOST_THREADS;
    return threads > 1 ? threads : 1;
}

/* ---- waiting ---- */

/* Tells the processor that this thread is spinning. */
static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Spins until the state is `wanted`, but not for long, and not on the processor of the thread that
 * is to change it. */
static bool see(worker *one, int wanted, int processor)
{
    double end = 0;
    do {
        for (int i = 0; i < LOOKS; i++) {
            if (atomic_load_explicit(&one->state, memory_order_acquire) == wanted)
                return true;
            relax();
        }
        if (sched_getcpu() == processor ||
            atomic_load_explicit(&pool.crowded, memory_order_relaxed))
            return false;
        if (end == 0)
            end = imp_clock() + patience;
    } while (imp_clock() < end);
    return false;
}

static bool change(worker *one, int from, int to)
{
    return atomic_compare_exchange_strong(&one->state, &from, to);
}

static void sleep_while(worker *one, int state)
{
    pthread_mutex_lock(&one->mutex);
    while (atomic_load(&one->state) == state)
        pthread_cond_wait(&one->changed, &one->mutex);
    pthread_mutex_unlock(&one->mutex);
}

/* Sets the state; wakes whoever sleeps while it is `sleeping`. */
static void set_and_wake(worker *one, int state, int sleeping)
{
    if (atomic_exchange(&one->state, state) != sleeping)
        return;
    pthread_mutex_lock(&one->mutex);
    pthread_cond_signal(&one->changed);
    pthread_mutex_unlock(&one->mutex);
}

/* ---- workers ---- */

static void do_blocks(job *work, int number)
{
    for (;;) {
        size_t block = atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed);
        if (block >= work->blocks)
            return;
        work->body(block, number, work->context);
    }
}

static void *live(void *argument)
{
    worker *self = argument;
    int caller = -1; /* where the last one ran */
    inside = true;
    for (;;) {
        if (see(self, HIRED, caller) && change(self, HIRED, BUSY)) {
            caller = self->job->processor;
            atomic_store_explicit(&self->processor, sched_getcpu(), memory_order_relaxed);
            fesetenv(&self->job->rounding);
            do_blocks(self->job, self->number);
            set_and_wake(self, IDLE, AWAITED);
        } else if (change(self, IDLE, ASLEEP)) {
            sleep_while(self, ASLEEP);
        }
    }
    return NULL;
}

static void hire(worker *one, job *work, int number)
{
    one->job = work;
    one->number = number;
    set_and_wake(one, HIRED, ASLEEP);
}

static void take_back(worker *one)
{
    if (change(one, HIRED, IDLE) ||
        see(one, IDLE, atomic_load_explicit(&one->processor, memory_order_relaxed)))
        return;
    if (change(one, BUSY, AWAITED))
        sleep_while(one, AWAITED);
}

static bool start_thread(worker *one)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);

    pthread_t thread;
    bool started = imp_thread_start(&thread, &attributes, live, one);
    pthread_attr_destroy(&attributes);
    return started;
}

/* Starts one more worker; NULL if the system refuses a thread. The pool is locked. */
static worker *start_worker(void)
{
    worker *one = &pool.workers[pool.started];
    atomic_init(&one->state, IDLE);
    if (pthread_mutex_init(&one->mutex, NULL) != 0)
        return NULL;
    if (pthread_cond_init(&one->changed, NULL) != 0) {
        pthread_mutex_destroy(&one->mutex);
        return NULL;
    }
    if (!start_thread(one)) {
        pthread_cond_destroy(&one->changed);
        pthread_mutex_destroy(&one->mutex);
        return NULL;
    }
    pool.started++;
    pool.crowded = pool.started >= processors;
    return one;
}

/* Takes up to `wanted` workers, as a list. Those that help other callers are neither waited for nor
 * replaced: all callers together have no more than the largest number wanted. */
static worker *gather(int wanted)
{
    worker *team = NULL;
    used = true;
    pthread_mutex_lock(&pool.mutex);
    for (int i = 0; i < wanted; i++) {
        worker *one = pool.idle;
        if (one != NULL)
            pool.idle = one->next;
        else if (pool.started >= wanted || (one = start_worker()) == NULL)
            break;
        one->next = team;
        team = one;
    }
    pthread_mutex_unlock(&pool.mutex);
    return team;
}

static void dismiss(worker *team)
{
    if (team == NULL)
        return;
    pthread_mutex_lock(&pool.mutex);
    while (team != NULL) {
        worker *one = team;
        team = one->next;
        one->next = pool.idle;
        pool.idle = one;
    }
    pthread_mutex_unlock(&pool.mutex);
}

/* ---- the loop ---- */

static void run_serially(size_t blocks, imp_parallel_body *body, void *context)
{
    for (size_t block = 0; block < blocks; block++)
        body(block, 0, context);
}

void imp_parallel(size_t blocks, int threads, imp_parallel_body *body, void *context)
{
    if (threads > 1)
        threads = imp_parallel_threads(threads);
    if (threads > 0 && blocks < (size_t)threads)
        threads = (int)blocks;
    if (threads <= 1 || inside || alone) {
        run_serially(blocks, body, context);
        return;
    }

    job work = {.blocks = blocks, .body = body, .context = context, .processor = sched_getcpu()};
    fegetenv(&work.rounding);
    worker *team = gather(threads - 1);
    int number = 0;
    for (worker *one = team; one != NULL; one = one->next)
        hire(one, &work, ++number);
    inside = true;
    do_blocks(&work, 0);
    inside = false;
    for (worker *one = team; one != NULL; one = one->next)
        take_back(one);
    dismiss(team);
}
