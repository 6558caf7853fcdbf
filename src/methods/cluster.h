/* cluster.h - clustering points from any source. */
#ifndef IMP_METHODS_CLUSTER_H
#define IMP_METHODS_CLUSTER_H

#include <imp/cluster.h>

#include "methods/crew.h"
#include "methods/point_source.h"

/* How far a clustering is. */
typedef struct imp_cluster_progress {
    size_t pass, passes; /* this one, from 1 on, and how many there will be; 0: not known */
    size_t done, points; /* of the pass */
    size_t clusters;
} imp_cluster_progress;

/* What a large clustering has beside its options. Zeroed: this process alone, all in memory. */
typedef struct imp_cluster_means {
    const imp_ranks *ranks; /* who all cluster the same points by the same options */
    imp_spill_place place;  /* where numbers of each point go when they are many */
    /* Called after each block; false ends the clustering, with IMP_EIO. May be NULL. */
    bool (*proceed)(const imp_cluster_progress *progress, void *context);
    void *context;
    /* Where DP-means that is ended so leaves how far it was, or NULL; and whether it goes on from
     * what it left there. Not for ranks, labels and pairs. */
    const char *state;
    bool resume;
} imp_cluster_means;

/* imp_cluster() of points that are read as they are needed; their source checks that values are
 * finite. Memory holds a block of them, the clusters, and twelve bytes of each point or, where they
 * have a place, none. Where lambda is open, or points are taken farthest-first, all are read once
 * for every cluster that there may be, and an order needs some more bytes of each. `means` may be
 * NULL. */
imp_status imp_cluster_source(const imp_point_source *source, const imp_cluster_options *options,
                              const imp_cluster_means *means, imp_clustering **out,
                              imp_error *error);

/* Hands out the assignment of a clustering in blocks, in order, and lets go of the memory that a
 * large one takes. */
imp_status imp_clustering_each(const imp_clustering *clustering,
                               imp_status (*visit)(const int32_t *assignment, size_t begin,
                                                   size_t count, void *context, imp_error *error),
                               void *context, imp_error *error);

#endif
