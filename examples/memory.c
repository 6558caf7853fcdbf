/*
 * memory.c - gives the library memory from somewhere else, here from malloc() with a count kept.
 *
 * Last line: 0 blocks are still held
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include <imp/memory.h>
#include <imp/mixture.h>

#include "must.h"

/* Atomic: the library's threads allocate at the same time. */
typedef struct account {
    atomic_size_t blocks, bytes;
} account;

static void *allocate(size_t size, size_t alignment, void *context)
{
    account *kept = context;
    kept->blocks++;
    kept->bytes += size;
    size_t whole = (size + alignment - 1) / alignment * alignment; /* as aligned_alloc() wants it */
    return aligned_alloc(alignment, whole);
}

static void release(void *pointer, void *context)
{
    account *kept = context;
    kept->blocks--;
    free(pointer);
}

int main(void)
{
    account kept = {0};
    /* Before the library holds anything: what one allocator gave, another must not take back. */
    imp_set_allocator(&(imp_allocator){allocate, release, &kept});

    const float points[] = {0, 0, 0, 1, 5, 5, 5, 6};
    const int32_t labels[] = {0, 0, 1, 1};
    imp_mixture *mixture;
    imp_error error;
    must(imp_mixture_fit(points, labels, 4, 2, NULL, &mixture, &error), &error);
    printf("a mixture is %zu blocks; %zu bytes were asked for on the way to it\n",
           (size_t)kept.blocks, (size_t)kept.bytes);
    imp_mixture_free(mixture);

    printf("%zu blocks are still held\n", (size_t)kept.blocks);
    imp_set_allocator(NULL); /* the C library's again */
    return 0;
}
