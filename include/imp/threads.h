/*
 * threads.h - how many threads a call may use.
 */
#ifndef IMP_THREADS_H
#define IMP_THREADS_H

#include <imp/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls from this thread that are not told a number of threads use up to `threads` from now on; 0,
 * which is how every thread begins: as many as there are processors that the process may use, or as
 * OMP_NUM_THREADS says. Results do not depend on it. Returns what held before. */
IMP_API int imp_limit_threads(int threads);

#ifdef __cplusplus
}
#endif

#endif
