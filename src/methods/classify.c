/*
 * classify.c - step 6 of Algorithm 1, for one query and for many.
 *
 * A query scores a class by the log density of the class's best cluster. Many queries are scored
 * against all clusters in whole numbers first. That tells within a known error how each class does;
 * clusters that could be the best of a class that matters are then scored in double precision.
 */
#include "methods/classify.h"

#include <float.h>
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "methods/columns.h"
#include "methods/softmax.h"

/* ---- one query ---- */

/* Cluster c, of that density, comes in; of equals the first in the list counts. */
static void consider(const imp_clusters *clusters, size_t way, size_t c, double density,
                     size_t *best, double *score)
{
    size_t class = clusters->label[c] < 0 ? way : (size_t)clusters->label[c];
    /* However unlikely a cluster is, it is more than none. */
    density = density > -DBL_MAX ? density : -DBL_MAX;
    if (best[class] == IMP_NO_CLUSTER || density > score[class] ||
        (density == score[class] && c < best[class])) {
        best[class] = c;
        score[class] = density;
    }
}

void imp_best_clusters(const imp_clusters *clusters, size_t way, const float *x, size_t *best,
                       double *score)
{
    for (size_t k = 0; k <= way; k++) {
        best[k] = IMP_NO_CLUSTER;
        score[k] = -INFINITY;
    }
    for (size_t c = 0; c < clusters->count; c++)
        consider(clusters, way, c, imp_clusters_log_density(clusters, c, x), best, score);
}

static void write_probabilities(const imp_kernels *kernels, const double *score, size_t outcomes,
                                double most, float *probability)
{
    if (kernels && most >= -DBL_MAX)
        kernels->probabilities(outcomes, score, most, probability);
    else
        imp_probabilities(score, outcomes, probability);
}

void imp_decide(const imp_clusters *clusters, size_t way, bool open_set, const float *x,
                const size_t *best, const double *score, const imp_kernels *kernels, size_t q,
                const imp_decisions *decisions)
{
    /* Without classes there is only "none of these" to choose. */
    size_t outcomes = way + open_set, chosen = way > 0 ? imp_largest(score, outcomes) : 0;
    size_t cluster = best[chosen];
    bool decided = cluster != IMP_NO_CLUSTER; /* not where all clusters went */
    if (decisions->label)
        decisions->label[q] = chosen < way ? (int32_t)chosen : IMP_UNLABELED;
    if (decisions->cluster)
        decisions->cluster[q] = decided ? (int32_t)cluster : -1;
    if (decisions->distance)
        decisions->distance[q] =
            decided ? (float)imp_clusters_distance(clusters, cluster, x) : INFINITY;
    if (decisions->probability && outcomes > 0)
        write_probabilities(kernels, score, outcomes, score[chosen],
                            decisions->probability + q * outcomes);
}

/* ---- many ---- */

enum {
    PART = 4 * IMP_NEAREST_POINTS, /* queries that one thread takes at a time, */
    BLOCK = 64 * PART,             /* and all threads together */
    FEW = 256,                     /* queries, or clusters, for which columns do not pay */
    FEW_CLUSTERS = 16,
};

/* Probabilities may be off by this much as a rule. */
static const double tolerance = 1e-7;

/* fmax() is a call, and has to look for NaN. */
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

/* What a thread works with. */
typedef struct workspace {
    imp_rounded points;
    int32_t *scores;                 /* (IMP_NEAREST_POINTS, columns) */
    int32_t *maximum, *second, *row; /* by slot: its two largest scores, and where the first is */
    uint32_t *slot;                  /* slots of classes that matter */
    double *rough;                   /* by class: its score as the whole numbers tell it */
    size_t *best;                    /* by class */
    double *score;                   /* by class */
    uint32_t *candidate;             /* clusters to be scored in double precision */
    double *candidate_distance;
} workspace;

typedef struct job {
    const imp_clusters *clusters;
    size_t way;
    bool open_set, rough; /* whether columns are used */
    imp_columns columns;
    workspace *workspaces; /* per thread */
    const imp_decisions *decisions;
    size_t begin, end; /* the block's queries */
    const float *rows; /* of these */
} job;

