/*
 * points.c - checks on arrays of points and labels, and the order in which they are taken.
 *
 * The order is that of Algorithm 1, labelled points first; the class sums are those of its first
 * step.
 */
#include "methods/points.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"

/* Values to be checked. */
typedef struct inspection {
    const float *values;
    size_t count;
    atomic_bool failed;
} inspection;

enum { BLOCK = 1 << 18 }; /* values that one thread checks */

/* Without a branch per value, so that the loop vectorises. */
static void inspect_block(size_t block, int worker, void *context)
{
    (void)worker;
    inspection *all = context;
    const float *values = all->values + block * BLOCK;
    size_t rest = all->count - block * BLOCK, count = rest < BLOCK ? rest : BLOCK;
    int infinite = 0;
    for (size_t i = 0; i < count; i++)
        infinite |= !(fabsf(values[i]) <= FLT_MAX);
    if (infinite)
        atomic_store(&all->failed, true);
}

imp_status imp_check_finite(const float *rows, size_t count, size_t dimensions, int threads,
                            const char *what, imp_error *error)
{
    inspection all = {.values = rows, .count = count * dimensions};
    imp_parallel((all.count + BLOCK - 1) / BLOCK, imp_parallel_threads(threads), inspect_block,
                 &all);
    for (size_t i = 0; all.failed && i < count; i++) {
        const float *row = rows + i * dimensions;
        for (size_t j = 0; j < dimensions; j++)
            if (!isfinite(row[j]))
                return imp_fail(error, IMP_EINVAL,
                                "%s row %zu, column %zu is %s; every value must be a finite number",
                                what, i, j, isnan(row[j]) ? "not a number (NaN)" : "infinite");
    }
    return IMP_OK;
}

imp_status imp_check_labels(const int32_t *label, size_t count, int32_t least, size_t way,
                            const char *what, imp_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (label[i] < least || (label[i] >= 0 && (size_t)label[i] >= way))
            return imp_fail(error, IMP_EINVAL,
                            "%s row %zu has the label %d; labels here are classes from 0 to %zu%s",
                            what, i, (int)label[i], way - 1,
                            least < 0 ? ", or -1 for an unlabelled point" : "");
    return IMP_OK;
}

/* The first class without a point is at most `count`, so no more need be examined, however large a
 * label is. */
size_t imp_seen_bytes(size_t count, size_t way)
{
    return way < count + 1 ? way : count + 1;
}

imp_status imp_check_complete(const int32_t *label, size_t count, size_t way, unsigned char *seen,
                              imp_error *error)
{
    size_t bytes = imp_seen_bytes(count, way);
    memset(seen, 0, bytes);
    for (size_t i = 0; i < count; i++)
        if (label[i] >= 0 && (size_t)label[i] < bytes)
            seen[label[i]] = 1;
    const unsigned char *missing = memchr(seen, 0, bytes);
    if (missing)
        return imp_fail(error, IMP_EINVAL,
                        "class %zu has no labelled point; every class from 0 to %zu needs at least "
                        "one",
                        (size_t)(missing - seen), way - 1);
    return IMP_OK;
}

void imp_sum_classes(const imp_points *points, size_t way, double *members, double *sum)
{
    size_t d = points->dimensions;
    for (size_t class = 0; class < way; class ++)
        members[class] = 0;
    for (size_t v = 0; v < way * d; v++)
        sum[v] = 0;
    for (size_t i = 0; i < points->first_count; i++) {
        int32_t label = imp_points_label(points, i);
        if (label < 0)
            continue;
        const float *x = imp_points_row(points, i);
        members[label]++;
        for (size_t j = 0; j < d; j++)
            sum[(size_t)label * d + j] += x[j];
    }
}

size_t imp_count_unlabeled(const int32_t *label, size_t count)
{
    size_t unlabeled = 0;
    for (size_t i = 0; i < count; i++)
        unlabeled += label[i] < 0;
    return unlabeled;
}

void imp_order_labeled_first(const int32_t *label, size_t first, size_t second, uint32_t *order)
{
    size_t used = 0;
    for (size_t i = 0; i < first; i++)
        if (label[i] >= 0)
            order[used++] = (uint32_t)i;
    for (size_t i = 0; i < first; i++)
        if (label[i] < 0)
            order[used++] = (uint32_t)i;
    for (size_t i = first; i < first + second; i++)
        order[used++] = (uint32_t)i;
}
