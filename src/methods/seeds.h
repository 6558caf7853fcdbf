/*
 * seeds.h - initial means of clusters if lambda is not given.
 *
 * One half of a sample is divided into many small groups by Ward's method; the other half decides
 * which neighbouring groups are distinct, and those that are not are merged. In many dimensions,
 * groups of spherical noise are found by their likelihood instead (spherical.h).
 */
#ifndef IMP_METHODS_SEEDS_H
#define IMP_METHODS_SEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

#include "methods/crew.h"
#include "methods/point_source.h"

enum { IMP_FEWEST_FOR_SEEDS = 32 }; /* points, if no number of clusters is wanted */

typedef struct imp_seeds {
    size_t count;
    float *mean;    /* (count, dimensions) */
    double within;  /* mean squared distance of the sample from them */
    size_t sampled; /* points in the sample */
    size_t groups;  /* initial groups */
    double least;   /* the least evidence that two neighbours are distinct, in nats; INFINITY: none
                       tested */
    bool spherical; /* groups of spherical noise were found by their likelihood */
} imp_seeds;

/* Finds as many as the points show, or `wanted` if that is not 0, and then fewer only if points
 * coincide. If `wanted` is 0 there must be at least IMP_FEWEST_FOR_SEEDS points. Release the seeds
 * even on failure; fails as the source does, and with IMP_ENOMEM. */
imp_status imp_seeds_find(imp_seeds *seeds, const imp_point_source *source, size_t wanted,
                          const imp_crew *crew, imp_error *error);
void imp_seeds_release(imp_seeds *seeds);

#endif
