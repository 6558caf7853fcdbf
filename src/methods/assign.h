/*
 * assign.h - passes over many points that assign each to its nearest cluster or start a new one.
 *
 * Works in blocks, on several threads and ranks, and gives exactly the result of taking the points
 * one by one in double precision. Bounds from one pass save most of the work of the next.
 */
#ifndef IMP_METHODS_ASSIGN_H
#define IMP_METHODS_ASSIGN_H

#include "methods/clusters.h"
#include "methods/crew.h"
#include "methods/point_source.h"

typedef struct imp_assigner imp_assigner;

/* The source, the order (NULL: the points' own) and what the crew points to must stay unchanged
 * while the assigner lives. */
imp_status imp_assigner_create(const imp_point_source *source, const uint32_t *order,
                               const imp_crew *crew, imp_assigner **out, imp_error *error);

/* NULL is allowed. */
void imp_assigner_free(imp_assigner *assigner);

/* Each pass takes the points in order. assignment[i] is the cluster of point i, negative before the
 * first pass. If the source fails or memory runs out, the clusters made so far remain and the
 * assignment is undefined. */

/* A pass of DP-means, which ignores labels. assignment[i] becomes the cluster whose mean is nearest
 * to point i among those that exist at its turn (ties go to the first), or a new cluster at the
 * point if the nearest is farther than lambda. Weights and sums of the clusters become those of
 * their points, to the same bits as adding them one by one. *changed counts the points whose
 * assignment changed. */
imp_status imp_assigner_pass(imp_assigner *assigner, imp_clusters *clusters, double lambda,
                             double sigma, int32_t *assignment, size_t *changed, imp_error *error);

/* Every kind of pass can continue from point *done, where it was stopped by what is called after
 * each block: the clusters, their sums, the assignment and *changed are those of then. *done
 * becomes the number of points that are done, also if the pass is stopped again. Not for ranks. */
imp_status imp_assigner_pass_from(imp_assigner *assigner, imp_clusters *clusters, double lambda,
                                  double sigma, int32_t *assignment, size_t *done, size_t *changed,
                                  imp_error *error);

/* Makes no more clusters than that. */
void imp_assigner_limit(imp_assigner *assigner, size_t clusters);

/* To be called before the first pass where points have clusters already. */
void imp_assigner_know_nothing(imp_assigner *assigner);

/* The same without a threshold, so that no cluster is made, and without sums: the clusters stay as
 * they are. There must be at least one. */
imp_status imp_assigner_find(imp_assigner *assigner, imp_clusters *clusters, int32_t *assignment,
                             size_t *changed, imp_error *error);

/* Step 3 of Algorithm 1: starts a cluster at each point that is farther than lambda from every
 * cluster it may join, with the variance sigma_l if it has a label and sigma_u if not. Assigns only
 * points that have no assignment yet, and never labelled ones. */
imp_status imp_assigner_grow(imp_assigner *assigner, imp_clusters *clusters, double lambda,
                             double sigma_l, double sigma_u, int32_t *assignment, imp_error *error);

/* These two as imp_assigner_pass_from(). */
imp_status imp_assigner_find_from(imp_assigner *assigner, imp_clusters *clusters,
                                  int32_t *assignment, size_t *done, size_t *changed,
                                  imp_error *error);
imp_status imp_assigner_grow_from(imp_assigner *assigner, imp_clusters *clusters, double lambda,
                                  double sigma_l, double sigma_u, int32_t *assignment, size_t *done,
                                  imp_error *error);

/* Call this after clusters were dropped and the others renumbered: cluster c is now moved[c], or
 * UINT32_MAX if it was dropped; its points become unassigned. */
void imp_assigner_renumber(imp_assigner *assigner, const uint32_t *moved, int32_t *assignment);

#endif
