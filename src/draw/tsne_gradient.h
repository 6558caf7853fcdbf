/*
 * tsne_gradient.h - the objective of t-SNE: the Kullback-Leibler divergence of the affinities in
 * the plane, q_ij proportional to 1 / (1 + |y_i - y_j|^2), from those of the points.
 */
#ifndef IMP_DRAW_TSNE_GRADIENT_H
#define IMP_DRAW_TSNE_GRADIENT_H

#include "draw/affinity.h"

/* The points' positions in the plane, and their gradients. Vectors of stride doubles, of which the
 * first count are points. */
typedef struct imp_tsne_field {
    size_t count, stride;
    double *place[2];             /* x and y */
    double *gradient[2];          /* of the divergence by these */
    double *repulsion[2], *total; /* for the computation */
} imp_tsne_field;

/* A field for the points of an affinity, all at the origin. Release with imp_tsne_field_clear(). On
 * failure (IMP_ENOMEM) *field is zeroed. */
imp_status imp_tsne_field_create(imp_tsne_field *field, const imp_affinity *affinity,
                                 imp_error *error);

/* Computes the gradient at the positions, with the affinities `exaggeration` times as large. The
 * bits do not depend on the number of threads. */
void imp_tsne_gradient(imp_tsne_field *field, const imp_affinity *affinity, double exaggeration,
                       int threads);

/* The divergence at the positions. */
double imp_tsne_divergence(const imp_tsne_field *field, const imp_affinity *affinity);

/* Harmless on a zeroed one. */
void imp_tsne_field_clear(imp_tsne_field *field);

#endif
