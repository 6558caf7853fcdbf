/*
 * cluster_state.h - how far a clustering was when somebody stopped it, in a file from which it goes
 * on.
 *
 * The file holds the clusters, their sums so far and each point's cluster; the rest follows from
 * points and options, of which it has a fingerprint.
 */
#ifndef IMP_METHODS_CLUSTER_STATE_H
#define IMP_METHODS_CLUSTER_STATE_H

#include <stddef.h>
#include <stdint.h>

#include <imp/cluster.h>

#include "methods/clusters.h"
#include "methods/point_source.h"

/* The parts of a step of the soft rule, each a pass over the points. A pass of DP-means has one. */
typedef enum imp_cluster_part {
    IMP_PART_FIRST, /* clusters are started; DP-means: points are assigned and summed, too */
    IMP_PART_MEANS,
    IMP_PART_ASSIGN
} imp_cluster_part;

typedef struct imp_cluster_state {
    size_t passes;        /* that were made: whole steps */
    size_t part;          /* of the next one: an imp_cluster_part, */
    size_t done, changed; /* of which: points, and those of them that changed clusters */
    size_t before, grown; /* clusters when the step began, and after its first part */
    size_t renumbered;    /* 1: clusters were dropped that had points */
} imp_cluster_state;

/* What must not differ: the points, as far as some of them tell, and the options. */
typedef struct imp_cluster_print {
    char text[512];
} imp_cluster_print;

/* Fails as reading the source does. */
imp_status imp_cluster_print_of(const imp_point_source *source, const imp_cluster_options *options,
                                imp_cluster_print *print, imp_error *error);

/* Writes atomically; `assignment` has a number for each of the `points` points. */
imp_status imp_cluster_state_save(const char *path, const imp_cluster_print *print,
                                  const imp_cluster_state *state, const imp_clusters *clusters,
                                  const int32_t *assignment, size_t points, imp_error *error);

/* Reads such a file: `clusters` is empty before, and of the points' dimensions. IMP_EINVAL for the
 * state of other points or options, IMP_EFORMAT for a file that is no state. */
imp_status imp_cluster_state_load(const char *path, const imp_cluster_print *print,
                                  imp_cluster_state *state, imp_clusters *clusters,
                                  int32_t *assignment, size_t points, imp_error *error);

#endif
