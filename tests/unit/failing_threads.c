/* failing_threads.c - what the linker puts in place of pthread_create() (--wrap). */
#include "failing_threads.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static atomic_size_t allowed = SIZE_MAX, asked;

size_t failing_threads_allow(size_t left)
{
    allowed = left;
    return atomic_exchange(&asked, 0);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument)
{
    size_t left = allowed;
    asked++;
    if (left == 0)
        return EAGAIN;
    if (left != SIZE_MAX)
        allowed = left - 1;
    return __real_pthread_create(thread, attributes, start, argument);
}
