/* farthest_first.h - walking through points so that each is as far as possible from those before.
 */
#ifndef IMP_METHODS_FARTHEST_FIRST_H
#define IMP_METHODS_FARTHEST_FIRST_H

#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

/* A traversal under way. After k calls of next() the first k points are chosen. */
typedef struct imp_traversal {
    const float *x; /* (count, dimensions) */
    size_t count, dimensions;
    double *distance; /* (count): squared, to the nearest point chosen; negative once chosen */
} imp_traversal;

/* On failure there is nothing to end. */
imp_status imp_traversal_begin(imp_traversal *traversal, const float *x, size_t count,
                               size_t dimensions, imp_error *error);

/* Chooses one more point, row 0 first, and returns its row; there must be one left. */
size_t imp_traversal_next(imp_traversal *traversal);

/* The largest squared distance of a point to the nearest one chosen; 0 when all are. */
double imp_traversal_radius(const imp_traversal *traversal);

void imp_traversal_end(imp_traversal *traversal);

/* The threshold for about `clusters` clusters, or for as many as the data shows if that is 0. */
imp_status imp_choose_lambda(const float *x, size_t count, size_t dimensions, size_t clusters,
                             double *lambda, imp_error *error);

/* order[0 .. count-1]: farthest-first as long as points are farther than lambda, then the others.
 */
imp_status imp_order_farthest_first(const float *x, size_t count, size_t dimensions, double lambda,
                                    uint32_t *order, imp_error *error);

#endif
