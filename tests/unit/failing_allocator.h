/*
 * failing_allocator.h - an allocator that fails at call N, to walk every path that runs out of
 * memory.
 *
 * While it is installed, the library and jansson both draw from it. A test runs its operation with
 * N = 1, 2, 3, ... until no call failed any more, and looks at `live` for leaks each time.
 */
#ifndef FAILING_ALLOCATOR_H
#define FAILING_ALLOCATOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct failing_allocator {
    size_t fail_at;      /* the call that fails, counted from 1; 0 for none */
    atomic_size_t calls; /* so far */
    atomic_size_t live;  /* blocks given and not yet taken back */
} failing_allocator;

/* Installs a fresh count. Only while neither the library nor jansson holds memory. */
void failing_allocator_install(failing_allocator *allocator, size_t fail_at);

/* Back to the default allocators. True when the call that was to fail came about. */
bool failing_allocator_remove(failing_allocator *allocator);

#endif
