/* bisect.h - binary search in a sorted list. */
#ifndef IMP_BASE_BISECT_H
#define IMP_BASE_BISECT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether an entry of the list comes before the place that is sought. */
typedef bool imp_comes_before(const void *list, size_t index, const void *key);

/* The first of `count` entries that does not come before the place, or `count` if all do. Inline,
 * so that the compiler inlines the comparison, too. */
static inline size_t imp_bisect(const void *list, size_t count, imp_comes_before *before,
                                const void *key)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (before(list, middle, key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
