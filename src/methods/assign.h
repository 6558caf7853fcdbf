/*
 * assign.h - passes over many points, each of which goes to its nearest cluster or starts a new
 * one.
 *
 * Works in blocks, on several threads and ranks, and gives exactly the answer of taking the points
 * one by one in double precision. What a pass learned about the distances spares most of the next.
 */
#ifndef IMP_METHODS_ASSIGN_H
#define IMP_METHODS_ASSIGN_H

#include "methods/clusters.h"
#include "methods/crew.h"
#include "methods/point_source.h"

typedef struct imp_assigner imp_assigner;

/* The source, the order, NULL for the points' own, and what the crew points to must stay as they
 * are while the assigner lives. */
imp_status imp_assigner_create(const imp_point_source *source, const uint32_t *order,
                               const imp_crew *crew, imp_assigner **out, imp_error *error);

/* NULL is allowed. */
void imp_assigner_free(imp_assigner *assigner);

/* Each pass takes the points in order. assignment[i] is the cluster of point i, negative before the
 * first pass. When the source fails, or memory runs out, the clusters made so far are there and the
 * assignment is undefined. */

/* A pass of DP-means, which does not look at labels. assignment[i] becomes the cluster whose mean
 * is nearest to point i among those that exist when its turn comes (of equals the first), or a new
 * cluster at the point if that is farther than lambda. Weights and sums of the clusters become
 * those of their points, to the same bits as adding these up one by one. *changed counts the
 * points whose assignment was another before. */
imp_status imp_assigner_pass(imp_assigner *assigner, imp_clusters *clusters, double lambda,
                             double sigma, int32_t *assignment, size_t *changed, imp_error *error);

/* The same from point *done on, where a pass was stopped by what is called after each block: the
 * clusters, their sums, the assignment and *changed are those of then. *done becomes how many
 * points are done with, also when the pass is stopped again. Not for ranks. */
imp_status imp_assigner_pass_from(imp_assigner *assigner, imp_clusters *clusters, double lambda,
                                  double sigma, int32_t *assignment, size_t *done, size_t *changed,
                                  imp_error *error);

/* To be called before the first pass where points have clusters already. */
void imp_assigner_know_nothing(imp_assigner *assigner);

/* The same with no threshold, so that no cluster is made, and without sums: the clusters stay as
 * they are. There must be one. */
imp_status imp_assigner_find(imp_assigner *assigner, imp_clusters *clusters, int32_t *assignment,
                             size_t *changed, imp_error *error);

/* Step 3 of Algorithm 1: starts a cluster at each point that is farther than lambda from every
 * cluster it may join, with the variance sigma_l if it has a label and sigma_u if not. An
 * assignment is made only where there was none, and never for a point with a label. */
imp_status imp_assigner_grow(imp_assigner *assigner, imp_clusters *clusters, double lambda,
                             double sigma_l, double sigma_u, int32_t *assignment, imp_error *error);

/* To be called when clusters were dropped and the others renumbered: cluster c is now moved[c], or
 * UINT32_MAX, and the points of that one are nobody's. */
void imp_assigner_renumber(imp_assigner *assigner, const uint32_t *moved, int32_t *assignment);

#endif
