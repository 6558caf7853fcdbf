/*
 * propagate.h - labels for unlabelled points, by way of their neighbours: what a few labels can
 * reach when points of a class lie in a chain or in several heaps.
 */
#ifndef IMP_METHODS_PROPAGATE_H
#define IMP_METHODS_PROPAGATE_H

#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

/* Points that may take part; the time grows with their square. */
enum { IMP_MOST_PROPAGATING = 2000, IMP_MOST_PROPAGATED = 2000 };

/* Gives each of the `unlabeled` points that follow `labeled` ones in `rows` the class that most
 * reaches it, or IMP_UNLABELED where none does, and in `sure` that class's share of what does.
 * Labels are 0 .. way-1. The same bits on any number of threads; IMP_ENOMEM. */
imp_status imp_propagate(const float *rows, size_t d, const int32_t *label, size_t labeled,
                         size_t unlabeled, size_t way, int32_t *found, double *sure,
                         imp_error *error);

/* Puts those of the `count` rows from `begin` on that have a label before the others, which take
 * their places, with labels and weights; how many have one. */
size_t imp_keep_labeled(float *rows, size_t d, int32_t *label, double *weight, size_t begin,
                        size_t count);

#endif
