/*
 * block_exchange.h - what ranks tell each other about a block of points, of which each compared a
 * share: the nearest cluster of every point, and the distances of the few that are far from all.
 */
#ifndef IMP_METHODS_BLOCK_EXCHANGE_H
#define IMP_METHODS_BLOCK_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

#include "base/ranks.h"

typedef struct imp_block_exchange {
    const imp_ranks *ranks;
    size_t *first; /* (ranks + 1): where the share of each begins; the caller's to fill */
    struct imp_far_point *far; /* per point of a block */
    uint64_t *far_count;       /* (ranks) */
} imp_block_exchange;

/* For blocks of up to `block` points; nothing at all if there are no other ranks. Release it even
 * on failure: IMP_ENOMEM. */
imp_status imp_block_exchange_create(imp_block_exchange *exchange, const imp_ranks *ranks,
                                     size_t block, imp_error *error);
void imp_block_exchange_release(imp_block_exchange *exchange);

/* nearest(count) becomes known on every rank, and distance(count) where it is above lambda; it is
 * NAN for the other points of other ranks. `first` is overwritten. */
imp_status imp_block_exchange_run(imp_block_exchange *exchange, size_t count, double lambda,
                                  int32_t *nearest, double *distance, imp_error *error);

#endif
