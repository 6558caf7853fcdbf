/* farthest_first.h - traverses points so that each is as far as possible from those before.
 */
#ifndef IMP_METHODS_FARTHEST_FIRST_H
#define IMP_METHODS_FARTHEST_FIRST_H

#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

#include "methods/point_source.h"

/* A traversal in progress. After k calls of next() k points have been chosen. */
typedef struct imp_traversal {
    imp_reader reader;
    int threads;
    float *center;    /* the point chosen last */
    double *distance; /* (count): squared, to the nearest point chosen; negative once chosen */
} imp_traversal;

/* 0 threads: as many as the machine offers. The source must stay valid. On failure there is nothing
 * to end. */
imp_status imp_traversal_begin(imp_traversal *traversal, const imp_point_source *source,
                               int threads, imp_error *error);

/* Chooses one more point, row 0 first; there must be one left. *row is its index. Reads all points
 * once, and fails as their source does. */
imp_status imp_traversal_next(imp_traversal *traversal, size_t *row, imp_error *error);

/* The largest squared distance of a point to the nearest chosen one; 0 when all are chosen. */
double imp_traversal_radius(const imp_traversal *traversal);

void imp_traversal_end(imp_traversal *traversal);

/* The largest gap between consecutive radii r_(k-1) and r_k. */
typedef struct imp_distance_gap {
    size_t clusters; /* k; 1: no gap */
    double lambda;   /* a threshold between the two */
} imp_distance_gap;

/* Finds the largest gap with r_(k-1) / r_k above `least_gap`. Reads all points up to count / 2
 * times. */
imp_status imp_find_gap(const imp_point_source *source, double least_gap, int threads,
                        imp_distance_gap *found, imp_error *error);

/* order[0 .. count-1]: farthest-first while points are farther than lambda, then the others.
 */
imp_status imp_order_farthest_first(const imp_point_source *source, double lambda, int threads,
                                    uint32_t *order, imp_error *error);

#endif
