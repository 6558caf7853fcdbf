/* components.h - projects points to the few directions in which they differ by more than noise. */
#ifndef IMP_METHODS_COMPONENTS_H
#define IMP_METHODS_COMPONENTS_H

#include <stddef.h>

#include <imp/status.h>

enum { IMP_MOST_COMPONENTS = 64 };

/* Points of up to `few` dimensions are only centred and scaled; others, of 3 or more, are projected
 * to the principal components whose variance exceeds that of noise (Marchenko and Pastur, 1967), 2
 * to IMP_MOST_COMPONENTS of them. *reduced receives new rows of *dimensions floats, scaled as if
 * the total variance of all dimensions were 1, or all 0; release it with imp_release(). IMP_ENOMEM.
 */
imp_status imp_principal_components(const float *rows, size_t n, size_t d, size_t few,
                                    float **reduced, size_t *dimensions, imp_error *error);

/* Where the points lie in those of the `most` directions of largest variance, up to 16, whose
 * variance clearly exceeds that of noise; there are *count. scores (most, n), the largest first. d
 * must exceed `most`. IMP_ENOMEM. */
imp_status imp_leading_scores(const float *rows, size_t n, size_t d, size_t most, double *scores,
                              size_t *count, imp_error *error);

#endif
