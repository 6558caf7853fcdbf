/*
 * ranks.h - the other processes of a job, where there are any.
 *
 * The library knows nothing of what connects them: whoever starts the job fills in an imp_ranks,
 * as src/mpi does, and hands it to what may be shared. All ranks call the same functions in the
 * same order, and work is cut by its size and dealt out by rank so that no result depends on how
 * many there are. NULL in the place of an imp_ranks is a process by itself.
 */
#ifndef IMP_BASE_RANKS_H
#define IMP_BASE_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

typedef struct imp_ranks imp_ranks;
struct imp_ranks {
    int rank, size;

    /* Part r of `whole`, bytes begin[r] .. begin[r + 1] - 1, is rank r's; every rank has its own
     * and gets the others'. */
    imp_status (*gather)(const imp_ranks *ranks, void *whole, const size_t *begin,
                         imp_error *error);
    /* What rank `from` has in `bytes`, all have. */
    imp_status (*broadcast)(const imp_ranks *ranks, int from, void *bytes, size_t size,
                            imp_error *error);
    imp_status (*send)(const imp_ranks *ranks, int to, const void *bytes, size_t size,
                       imp_error *error);
    imp_status (*receive)(const imp_ranks *ranks, int from, void *bytes, size_t size,
                          imp_error *error);
    void *context;
};

/* Whether there is anybody to share with. */
static inline bool imp_ranks_any(const imp_ranks *ranks)
{
    return ranks && ranks->size > 1;
}

/* Which it is: 0, who writes and prints, where there is nobody else. */
static inline int imp_rank_of(const imp_ranks *ranks)
{
    return ranks ? ranks->rank : 0;
}

/* Items *begin .. *end - 1 of `count` are rank `rank`'s, the same number for each but for one. */
void imp_ranks_share(const imp_ranks *ranks, int rank, size_t count, size_t *begin, size_t *end);

/* Every rank has its share of `count` items of `size` bytes and gets the rest. */
imp_status imp_ranks_gather(const imp_ranks *ranks, void *items, size_t count, size_t size,
                            imp_error *error);

/* The same where rank r's items are those from first[r] to first[r + 1]. */
imp_status imp_ranks_gather_at(const imp_ranks *ranks, void *items, const size_t *first,
                               size_t size, imp_error *error);

/* One number of each rank. */
imp_status imp_ranks_exchange(const imp_ranks *ranks, uint64_t own, uint64_t *all,
                              imp_error *error);

/* values(count) becomes what comes of adding to rank 0's values rank 1's terms, row by row, then
 * rank 2's and so on: a running sum goes from rank to rank in pieces, and the last one tells it to
 * all. terms is (rows, count); rank 0's own are added first. Floats are added in the order in which
 * one process would add all rows. */
imp_status imp_ranks_add_in_order(const imp_ranks *ranks, float *values, const float *terms,
                                  size_t rows, size_t count, imp_error *error);

#endif
