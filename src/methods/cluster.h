/* cluster.h - clustering points from any source. */
#ifndef IMP_METHODS_CLUSTER_H
#define IMP_METHODS_CLUSTER_H

#include <imp/cluster.h>

#include "methods/crew.h"
#include "methods/point_source.h"

/* The progress of a clustering. */
typedef struct imp_cluster_progress {
    size_t pass, passes; /* the current pass, from 1, and their number; 0: not known */
    size_t done, points; /* points of the pass */
    size_t clusters;
} imp_cluster_progress;

/* Resources for a large clustering, besides its options. Zeroed: this process alone, all in memory.
 */
typedef struct imp_cluster_means {
    const imp_ranks *ranks; /* all of which cluster the same points with the same options */
    imp_spill_place place;  /* where per-point data goes if it is large */
    /* Called after each block; returning false stops the clustering with IMP_EIO. May be NULL. */
    bool (*proceed)(const imp_cluster_progress *progress, void *context);
    void *context;
    /* Where a clustering that is ended so leaves how far it was, or NULL; and whether it goes on
     * from what it left there. Not for ranks, labels and pairs. */
    const char *state;
    bool resume;
} imp_cluster_means;

/* imp_cluster() for points that are read on demand; their source checks that values are finite.
 * Memory holds one block of points, the clusters, and twelve bytes per point unless these have a
 * place on disk. If lambda is open or the order is farthest-first, all points are read once for
 * every possible cluster, and an order needs a few more bytes per point. `means` may be NULL. */
imp_status imp_cluster_source(const imp_point_source *source, const imp_cluster_options *options,
                              const imp_cluster_means *means, imp_clustering **out,
                              imp_error *error);

/* Passes the assignment of a clustering on in blocks, in order, and gives back the memory of blocks
 * that are done. */
imp_status imp_clustering_each(const imp_clustering *clustering,
                               imp_status (*visit)(const int32_t *assignment, size_t begin,
                                                   size_t count, void *context, imp_error *error),
                               void *context, imp_error *error);

#endif
