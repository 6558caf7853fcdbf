/*
 * parallel.h - loops over blocks that give the same bits on any number of threads.
 *
 * The caller cuts its work into blocks by the size of the work alone, never by the number of
 * threads; each block writes only what is its own; what must be summed is summed afterwards in
 * block order. Which thread runs which block is then nobody's business.
 */
#ifndef IMP_BASE_PARALLEL_H
#define IMP_BASE_PARALLEL_H

#include <stddef.h>

/* Does block `block`. `worker` is in 0..threads-1 and unique among the calls running at the same
 * time: use it to pick scratch memory, never to decide what to compute. */
typedef void imp_parallel_body(size_t block, int worker, void *context);

/* Runs body for every block in 0..blocks-1 on up to `threads` threads, the caller's among them, and
 * returns when all are done. It cannot fail: where the system has no more threads, those that there
 * are do everything, and so does the caller alone
 *
 * - from within a body, as all threads are busy then;
 * - while other callers have all the workers: together they get no more than the one of them that
 *   asks for most;
 * - in a process forked from one that had used threads.
 *
 * All threads round as the caller does (fesetround(), flushing to zero). */
void imp_parallel(size_t blocks, int threads, imp_parallel_body *body, void *context);

/* The number of threads to use when `wanted` were asked for; 0 asks for as many as there are
 * processors that this process may use, or as OMP_NUM_THREADS said when this was first asked.
 * Always at least 1. imp_limit_threads() of <imp/threads.h> gives another number for 0. */
int imp_parallel_threads(int wanted);

/* Where block `block` of `blocks` begins when `count` items are dealt out evenly; it ends where
 * the next one begins. */
static inline size_t imp_block_begin(size_t count, size_t blocks, size_t block)
{
    size_t share = count / blocks, rest = count % blocks;
    return block * share + (block < rest ? block : rest);
}

#endif
