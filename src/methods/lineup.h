/*
 * lineup.h - clusters sorted for comparison with many points by how far they moved since the pass
 * before, least first.
 *
 * A point with bounds on its distances has to be compared only with clusters that moved far enough
 * to matter: the end of the line. New clusters, on which no point has bounds, are at the very end.
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
    double moved; /* how far the cluster's mean moved since the last pass; INFINITY if it is new */
    uint32_t cluster;
    bool outside; /* the mean is farther from the origin than the radius */
} imp_standing;

typedef struct imp_lineup {
    imp_frame frame; /* of the packed rows; means beyond its radius are packed at the radius */
    size_t count, capacity;
    imp_standing *standing; /* by place, ascending by `moved` */
    uint32_t *place;        /* by cluster */
    double *mean;           /* (count, dimensions), by cluster: as packed in the line */
    size_t known;           /* clusters at the start of the pass */
    int32_t *packed;        /* the line in the kernels' form */
    size_t packed_count;    /* places of it that are packed */
    float *rows;            /* scratch: the centers of a panel */
} imp_lineup;

/* An empty line for clusters of which all but a few lie within `radius` of `origin`, which must
 * stay valid. The few are moved to the surface of that sphere, so that they do not make the
 * quantisation coarser for the others: for points inside, that never overestimates a distance. On
 * failure there is nothing to release. */
imp_status imp_lineup_create(imp_lineup *line, size_t dimensions, const float *origin,
                             double radius, imp_error *error);
void imp_lineup_release(imp_lineup *line);

/* Sorts all clusters for a new pass. On failure (IMP_ENOMEM) the line is as it was. */
imp_status imp_lineup_begin(imp_lineup *line, const imp_clusters *clusters, imp_error *error);

/* Appends the clusters made since to the line. On failure (IMP_ENOMEM) it is as it was. */
imp_status imp_lineup_extend(imp_lineup *line, const imp_clusters *clusters, imp_error *error);

/* Call this after empty clusters were dropped: cluster c is now moved[c], or UINT32_MAX. */
void imp_lineup_renumber(imp_lineup *line, const uint32_t *moved);

/* How far the mean of cluster c moved. */
static inline double imp_lineup_moved(const imp_lineup *line, size_t c)
{
    return line->standing[line->place[c]].moved;
}

/* The largest movement of a mean before `place`. */
static inline double imp_lineup_most_moved(const imp_lineup *line, size_t place)
{
    return place > 0 ? line->standing[place - 1].moved : 0;
}

/* Whether a point should be compared with all clusters, if all others were farther than its own by
 * `slack`: if it would be compared with most, comparing with all gives a fresh bound. */
static inline bool imp_lineup_meets_all(const imp_lineup *line, double slack)
{
    return !(imp_lineup_most_moved(line, line->count / 2 + 1) < slack / 2);
}

/* The place from which on other points should be compared: the start of a panel, or the end of the
 * line. Clusters before it moved by less than half of the slack, which leaves the other half for
 * later passes. */
size_t imp_lineup_first(const imp_lineup *line, double slack);

#endif
