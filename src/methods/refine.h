/*
 * refine.h - steps 4 and 5 of Algorithm 1 for many points: soft assignments and the weighted means.
 */
#ifndef IMP_METHODS_REFINE_H
#define IMP_METHODS_REFINE_H

#include "kernels/kernels.h"
#include "methods/clusters.h"
#include "methods/crew.h"
#include "methods/point_source.h"

/* Turns the squared distances z[i] of one point to clusters candidate[i], of which there must be at
 * least one, into its shares, the normalised densities. If the point is too far from all of them
 * even for a log density, the nearest takes all. */
void imp_share_out(const imp_kernels *kernels, const imp_clusters *clusters,
                   const uint32_t *candidate, size_t count, double *z);

/* Moves each cluster to the mean of all points of the source, weighted by their shares, and drops
 * empty clusters (imp_means_finish()). A labelled point has shares only in the clusters of its
 * label, of which there must be one. Shares are computed in double precision; those that could not
 * add up to a millionth of IMP_LEAST_WEIGHT over all points are left out. Results do not depend on
 * the number of threads or ranks, and memory does not grow with the points. Fails as the source
 * does, and with IMP_ENOMEM; the means are then unchanged, but not the weights. */
imp_status imp_refine(imp_clusters *clusters, const imp_point_source *source, const imp_crew *crew,
                      imp_error *error);

/* The same from point *done on, where it was stopped by the crew after a block: the clusters and
 * their sums are those of then. *done becomes the number of points that are done, also if it is
 * stopped again. Not for ranks. */
imp_status imp_refine_from(imp_clusters *clusters, const imp_point_source *source,
                           const imp_crew *crew, size_t *done, imp_error *error);

#endif
