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
    const imp_kernels *kernels;
    size_t begin, end; /* the dimensions of this rank: ranks sum different ones */
    size_t width;      /* of these, those that one thread sums over all points */
} summing;

enum {
    SLICE = 16,         /* dimensions that are not divided: a cache line of floats */
    MOST_SUMS = 1 << 15 /* sums that stay in the L2 cache */
};

static void sum_slice(size_t slice, int worker, void *context)
{
    (void)worker;
    const summing *s = context;
    size_t begin = s->begin + slice * s->width;
    s->kernels->add_rows(s->clusters->dimensions, begin,
                         s->end - begin < s->width ? s->end : begin + s->width, s->rows,
                         s->assignment, s->count, s->clusters->sum);
}

static size_t slices_of(size_t dimensions)
{
    return (dimensions + SLICE - 1) / SLICE;
}

/* The dimensions summed by rank r. */
static void dimensions_of(const imp_ranks *ranks, int r, size_t d, size_t *begin, size_t *end)
{
    imp_ranks_share(ranks, r, slices_of(d), begin, end);
    *begin = *begin * SLICE < d ? *begin * SLICE : d;
    *end = *end * SLICE < d ? *end * SLICE : d;
}

void imp_sum_points(imp_clusters *clusters, const float *rows, const int32_t *assignment,
                    size_t count, const imp_kernels *kernels, const imp_crew *crew)
{
    summing s = {.rows = rows,
                 .count = count,
                 .assignment = assignment,
                 .clusters = clusters,
                 .kernels = kernels};
    int threads = imp_parallel_threads(crew->threads);
    size_t most = MOST_SUMS / (clusters->count + 1) / SLICE;
    for (size_t i = 0; i < count; i++)
        clusters->weight[assignment[i]]++;
    dimensions_of(crew->ranks, imp_rank_of(crew->ranks), clusters->dimensions, &s.begin, &s.end);
    /* as many as possible, so that points are read once and in long pieces */
    size_t slices = (slices_of(s.end - s.begin) + (size_t)threads - 1) / (size_t)threads;
    most = most > 0 ? most : 1;
    slices = slices > 0 ? slices : 1;
    s.width = SLICE * (slices < most ? slices : most);
    imp_parallel((s.end - s.begin + s.width - 1) / s.width, threads, sum_slice, &s);
}

imp_status imp_sum_source(imp_clusters *clusters, const imp_point_source *source, size_t most,
                          const int32_t *assignment, const imp_kernels *kernels,
                          const imp_crew *crew, imp_error *error)
{
    imp_reader reader;
    size_t n = source->count;
    imp_status status = imp_reader_create(&reader, source, NULL, most, error);
    for (size_t begin = 0; begin < n && !status; begin += most) {
        size_t count = n - begin < most ? n - begin : most;
        const float *rows;
        status = imp_reader_read(&reader, begin, count, &rows, error);
        if (!status)
            imp_sum_points(clusters, rows, assignment + begin, count, kernels, crew);
    }
    imp_reader_release(&reader);
    return status;
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
