/*
 * propagate.h - label propagation: labels for unlabelled points by way of their neighbours, for
 * classes that form chains or several clusters.
 */
#ifndef IMP_METHODS_PROPAGATE_H
#define IMP_METHODS_PROPAGATE_H

#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

/* Limits on labelled and unlabelled points; the time grows with their square. */
enum { IMP_MOST_PROPAGATING = 2000, IMP_MOST_PROPAGATED = 2000 };

/* Gives each of the `unlabeled` points that follow the `labeled` ones in `rows` the class with the
 * highest score, or IMP_UNLABELED if none reaches it; `sure` receives that class's fraction of the
 * total score. Then every row with a label moves to the mean of itself and its neighbours of the
 * same class, weighted by how sure they are; after a failure rows are unspecified. Labels are
 * 0 .. way-1. The same bits on any number of threads; IMP_ENOMEM. */
imp_status imp_propagate(float *rows, size_t d, const int32_t *label, size_t labeled,
                         size_t unlabeled, size_t way, int32_t *found, double *sure,
                         imp_error *error);

/* Moves those of the `count` rows from `begin` on that have a label, with labels and weights,
 * before the others; returns their number. */
size_t imp_keep_labeled(float *rows, size_t d, int32_t *label, double *weight, size_t begin,
                        size_t count);

#endif
