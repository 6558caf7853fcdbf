/* ranks.c - divides work among ranks and combines their results in order. */
#include "base/ranks.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"

void imp_ranks_share(const imp_ranks *ranks, int rank, size_t count, size_t *begin, size_t *end)
{
    size_t size = imp_ranks_any(ranks) ? (size_t)ranks->size : 1;
    *begin = imp_block_begin(count, size, (size_t)rank);
    *end = imp_block_begin(count, size, (size_t)rank + 1);
}

imp_status imp_ranks_gather_at(const imp_ranks *ranks, void *items, const size_t *first,
                               size_t size, imp_error *error)
{
    if (!imp_ranks_any(ranks))
        return IMP_OK;
    size_t count = (size_t)ranks->size + 1;
    size_t *begin = imp_allocate(count, sizeof *begin);
    if (!begin)
        return imp_fail_memory(error, "what other ranks found");
    for (size_t r = 0; r < count; r++)
        begin[r] = first[r] * size;
    imp_status status = ranks->gather(ranks, items, begin, error);
    imp_release(begin);
    return status;
}

imp_status imp_ranks_gather(const imp_ranks *ranks, void *items, size_t count, size_t size,
                            imp_error *error)
{
    if (!imp_ranks_any(ranks))
        return IMP_OK;
    size_t parts = (size_t)ranks->size;
    size_t *first = imp_allocate(parts + 1, sizeof *first);
    if (!first)
        return imp_fail_memory(error, "what other ranks found");
    for (size_t r = 0; r <= parts; r++)
        first[r] = imp_block_begin(count, parts, r);
    imp_status status = imp_ranks_gather_at(ranks, items, first, size, error);
    imp_release(first);
    return status;
}

imp_status imp_ranks_exchange(const imp_ranks *ranks, uint64_t own, uint64_t *all, imp_error *error)
{
    all[imp_rank_of(ranks)] = own;
    return imp_ranks_any(ranks)
               ? imp_ranks_gather(ranks, all, (size_t)ranks->size, sizeof *all, error)
               : IMP_OK;
}

imp_status imp_ranks_agree(const imp_ranks *ranks, const char *what, uint64_t own, imp_error *error)
{
    if (!imp_ranks_any(ranks))
        return IMP_OK;
    uint64_t *all = imp_allocate((size_t)ranks->size, sizeof *all);
    imp_status status = all ? imp_ranks_exchange(ranks, own, all, error)
                            : imp_fail_memory(error, "what other ranks have");
    for (int r = 1; r < ranks->size && !status; r++)
        if (all[r] != all[0])
            status =
                imp_fail(error, IMP_EINVAL,
                         "rank %d has another %s than rank 0; all ranks need the same", r, what);
    imp_release(all);
    return status;
}

/* Floats sent to the next rank together: few enough that all ranks work at the same time. */
enum { PIECE = 1 << 14 };

static imp_status add_piece(const imp_ranks *ranks, float *values, const float *terms, size_t rows,
                            size_t count, size_t begin, size_t size, imp_error *error)
{
    imp_status status = IMP_OK;
    float *piece = values + begin;
    if (ranks->rank > 0)
        status = ranks->receive(ranks, ranks->rank - 1, piece, size * sizeof *piece, error);
    for (size_t row = 0; row < rows && !status; row++)
        for (size_t i = 0; i < size; i++)
            piece[i] += terms[row * count + begin + i];
    if (!status && ranks->rank < ranks->size - 1)
        status = ranks->send(ranks, ranks->rank + 1, piece, size * sizeof *piece, error);
    return status;
}

imp_status imp_ranks_add_in_order(const imp_ranks *ranks, float *values, const float *terms,
                                  size_t rows, size_t count, imp_error *error)
{
    imp_status status = IMP_OK;
    for (size_t begin = 0; begin < count && !status; begin += PIECE)
        status = add_piece(ranks, values, terms, rows, count, begin,
                           count - begin < PIECE ? count - begin : PIECE, error);
    if (!status)
        status = ranks->broadcast(ranks, ranks->size - 1, values, count * sizeof *values, error);
    return status;
}
