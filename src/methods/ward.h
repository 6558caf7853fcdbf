/* ward.h - agglomerative clustering by Ward's method (1963): repeatedly merges the two groups that
 * increase the within-group sum of squares least. */
#ifndef IMP_METHODS_WARD_H
#define IMP_METHODS_WARD_H

#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

/* Merges n rows of d floats until `wanted` groups are left, 1 .. n: group[i] is the group of row i,
 * 0 .. wanted-1, in the order of their first rows. Takes O(n^2 d) time and O(n d) memory; the same
 * bits on any number of threads. IMP_ENOMEM. */
imp_status imp_ward(const float *rows, size_t n, size_t d, size_t wanted, int threads,
                    int32_t *group, imp_error *error);

#endif
