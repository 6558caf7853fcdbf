/*
 * failing_allocator.h - an allocator that fails at call N, to walk every path that runs out of
 * memory. While it is installed, the library and jansson both draw from it.
 *
 * A test runs its operation with allocation 1, 2, 3, ... failing until none fails any more:
 *
 *     failing_allocator memory = {0};
 *     while (failing_allocator_next(&memory)) {
 *         imp_status status = operation();
 *         ... free what it made ...
 *         failing_allocator_expect(&memory, status);
 *     }
 */
#ifndef FAILING_ALLOCATOR_H
#define FAILING_ALLOCATOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <imp/status.h>

typedef struct failing_allocator {
    bool spare_jansson;  /* set by a test whose operation leaves jansson's own failures to others */
    size_t rounds;       /* begun by failing_allocator_next() */
    size_t fail_at;      /* the call that fails, counted from 1; 0 for none */
    atomic_size_t calls; /* so far */
    atomic_size_t live;  /* blocks given and not yet taken back */
    atomic_bool failed;  /* the call that was to fail came about */
} failing_allocator;

/* Begins the next round, in which one allocation later than in the last one fails. False after the
 * round in which none failed; a test fails whose operation allocates nothing. What the library or
 * jansson already holds must not be touched until the round ends. */
bool failing_allocator_next(failing_allocator *allocator);

/* Ends the round: back to the default allocators. A test fails that has not freed everything. True
 * when an allocation failed. */
bool failing_allocator_end(failing_allocator *allocator);

/* The same, and the operation's status must be IMP_ENOMEM when an allocation failed, else IMP_OK.
 */
bool failing_allocator_expect(failing_allocator *allocator, imp_status status);

/* Installs a fresh count without rounds, for tests that count calls or let one certain call fail.
 * Only while neither the library nor jansson holds memory; failing_allocator_end() as above. */
void failing_allocator_install(failing_allocator *allocator, size_t fail_at);

#endif
