/*
 * rounding.h - points in whole numbers, and how far off the distances can be that follow from them.
 *
 * Kernels compare points with clusters in rows of 16 or 8 bits per coordinate, counted in steps
 * from an origin (kernels.h). What rounding took away is bounded, so that whoever needs the exact
 * answer knows which distances to compute again.
 */
#ifndef IMP_METHODS_ROUNDING_H
#define IMP_METHODS_ROUNDING_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

/* What rows are counted from, and how far they reach. */
typedef struct imp_frame {
    const imp_kernels *kernels;
    size_t dimensions;
    const float *origin;
    double radius; /* points beyond it are not rounded */
    double reach;  /* no cluster's row is longer than this; not 0 */

    /* Where rows are bytes: no coordinate of a cluster is larger than this, not 0, and no cluster
     * lies farther than `lost` from its row. */
    double extent, lost;
} imp_frame;

/* How squared distances follow from scores: |x|^2 - unit * score, x counted from the origin. */
typedef struct imp_rounding {
    bool usable;
    double per_step; /* 1 over the step of the points' rows */
    double ratio;    /* the clusters' step by that */
    double unit;     /* twice the product of both steps */
} imp_rounding;

/* Points that are rounded together; the caller fills in the first part. */
typedef struct imp_rounded {
    size_t count;
    const float *point[IMP_NEAREST_POINTS];
    int16_t *rows; /* room for IMP_NEAREST_POINTS rows of imp_row_halves() */

    imp_rounding by;
    double square[IMP_NEAREST_POINTS], length[IMP_NEAREST_POINTS]; /* from the origin */
    double error[IMP_NEAREST_POINTS]; /* the most by which a squared distance is off */
    bool inside[IMP_NEAREST_POINTS];  /* those that have a row: within the radius, not just by
                                         rounding */
} imp_rounded;

void imp_round_points(const imp_frame *frame, imp_rounded *points);

/* The same to rows of imp_row_bytes() bytes. */
void imp_round_points_to_bytes(const imp_frame *frame, imp_rounded *points);

#endif
