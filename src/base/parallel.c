/*
 * parallel.c - the loop over blocks, on OpenMP where the compiler has it and serial where not.
 *
 * Blocks are handed out one at a time to whoever is free: they are large enough that the hand-over
 * costs nothing, and a slow core then delays the end by one block at most.
 */
#include "base/parallel.h"

#ifdef _OPENMP
#include <omp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>
#endif

/* More threads than this is a slip of the keyboard; OpenMP would end the process over it. */
enum { MOST_THREADS = 1024 };

static void run_serially(size_t blocks, imp_parallel_body *body, void *context)
{
    for (size_t block = 0; block < blocks; block++)
        body(block, 0, context);
}

#ifdef _OPENMP

/* Whether this process was forked from one that had used threads. They did not come along, but
 * GNU's OpenMP would wait for them forever. */
static bool lost_its_threads(void)
{
    static atomic_int owner; /* the first process to use threads */
    int first = 0, self = getpid();
    return !atomic_compare_exchange_strong(&owner, &first, self) && first != self;
}

void imp_parallel(size_t blocks, int threads, imp_parallel_body *body, void *context)
{
    if (threads > MOST_THREADS)
        threads = MOST_THREADS;
    if (threads > 0 && blocks < (size_t)threads)
        threads = (int)blocks;

    /* Inside a parallel region all cores are busy already; more threads would only fight. */
    if (threads <= 1 || omp_in_parallel() || lost_its_threads()) {
        run_serially(blocks, body, context);
        return;
    }

#pragma omp parallel num_threads(threads)
    {
        int worker = omp_get_thread_num();
#pragma omp for schedule(dynamic)
        for (size_t block = 0; block < blocks; block++)
            body(block, worker, context);
    }
}

int imp_parallel_threads(int wanted)
{
    int threads = wanted > 0 ? wanted : omp_get_max_threads();
    if (threads > MOST_THREADS)
        threads = MOST_THREADS;
    return threads > 1 ? threads : 1;
}

#else

void imp_parallel(size_t blocks, int threads, imp_parallel_body *body, void *context)
{
    (void)threads;
    run_serially(blocks, body, context);
}

int imp_parallel_threads(int wanted)
{
    (void)wanted;
    return 1;
}

#endif
