/*
 * columns.h - clusters laid out to be scored against many points at once, in whole numbers of known
 * error.
 *
 * Points are scored against all columns, a column for each cluster. Below each other stand clusters
 * of one class and variance, so that the best of a class is found lane by lane.
 */
#ifndef IMP_METHODS_COLUMNS_H
#define IMP_METHODS_COLUMNS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

#include "methods/clusters.h"
#include "methods/rounding.h"

enum { IMP_MOST_SECTIONS = 4 };

/* The clusters of one density but for their means. */
typedef struct imp_section {
    double sigma, offset;
    size_t begin, end;             /* columns */
    size_t first_group, end_group; /* groups of slots */
} imp_section;

typedef struct imp_columns {
    imp_frame frame;
    size_t sections; /* 0: there are too many densities, and nothing was laid out */
    imp_section section[IMP_MOST_SECTIONS];
    size_t count;          /* columns */
    int32_t *cluster;      /* by column; -1: none */
    int32_t *packed;       /* the columns in the kernels' form, in 16 bits, */
    int32_t *packed_bytes; /* and in 8, if these were added */

    /* A slot is a lane of a group: up to depth[g] clusters of one class. */
    size_t groups;
    bool single;         /* there is one section, and no class has two slots */
    bool ordered;        /* and slot k is that of class k, for every class */
    uint32_t *depth;     /* by group */
    uint32_t *column;    /* (groups, lanes): that of a slot's first row; its others follow, `lanes`
                            apart */
    int32_t *slot_class; /* (groups, lanes); -1: none */

    /* Clusters too far away to be rounded as finely as the others have no columns. */
    size_t strays;
    uint32_t *stray;
} imp_columns;

/* Lays out the clusters of classes 0 .. classes-1, and those without a label, if they are wanted,
 * as the class `classes`. Points will lie, but for a few, within `radius` of `origin`, which must
 * stay. IMP_ENOMEM leaves nothing to release. */
imp_status imp_columns_create(imp_columns *columns, const imp_clusters *clusters, size_t classes,
                              bool unlabeled, const float *origin, double radius, imp_error *error);
void imp_columns_release(imp_columns *columns);

/* Makes columns in bytes, too. On failure, IMP_ENOMEM, the columns are as before. */
imp_status imp_columns_add_bytes(imp_columns *columns, const imp_clusters *clusters,
                                 imp_error *error);

/* Rounds the points, to 16 bits or to bytes, and scores them against all columns:
 * scores[r * columns->count + c], in memory that is aligned to 64 bytes and has room for
 * IMP_NEAREST_POINTS rows. Only points inside have scores. */
void imp_columns_score(const imp_columns *columns, bool bytes, imp_rounded *points,
                       int32_t *scores);

/* How a log density follows from a score in a section, for point r: base + slope * score. */
typedef struct imp_density_line {
    double base, slope;
} imp_density_line;

static inline imp_density_line imp_columns_density(const imp_section *section,
                                                   const imp_rounded *points, size_t r)
{
    double half = 1 / (2 * section->sigma);
    return (imp_density_line){.base = section->offset - half * points->square[r],
                              .slope = half * points->by.unit};
}

/* The smallest whole number that stands for a density of at least `least`, or less by one. */
static inline int32_t imp_columns_whole(imp_density_line line, double least)
{
    double whole = (least - line.base) / line.slope - 1;
    return whole > IMP_LEAST_SCORE ? (int32_t)(whole < INT32_MAX ? whole : INT32_MAX)
                                   : IMP_LEAST_SCORE;
}

/* The smallest variance of all sections. */
static inline double imp_columns_least_sigma(const imp_columns *columns)
{
    double least = columns->section[0].sigma;
    for (size_t s = 1; s < columns->sections; s++)
        least = fmin(least, columns->section[s].sigma);
    return least;
}

#endif
