/* block_exchange.c - ranks exchange what they found about the points of a block. */
#include "methods/block_exchange.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"

/* A point of a block that is farther from its nearest cluster than lambda. */
struct imp_far_point {
    uint32_t position;
    double distance;
};

imp_status imp_block_exchange_create(imp_block_exchange *exchange, const imp_ranks *ranks,
                                     size_t block, imp_error *error)
{
    *exchange = (imp_block_exchange){.ranks = ranks};
    if (!imp_ranks_any(ranks))
        return IMP_OK;
    size_t size = (size_t)ranks->size;
    exchange->far = imp_allocate(block, sizeof *exchange->far);
    exchange->first = imp_allocate(size + 1, sizeof *exchange->first);
    exchange->far_count = imp_allocate(size, sizeof *exchange->far_count);
    return exchange->far && exchange->first && exchange->far_count
               ? IMP_OK
               : imp_fail_memory(error, "the assignments");
}

void imp_block_exchange_release(imp_block_exchange *exchange)
{
    imp_release(exchange->far);
    imp_release(exchange->first);
    imp_release(exchange->far_count);
    *exchange = (imp_block_exchange){0};
}

/* Few points are far from all clusters; only their distances are exchanged. */
static imp_status exchange_far(imp_block_exchange *exchange, size_t count, double lambda,
                               double *distance, imp_error *error)
{
    const imp_ranks *ranks = exchange->ranks;
    size_t *first = exchange->first, own = first[ranks->rank], end = first[ranks->rank + 1];
    uint64_t own_far = 0;
    for (size_t i = own; i < end; i++)
        own_far += distance[i] > lambda;
    imp_status status = imp_ranks_exchange(ranks, own_far, exchange->far_count, error);
    if (status)
        return status;
    first[0] = 0;
    for (int r = 0; r < ranks->size; r++)
        first[r + 1] = first[r] + exchange->far_count[r];
    struct imp_far_point *next = exchange->far + first[ranks->rank];
    for (size_t i = own; i < end; i++)
        if (distance[i] > lambda)
            *next++ = (struct imp_far_point){(uint32_t)i, distance[i]};
    size_t all = first[ranks->size];
    if (all > 0)
        status = imp_ranks_gather_at(ranks, exchange->far, first, sizeof *exchange->far, error);
    for (size_t i = 0; i < count; i++)
        if (i < own || i >= end)
            distance[i] = NAN;
    for (size_t i = 0; i < all && !status; i++)
        distance[exchange->far[i].position] = exchange->far[i].distance;
    return status;
}

imp_status imp_block_exchange_run(imp_block_exchange *exchange, size_t count, double lambda,
                                  int32_t *nearest, double *distance, imp_error *error)
{
    imp_status status =
        imp_ranks_gather_at(exchange->ranks, nearest, exchange->first, sizeof *nearest, error);
    return status ? status : exchange_far(exchange, count, lambda, distance, error);
}
