/* suggest_groups.c - groups of points, as given or found by imp_cluster(), and the most typical
 * point of each. */
#include "methods/suggest_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <imp/cluster.h>

#include "base/error.h"
#include "base/memory.h"
#include "methods/gaussian.h"

/* A point and the caller's number of its group. */
typedef struct member {
    int32_t group;
    uint32_t point;
} member;

static int compare_members(const void *a, const void *b)
{
    const member *x = a, *y = b;
    return x->group != y->group ? (x->group > y->group) - (x->group < y->group)
                                : (x->point > y->point) - (x->point < y->point);
}

/* Renumbers groups in order without gaps, so that memory depends only on their count. */
static imp_status take_given(imp_groups *groups, const int32_t *given, imp_error *error)
{
    size_t n = groups->points;
    member *members = imp_allocate(n, sizeof *members);
    imp_status status = members ? IMP_OK : imp_fail_memory(error, "the groups of the points");
    for (size_t i = 0; i < n && !status; i++) {
        if (given[i] < -1)
            status =
                imp_fail(error, IMP_EINVAL,
                         "point %zu is in group %d; groups are numbers of at least 0, or -1 for "
                         "none",
                         i, (int)given[i]);
        members[i] = (member){given[i], (uint32_t)i};
    }
    if (!status)
        qsort(members, n, sizeof *members, compare_members);
    for (size_t i = 0; i < n && !status; i++) {
        if (members[i].group >= 0 && (i == 0 || members[i].group != members[i - 1].group))
            groups->count++;
        groups->of[members[i].point] = members[i].group < 0 ? -1 : (int32_t)(groups->count - 1);
    }
    imp_release(members);
    return status;
}

static imp_status find(imp_groups *groups, const float *rows, size_t d, int threads,
                       imp_error *error)
{
    imp_cluster_options options = imp_cluster_defaults();
    options.method = "dp-means";
    options.threads = threads;
    imp_clustering *found;
    imp_status status = imp_cluster(rows, groups->points, d, &options, &found, error);
    if (status)
        return status;
    memcpy(groups->of, found->assignment, groups->points * sizeof *groups->of);
    groups->count = found->clusters;
    imp_clustering_free(found);
    return IMP_OK;
}

/* Computes mean(count, d) and the point of each group nearest to it; ties go to the first. */
static void find_typical(imp_groups *groups, const float *rows, size_t d, double *mean,
                         double *nearest)
{
    memset(mean, 0, groups->count * d * sizeof *mean);
    for (size_t i = 0; i < groups->points; i++)
        for (size_t j = 0; j < d && groups->of[i] >= 0; j++)
            mean[(size_t)groups->of[i] * d + j] += rows[i * d + j];
    for (size_t g = 0; g < groups->count; g++) {
        nearest[g] = INFINITY;
        for (size_t j = 0; j < d; j++)
            mean[g * d + j] /= (double)(groups->size[g] > 0 ? groups->size[g] : 1);
    }
    for (size_t i = 0; i < groups->points; i++) {
        if (groups->of[i] < 0)
            continue;
        size_t g = (size_t)groups->of[i];
        double distance = imp_squared_distance(rows + i * d, mean + g * d, d);
        if (distance < nearest[g]) {
            nearest[g] = distance;
            groups->typical[g] = (uint32_t)i;
        }
    }
}

/* A group and its size, to be sorted. */
typedef struct sized {
    size_t size;
    uint32_t group;
} sized;

static int largest_first(const void *a, const void *b)
{
    const sized *x = a, *y = b;
    return x->size != y->size ? (x->size < y->size) - (x->size > y->size)
                              : (x->group > y->group) - (x->group < y->group);
}

static imp_status arrange(imp_groups *groups, const float *rows, size_t d, imp_error *error)
{
    size_t count = groups->count, values;
    sized *sorted = imp_allocate(count, sizeof *sorted);
    double *mean = imp_multiply(count, d, &values) ? imp_allocate(values, sizeof *mean) : NULL;
    double *nearest = imp_allocate(count, sizeof *nearest);
    groups->size = imp_allocate_zeroed(count, sizeof *groups->size);
    groups->typical = imp_allocate_zeroed(count, sizeof *groups->typical);
    groups->order = imp_allocate(count, sizeof *groups->order);
    imp_status status = IMP_OK;
    if (!sorted || !mean || !nearest || !groups->size || !groups->typical || !groups->order) {
        status = imp_fail_memory(error, "the groups of the points");
    } else {
        for (size_t i = 0; i < groups->points; i++)
            if (groups->of[i] >= 0)
                groups->size[groups->of[i]]++;
        find_typical(groups, rows, d, mean, nearest);
        for (size_t g = 0; g < count; g++)
            if (groups->size[g] > 1)
                sorted[groups->shown++] = (sized){groups->size[g], (uint32_t)g};
        qsort(sorted, groups->shown, sizeof *sorted, largest_first);
        for (size_t g = 0; g < groups->shown; g++)
            groups->order[g] = sorted[g].group;
    }
    imp_release(sorted);
    imp_release(mean);
    imp_release(nearest);
    return status;
}

imp_status imp_groups_find(imp_groups *groups, const float *rows, size_t n, size_t d,
                           const int32_t *given, int threads, imp_error *error)
{
    *groups = (imp_groups){.points = n, .of = imp_allocate(n, sizeof *groups->of)};
    if (!groups->of)
        return imp_fail_memory(error, "the groups of the points");
    imp_status status =
        given ? take_given(groups, given, error) : find(groups, rows, d, threads, error);
    return status ? status : arrange(groups, rows, d, error);
}

void imp_groups_release(imp_groups *groups)
{
    imp_release(groups->of);
    imp_release(groups->size);
    imp_release(groups->typical);
    imp_release(groups->order);
    *groups = (imp_groups){0};
}
