/*
 * cluster_result.c - the result of a clustering: its objective, and its clusters, numbered by their
 * first points.
 */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "methods/cluster_job.h"

/* A clustering and the memory of its assignment. */
typedef struct held {
    imp_clustering clustering; /* the public part */
    imp_spill room;
} held;

/* ---- the objective ---- */

enum {
    PART = 256,
    TOGETHER = 32 * PART
}; /* points measured by one thread, and by all threads together */

/* Squared distances of some points to their means. */
typedef struct measuring {
    const imp_cluster_job *job;
    size_t begin, end;
    const float *rows; /* of points begin .. end - 1 */
    size_t first_part; /* of this rank */
    double distance[TOGETHER];
} measuring;

static void measure_part(size_t part, int worker, void *context)
{
    (void)worker;
    measuring *m = context;
    size_t begin = m->begin + (m->first_part + part) * PART,
           end = m->end - begin < PART ? m->end : begin + PART;
    for (size_t i = begin; i < end; i++)
        m->distance[i - m->begin] =
            imp_clusters_distance(&m->job->clusters, (size_t)m->job->assignment[i],
                                  m->rows + (i - m->begin) * m->job->source->dimensions);
}

/* Measures points begin .. end - 1, whose rows are loaded. */
static imp_status measure(const imp_cluster_job *job, measuring *m, imp_error *error)
{
    const imp_ranks *ranks = job->crew.ranks;
    size_t parts = (m->end - m->begin + PART - 1) / PART, end;
    imp_ranks_share(ranks, imp_rank_of(ranks), parts, &m->first_part, &end);
    imp_parallel(end - m->first_part, imp_parallel_threads(job->options->threads), measure_part, m);
    /* in whole parts; what follows the last point is ignored */
    return imp_ranks_gather(ranks, m->distance, parts, PART * sizeof *m->distance, error);
}

/* Summed in the order of the points, whichever thread or rank measured them. If seeds were chosen,
 * lambda is the largest of all distances, with which no point would start a cluster. */
static imp_status find_objective(imp_cluster_job *job, double *objective, imp_error *error)
{
    double sum = 0, largest = 0;
    size_t n = job->source->count;
    measuring m = {.job = job};
    imp_reader reader;
    imp_status status = imp_reader_create(&reader, job->source, NULL, TOGETHER, error);
    for (; m.begin < n && !status; m.begin = m.end) {
        m.end = n - m.begin < TOGETHER ? n : m.begin + TOGETHER;
        status = imp_reader_read(&reader, m.begin, m.end - m.begin, &m.rows, error);
        if (status)
            break;
        status = measure(job, &m, error);
        for (size_t i = m.begin; i < m.end && !status; i++) {
            sum += m.distance[i - m.begin];
            largest = fmax(largest, m.distance[i - m.begin]);
        }
        imp_spill_leave(&job->room, m.begin, m.end);
    }
    imp_reader_release(&reader);
    if (job->choice != IMP_CLUSTER_GIVEN && job->choice != IMP_CLUSTER_GAP)
        job->lambda = largest;
    *objective = sum + job->lambda * (double)job->clusters.count;
    return status;
}

/* ---- the clusters ---- */

void imp_clustering_free(imp_clustering *clustering)
{
    if (!clustering)
        return;
    imp_spill_release(&((held *)clustering)->room); /* the clustering is its first member */
    imp_release(clustering->cluster_size);
    imp_release(clustering->mean);
    imp_release(clustering->cluster_label);
    imp_release(clustering);
}

/* Numbers clusters by their first points; those without any come last. A cluster's number in the
 * result is in `moved`. */
static void number_by_first(imp_cluster_job *job)
{
    imp_clusters *clusters = &job->clusters;
    uint32_t found = 0;
    for (size_t c = 0; c < clusters->count; c++)
        clusters->moved[c] = UINT32_MAX;
    size_t n = job->source->count;
    for (size_t begin = 0, end; begin < n; begin = end) {
        end = n - begin < IMP_CLUSTER_BLOCK ? n : begin + IMP_CLUSTER_BLOCK;
        for (size_t i = begin; i < end; i++) {
            uint32_t *number = &clusters->moved[job->assignment[i]];
            if (*number == UINT32_MAX)
                *number = found++;
            job->assignment[i] = (int32_t)*number;
        }
        imp_spill_leave(&job->room, begin, end);
    }
    for (size_t c = 0; c < clusters->count; c++)
        if (clusters->moved[c] == UINT32_MAX)
            clusters->moved[c] = found++;
}

imp_status imp_clustering_each(const imp_clustering *clustering,
                               imp_status (*visit)(const int32_t *assignment, size_t begin,
                                                   size_t count, void *context, imp_error *error),
                               void *context, imp_error *error)
{
    const held *result = (const held *)clustering;
    imp_status status = IMP_OK;
    for (size_t begin = 0, count; begin < clustering->points && !status; begin += count) {
        count = clustering->points - begin < IMP_CLUSTER_BLOCK ? clustering->points - begin
                                                               : IMP_CLUSTER_BLOCK;
        status = visit(clustering->assignment + begin, begin, count, context, error);
        imp_spill_leave(&result->room, begin, begin + count);
    }
    return status;
}

static imp_status count_members(const int32_t *assignment, size_t begin, size_t count,
                                void *context, imp_error *error)
{
    (void)begin, (void)error;
    size_t *cluster_size = context;
    for (size_t i = 0; i < count; i++)
        cluster_size[assignment[i]]++;
    return IMP_OK;
}

imp_status imp_cluster_finish(imp_cluster_job *job, imp_clustering **out, imp_error *error)
{
    const imp_clusters *clusters = &job->clusters;
    size_t values;
    held *holder = imp_allocate_zeroed(1, sizeof *holder);
    if (!holder)
        return imp_fail_memory(error, "the clusters");
    imp_clustering *result = &holder->clustering;
    result->cluster_size = imp_allocate_zeroed(clusters->count, sizeof *result->cluster_size);
    if (imp_multiply(clusters->count, clusters->dimensions, &values))
        result->mean = imp_allocate(values, sizeof *result->mean);
    if (job->options->label)
        result->cluster_label = imp_allocate(clusters->count, sizeof *result->cluster_label);
    imp_status status =
        result->cluster_size && result->mean && (result->cluster_label || !job->options->label)
            ? find_objective(job, &result->objective, error)
            : imp_fail_memory(error, "the clusters");
    if (status) {
        imp_clustering_free(result);
        return status;
    }
    result->points = job->source->count;
    result->dimensions = clusters->dimensions;
    result->clusters = clusters->count;
    result->lambda = job->lambda;
    result->sigma = job->sigma;
    result->steps = job->steps;
    result->converged = job->converged;
    result->choice = job->choice;
    result->sampled = job->seeds.sampled;
    result->groups = job->seeds.groups;
    result->apart = job->seeds.count > 0 ? job->seeds.least : INFINITY;
    number_by_first(job);
    for (size_t c = 0; c < clusters->count && result->cluster_label; c++)
        result->cluster_label[clusters->moved[c]] = clusters->label[c];
    for (size_t c = 0; c < clusters->count; c++)
        for (size_t j = 0; j < clusters->dimensions; j++)
            result->mean[clusters->moved[c] * clusters->dimensions + j] =
                (float)imp_clusters_mean(clusters, c)[j];
    result->assignment = job->assignment;
    holder->room = job->room;
    job->room = (imp_spill){0};
    *out = result;
    return imp_clustering_each(result, count_members, result->cluster_size, error);
}
