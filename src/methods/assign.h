/*
 * assign.h - the pass of DP-means over many points: each to its nearest cluster, or to a new one.
 *
 * Works in blocks and on several threads, and gives exactly the answer of taking the points one by
 * one in double precision. What a pass learned about the distances spares most of the next.
 */
#ifndef IMP_METHODS_ASSIGN_H
#define IMP_METHODS_ASSIGN_H

#include "methods/clusters.h"

typedef struct imp_assigner imp_assigner;

/* `points` must stay as it is while the assigner lives; all of them are unlabelled. 0 threads are
 * as many as the machine offers. */
imp_status imp_assigner_create(const imp_points *points, int threads, imp_assigner **out,
                               imp_error *error);

/* NULL is allowed. */
void imp_assigner_free(imp_assigner *assigner);

/* Takes the points in order. assignment[i] becomes the cluster whose mean is nearest to point i
 * among those that exist when its turn comes (of equals the first), or a new cluster at the point
 * if that is farther than lambda. Before the first pass every assignment must be negative. *changed
 * counts the points whose assignment was another before. On failure, IMP_ENOMEM, the clusters made
 * so far are there and the assignment is undefined. */
imp_status imp_assigner_pass(imp_assigner *assigner, imp_clusters *clusters, double lambda,
                             double sigma, int32_t *assignment, size_t *changed, imp_error *error);

/* Adds every point to the weight and sum of its cluster, which imp_means_begin() clears; the same
 * bits as adding them one by one. */
void imp_assigner_sums(const imp_assigner *assigner, const int32_t *assignment,
                       imp_clusters *clusters);

/* To be called when clusters were dropped and the others renumbered: cluster c is now moved[c]. */
void imp_assigner_renumber(imp_assigner *assigner, const uint32_t *moved);

#endif
