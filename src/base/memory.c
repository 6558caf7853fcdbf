/*
 * memory.c - checked sizes, and the one allocator all memory goes through.
 *
 * The allocator is the library's only global: it is set before anything else happens and only read
 * afterwards. Every block is aligned to a cache line, which is also what AVX-512 loads want.
 */
#define _DEFAULT_SOURCE /* posix_memalign, madvise */

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ALIGNMENT = 64,
    HUGE_PAGE = 2 << 20,
    HUGE_BLOCK = 4 << 20, /* below this, huge pages waste more than they save */
};

static void *default_allocate(size_t size, size_t alignment, void *context)
{
    (void)context;
    if (size >= HUGE_BLOCK)
        alignment = HUGE_PAGE;

    void *pointer;
    if (posix_memalign(&pointer, alignment, size) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    /* Only advice: the memory is as good if the kernel has no huge pages. */
    if (size >= HUGE_BLOCK)
        (void)madvise(pointer, size, MADV_HUGEPAGE);
#endif
    return pointer;
}

static void default_release(void *pointer, void *context)
{
    (void)context;
    free(pointer);
}

static const imp_allocator default_allocator = {default_allocate, default_release, NULL};
static imp_allocator current = {default_allocate, default_release, NULL};

void imp_set_allocator(const imp_allocator *allocator)
{
    current = allocator != NULL ? *allocator : default_allocator;
}

bool imp_multiply(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

bool imp_add(size_t a, size_t b, size_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

void *imp_allocate(size_t count, size_t size)
{
    size_t bytes;
    if (!imp_multiply(count, size, &bytes))
        return NULL;
    /* Objects larger than PTRDIFF_MAX are not allowed: differences of pointers into them would
     * overflow. */
    if (bytes > PTRDIFF_MAX)
        return NULL;
    /* Zero bytes become one, so that NULL always means that memory ran out. */
    return current.allocate(bytes > 0 ? bytes : 1, ALIGNMENT, current.context);
}

void *imp_allocate_zeroed(size_t count, size_t size)
{
    void *pointer = imp_allocate(count, size);
    if (pointer != NULL)
        memset(pointer, 0, count * size);
    return pointer;
}

void *imp_enlarge(const void *items, size_t count, size_t capacity, size_t size)
{
    void *larger = imp_allocate(capacity, size);
    if (larger != NULL && count > 0)
        memcpy(larger, items, count * size);
    return larger;
}

char *imp_duplicate(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = imp_allocate(size, 1);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

void imp_release(void *pointer)
{
    if (pointer != NULL)
        current.release(pointer, current.context);
}
