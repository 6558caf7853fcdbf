/*
 * arrange.h - the points of a fit in a metric, in the order in which they are taken: labelled
 * points, then unlabelled ones near at hand, to which labels may be propagated, then the rest.
 *
 * Labelled points and those near at hand are in memory. The rest, which may be more than memory
 * holds, is a source.
 */
#ifndef IMP_METHODS_ARRANGE_H
#define IMP_METHODS_ARRANGE_H

#include "methods/derived_source.h"
#include "methods/metric.h"

typedef struct imp_arranged {
    const imp_point_source *source;
    const imp_metric *metric;
    size_t labeled, unlabeled; /* points */
    size_t near;               /* unlabelled ones in memory, evenly spaced among all */
    uint32_t *number;          /* (labeled + near): their numbers in the source */
    float *rows;               /* (labeled + near, dimensions), in the metric */

    /* The rest are the unlabelled points in their own order; where one was taken to be near at hand
     * stands the one whose place there it took. */
    uint32_t *early; /* numbers of unlabelled points among those that have a label each */
    size_t early_count;
    size_t moved_count;
    uint32_t *place;  /* (moved_count), ascending: among the unlabelled points */
    uint32_t *moved;  /* (moved_count): the number of the point that stands there */
    float *moved_row; /* (moved_count, dimensions): as it is */
    imp_point_source far;
    imp_mapped_source far_mapped;
    imp_point_source at_hand; /* points in memory that have no label */
    imp_source_pair both;
    imp_point_source rest;
} imp_arranged;

/* Puts points in order, up to `most` of the unlabelled ones near at hand, and reads these; then
 * imp_arranged_map() maps them, in the metric fitted meanwhile. Must not be moved. Release it even
 * on failure: as reading does, and IMP_ENOMEM. */
imp_status imp_arrange(imp_arranged *points, const imp_point_source *source, size_t most,
                       imp_error *error);
imp_status imp_arranged_map(imp_arranged *points, const imp_metric *metric, imp_error *error);

/* The number in the source of the point at `position`. */
size_t imp_arranged_at(const imp_arranged *points, size_t position);

/* The median squared distance of points from their mean, of some of all. */
imp_status imp_arranged_spread(const imp_arranged *points, double *spread, imp_error *error);

/* *rest = all points from position `begin` on, which is none of a labelled point, in the metric.
 * Those that are read are kept if they need no more than `keep` bytes. */
imp_status imp_arranged_rest(imp_arranged *points, size_t begin, size_t keep,
                             const imp_point_source **rest, imp_error *error);

void imp_arranged_release(imp_arranged *points);

#endif
