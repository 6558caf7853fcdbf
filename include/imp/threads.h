/*
 * threads.h - how many threads a call may use.
 */
#ifndef IMP_THREADS_H
#define IMP_THREADS_H

#include <imp/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets how many threads the calls of this thread use where no number is passed to them. 0, the
 * initial value, means one for each processor that the process may use, or OMP_NUM_THREADS if that
 * is set. Results do not depend on it. Returns the previous value. */
IMP_API int imp_limit_threads(int threads);

#ifdef __cplusplus
}
#endif

#endif