/* The rough score of each class, and the best of all. */
static double score_classes(const job *work, workspace *w, size_t r)
{
    const imp_columns *columns = &work->columns;
    const imp_kernels *kernels = columns->frame.kernels;
    const int32_t *scores = w->scores + r * columns->count;
    double most = -INFINITY;
    for (size_t k = 0; k <= work->way; k++)
        w->rough[k] = -INFINITY;
    for (size_t s = 0; s < columns->sections; s++) {
        const imp_section *section = &columns->section[s];
        size_t first = section->first_group * kernels->lanes;
        size_t end = section->end_group * kernels->lanes;
        imp_density_line line = imp_columns_density(section, &w->points, r);
        kernels->nearest_maxima(section->end_group - section->first_group,
                                columns->depth + section->first_group, scores + section->begin,
                                w->maximum + first, w->second + first, w->row + first);
        for (size_t slot = first; slot < end && columns->slot_class[slot] >= 0; slot++) {
            double score = line.base + line.slope * w->maximum[slot];
            double *rough = &w->rough[columns->slot_class[slot]];
            *rough = larger(*rough, score);
            most = larger(most, score);
        }
    }
    return most;
}

/* Collects the clusters of a slot that score at least `close`. */
static size_t collect_slot(const imp_columns *columns, const workspace *w, const int32_t *scores,
                           size_t slot, int32_t close, uint32_t *candidate)
{
    size_t lanes = columns->frame.kernels->lanes, group = slot / lanes;
    size_t column = columns->first[group] + slot % lanes, found = 0;
    if (w->second[slot] < close) {
        candidate[0] = (uint32_t)columns->cluster[column + (size_t)w->row[slot] * lanes];
        return 1;
    }
    for (size_t row = 0; row < columns->depth[group]; row++)
        if (scores[column + row * lanes] >= close)
            candidate[found++] = (uint32_t)columns->cluster[column + row * lanes];
    return found;
}

/* Collects every cluster that may be the best of a class whose score is no less than `least`. */
static size_t collect(const job *work, workspace *w, size_t r, double least, double error)
{
    const imp_columns *columns = &work->columns;
    const imp_kernels *kernels = columns->frame.kernels;
    const int32_t *scores = w->scores + r * columns->count;
    size_t found = 0;
    for (size_t i = 0; i < columns->strays; i++)
        w->candidate[found++] = columns->stray[i];
    for (size_t s = 0; s < columns->sections; s++) {
        const imp_section *section = &columns->section[s];
        imp_density_line line = imp_columns_density(section, &w->points, r);
        size_t first = section->first_group * kernels->lanes;
        size_t end = section->end_group * kernels->lanes;
        size_t slots = kernels->nearest_over(end - first, w->maximum + first,
                                             imp_columns_whole(line, least), w->slot);
        for (size_t i = 0; i < slots; i++) {
            size_t slot = first + w->slot[i];
            int32_t close = imp_columns_whole(line, w->rough[columns->slot_class[slot]] - error);
            if (w->maximum[slot] >= close)
                found += collect_slot(columns, w, scores, slot, close, w->candidate + found);
        }
    }
    return found;
}

/* The best clusters and scores of point r. */
static void score_point(const job *work, workspace *w, size_t r)
{
    const imp_columns *columns = &work->columns;
    const imp_clusters *clusters = work->clusters;
    double least_sigma = imp_columns_least_sigma(columns);
    double most = score_classes(work, w, r);
    /* Differences of scores are off by up to twice the error. What that does to a probability is in
     * proportion to it, so those of small ones may stay as they are. */
    double error = imp_rounded_error(&w->points, r) / least_sigma;
    double deviation = imp_rounded_deviation(&columns->frame, &w->points, r) / least_sigma;
    double window = larger(log(expm1(deviation) / tolerance), 0) + error;
    size_t count = collect(work, w, r, most - window, error);
    columns->frame.kernels->distances(clusters->dimensions, w->points.point[r], clusters->mean,
                                      w->candidate, count, w->candidate_distance);
    for (size_t k = 0; k <= work->way; k++) {
        w->best[k] = IMP_NO_CLUSTER;
        w->score[k] = w->rough[k];
    }
    for (size_t i = 0; i < count; i++) {
        size_t c = w->candidate[i];
        double density = clusters->offset[c] - w->candidate_distance[i] / (2 * clusters->sigma[c]);
        consider(clusters, work->way, c, density, w->best, w->score);
    }
}

static void decide_part(size_t part, int worker, void *context)
{
    const job *work = context;
    workspace *w = &work->workspaces[worker];
    size_t d = work->clusters->dimensions, begin = work->begin + part * PART;
    size_t end = work->end - begin < PART ? work->end : begin + PART;
    for (; begin < end; begin += w->points.count) {
        w->points.count = end - begin < IMP_NEAREST_POINTS ? end - begin : IMP_NEAREST_POINTS;
        for (size_t r = 0; r < w->points.count; r++)
            w->points.point[r] = work->rows + (begin - work->begin + r) * d;
        if (work->rough)
            imp_columns_score(&work->columns, &w->points, w->scores);
        for (size_t r = 0; r < w->points.count; r++) {
            const float *x = w->points.point[r];
            if (work->rough && w->points.inside[r])
                score_point(work, w, r);
            else
                imp_best_clusters(work->clusters, work->way, x, w->best, w->score);
            imp_decide(work->clusters, work->way, work->open_set, x, w->best, w->score,
                       work->rough ? work->columns.frame.kernels : NULL, begin + r,
                       work->decisions);
        }
    }
}

