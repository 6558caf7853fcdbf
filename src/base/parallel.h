/*
 * parallel.h - loops over blocks that give the same bits on any number of threads.
 *
 * The caller divides its work into blocks by the size of the work alone, never by the number of
 * threads; each block writes only its own output; sums over blocks are taken afterwards, in block
 * order. Then it does not matter which thread runs which block.
 */
#ifndef IMP_BASE_PARALLEL_H
#define IMP_BASE_PARALLEL_H

#include <stddef.h>

/* Processes block `block`. `worker` is in 0..threads-1 and unique among concurrent calls: use it to
 * pick scratch memory, never to decide what to compute. */
typedef void imp_parallel_body(size_t block, int worker, void *context);

/* Runs body for every block in 0..blocks-1 on up to `threads` threads, the caller's among them, and
 * returns when all are done. It cannot fail: if the system refuses threads, those there are do all
 * the work. The caller does it alone
 *
 * - from within a body, because all threads are busy then;
 * - while other callers have all workers: together they get no more than the largest number asked
 *   for;
 * - in a process forked from one that had used threads.
 *
 * All threads round as the caller does (fesetround(), flushing to zero). */
void imp_parallel(size_t blocks, int threads, imp_parallel_body *body, void *context);

/* The number of threads to use when `wanted` were asked for, at least 1. 0 asks for one per
 * processor that this process may use, or for OMP_NUM_THREADS as it was at the first call, unless
 * imp_limit_threads() of <imp/threads.h> set another number. */
int imp_parallel_threads(int wanted);

/* Where block `block` of `blocks` begins when `count` items are divided evenly; it ends where the
 * next one begins. */
static inline size_t imp_block_begin(size_t count, size_t blocks, size_t block)
{
    size_t share = count / blocks, rest = count % blocks;
    return block * share + (block < rest ? block : rest);
}

#endif
