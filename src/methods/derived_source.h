/*
 * derived_source.h - sources made of other sources: their points mapped, one source after another,
 * or several side by side.
 *
 * Nothing is stored but a block, so what is made of files stays as small as files. None of these
 * may be moved while in use, and the sources that they are made of must outlive them.
 */
#ifndef IMP_METHODS_DERIVED_SOURCE_H
#define IMP_METHODS_DERIVED_SOURCE_H

#include "methods/point_source.h"

/* out(count, ...) = what becomes of these rows, each by itself; `begin` is the number of the first.
 */
typedef imp_status imp_map_rows(const void *context, const float *rows, size_t begin, size_t count,
                                float *out, imp_error *error);

typedef struct imp_mapped_source {
    imp_point_source source; /* with the labels of the points */
    const imp_point_source *from;
    imp_map_rows *map;
    const void *context;
    imp_reader reader; /* of a block of `from` */
    float *kept;       /* all mapped points, or NULL */
} imp_mapped_source;

/* Mapped points are kept if they need no more than `keep` bytes, otherwise mapped whenever they are
 * read. Release it even on failure: as `map` and reading do, and IMP_ENOMEM. */
imp_status imp_mapped_source_create(imp_mapped_source *mapped, const imp_point_source *from,
                                    size_t dimensions, imp_map_rows *map, const void *context,
                                    size_t keep, imp_error *error);
void imp_mapped_source_release(imp_mapped_source *mapped);

/* The points of `first`, then those of `second`, which have no labels. */
typedef struct imp_source_pair {
    const imp_point_source *first, *second;
} imp_source_pair;

imp_point_source imp_source_of_pair(const imp_source_pair *pair);

enum { IMP_MOST_BESIDE = 16 };

/* Points of as many sources, of each the same number, whose coordinates stand side by side. */
typedef struct imp_beside_source {
    imp_point_source source;
    size_t count;
    imp_reader reader[IMP_MOST_BESIDE];
} imp_beside_source;

/* Release it even on failure: IMP_ENOMEM. */
imp_status imp_beside_source_create(imp_beside_source *beside, const imp_point_source *const *from,
                                    size_t count, imp_error *error);
void imp_beside_source_release(imp_beside_source *beside);

#endif
