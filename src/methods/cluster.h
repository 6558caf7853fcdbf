/* cluster.h - clustering points from any source. */
#ifndef IMP_METHODS_CLUSTER_H
#define IMP_METHODS_CLUSTER_H

#include <imp/cluster.h>

#include "methods/point_source.h"

/* imp_cluster() of points that are read as they are needed; their source checks that values are
 * finite. Memory holds a block of them and some numbers for each. Where lambda is open, or points
 * are taken farthest-first, all are read once for every cluster that there may be. */
imp_status imp_cluster_source(const imp_point_source *source, const imp_cluster_options *options,
                              imp_clustering **out, imp_error *error);

#endif
