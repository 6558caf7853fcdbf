/*
 * ranks.h - the other processes of a job, where there are any.
 *
 * The library does not know what connects them: the program that starts the job fills in an
 * imp_ranks, as src/mpi does, and passes it to functions that can share their work. All ranks call
 * the same functions in the same order, and work is divided in such a way that no result depends on
 * the number of ranks. A NULL imp_ranks means a single process.
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

    /* Part r of `whole`, bytes begin[r] .. begin[r + 1] - 1, belongs to rank r; every rank provides
     * its own part and receives the others (MPI_Allgatherv). */
    imp_status (*gather)(const imp_ranks *ranks, void *whole, const size_t *begin,
                         imp_error *error);
    /* Copies `bytes` from rank `from` to all ranks. */
    imp_status (*broadcast)(const imp_ranks *ranks, int from, void *bytes, size_t size,
                            imp_error *error);
    imp_status (*send)(const imp_ranks *ranks, int to, const void *bytes, size_t size,
                       imp_error *error);
    imp_status (*receive)(const imp_ranks *ranks, int from, void *bytes, size_t size,
                          imp_error *error);
    void *context;
};

/* Whether there is more than one rank. */
static inline bool imp_ranks_any(const imp_ranks *ranks)
{
    return ranks && ranks->size > 1;
}

/* The number of this rank; rank 0, which a single process is, writes and prints. */
static inline int imp_rank_of(const imp_ranks *ranks)
{
    return ranks ? ranks->rank : 0;
}

/* Items *begin .. *end - 1 of `count` belong to rank `rank`; shares differ by at most one item. */
void imp_ranks_share(const imp_ranks *ranks, int rank, size_t count, size_t *begin, size_t *end);

/* Every rank provides its share of `count` items of `size` bytes and receives the rest. */
imp_status imp_ranks_gather(const imp_ranks *ranks, void *items, size_t count, size_t size,
                            imp_error *error);

/* The same where rank r has items first[r] .. first[r + 1] - 1. */
imp_status imp_ranks_gather_at(const imp_ranks *ranks, void *items, const size_t *first,
                               size_t size, imp_error *error);

/* Exchanges one number of each rank. */
imp_status imp_ranks_exchange(const imp_ranks *ranks, uint64_t own, uint64_t *all,
                              imp_error *error);

/* IMP_EINVAL on all ranks unless `own`, such as a checksum, is the same on all of them; `what` says
 * in the sentence what it belongs to: "'x.npy'", "data". */
imp_status imp_ranks_agree(const imp_ranks *ranks, const char *what, uint64_t own,
                           imp_error *error);

/* Sums over all ranks in a fixed order: to rank 0's values(count) its own terms are added, row by
 * row, then rank 1's, rank 2's and so on. terms is (rows, count). The running sum goes from rank to
 * rank in pieces, and the last rank sends it to all, so floats are added in the order in which one
 * process would add all rows. */
imp_status imp_ranks_add_in_order(const imp_ranks *ranks, float *values, const float *terms,
                                  size_t rows, size_t count, imp_error *error);

#endif
