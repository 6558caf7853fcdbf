/* thread.c - starts threads that leave signals to the host program. */
#define _GNU_SOURCE

#include "base/thread.h"

#include <signal.h>
#include <stddef.h>

bool imp_thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                      void *argument)
{
    sigset_t blocked, before;
    sigfillset(&blocked);
    const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&blocked, own[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    bool started = pthread_create(thread, attributes, run, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}
