/*
 * projection.h - projects points onto a plane by principal component analysis.
 */
#ifndef IMP_DRAW_PROJECTION_H
#define IMP_DRAW_PROJECTION_H

#include <stddef.h>

#include <imp/status.h>

typedef struct imp_projection {
    size_t dimensions;
    double *mean; /* (dimensions) */
    double *axes; /* (2, dimensions): orthonormal; in one dimension the second is 0 */
} imp_projection;

/* The plane of largest variance of `count` points of `d` floats. The sign of a component makes its
 * largest coefficient positive. Release with imp_projection_clear(); on failure *projection is
 * zeroed: IMP_EINVAL without points or dimensions, IMP_ENOMEM. */
imp_status imp_projection_fit(imp_projection *projection, const float *points, size_t count,
                              size_t d, imp_error *error);

/* Projects a point: plane[0] is along the first component, plane[1] along the second. */
void imp_projection_apply(const imp_projection *projection, const float *point, double plane[2]);

/* Harmless on a zeroed one. */
void imp_projection_clear(imp_projection *projection);

#endif
