/*
 * reference.h - labelled points that stay with a mixture, as they came: what is far from all of
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

/* Points that are kept. */
enum { IMP_MOST_REFERENCES = 2000 };

typedef struct imp_reference {
    size_t count, dimensions;
    float *rows; /* (count, dimensions), multiplied by: */
    float
        *factor; /* (dimensions); NULL where features have one unit, and points are as they came */
} imp_reference;

/* Keeps labelled points, spread evenly. *distance becomes (*known) new squared distances,
 * ascending: of each that has another of its class, to the nearest other one. Release both whatever
 * is returned; IMP_ENOMEM. */
imp_status imp_reference_take(imp_reference *reference, const float *x, const int32_t *y, size_t n,
                              size_t d, double **distance, size_t *known, imp_error *error);

/* One more point, if there is room. */
imp_status imp_reference_add(imp_reference *reference, const float *x, imp_error *error);

/* Those of another one that are told by the same features. */
imp_status imp_reference_join(imp_reference *reference, const imp_reference *other,
                              imp_error *error);

/* far(n) = the squared distance of each point to the nearest of them, of which there is one. */
imp_status imp_reference_distances(const imp_reference *reference, const float *x, size_t n,
                                   double *far, imp_error *error);

imp_status imp_reference_copy(const imp_reference *from, imp_reference *to, imp_error *error);
void imp_reference_release(imp_reference *reference);

#endif
