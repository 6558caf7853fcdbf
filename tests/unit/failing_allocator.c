/*
 * failing_allocator.c - counts the calls of the library and of jansson in one row and lets one of
 * them fail.
 */
#include "failing_allocator.h"

#include <stdlib.h>

#include <jansson.h>

#include <imp/memory.h>

/* jansson's functions have no context argument. */
static failing_allocator *installed;

static void *allocate(size_t size, size_t alignment, void *context)
{
    failing_allocator *allocator = context;
    if (atomic_fetch_add(&allocator->calls, 1) + 1 == allocator->fail_at)
        return NULL;
    void *pointer = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (pointer != NULL)
        atomic_fetch_add(&allocator->live, 1);
    return pointer;
}

static void release(void *pointer, void *context)
{
    failing_allocator *allocator = context;
    atomic_fetch_sub(&allocator->live, 1);
    free(pointer);
}

static void *json_allocate(size_t size)
{
    return allocate(size, _Alignof(max_align_t), installed);
}

static void json_release(void *pointer)
{
    if (pointer != NULL)
        release(pointer, installed);
}

void failing_allocator_install(failing_allocator *allocator, size_t fail_at)
{
    allocator->fail_at = fail_at;
    atomic_init(&allocator->calls, 0);
    atomic_init(&allocator->live, 0);
    installed = allocator;
    imp_set_allocator(&(imp_allocator){allocate, release, allocator});
    json_set_alloc_funcs(json_allocate, json_release);
}

bool failing_allocator_remove(failing_allocator *allocator)
{
    imp_set_allocator(NULL);
    json_set_alloc_funcs(malloc, free);
    installed = NULL;
    return allocator->fail_at > 0 && atomic_load(&allocator->calls) >= allocator->fail_at;
}
