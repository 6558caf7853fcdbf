/*
 * groups.h - the groups that a pile falls into by itself, before anybody named anything: what is
 * looked at first, and what is named as a whole.
 */
#ifndef IMP_LABEL_GROUPS_H
#define IMP_LABEL_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

typedef struct imp_label_groups {
    size_t points, count;
    uint32_t *group;  /* (points) */
    double *distance; /* (points): squared, to the group's mean; the most typical is nearest */
    double scale;     /* the median of these */
} imp_label_groups;

/* Groups `count` points of `d` floats: about four times the root of so many, by DP-means. Rows of
 * NAN are no points, and lie in the first group, infinitely far. Release
 * with imp_label_groups_release(); after a failure there is nothing to release. */
imp_status imp_label_groups_find(imp_label_groups *groups, const float *points, size_t count,
                                 size_t d, int threads, imp_error *error);
void imp_label_groups_release(imp_label_groups *groups);

/* Cuts the `count` points in `members` apart, into new groups of their own: about `pieces`, or as
 * many as fit if that is 0. The groups they came from keep their other members, or end. On failure
 * nothing has changed. */
imp_status imp_label_groups_split(imp_label_groups *groups, const float *points, size_t d,
                                  const uint32_t *members, size_t count, size_t pieces, int threads,
                                  imp_error *error);

/* Puts these points into one group, the first of them that there is. */
imp_status imp_label_groups_join(imp_label_groups *groups, const float *points, size_t d,
                                 const uint32_t *members, size_t count, imp_error *error);

/* The points group by group: order (points), and where each begins, first (count + 1). Largest
 * groups first, in a group the most typical first. */
imp_status imp_label_groups_order(const imp_label_groups *groups, uint32_t *order, uint32_t *first,
                                  imp_error *error);

#endif
