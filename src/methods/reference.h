/*
 * reference.h - the labelled points that stay with a mixture (sample.h): what is far from all of
 * them is none of its classes.
 *
 * Clusters cannot tell that as well. Their metric is the one that tells classes apart, and may have
 * dropped what strange points are strange by, such as their length; and unlabelled points that
 * moved them may be of other kinds.
 */
#ifndef IMP_METHODS_REFERENCE_H
#define IMP_METHODS_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

#include "methods/sample.h"

typedef struct imp_reference {
    size_t count, dimensions;
    float *rows; /* (count, dimensions), multiplied by: */
    float
        *factor; /* (dimensions); NULL where features have one unit, and points are as they came */
} imp_reference;

/* Takes the labelled points of a sample. *distance becomes (*known) new squared distances,
 * ascending: of each that has another of its class, to the nearest other one. Release both whatever
 * is returned; IMP_ENOMEM. */
imp_status imp_reference_take(imp_reference *reference, const imp_sample *sample, double **distance,
                              size_t *known, imp_error *error);

/* The points again, after others came into the sample; told by the same features. */
imp_status imp_reference_place(imp_reference *reference, const imp_sample *sample,
                               imp_error *error);

/* far(n) = the squared distance of each point to the nearest of them, of which there is one. */
imp_status imp_reference_distances(const imp_reference *reference, const float *x, size_t n,
                                   double *far, imp_error *error);

imp_status imp_reference_copy(const imp_reference *from, imp_reference *to, imp_error *error);
void imp_reference_release(imp_reference *reference);

#endif
