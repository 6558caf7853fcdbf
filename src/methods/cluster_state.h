/*
 * cluster_state.h - how far a clustering or a fit (fit_state.h) was when somebody stopped it, in a
 * file from which it goes on.
 *
 * The file holds the clusters, their sums so far and each point's cluster; the rest follows from
 * points and options, of which it has a fingerprint.
 */
#ifndef IMP_METHODS_CLUSTER_STATE_H
#define IMP_METHODS_CLUSTER_STATE_H

#include <stddef.h>
#include <stdint.h>

#include <imp/cluster.h>

#include "base/safetensors.h"
#include "methods/clusters.h"
#include "methods/point_source.h"

/* The parts of a step of the soft rule, each a pass over the points. A pass of DP-means has one. */
typedef enum imp_cluster_part {
    IMP_PART_FIRST, /* clusters are started; DP-means: points are assigned and summed, too */
    IMP_PART_MEANS,
    IMP_PART_ASSIGN,
    IMP_PART_SAMPLE /* of fits, in the end: points are sampled */
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

/* FNV-1a: the hash of some bytes, after those of `hash`. */
#define IMP_STATE_HASH 14695981039346656037u
uint64_t imp_state_hash(uint64_t hash, const void *bytes, size_t count);

/* `method` says what is done with the points, by which options. Fails as reading the source does.
 */
imp_status imp_state_print_of(const imp_point_source *source, const char *method,
                              imp_cluster_print *print, imp_error *error);

/* The same of a clustering. */
imp_status imp_cluster_print_of(const imp_point_source *source, const imp_cluster_options *options,
                                imp_cluster_print *print, imp_error *error);

/* Other tensors that are kept, of names that start with "sample." */
enum { IMP_STATE_MORE = 5 };

typedef struct imp_state_more {
    size_t count;
    imp_tensor tensor[IMP_STATE_MORE];
} imp_state_more;

/* Writes atomically; `assignment` has a number for each of the `points` points, or is NULL, as may
 * be `more`. */
imp_status imp_cluster_state_save(const char *path, const imp_cluster_print *print,
                                  const imp_cluster_state *state, const imp_clusters *clusters,
                                  const int32_t *assignment, size_t points,
                                  const imp_state_more *more, imp_error *error);

/* To be asked before any work. With `resume`, fails as imp_cluster_state_load() does unless there
 * is such a file, in which only the clusters may be wrong. Without it, IMP_EINVAL if something is
 * at `path` that is no state, which a state must not replace. */
imp_status imp_cluster_state_begin(const char *path, const imp_cluster_print *print, bool resume,
                                   imp_error *error);

/* Reads such a file: `clusters` is empty before, and of the points' dimensions. If `file` is not
 * NULL, it becomes the file, to be freed, from which to take more. IMP_EINVAL for the state of
 * other points or options, IMP_EFORMAT for a file that is no state. */
imp_status imp_cluster_state_load(const char *path, const imp_cluster_print *print,
                                  imp_cluster_state *state, imp_clusters *clusters,
                                  int32_t *assignment, size_t points, imp_safetensors **file,
                                  imp_error *error);

/* IMP_EFORMAT: the file is no state, because of that. */
imp_status imp_cluster_state_refuse(const char *path, const char *what, imp_error *error);

#endif
