/* ward.h - groups of points by Ward's rule (1963): always the two are joined whose points come to
 * lie least farther from their mean. */
#ifndef IMP_METHODS_WARD_H
#define IMP_METHODS_WARD_H

#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

/* Joins n rows of d floats until `wanted` groups are left, 1 .. n: group[i] is that of row i, 0 ..
 * wanted-1, in the order of their first rows. Takes time by n^2 d and memory by n d; the same bits
 * on any number of threads. IMP_ENOMEM. */
imp_status imp_ward(const float *rows, size_t n, size_t d, size_t wanted, int threads,
                    int32_t *group, imp_error *error);

#endif
