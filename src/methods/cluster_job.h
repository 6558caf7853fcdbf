/*
 * cluster_job.h - a clustering in progress, as cluster.c prepares it, cluster_passes.c carries it
 * out and cluster_result.c hands it over.
 */
#ifndef IMP_METHODS_CLUSTER_JOB_H
#define IMP_METHODS_CLUSTER_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "methods/cluster.h"
#include "methods/cluster_state.h"
#include "methods/clusters.h"
#include "methods/constraints.h"
#include "methods/seeds.h"

typedef struct imp_cluster_job {
    const imp_cluster_options *options;
    const imp_cluster_means *means;
    const imp_point_source *source;
    imp_crew crew;
    imp_spill room; /* of the assignment */
    uint32_t *order;
    imp_clusters clusters;
    int32_t *assignment;
    double lambda, sigma;
    imp_cluster_choice choice;
    imp_seeds seeds; /* initial means of clusters, if chosen */
    imp_constraints *constraints;
    size_t steps;  /* made */
    size_t passes; /* to make; 0: as many as it takes */
    bool converged;
    imp_cluster_print print; /* of points and options, where a state may be kept */
    imp_cluster_state state; /* that it goes on from */
    bool stopped;            /* somebody wanted so */
    bool hard;               /* DP-means */
} imp_cluster_job;

/* Per-point data may be on disk; it is gone through in blocks of so many points, and the memory of
 * each is given back. */
enum { IMP_CLUSTER_BLOCK = 1 << 20 };

/* Passes to make; 0: until nothing changes. */
size_t imp_cluster_passes_wanted(const imp_cluster_job *job);

/* Called after each block of a pass, with the job as context: gives back its memory and reports
 * progress. */
imp_status imp_cluster_block_done(size_t begin, size_t end, void *context, imp_error *error);

/* Before anything is computed: what may be stopped gets its print, and is refused unless the state
 * that it goes on from is there and of the same points and options, or nothing but a state is where
 * its own would be written. */
imp_status imp_cluster_begin(imp_cluster_job *job, imp_error *error);

/* Makes the passes, from where the job's state says. If it is stopped, it keeps its state. */
imp_status imp_cluster_make_passes(imp_cluster_job *job, imp_error *error);

/* Makes the result, which takes over the assignment. */
imp_status imp_cluster_finish(imp_cluster_job *job, imp_clustering **out, imp_error *error);

#endif
