/*
 * groups.h - the clusters of a pile before anything is named: what to look at first, and what to
 * name as a whole.
 */
#ifndef IMP_LABEL_GROUPS_H
#define IMP_LABEL_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

#include "methods/suggest_groups.h"

typedef struct imp_label_groups {
    size_t points, count;
    uint32_t *group;  /* (points) */
    double *distance; /* (points): squared, to the group's mean; the most typical is nearest */
    double scale;     /* the median of the distances */
} imp_label_groups;

/* Groups `count` points of `d` floats as `found`, whose points are number item[0], item[1] ... of
 * them; the others, rows of NAN, are not points, and in the first group, infinitely far away. NULL:
 * one group. Release with imp_label_groups_release(); after a failure there is nothing to release.
 */
imp_status imp_label_groups_take(imp_label_groups *groups, const float *points, size_t count,
                                 size_t d, const imp_groups *found, const uint32_t *item,
                                 imp_error *error);
void imp_label_groups_release(imp_label_groups *groups);

/* Splits the `count` points in `members` into new groups: about `pieces`, or as many as suit if
 * that is 0. The groups they came from keep their other members, or disappear. On failure nothing
 * has changed. */
imp_status imp_label_groups_split(imp_label_groups *groups, const float *points, size_t d,
                                  const uint32_t *members, size_t count, size_t pieces, int threads,
                                  imp_error *error);

/* Moves these points into one group, the first of theirs. */
imp_status imp_label_groups_join(imp_label_groups *groups, const float *points, size_t d,
                                 const uint32_t *members, size_t count, imp_error *error);

/* The points group by group: order (points), and the start of each group, first (count + 1).
 * Largest groups first; within a group, most typical first. */
imp_status imp_label_groups_order(const imp_label_groups *groups, uint32_t *order, uint32_t *first,
                                  imp_error *error);

#endif
