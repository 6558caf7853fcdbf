/* memory.h - checked allocation through the library's one replaceable allocator. */
#ifndef IMP_BASE_MEMORY_H
#define IMP_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/memory.h>

/* Room for `count` items of `size` bytes each, aligned to 64 bytes, not initialised; NULL when
 * the product overflows or memory runs out. A count of zero gives a pointer that may be released.
 */
void *imp_allocate(size_t count, size_t size);

/* The same, filled with zero bytes. */
void *imp_allocate_zeroed(size_t count, size_t size);

/* Room for `capacity` items, the first `count` of them copied from `items`, which is not released;
 * NULL as above. `items` may be NULL if `count` is 0. */
void *imp_enlarge(const void *items, size_t count, size_t capacity, size_t size);

/* A copy of a string, or NULL. */
char *imp_duplicate(const char *text);

/* Releases memory; NULL is allowed. */
void imp_release(void *pointer);

/* *product = a * b, or false when that does not fit. */
bool imp_multiply(size_t a, size_t b, size_t *product);

/* *sum = a + b, or false when that does not fit. */
bool imp_add(size_t a, size_t b, size_t *sum);

#endif
