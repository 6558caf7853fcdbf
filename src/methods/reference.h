/*
 * reference.h - the labelled points that a mixture keeps (sample.h): a point far from all of them
 * belongs to none of its classes.
 *
 * Clusters are worse at this: their metric was chosen to separate the classes and may have dropped
 * what makes outliers different, such as their length; and unlabelled points of other kinds may
 * have moved them.
 */
#ifndef IMP_METHODS_REFERENCE_H
#define IMP_METHODS_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

#include "methods/sample.h"

typedef struct imp_reference {
    size_t count, dimensions;
    float *rows;   /* (count, dimensions), multiplied by `factor` */
    float *factor; /* (dimensions); NULL if features have one unit, and points are unchanged */
} imp_reference;

/* Takes the labelled points of a sample. Release it even on failure: IMP_ENOMEM. */
imp_status imp_reference_take(imp_reference *reference, const imp_sample *sample, imp_error *error);

/* Updates the points after the sample has changed, with the same factors. */
imp_status imp_reference_place(imp_reference *reference, const imp_sample *sample,
                               imp_error *error);

/* Multiplies points by the factors, in place. */
void imp_reference_enter(const imp_reference *reference, float *rows, size_t n);

/* far(n) = the squared distance of each point to the nearest of them; there must be one. */
imp_status imp_reference_distances(const imp_reference *reference, const float *x, size_t n,
                                   double *far, imp_error *error);

/* far(n) = the squared distances of its own points which(n) to the nearest other one, as if each
 * were new: with factors of the sample without it, which it would otherwise have helped to look
 * small. */
imp_status imp_reference_own_distances(const imp_reference *reference, const imp_sample *sample,
                                       const size_t *which, size_t n, double *far,
                                       imp_error *error);

imp_status imp_reference_copy(const imp_reference *from, imp_reference *to, imp_error *error);
void imp_reference_release(imp_reference *reference);

#endif
