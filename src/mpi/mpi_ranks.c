/* mpi_ranks.c - gather, broadcast and messages through MPI, counting their bytes. */
#include "mpi/mpi_ranks.h"

#include <limits.h>
#include <mpi.h>

#include "base/error.h"
#include "base/memory.h"

enum { MESSAGE = 1, MOST_AT_ONCE = 1 << 30 }; /* MPI counts in ints */

static imp_status check(int code, const char *doing, imp_error *error)
{
    char why[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code == MPI_SUCCESS)
        return IMP_OK;
    MPI_Error_string(code, why, &length);
    return imp_fail(error, IMP_EIO, "cannot %s the other ranks: %s", doing, why);
}

/* Counts what this rank sends to `receivers` others. */
static void count(const imp_ranks *ranks, size_t bytes, int receivers)
{
    imp_mpi_traffic *traffic = ranks->context;
    traffic->bytes += bytes * (uint64_t)receivers;
    traffic->messages += (uint64_t)receivers;
}

static imp_status gather(const imp_ranks *ranks, void *whole, const size_t *begin, imp_error *error)
{
    size_t size = (size_t)ranks->size;
    if (begin[size] > INT_MAX)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "the ranks have %zu bytes to exchange at once, above MPI's limit of %d",
                        begin[size], INT_MAX);
    int *counts = imp_allocate(size, 2 * sizeof *counts);
    if (!counts)
        return imp_fail_memory(error, "what other ranks found");
    int *places = counts + size;
    for (size_t r = 0; r < size; r++) {
        counts[r] = (int)(begin[r + 1] - begin[r]);
        places[r] = (int)begin[r];
    }
    count(ranks, (size_t)counts[ranks->rank], ranks->size - 1);
    int code = MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, whole, counts, places, MPI_BYTE,
                              MPI_COMM_WORLD);
    imp_release(counts);
    return check(code, "gather from", error);
}

static imp_status broadcast(const imp_ranks *ranks, int from, void *bytes, size_t size,
                            imp_error *error)
{
    int code = MPI_SUCCESS;
    if (from == ranks->rank)
        count(ranks, size, ranks->size - 1);
    for (size_t at = 0; at < size && code == MPI_SUCCESS; at += MOST_AT_ONCE)
        code = MPI_Bcast((char *)bytes + at,
                         (int)(size - at < MOST_AT_ONCE ? size - at : MOST_AT_ONCE), MPI_BYTE, from,
                         MPI_COMM_WORLD);
    return check(code, "broadcast to", error);
}

static imp_status send(const imp_ranks *ranks, int to, const void *bytes, size_t size,
                       imp_error *error)
{
    int code = MPI_SUCCESS;
    count(ranks, size, 1);
    for (size_t at = 0; at < size && code == MPI_SUCCESS; at += MOST_AT_ONCE)
        code = MPI_Send((const char *)bytes + at,
                        (int)(size - at < MOST_AT_ONCE ? size - at : MOST_AT_ONCE), MPI_BYTE, to,
                        MESSAGE, MPI_COMM_WORLD);
    return check(code, "send to", error);
}

static imp_status receive(const imp_ranks *ranks, int from, void *bytes, size_t size,
                          imp_error *error)
{
    (void)ranks;
    int code = MPI_SUCCESS;
    for (size_t at = 0; at < size && code == MPI_SUCCESS; at += MOST_AT_ONCE)
        code =
            MPI_Recv((char *)bytes + at, (int)(size - at < MOST_AT_ONCE ? size - at : MOST_AT_ONCE),
                     MPI_BYTE, from, MESSAGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return check(code, "receive from", error);
}

imp_ranks imp_mpi_ranks(imp_mpi_traffic *traffic)
{
    imp_ranks ranks = {.gather = gather,
                       .broadcast = broadcast,
                       .send = send,
                       .receive = receive,
                       .context = traffic};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
    return ranks;
}
