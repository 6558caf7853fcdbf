/*
 * affinity.h - the affinities of t-SNE: probabilities of pairs of points.
 *
 * Point i picks j as its neighbour with probability p(j|i), a Gaussian around i whose width gives
 * it `perplexity` neighbours; the affinity of a pair is p_ij = (p(j|i) + p(i|j)) / 2n.
 */
#ifndef IMP_DRAW_AFFINITY_H
#define IMP_DRAW_AFFINITY_H

#include <stddef.h>

#include <imp/status.h>

enum { IMP_AFFINITY_LANES = 4 };

typedef struct imp_affinity {
    size_t count;
    size_t stride; /* row length: count rounded up to whole SIMD vectors; the padding is 0 */
    double *pairs; /* (count, stride): symmetric, 0 on the diagonal; all of them sum to 1 */
} imp_affinity;

/* Turns squared distances (count; entry `self` is ignored) into p(j|self) with the given
 * perplexity, exp of its entropy, to a relative 1e-9. If that is impossible, because too many
 * others are equally near or there are too few, the perplexity is as close as possible. Needs at
 * least one other point. */
void imp_affinity_row(double *row, size_t count, size_t self, double perplexity);

/* The affinities of `count` points of `d` floats, on up to `threads` threads. Release with
 * imp_affinity_clear(). On failure (IMP_ENOMEM) *affinity is zeroed. */
imp_status imp_affinity_create(imp_affinity *affinity, const float *points, size_t count, size_t d,
                               double perplexity, int threads, imp_error *error);

/* Harmless on a zeroed one. */
void imp_affinity_clear(imp_affinity *affinity);

#endif
