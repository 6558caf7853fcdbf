/*
 * suggest_groups.h - groups of points, each represented by its most typical point.
 */
#ifndef IMP_METHODS_SUGGEST_GROUPS_H
#define IMP_METHODS_SUGGEST_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

typedef struct imp_groups {
    size_t points, count;
    int32_t *of;       /* (points): the group of each, or -1 */
    size_t *size;      /* (count) */
    uint32_t *typical; /* (count): the point nearest to the group's mean */
    uint32_t *order;   /* (shown): groups of two points or more, the largest first */
    size_t shown;
} imp_groups;

/* Takes the groups as given, a number below INT32_MAX or -1 for each point, or, if that is NULL,
 * finds them with imp_cluster(). Release them even on failure: IMP_EINVAL for a number out of
 * range, and as imp_cluster(). */
imp_status imp_groups_find(imp_groups *groups, const float *rows, size_t n, size_t d,
                           const int32_t *given, int threads, imp_error *error);
void imp_groups_release(imp_groups *groups);

#endif
