/*
 * thread.h - starts a thread of the library, apart from the thread pool (parallel.h).
 */
#ifndef IMP_BASE_THREAD_H
#define IMP_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread that blocks all signals except synchronous ones, so that the host program handles
 * its own. `attributes` may be NULL. False if the system refuses a thread. */
bool imp_thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                      void *argument);

#endif
