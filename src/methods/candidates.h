/*
 * candidates.h - the clusters that may decide on queries or matter to their probabilities, found
 * from integer scores of a known error.
 *
 * Queries are scored a group at a time against all clusters. Whatever the error hides, the best
 * cluster of every class that matters is among a query's candidates, which are few.
 */
#ifndef IMP_METHODS_CANDIDATES_H
#define IMP_METHODS_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

#include "methods/clusters.h"
#include "methods/columns.h"
#include "methods/point_source.h"
#include "methods/rounding.h"

enum {
    IMP_CANDIDATES_TOGETHER = 4, /* whose distances are computed together */
    IMP_MOST_QUERIES = 16        /* whose candidates are listed together */
};

/* Clusters that compete for queries. */
typedef struct imp_contest {
    const imp_clusters *clusters;
    size_t way;
    bool shares;     /* those of all classes are wanted, not only the best one */
    bool bytes;      /* scores have 8 bits */
    bool alike;      /* all clusters are columns of one section */
    size_t group;    /* points scored together */
    size_t together; /* queries whose candidates are listed together */
    size_t slots;
    float *origin;
    imp_columns columns;
} imp_contest;

/* A query and its candidates. */
typedef struct imp_query {
    size_t point;        /* of those scored together */
    size_t first, count; /* its part of the list */
    double most;         /* the largest approximate density */
    int32_t enough;      /* leaders of slots that score so much are candidates, */
    bool alone;          /* and they are all: no two candidates are of one class */
    imp_slots slots;     /* whose leaders are clusters */
    float *slot_share;   /* by slot: its density relative to `most` */
    float *class_share;  /* by class: the largest of its slots */
    float *share;        /* one of these two */

    imp_density_line line[IMP_MOST_SECTIONS];
    int32_t largest[IMP_MOST_SECTIONS]; /* scores */
    double window;                      /* how far below `most` classes matter */
} imp_query;

/* The memory of one thread. */
typedef struct imp_candidates {
    imp_rounded points; /* whose first part the caller fills in; rows follow each other */
    int32_t *scores;    /* (IMP_NEAREST_POINTS, columns) */
    imp_slots slots;    /* (together, slots) */
    uint32_t *slot;     /* those of classes that matter */
    float *slot_share;  /* (together, slots) */
    float *class_share; /* (together, classes + 1) */

    imp_query query[IMP_MOST_QUERIES];
    size_t queries;

    /* The list. A query's part begins at a multiple of IMP_CANDIDATES_TOGETHER and is filled up to
     * one. */
    size_t count;
    uint32_t *cluster, *class;
    uint32_t *point; /* by IMP_CANDIDATES_TOGETHER candidates */

    /* Of the points at hand: by how much two log densities of one can change places, and the
     * logarithm of what all classes may have together that stay rough; that itself, and how far
     * below the best they are safe for any distribution of scores; and a slot's share of the best
     * one of its class below which it does not matter. */
    double error, limit, limit_share, widest;
    float least_of_class;
    double per_density[IMP_MOST_SECTIONS]; /* how much of a score is a unit of log density */
    int32_t apart[IMP_MOST_SECTIONS];      /* scores whose order is known are further apart */
} imp_candidates;

/* Lays out the clusters if there are enough of them and of queries, and few different densities;
 * otherwise contest->group is 0 and nothing has to be released. Fails as the source of queries does
 * and with IMP_ENOMEM; there is nothing to release then. */
imp_status imp_contest_create(imp_contest *contest, const imp_clusters *clusters, size_t way,
                              bool open_set, bool shares, const imp_point_source *queries,
                              imp_error *error);
void imp_contest_release(imp_contest *contest);

/* The length of arrays with an entry for every listed candidate, including what kernels read or
 * write after the last. */
size_t imp_candidates_room(const imp_contest *contest);

/* On failure (IMP_ENOMEM) there is nothing to release. */
imp_status imp_candidates_create(imp_candidates *c, const imp_contest *contest, imp_error *error);
void imp_candidates_release(imp_candidates *c, const imp_contest *contest);

/* Quantises the points and scores them against all clusters. */
void imp_candidates_score(const imp_contest *contest, imp_candidates *c);

/* Finds the best of each slot, and what is needed to list candidates, for all queries. */
void imp_candidates_prepare(const imp_contest *contest, imp_candidates *c);

/* Lists the candidates of a query. Returns whether there may be no room for those of another. */
bool imp_candidates_list(const imp_contest *contest, imp_candidates *c, imp_query *q);

/* Judges by these points whether bytes pay: they halve the time of the integer scores but leave
 * more candidates. Sets contest->bytes. */
void imp_candidates_choose_bytes(imp_contest *contest, imp_candidates *c);

#endif
