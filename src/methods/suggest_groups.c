/* suggest_groups.c - groups of points, as given or found by imp_cluster(), and the distances of
 * points to the means of theirs. */
#include "methods/suggest_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <imp/cluster.h>

#include "base/error.h"
#include "base/memory.h"
#include "methods/gaussian.h"

enum { PIECE_STEPS = 10 };

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

/* `wanted` groups; 0: as many as the points show. */
static imp_status find(imp_groups *groups, const float *rows, size_t d, size_t wanted, int threads,
                       imp_error *error)
{
    imp_cluster_options options = imp_cluster_defaults();
    options.method = "dp-means";
    options.threads = threads;
    if (wanted > 0) {
        options.clusters = wanted;
        options.rule.steps = PIECE_STEPS;
    }
    imp_clustering *found;
    imp_status status = imp_cluster(rows, groups->points, d, &options, &found, error);
    if (status)
        return status;
    memcpy(groups->of, found->assignment, groups->points * sizeof *groups->of);
    groups->count = found->clusters;
    imp_clustering_free(found);
    return IMP_OK;
}

/* Computes mean(count, d) and the distances to it. */
static void find_distances(imp_groups *groups, const float *rows, size_t d, double *mean)
{
    memset(mean, 0, groups->count * d * sizeof *mean);
    for (size_t i = 0; i < groups->points; i++)
        for (size_t j = 0; j < d && groups->of[i] >= 0; j++)
            mean[(size_t)groups->of[i] * d + j] += rows[i * d + j];
    for (size_t g = 0; g < groups->count; g++)
        for (size_t j = 0; j < d; j++)
            mean[g * d + j] /= (double)(groups->size[g] > 0 ? groups->size[g] : 1);
    for (size_t i = 0; i < groups->points; i++)
        groups->distance[i] =
            groups->of[i] < 0
                ? INFINITY
                : imp_squared_distance(rows + i * d, mean + (size_t)groups->of[i] * d, d);
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
    groups->size = imp_allocate_zeroed(count, sizeof *groups->size);
    groups->distance = imp_allocate(groups->points, sizeof *groups->distance);
    groups->order = imp_allocate(count, sizeof *groups->order);
    imp_status status = IMP_OK;
    if (!sorted || !mean || !groups->size || !groups->distance || !groups->order) {
        status = imp_fail_memory(error, "the groups of the points");
    } else {
        for (size_t i = 0; i < groups->points; i++)
            if (groups->of[i] >= 0)
                groups->size[groups->of[i]]++;
        find_distances(groups, rows, d, mean);
        for (size_t g = 0; g < count; g++)
            if (groups->size[g] > 1)
                sorted[groups->shown++] = (sized){groups->size[g], (uint32_t)g};
        qsort(sorted, groups->shown, sizeof *sorted, largest_first);
        for (size_t g = 0; g < groups->shown; g++)
            groups->order[g] = sorted[g].group;
    }
    imp_release(sorted);
    imp_release(mean);
    return status;
}

imp_status imp_groups_find(imp_groups *groups, const float *rows, size_t n, size_t d,
                           const int32_t *given, int threads, imp_error *error)
{
    *groups = (imp_groups){.points = n, .of = imp_allocate(n, sizeof *groups->of)};
    if (!groups->of)
        return imp_fail_memory(error, "the groups of the points");
    imp_status status =
        given ? take_given(groups, given, error) : find(groups, rows, d, 0, threads, error);
    return status ? status : arrange(groups, rows, d, error);
}

static size_t piece_count(size_t n)
{
    size_t wanted = (size_t)(4 * sqrt((double)n));
    return wanted < 1 ? 1 : wanted > n / 3 + 1 ? n / 3 + 1 : wanted;
}

imp_status imp_groups_find_pieces(imp_groups *groups, const float *rows, size_t n, size_t d,
                                  int threads, imp_error *error)
{
    *groups = (imp_groups){.points = n, .of = imp_allocate(n, sizeof *groups->of)};
    if (!groups->of)
        return imp_fail_memory(error, "the groups of the points");
    imp_status status = find(groups, rows, d, piece_count(n), threads, error);
    return status ? status : arrange(groups, rows, d, error);
}

void imp_groups_release(imp_groups *groups)
{
    imp_release(groups->of);
    imp_release(groups->size);
    imp_release(groups->distance);
    imp_release(groups->order);
    *groups = (imp_groups){0};
}
