/*
 * columns.h - clusters laid out for scoring many points at once, in integers with a known error.
 *
 * Points are scored against all columns, one per cluster. Clusters of one class and variance share
 * a vector lane, so that the best of a class is a maximum over rows.
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

/* Clusters whose densities differ only in their means. */
typedef struct imp_section {
    double sigma, offset;
    double half;                   /* 1 / (2 sigma) */
    size_t begin, end;             /* columns */
    size_t first_group, end_group; /* groups of slots */
} imp_section;

typedef struct imp_columns {
    imp_frame frame;
    size_t sections; /* 0: too many different densities, nothing was laid out */
    imp_section section[IMP_MOST_SECTIONS];
    size_t count;          /* columns */
    size_t stride;         /* from the scores of a point to those of the next: rows that were a
                              multiple of 4 KiB apart would compete for the same places in a cache */
    int32_t *cluster;      /* by column; -1: none */
    int32_t *packed;       /* the columns in the kernels' form, with 16 bits */
    int32_t *packed_bytes; /* and with 8, if added */

    /* A slot holds clusters of one class: one lane of a group, or several in a group of few slots.
     */
    size_t groups;
    bool single;  /* there is one section, and no class has two slots */
    bool ordered; /* and slot k is that of class k, for every class */
    imp_slot_group *group;
    uint32_t *column;    /* (groups, lanes): that of a slot's first row; its others follow, `lanes`
                            apart, and those of its other lanes, `width` apart */
    int32_t *slot_class; /* (groups, lanes); -1: none */

    /* Clusters too far away for the step size of the others have no columns. */
    size_t strays;
    uint32_t *stray;
} imp_columns;

/* Lays out the clusters of classes 0 .. classes-1 and, if wanted, those without a label, as class
 * `classes`. All but a few points will lie within `radius` of `origin`, which must stay valid. On
 * failure (IMP_ENOMEM) there is nothing to release. */
imp_status imp_columns_create(imp_columns *columns, const imp_clusters *clusters, size_t classes,
                              bool unlabeled, const float *origin, double radius, imp_error *error);
void imp_columns_release(imp_columns *columns);

/* Also packs the columns as bytes. On failure (IMP_ENOMEM) the columns are as before. */
imp_status imp_columns_add_bytes(imp_columns *columns, const imp_clusters *clusters,
                                 imp_error *error);

/* Quantises the points to 16 or 8 bits and scores them against all columns: scores[r *
 * columns->stride + c], in memory aligned to 64 bytes with room for IMP_NEAREST_POINTS rows. Only
 * points within the radius have scores. */
void imp_columns_score(const imp_columns *columns, bool bytes, imp_rounded *points,
                       int32_t *scores);

/* The log density of point r from a score in a section: base + slope * score. */
typedef struct imp_density_line {
    double base, slope;
} imp_density_line;

static inline imp_density_line imp_columns_density(const imp_section *section,
                                                   const imp_rounded *points, size_t r)
{
    return (imp_density_line){.base = section->offset - section->half * points->square[r],
                              .slope = section->half * points->by.unit};
}

/* An integer that is less than this score, by at most 2 unless that is no score of a cluster. */
static inline int32_t imp_whole_score(double score)
{
    return score - 1 > IMP_LEAST_SCORE ? (int32_t)(score - 1 < INT32_MAX ? score - 1 : INT32_MAX)
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
