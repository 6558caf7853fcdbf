/*
 * spherical.h - finds groups of points that are spherical noise of one variance around their means,
 * in many dimensions.
 */
#ifndef IMP_METHODS_SPHERICAL_H
#define IMP_METHODS_SPHERICAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

/* The number of groups that it begins with. */
size_t imp_spherical_initial(size_t n);

/* rows (n, d) are the points and reduced (n, q), q < d, their principal components that exceed
 * noise, at another scale (imp_principal_components()). If the points are such groups, *found is
 * true, group(n) holds the group of each point and *groups their number; otherwise *found is false,
 * and group is left as it is. IMP_ENOMEM. */
imp_status imp_spherical_groups(const float *rows, size_t n, size_t d, const float *reduced,
                                size_t q, int threads, int32_t *group, size_t *groups, bool *found,
                                imp_error *error);

#endif
