/*
 * rounding.h - quantised points, and bounds on the error of distances computed from them.
 *
 * Kernels compare points with clusters in rows of 16 or 8 bits per coordinate, in steps relative to
 * an origin (kernels.h). The quantisation error is bounded, so that callers who need the exact
 * result know which distances to recompute.
 */
#ifndef IMP_METHODS_ROUNDING_H
#define IMP_METHODS_ROUNDING_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

/* The origin and range of rows. */
typedef struct imp_frame {
    const imp_kernels *kernels;
    size_t dimensions;
    const float *origin;
    double radius; /* points beyond it are not quantised */
    double reach;  /* no cluster's row is longer than this; not 0 */
    double lost;   /* largest distance of a cluster from its row */

    /* For byte rows: the largest coordinate of a cluster, not 0, and that distance. */
    double extent, lost_of_bytes;
} imp_frame;

/* Squared distances from scores: |x|^2 - unit * score, with x relative to the origin. */
typedef struct imp_rounding {
    bool usable;
    double per_step; /* reciprocal of the step of the points' rows */
    double ratio;    /* the clusters' step divided by that step */
    double unit;     /* twice the product of both steps */
} imp_rounding;

/* Points quantised together; the caller fills in the first part. */
typedef struct imp_rounded {
    size_t count;
    const float *point[IMP_NEAREST_POINTS];
    int16_t *rows; /* room for IMP_NEAREST_POINTS rows of imp_row_halves() */

    imp_rounding by;
    double square[IMP_NEAREST_POINTS], length[IMP_NEAREST_POINTS]; /* from the origin */
    double error[IMP_NEAREST_POINTS]; /* bound on the error of a squared distance */
    bool inside[IMP_NEAREST_POINTS];  /* those that have a row: safely within the radius */
} imp_rounded;

/* The distance of clusters from their rows, which have that many steps per unit, if packing
 * reported that largest sum of squared errors. */
double imp_lost_by_packing(double lost_square, bool bytes, double dimensions, double per_step);

void imp_round_points(const imp_frame *frame, imp_rounded *points);

/* The same to rows of imp_row_bytes() bytes. */
void imp_round_points_to_bytes(const imp_frame *frame, imp_rounded *points);

#endif
