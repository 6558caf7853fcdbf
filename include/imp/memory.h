/*
 * memory.h - the allocator that all memory of the library comes from.
 *
 * By default that is the C library's allocator, with large blocks aligned and marked for huge
 * pages. An application with its own heap replaces it here; so do the tests that make every
 * allocation fail in turn.
 */
#ifndef IMP_MEMORY_H
#define IMP_MEMORY_H

#include <stddef.h>

#include <imp/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library's threads call both functions concurrently, so both must be thread-safe, as malloc()
 * is. */
typedef struct imp_allocator {
    /* At least `size` bytes at a multiple of `alignment` (a power of two), or NULL. */
    void *(*allocate)(size_t size, size_t alignment, void *context);
    /* Gives back what allocate() returned; never called with NULL. */
    void (*release)(void *pointer, void *context);
    void *context;
} imp_allocator;

/* Use `allocator` from now on, or the default one again when NULL. The struct is copied.
 * Call it while the library holds no memory and no other thread is using it, because a block must
 * be released by the allocator that gave it. */
IMP_API void imp_set_allocator(const imp_allocator *allocator);

#ifdef __cplusplus
}
#endif

#endif
