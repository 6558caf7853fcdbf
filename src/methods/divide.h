/*
 * divide.h - divides groups of points in many dimensions that hold two, and merges those that are
 * one, judged by the group's own principal components.
 */
#ifndef IMP_METHODS_DIVIDE_H
#define IMP_METHODS_DIVIDE_H

#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

/* assignment(n): the groups of the points, *groups of them, which are replaced. IMP_ENOMEM. */
imp_status imp_divide(const float *rows, size_t n, size_t d, int threads, int32_t *assignment,
                      size_t *groups, imp_error *error);

#endif
