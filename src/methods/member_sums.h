/*
 * member_sums.h - sums of the points of each cluster, in the order of the points: the same bits on
 * any number of threads and ranks.
 *
 * Threads and ranks each sum dimensions of their own over all points, so no sum is ever divided.
 */
#ifndef IMP_METHODS_MEMBER_SUMS_H
#define IMP_METHODS_MEMBER_SUMS_H

#include "kernels/kernels.h"
#include "methods/clusters.h"
#include "methods/crew.h"
#include "methods/point_source.h"

/* Adds rows(count, dimensions) to the sums and weights of their clusters; of the sums, each rank to
 * the dimensions that are its own. */
void imp_sum_points(imp_clusters *clusters, const float *rows, const int32_t *assignment,
                    size_t count, const imp_kernels *kernels, const imp_crew *crew);

/* The same for all points of a source, read `most` at a time. */
imp_status imp_sum_source(imp_clusters *clusters, const imp_point_source *source, size_t most,
                          const int32_t *assignment, const imp_kernels *kernels,
                          const imp_crew *crew, imp_error *error);

/* Every rank receives the dimensions that others have summed. */
imp_status imp_exchange_sums(imp_clusters *clusters, const imp_crew *crew, imp_error *error);

#endif