static void release_workspaces(job *work, int threads)
{
    for (int i = 0; work->workspaces && i < threads; i++) {
        workspace *w = &work->workspaces[i];
        imp_release(w->points.rows);
        imp_release(w->scores);
        imp_release(w->maximum);
        imp_release(w->second);
        imp_release(w->row);
        imp_release(w->slot);
        imp_release(w->rough);
        imp_release(w->best);
        imp_release(w->score);
        imp_release(w->candidate);
        imp_release(w->candidate_distance);
    }
    imp_release(work->workspaces);
}

static imp_status create_workspaces(job *work, int threads, imp_error *error)
{
    const imp_columns *columns = &work->columns;
    size_t clusters = work->clusters->count, outcomes = work->way + 1, halves = 0, scores = 0;
    size_t slots = work->rough ? columns->groups * columns->frame.kernels->lanes : 0;
    bool enough = true;
    if (work->rough)
        enough =
            imp_multiply(IMP_NEAREST_POINTS, imp_row_halves(work->clusters->dimensions), &halves) &&
            imp_multiply(IMP_NEAREST_POINTS, columns->count, &scores);
    work->workspaces = imp_allocate_zeroed((size_t)threads, sizeof *work->workspaces);
    for (int i = 0; enough && work->workspaces && i < threads; i++) {
        workspace *w = &work->workspaces[i];
        w->best = imp_allocate(outcomes, sizeof *w->best);
        w->score = imp_allocate(outcomes, sizeof *w->score);
        enough = w->best && w->score;
        if (!enough || !work->rough)
            continue;
        w->points.rows = imp_allocate_zeroed(halves, sizeof *w->points.rows);
        w->scores = imp_allocate(scores, sizeof *w->scores);
        w->maximum = imp_allocate(slots, sizeof *w->maximum);
        w->second = imp_allocate(slots, sizeof *w->second);
        w->row = imp_allocate(slots, sizeof *w->row);
        w->slot = imp_allocate(slots, sizeof *w->slot);
        w->rough = imp_allocate(outcomes, sizeof *w->rough);
        w->candidate = imp_allocate(clusters, sizeof *w->candidate);
        w->candidate_distance = imp_allocate(clusters, sizeof *w->candidate_distance);
        enough = w->points.rows && w->scores && w->maximum && w->second && w->row && w->slot &&
                 w->rough && w->candidate && w->candidate_distance;
    }
    return enough && work->workspaces ? IMP_OK : imp_fail_memory(error, "the answers");
}

static imp_status decide_blocks(job *work, const imp_point_source *queries, int threads,
                                imp_error *error)
{
    imp_reader reader;
    imp_status status = imp_reader_create(&reader, queries, NULL, BLOCK, error);
    for (; work->begin < queries->count && !status; work->begin = work->end) {
        size_t left = queries->count - work->begin;
        work->end = work->begin + (left < BLOCK ? left : BLOCK);
        status = imp_reader_read(&reader, work->begin, work->end - work->begin, &work->rows, error);
        if (!status)
            imp_parallel((work->end - work->begin + PART - 1) / PART, threads, decide_part, work);
    }
    imp_reader_release(&reader);
    return status;
}

imp_status imp_decide_all(const imp_clusters *clusters, size_t way, bool open_set,
                          const imp_point_source *queries, int threads,
                          const imp_decisions *decisions, imp_error *error)
{
    job work = {.clusters = clusters, .way = way, .open_set = open_set, .decisions = decisions};
    float *origin = NULL;
    imp_status status = IMP_OK;
    threads = imp_parallel_threads(threads);
    if (queries->count >= FEW && clusters->count >= FEW_CLUSTERS) {
        double radius;
        origin = imp_allocate(clusters->dimensions, sizeof *origin);
        status = origin ? imp_source_center(queries, origin, &radius, error)
                        : imp_fail_memory(error, "the answers");
        if (!status)
            status = imp_columns_create(&work.columns, clusters, way, open_set || way == 0, origin,
                                        radius, error);
        work.rough = work.columns.sections > 0;
    }
    if (!status)
        status = create_workspaces(&work, threads, error);
    if (!status)
        status = decide_blocks(&work, queries, threads, error);
    release_workspaces(&work, threads);
    imp_columns_release(&work.columns);
    imp_release(origin);
    return status;
}
