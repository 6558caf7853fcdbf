/*
 * failing_allocator.c - counts the calls of the library and of jansson in one row and lets one of
 * them fail.
 */
#include "failing_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include <imp/memory.h>

/* jansson's functions have no context argument. */
static failing_allocator *installed;

static void *allocate(size_t size, size_t alignment, void *context)
{
    failing_allocator *allocator = context;
    if (atomic_fetch_add(&allocator->calls, 1) + 1 == allocator->fail_at) {
        atomic_store(&allocator->failed, true);
        return NULL;
    }
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
    atomic_init(&allocator->failed, false);
    installed = allocator;
    imp_set_allocator(&(imp_allocator){allocate, release, allocator});
    if (!allocator->spare_jansson)
        json_set_alloc_funcs(json_allocate, json_release);
}

bool failing_allocator_next(failing_allocator *allocator)
{
    assert_null(installed); /* the round before was ended */
    if (allocator->rounds > 0 && !atomic_load(&allocator->failed)) {
        assert_true(allocator->rounds > 1);
        return false;
    }
    failing_allocator_install(allocator, ++allocator->rounds);
    return true;
}

bool failing_allocator_end(failing_allocator *allocator)
{
    imp_set_allocator(NULL);
    json_set_alloc_funcs(malloc, free);
    installed = NULL;
    assert_int_equal(atomic_load(&allocator->live), 0);
    return atomic_load(&allocator->failed);
}

bool failing_allocator_expect(failing_allocator *allocator, imp_status status)
{
    bool failed = failing_allocator_end(allocator);
    assert_int_equal(status, failed ? IMP_ENOMEM : IMP_OK);
    return failed;
}
