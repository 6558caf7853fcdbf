/*
 * refine.h - steps 4 and 5 of Algorithm 1 for many points: shares in the clusters, and the means
 * that follow from them.
 */
#ifndef IMP_METHODS_REFINE_H
#define IMP_METHODS_REFINE_H

#include "kernels/kernels.h"
#include "methods/clusters.h"
#include "methods/crew.h"
#include "methods/point_source.h"

/* Of one point: z[i] is its squared distance to cluster candidate[i], of which there must be one,
 * and becomes its share there, the normalised density. Where the point is too far from all of them
 * for a density, even as a logarithm, the nearest takes all. */
void imp_share_out(const imp_kernels *kernels, const imp_clusters *clusters,
                   const uint32_t *candidate, size_t count, double *z);

/* Moves each cluster to the mean of all points of the source, weighted by their shares, and drops
 * what nobody joined (imp_means_finish()). A point with a label has shares in the clusters of that
 * label alone, of which there must be one. Shares are computed in double precision; those that
 * could not add up to a millionth of IMP_LEAST_WEIGHT over all points are left out. No result
 * depends on the number of threads or ranks, nor does memory grow with the points. Fails as the
 * source does, and with IMP_ENOMEM; the means are then as they were, the weights are not. */
imp_status imp_refine(imp_clusters *clusters, const imp_point_source *source, const imp_crew *crew,
                      imp_error *error);

#endif
