/*
 * suggest_groups.h - groups of points, and how typical each point is of its group.
 */
#ifndef IMP_METHODS_SUGGEST_GROUPS_H
#define IMP_METHODS_SUGGEST_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>
#include <imp/suggest.h>

typedef struct imp_groups {
    size_t points, count;
    int32_t *of;      /* (points): the group of each, or -1 */
    size_t *size;     /* (count) */
    double *distance; /* (points): squared, to the group's mean: the nearest is the most typical */
    uint32_t *order;  /* (shown): groups of two points or more, the largest first */
    size_t shown;
} imp_groups;

/* Takes the groups as given, a number below INT32_MAX or -1 for each point, or, if that is NULL,
 * finds them with imp_cluster(). Release them even on failure: IMP_EINVAL for a number out of
 * range, and as imp_cluster(). */
imp_status imp_groups_find(imp_groups *groups, const float *rows, size_t n, size_t d,
                           const int32_t *given, int threads, imp_error *error);

/* Finds smaller groups: about four times the square root of the number of points. */
imp_status imp_groups_find_pieces(imp_groups *groups, const float *rows, size_t n, size_t d,
                                  int threads, imp_error *error);

void imp_groups_release(imp_groups *groups);

/* The smaller groups of a suggester that found its groups itself; otherwise there are none. */
const imp_groups *imp_suggester_pieces(const imp_suggester *suggester);

#endif
