/*
 * lineup.h - clusters lined up to be compared with many points, in the order in which they moved:
 * those that moved least since the pass before stand first.
 *
 * A point that remembers how near the clusters were has to meet only those that moved far enough to
 * matter: the end of the line. Clusters that are new, of which no point knows anything, stand at
 * the very end.
 */
#ifndef IMP_METHODS_LINEUP_H
#define IMP_METHODS_LINEUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

#include "methods/clusters.h"
#include "methods/rounding.h"

/* One place of the line. */
typedef struct imp_standing {
    double moved; /* how far the cluster's mean came since the last pass; INFINITY if it is new */
    uint32_t cluster;
    bool outside; /* the mean is farther from the origin than the radius */
} imp_standing;

typedef struct imp_lineup {
    imp_frame frame; /* of the packed rows; means beyond its radius are packed as if they were only
                        that far */
    size_t count, capacity;
    imp_standing *standing; /* by place, ascending by `moved` */
    uint32_t *place;        /* by cluster */
    double *mean;           /* (count, dimensions), by cluster: as it stands in the line */
    size_t known;           /* clusters when the pass began */
    int32_t *packed;        /* the line in the kernels' form */
    size_t packed_count;    /* places of it that are packed */
    float *rows;            /* scratch: the centers of a panel */
} imp_lineup;

/* An empty line for clusters that lie, but for a few, within `radius` of `origin`, which must stay.
 * The few are packed where they come into that sphere, so that the others do not have to be rounded
 * as coarsely: to points within, none looks farther than it is. On failure there is nothing
 * to release. */
imp_status imp_lineup_create(imp_lineup *line, size_t dimensions, const float *origin,
                             double radius, imp_error *error);
void imp_lineup_release(imp_lineup *line);

/* Lines up all clusters for a new pass. On failure, IMP_ENOMEM, the line is as it was. */
imp_status imp_lineup_begin(imp_lineup *line, const imp_clusters *clusters, imp_error *error);

/* Puts the clusters made since at the end of the line. On failure, IMP_ENOMEM, it is as it was. */
imp_status imp_lineup_extend(imp_lineup *line, const imp_clusters *clusters, imp_error *error);

/* To be called after a pass that left clusters empty: they were dropped, and cluster c is now
 * moved[c], or UINT32_MAX. */
void imp_lineup_renumber(imp_lineup *line, const uint32_t *moved);

/* How far the mean of cluster c came. */
static inline double imp_lineup_moved(const imp_lineup *line, size_t c)
{
    return line->standing[line->place[c]].moved;
}

/* How far any mean came that stands before `place`. */
static inline double imp_lineup_most_moved(const imp_lineup *line, size_t place)
{
    return place > 0 ? line->standing[place - 1].moved : 0;
}

/* Whether a point should meet all clusters, when all but its own were farther by `slack` than its
 * own is: where it has to meet most it rather meets all, for a bound as good as new. */
static inline bool imp_lineup_meets_all(const imp_lineup *line, double slack)
{
    return !(imp_lineup_most_moved(line, line->count / 2 + 1) < slack / 2);
}

/* The place from which on a point that need not meet all should meet the clusters: the start of a
 * panel, or the end of the line. Those before came less than half of the slack, which leaves the
 * other half for passes to come. */
size_t imp_lineup_first(const imp_lineup *line, double slack);

#endif
