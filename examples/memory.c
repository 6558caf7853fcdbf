/*
 * memory.c - replaces the library's allocator, here by one that counts blocks and bytes.
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
    size_t whole = (size + alignment - 1) / alignment * alignment; /* as aligned_alloc() requires */
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
    /* Before the library holds any memory: a block must be released by the allocator that gave it.
     */
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
    imp_set_allocator(NULL); /* back to the default */
    return 0;
}
