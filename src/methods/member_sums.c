/* member_sums.c - adds points to the sums of their clusters, a few dimensions on each thread. */
#include "methods/member_sums.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"

/* Adds points to the sums of their clusters. */
typedef struct summing {
    const float *rows; /* (count, dimensions) */
    size_t count;
    const int32_t *assignment; /* (count) */
    imp_clusters *clusters;
    size_t first_slice; /* of this rank: ranks sum different dimensions */
} summing;

enum {
    SLICE = 16, /* dimensions that one thread sums over all points: a cache line of floats */
    AHEAD = 16  /* prefetch distance in points, beyond what processors predict */
};

static void sum_slice(size_t slice, int worker, void *context)
{
    (void)worker;
    const summing *s = context;
    size_t d = s->clusters->dimensions, begin = (s->first_slice + slice) * SLICE;
    size_t end = d - begin < SLICE ? d : begin + SLICE;
    for (size_t i = 0; i < s->count; i++) {
        const float *x = s->rows + i * d;
        const float *coming = s->rows + (i + AHEAD < s->count ? i + AHEAD : i) * d;
        __builtin_prefetch(coming + begin);
        __builtin_prefetch(coming + end - 1); /* on another cache line if rows are not aligned */
        double *sum = imp_clusters_sum(s->clusters, (size_t)s->assignment[i]);
        for (size_t j = begin; j < end; j++)
            sum[j] += x[j];
    }
}

static size_t slices_of(size_t dimensions)
{
    return (dimensions + SLICE - 1) / SLICE;
}

void imp_sum_points(imp_clusters *clusters, const float *rows, const int32_t *assignment,
                    size_t count, const imp_crew *crew)
{
    summing s = {.rows = rows, .count = count, .assignment = assignment, .clusters = clusters};
    size_t end;
    for (size_t i = 0; i < count; i++)
        clusters->weight[assignment[i]]++;
    imp_ranks_share(crew->ranks, imp_rank_of(crew->ranks), slices_of(clusters->dimensions),
                    &s.first_slice, &end);
    imp_parallel(end - s.first_slice, imp_parallel_threads(crew->threads), sum_slice, &s);
}

imp_status imp_sum_source(imp_clusters *clusters, const imp_point_source *source, size_t most,
                          const int32_t *assignment, const imp_crew *crew, imp_error *error)
{
    imp_reader reader;
    size_t n = source->count;
    imp_status status = imp_reader_create(&reader, source, NULL, most, error);
    for (size_t begin = 0; begin < n && !status; begin += most) {
        size_t count = n - begin < most ? n - begin : most;
        const float *rows;
        status = imp_reader_read(&reader, begin, count, &rows, error);
        if (!status)
            imp_sum_points(clusters, rows, assignment + begin, count, crew);
    }
    imp_reader_release(&reader);
    return status;
}

/* The dimensions summed by rank r. */
static void dimensions_of(const imp_ranks *ranks, int r, size_t d, size_t *begin, size_t *end)
{
    imp_ranks_share(ranks, r, slices_of(d), begin, end);
    *begin = *begin * SLICE < d ? *begin * SLICE : d;
    *end = *end * SLICE < d ? *end * SLICE : d;
}

/* Sends what this rank has in `packed`, from first[rank] on, and takes what the others have. */
static imp_status exchange(imp_clusters *clusters, const imp_ranks *ranks, double *packed,
                           size_t *first, imp_error *error)
{
    size_t k = clusters->count, d = clusters->dimensions, begin, end;
    first[0] = 0;
    for (int r = 0; r < ranks->size; r++) {
        dimensions_of(ranks, r, d, &begin, &end);
        first[r + 1] = first[r] + k * (end - begin);
    }
    dimensions_of(ranks, ranks->rank, d, &begin, &end);
    double *next = packed + first[ranks->rank];
    for (size_t c = 0; c < k; c++)
        for (size_t j = begin; j < end; j++)
            *next++ = imp_clusters_sum(clusters, c)[j];
    imp_status status = imp_ranks_gather_at(ranks, packed, first, sizeof *packed, error);
    for (int r = 0; r < ranks->size && !status; r++) {
        const double *from = packed + first[r];
        dimensions_of(ranks, r, d, &begin, &end);
        for (size_t c = 0; c < k; c++)
            for (size_t j = begin; j < end; j++)
                imp_clusters_sum(clusters, c)[j] = *from++;
    }
    return status;
}

imp_status imp_exchange_sums(imp_clusters *clusters, const imp_crew *crew, imp_error *error)
{
    const imp_ranks *ranks = crew->ranks;
    size_t values;
    if (!imp_ranks_any(ranks))
        return IMP_OK;
    double *packed = NULL;
    size_t *first = imp_allocate((size_t)ranks->size + 1, sizeof *first);
    if (imp_multiply(clusters->count, clusters->dimensions, &values))
        packed = imp_allocate(values, sizeof *packed);
    imp_status status = packed && first ? exchange(clusters, ranks, packed, first, error)
                                        : imp_fail_memory(error, "the sums of the clusters");
    imp_release(packed);
    imp_release(first);
    return status;
}
