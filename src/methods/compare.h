/*
 * compare.h - the nearest cluster of each of a few points among those at the end of a line: exactly
 * the one that comparing in double precision finds, mostly without doing so.
 */
#ifndef IMP_METHODS_COMPARE_H
#define IMP_METHODS_COMPARE_H

#include "methods/lineup.h"

/* Points that meet the line together; the caller fills in the points and the first part. */
typedef struct imp_group {
    imp_rounded points;

    int32_t own[IMP_NEAREST_POINTS]; /* a cluster the point is to be compared with as well, or -1 */
    double own_distance[IMP_NEAREST_POINTS]; /* |x - its mean|^2 */

    int32_t nearest[IMP_NEAREST_POINTS]; /* of equals the smallest number; -1: there is none */
    double most[IMP_NEAREST_POINTS];     /* the squared distance to it is no larger, */
    double least[IMP_NEAREST_POINTS];    /* and to all others compared with no smaller */

    int32_t center[IMP_NEAREST_POINTS], best[IMP_NEAREST_POINTS], second[IMP_NEAREST_POINTS];
    _Alignas(64) int32_t leaders[IMP_LEADERS];
} imp_group;

/* Compares the group with the clusters from place `begin` on. A point's own cluster may stand
 * anywhere. `clusters` are those in the line, or more. */
void imp_compare(const imp_lineup *line, const imp_clusters *clusters, size_t begin,
                 imp_group *group);

#endif
