/* thread_ranks.h - ranks that are threads of the test, so that what they share needs no MPI. */
#ifndef IMP_TESTS_THREAD_RANKS_H
#define IMP_TESTS_THREAD_RANKS_H

#include "base/ranks.h"

/* Runs `body` once for each of `size` ranks, at the same time, and returns when all have ended. */
void thread_ranks_run(int size, void (*body)(const imp_ranks *ranks, void *context), void *context);

#endif
