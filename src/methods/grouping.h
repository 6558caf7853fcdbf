/*
 * grouping.h - points in groups whose number shrinks or grows: k-means passes between changes, and
 * which groups are neighbours.
 */
#ifndef IMP_METHODS_GROUPING_H
#define IMP_METHODS_GROUPING_H

#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

#include "methods/clusters.h"

typedef struct imp_grouping {
    const float *rows; /* (count, dimensions) */
    size_t count, dimensions;
    size_t made; /* the first so many points make the groups; the others are only assigned */
    int threads;
    imp_clusters groups;
    int32_t *assignment; /* (count) */
} imp_grouping;

/* Without groups. Release it even on failure, IMP_ENOMEM. */
imp_status imp_grouping_create(imp_grouping *g, const float *rows, size_t count, size_t dimensions,
                               size_t made, int threads, imp_error *error);
void imp_grouping_release(imp_grouping *g);

/* Starts `count` groups at the means of the points with those numbers. */
imp_status imp_grouping_begin(imp_grouping *g, const int32_t *number, size_t count,
                              imp_error *error);

/* A few passes of k-means on the points that make the groups; then assigns all points. */
imp_status imp_grouping_settle(imp_grouping *g, size_t passes, imp_error *error);

/* Two groups, and by how much merging them would increase the sum of squared distances from the
 * means. */
typedef struct imp_group_pair {
    double cost;
    uint32_t a, b;
} imp_group_pair;

enum { IMP_GROUP_NEIGHBORS = 4 };

/* Every group with its IMP_GROUP_NEIGHBORS nearest, by cost: each pair once, cheapest first, into
 * pairs, which has room for so many of each group. Returns how many. */
size_t imp_grouping_pairs(const imp_grouping *g, imp_group_pair *pairs);

/* Merges group b into a; b is there until imp_grouping_drop_joined(). Points are not reassigned. */
void imp_grouping_join(imp_grouping *g, size_t a, size_t b);
void imp_grouping_drop_joined(imp_grouping *g);

#endif
