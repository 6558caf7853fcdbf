/*
 * failing_threads.h - a system that has no thread to give, as when memory has just run out.
 *
 * All tests are linked so that pthread_create() is looked at here first.
 */
#ifndef FAILING_THREADS_H
#define FAILING_THREADS_H

#include <stddef.h>

/* From now on `left` more threads can be started; the others fail with EAGAIN. Returns how many
 * were asked for since the last call. SIZE_MAX: as many as the system has. */
size_t failing_threads_allow(size_t left);

#endif
