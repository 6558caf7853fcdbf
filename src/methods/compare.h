/*
 * compare.h - finds the nearest cluster of each of a few points among those at the end of a line:
 * exactly as in double precision, mostly without computing it.
 */
#ifndef IMP_METHODS_COMPARE_H
#define IMP_METHODS_COMPARE_H

#include "methods/lineup.h"

/* Points compared together; the caller fills in the first part. */
typedef struct imp_group {
    imp_rounded points;

    int32_t own[IMP_NEAREST_POINTS];         /* a cluster to compare with in addition, or -1 */
    double own_distance[IMP_NEAREST_POINTS]; /* |x - its mean|^2 */

    int32_t nearest[IMP_NEAREST_POINTS]; /* ties go to the smallest number; -1: none */
    double most[IMP_NEAREST_POINTS];     /* upper bound on the squared distance to it */
    double least[IMP_NEAREST_POINTS];    /* lower bound on that to all others compared */

    int32_t center[IMP_NEAREST_POINTS], best[IMP_NEAREST_POINTS], second[IMP_NEAREST_POINTS];
    _Alignas(64) int32_t leaders[IMP_LEADERS];
} imp_group;

/* Compares the group with the clusters from place `begin` on. A point's own cluster may be anywhere
 * in the line. `clusters` may hold more than the line. */
void imp_compare(const imp_lineup *line, const imp_clusters *clusters, size_t begin,
                 imp_group *group);

#endif
