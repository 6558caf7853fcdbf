/*
 * seeds.h - where clusters begin when nobody says how far apart they are.
 *
 * Half of a sample makes many small groups by Ward's rule; the other half, which made none of them,
 * tells which neighbours are apart, and those that are not are joined.
 */
#ifndef IMP_METHODS_SEEDS_H
#define IMP_METHODS_SEEDS_H

#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

#include "methods/point_source.h"

enum { IMP_FEWEST_FOR_SEEDS = 32 }; /* points, where no number of clusters is wanted */

typedef struct imp_seeds {
    size_t count;
    float *mean;    /* (count, dimensions) */
    double within;  /* the mean squared distance of the sample from them */
    size_t sampled; /* points that were looked at */
    size_t groups;  /* that it began with */
    double least;   /* how sure the least sure two of neighbours are apart, in nats; INFINITY */
} imp_seeds;

/* As many as the points show, or `wanted` if that is not 0: fewer then only where points coincide.
 * Without a wish there must be IMP_FEWEST_FOR_SEEDS points or more. Release whatever is returned;
 * fails as the source does, and with IMP_ENOMEM. */
imp_status imp_seeds_find(imp_seeds *seeds, const imp_point_source *source, size_t wanted,
                          int threads, imp_error *error);
void imp_seeds_release(imp_seeds *seeds);

#endif
