/*
 * thread.h - a thread of the library's own, beside those of its loops (parallel.h).
 */
#ifndef IMP_BASE_THREAD_H
#define IMP_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread that takes no signals but those about itself: the host's are for the host.
 * `attributes` may be NULL. False where the system has none to give. */
bool imp_thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                      void *argument);

#endif
