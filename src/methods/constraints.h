/*
 * constraints.h - what somebody knows of clusters: points that belong together or apart, and
 * classes of some points, of which a cluster holds one at most.
 */
#ifndef IMP_METHODS_CONSTRAINTS_H
#define IMP_METHODS_CONSTRAINTS_H

#include <imp/cluster.h>

#include "methods/clusters.h"
#include "methods/point_source.h"

typedef struct imp_constraints imp_constraints;

/* What the options say about the points of the source; *out is NULL if that is nothing. IMP_EINVAL
 * where it contradicts itself, naming the points; as the source fails, and with IMP_ENOMEM. */
imp_status imp_constraints_create(const imp_cluster_options *options,
                                  const imp_point_source *source, imp_constraints **out,
                                  imp_error *error);

/* NULL is allowed. */
void imp_constraints_free(imp_constraints *constraints);

/* Passes of DP-means in which every point is in the nearest cluster that may have it, until nothing
 * changes: clusters get their classes as labels, and where no cluster may have a point one is
 * added. *steps counts the passes, *converged says whether nothing changed in the end. */
imp_status imp_constraints_settle(imp_constraints *constraints, const imp_point_source *source,
                                  imp_clusters *clusters, int threads, int32_t *assignment,
                                  size_t *steps, bool *converged, imp_error *error);

#endif
