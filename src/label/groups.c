/* groups.c - takes the groups that were found, and changes them by hand. */
#include "label/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <imp/cluster.h>

#include "base/compare_doubles.h"
#include "base/error.h"
#include "base/memory.h"
#include "label/labelling.h"

/* ---- clustering ---- */

static imp_status cluster(const float *points, size_t count, size_t d, size_t wanted, int threads,
                          imp_clustering **found, imp_error *error)
{
    imp_cluster_options options = imp_cluster_defaults();
    options.method = "dp-means";
    options.clusters = wanted < count ? wanted : count;
    options.rule.steps = 10;
    options.threads = threads;
    return imp_cluster(points, count, d, &options, found, error);
}

/* The median of those that are finite; 1 if there are none. */
static double median_of(const double *values, size_t count)
{
    double *sorted = malloc(count * sizeof *sorted), median = 1;
    size_t finite = 0;
    for (size_t i = 0; i < count && sorted; i++)
        if (isfinite(values[i]))
            sorted[finite++] = values[i];
    if (finite > 0) {
        qsort(sorted, finite, sizeof *sorted, imp_compare_doubles);
        median = sorted[finite / 2];
    }
    free(sorted);
    return median;
}

/* mean(groups, d) of the points of each group, and their distances to it. */
static void measure(imp_label_groups *groups, const float *points, size_t d, float *mean,
                    size_t *size)
{
    for (size_t i = 0; i < groups->points; i++) {
        uint32_t g = groups->group[i];
        if (isnan(points[i * d]))
            continue;
        size[g]++;
        for (size_t j = 0; j < d; j++)
            mean[g * d + j] += (points[i * d + j] - mean[g * d + j]) / (float)size[g];
    }
    for (size_t i = 0; i < groups->points; i++)
        groups->distance[i] =
            isnan(points[i * d])
                ? INFINITY
                : imp_squared_distance(points + i * d, mean + groups->group[i] * d, d);
}

imp_status imp_label_groups_take(imp_label_groups *groups, const float *points, size_t count,
                                 size_t d, const imp_groups *found, const uint32_t *item,
                                 imp_error *error)
{
    *groups = (imp_label_groups){
        .points = count, .count = found && found->count > 0 ? found->count : 1, .scale = 1};
    groups->group = imp_allocate_zeroed(count, sizeof *groups->group);
    groups->distance = imp_allocate(count, sizeof *groups->distance);
    float *mean = imp_allocate_zeroed(groups->count * d, sizeof *mean);
    size_t *size = imp_allocate_zeroed(groups->count, sizeof *size);
    imp_status status = IMP_OK;
    if (!groups->group || !groups->distance || !mean || !size) {
        status = imp_fail_memory(error, "the groups of the pile");
        imp_label_groups_release(groups);
    } else {
        for (size_t p = 0; found && p < found->points; p++)
            groups->group[item[p]] = (uint32_t)found->of[p];
        measure(groups, points, d, mean, size);
        groups->scale = median_of(groups->distance, count);
    }
    imp_release(mean);
    imp_release(size);
    return status;
}

void imp_label_groups_release(imp_label_groups *groups)
{
    imp_release(groups->group);
    imp_release(groups->distance);
    *groups = (imp_label_groups){0};
}

/* ---- by hand ---- */

/* Removes empty groups and renumbers the others. */
static void close_gaps(imp_label_groups *groups)
{
    uint32_t *moved = calloc(groups->count, sizeof *moved), next = 0;
    if (!moved)
        return; /* a gap does no harm */
    for (size_t i = 0; i < groups->points; i++)
        moved[groups->group[i]] = 1;
    for (size_t g = 0; g < groups->count; g++)
        moved[g] = moved[g] ? next++ : UINT32_MAX;
    for (size_t i = 0; i < groups->points; i++)
        groups->group[i] = moved[groups->group[i]];
    groups->count = next;
    free(moved);
}

imp_status imp_label_groups_split(imp_label_groups *groups, const float *points, size_t d,
                                  const uint32_t *members, size_t count, size_t pieces, int threads,
                                  imp_error *error)
{
    if (count < 2)
        return imp_fail(error, IMP_EINVAL, "splitting needs at least two items");
    float *part = imp_allocate(count * d, sizeof *part);
    if (!part)
        return imp_fail_memory(error, "a part of the pile");
    for (size_t k = 0; k < count; k++)
        memcpy(part + k * d, points + members[k] * d, d * sizeof *part);
    imp_clustering *found = NULL;
    size_t wanted = pieces ? pieces : (size_t)(sqrt((double)count) + 1.5);
    imp_status status = cluster(part, count, d, wanted, threads, &found, error);
    imp_release(part);
    if (status)
        return status;
    for (size_t k = 0; k < count; k++) {
        size_t piece = (size_t)found->assignment[k];
        groups->group[members[k]] = (uint32_t)(groups->count + piece);
        groups->distance[members[k]] =
            imp_squared_distance(points + members[k] * d, found->mean + piece * d, d);
    }
    groups->count += found->clusters;
    imp_clustering_free(found);
    close_gaps(groups);
    return IMP_OK;
}

imp_status imp_label_groups_join(imp_label_groups *groups, const float *points, size_t d,
                                 const uint32_t *members, size_t count, imp_error *error)
{
    if (count == 0)
        return imp_fail(error, IMP_EINVAL, "nothing is selected to make a group of");
    float *mean = imp_allocate_zeroed(d, sizeof *mean);
    if (!mean)
        return imp_fail_memory(error, "the mean of a group");
    for (size_t k = 0; k < count; k++)
        for (size_t j = 0; j < d; j++)
            mean[j] += points[members[k] * d + j] / (float)count;
    uint32_t into = groups->group[members[0]];
    for (size_t k = 0; k < count; k++) {
        groups->group[members[k]] = into;
        groups->distance[members[k]] = imp_squared_distance(points + members[k] * d, mean, d);
    }
    imp_release(mean);
    close_gaps(groups);
    return IMP_OK;
}

/* ---- order ---- */

typedef struct member {
    uint32_t point, group, size;
    double distance;
} member;

static int by_size_and_distance(const void *a, const void *b)
{
    const member *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? 1 : -1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->point < y->point ? -1 : 1;
}

imp_status imp_label_groups_order(const imp_label_groups *groups, uint32_t *order, uint32_t *first,
                                  imp_error *error)
{
    member *members = malloc(groups->points * sizeof *members);
    uint32_t *size = calloc(groups->count, sizeof *size);
    if (!members || !size) {
        free(members);
        free(size);
        return imp_fail_memory(error, "the order of the groups");
    }
    for (size_t i = 0; i < groups->points; i++)
        size[groups->group[i]]++;
    for (size_t i = 0; i < groups->points; i++)
        members[i] =
            (member){(uint32_t)i, groups->group[i], size[groups->group[i]], groups->distance[i]};
    qsort(members, groups->points, sizeof *members, by_size_and_distance);
    size_t begun = 0;
    for (size_t k = 0; k < groups->points; k++) {
        order[k] = members[k].point;
        if (k == 0 || members[k].group != members[k - 1].group)
            first[begun++] = (uint32_t)k;
    }
    while (begun <= groups->count)
        first[begun++] = (uint32_t)groups->points;
    free(members);
    free(size);
    return IMP_OK;
}
