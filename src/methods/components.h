/* components.h - points seen along the few directions in which they differ by more than noise. */
#ifndef IMP_METHODS_COMPONENTS_H
#define IMP_METHODS_COMPONENTS_H

#include <stddef.h>

#include <imp/status.h>

enum { IMP_MOST_COMPONENTS = 64 };

/* Points of up to IMP_MOST_COMPONENTS dimensions are only centred and scaled; others become their
 * first principal components, those whose variance is more than noise of the other directions would
 * show (Marchenko and Pastur, 1967), and at least 2. *reduced becomes new rows of *dimensions
 * floats, for imp_release(), spread by 1 in all, or all 0. IMP_ENOMEM. */
imp_status imp_principal_components(const float *rows, size_t n, size_t d, float **reduced,
                                    size_t *dimensions, imp_error *error);

#endif
