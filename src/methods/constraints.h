/*
 * constraints.h - constraints on clusters: pairs of points that must be together or apart, and
 * labels, of which a cluster holds at most one.
 */
#ifndef IMP_METHODS_CONSTRAINTS_H
#define IMP_METHODS_CONSTRAINTS_H

#include <imp/cluster.h>

#include "methods/clusters.h"
#include "methods/point_source.h"

typedef struct imp_constraints imp_constraints;

/* The constraints in the options; *out is NULL if there are none. IMP_EINVAL if they are
 * contradictory (names the points); also fails as the source does, and with IMP_ENOMEM. */
imp_status imp_constraints_create(const imp_cluster_options *options,
                                  const imp_point_source *source, imp_constraints **out,
                                  imp_error *error);

/* NULL is allowed. */
void imp_constraints_free(imp_constraints *constraints);

/* Passes of DP-means that assign every point to the nearest cluster allowed, until nothing changes:
 * clusters get their classes as labels, and a cluster is added where none is allowed. *steps counts
 * the passes, *converged says whether the last one changed nothing. */
imp_status imp_constraints_settle(imp_constraints *constraints, const imp_point_source *source,
                                  imp_clusters *clusters, int threads, int32_t *assignment,
                                  size_t *steps, bool *converged, imp_error *error);

#endif
