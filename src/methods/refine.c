/*
 * refine.c - soft assignments of many points and the weighted means: steps 4 and 5 of Algorithm 1
 * without a gradient, so that shares need not be stored.
 *
 * As in classify.c, integer scores first show which clusters matter to a point; their densities are
 * then computed in double precision. Points are divided by size into blocks, and these into parts.
 * A part has its own sums; they are added in the order of the parts, and those of blocks in the
 * order of the blocks, which ranks take in turn.
 */
#include "methods/refine.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/rooms.h"
#include "methods/columns.h"

enum {
    GROUP = IMP_NEAREST_POINTS, /* points whose shares are computed together */
    MOST_PART = 16 * GROUP,     /* points that one thread takes at a time */
    MOST_PARTS = 64,            /* parts of a block, each with its own sums */
    LEAST_PARTS = 4,
    MOST_VALUES = 1 << 22,       /* values of all sums together, unless there are very few parts */
    MOST_POINT_VALUES = 1 << 23, /* values of the points of a block */
    FEW = 256,                   /* with fewer points or clusters integer scores do not pay */
    FEW_CLUSTERS = 16,
    MERGED = 16 /* clusters whose sums one thread adds at a time */
};

/* The memory of one thread. */
typedef struct workspace {
    imp_rounded points;
    int32_t *scores;     /* (GROUP, columns) */
    imp_slots slots;     /* of the columns */
    uint32_t *candidate; /* clusters that a point may have a share in */
    uint32_t *members;   /* by cluster: points of the group that may have a share in it */
    uint32_t *member;    /* (clusters, GROUP): which ones */
    double *z;           /* (clusters, GROUP): log densities, then shares */
} workspace;

/* Sums of a part's points. */
typedef struct partial {
    double *weight; /* (clusters) */
    double *sum;    /* (clusters, dimensions) */
} partial;

typedef struct pass {
    imp_clusters *clusters;
    const imp_point_source *source;
    const imp_kernels *kernels;
    const imp_crew *crew;
    int threads;
    bool rough; /* whether integer scores are used */
    imp_columns columns;
    double window;      /* log densities below the largest by more than this are ignored */
    size_t labels;      /* one more than the largest label of a cluster */
    size_t *of_label;   /* (labels + 1): where the clusters of a label begin in by_label */
    uint32_t *by_label; /* clusters that have a label, sorted by it */
    size_t part, parts; /* points of a part, and parts of a block */
    partial partials[MOST_PARTS];
    double *values;        /* their memory */
    double *block;         /* (clusters, 1 + dimensions): weights and sums of a block */
    workspace *workspaces; /* per thread */
    size_t begin, end;     /* the block's points */
    const float *rows;     /* of these */
} pass;

/* ---- one point ---- */

void imp_share_out(const imp_kernels *kernels, const imp_clusters *clusters,
                   const uint32_t *candidate, size_t count, double *z)
{
    double most = -INFINITY;
    size_t nearest = 0;
    for (size_t i = 1; i < count; i++)
        nearest = z[i] < z[nearest] ? i : nearest;
    for (size_t i = 0; i < count; i++) {
        z[i] = clusters->offset[candidate[i]] - z[i] / (2 * clusters->sigma[candidate[i]]);
        most = z[i] > most ? z[i] : most;
    }
    if (most >= -DBL_MAX)
        kernels->normalize(count, most, z);
    else
        for (size_t i = 0; i < count; i++)
            z[i] = i == nearest;
}

/* The largest log density of point r, from integer scores. */
static double rough_maximum(const pass *p, workspace *w, size_t r, const int32_t *scores)
{
    const imp_columns *columns = &p->columns;
    double most = -INFINITY;
    for (size_t s = 0; s < columns->sections; s++) {
        const imp_section *section = &columns->section[s];
        size_t groups = section->end_group - section->first_group;
        imp_density_line line = imp_columns_density(section, &w->points, r);
        int32_t largest = p->kernels->nearest_maxima(groups, columns->group + section->first_group,
                                                     scores + section->begin,
                                                     columns->cluster + section->begin, &w->slots);
        most = fmax(most, line.base + line.slope * largest);
    }
    return most;
}

/* The clusters in which the unlabelled point r may have a share that matters. */
static size_t find_candidates(const pass *p, workspace *w, size_t r)
{
    const imp_columns *columns = &p->columns;
    size_t found = 0;
    if (!p->rough || !w->points.inside[r]) {
        for (; found < p->clusters->count; found++)
            w->candidate[found] = (uint32_t)found;
        return found;
    }
    const int32_t *scores = w->scores + r * columns->stride;
    double error = w->points.error[r] / imp_columns_least_sigma(columns);
    double least = rough_maximum(p, w, r, scores) - p->window - error;
    for (size_t s = 0; s < columns->sections; s++) {
        const imp_section *section = &columns->section[s];
        imp_density_line line = imp_columns_density(section, &w->points, r);
        uint32_t *here = w->candidate + found;
        size_t over =
            p->kernels->nearest_over(section->end - section->begin, scores + section->begin,
                                     imp_whole_score((least - line.base) / line.slope), here);
        for (size_t i = 0; i < over; i++)
            here[i] = (uint32_t)columns->cluster[section->begin + here[i]];
        found += over;
    }
    for (size_t i = 0; i < columns->strays; i++)
        w->candidate[found++] = columns->stray[i];
    return found;
}

static size_t clusters_of_label(const pass *p, workspace *w, size_t label)
{
    size_t count = p->of_label[label + 1] - p->of_label[label];
    memcpy(w->candidate, p->by_label + p->of_label[label], count * sizeof *w->candidate);
    return count;
}

/* ---- a part of a block ---- */

/* Lists for each cluster the points of the group that may have a share in it. */
static void gather(const pass *p, workspace *w, size_t number)
{
    if (p->rough)
        imp_columns_score(&p->columns, false, &w->points, w->scores);
    memset(w->members, 0, p->clusters->count * sizeof *w->members);
    for (size_t r = 0; r < w->points.count; r++) {
        int32_t label = imp_source_label(p->source, number + r);
        size_t found =
            label < 0 ? find_candidates(p, w, r) : clusters_of_label(p, w, (size_t)label);
        for (size_t i = 0; i < found; i++) {
            size_t c = w->candidate[i];
            w->member[c * GROUP + w->members[c]++] = (uint32_t)r;
        }
    }
}

/* Log densities of all members, and the largest of each point. */
static void find_densities(const pass *p, workspace *w, const float *rows, double *most)
{
    const imp_clusters *clusters = p->clusters;
    for (size_t c = 0; c < clusters->count; c++) {
        const uint32_t *member = w->member + c * GROUP;
        double *z = w->z + c * GROUP, twice = 2 * clusters->sigma[c];
        if (w->members[c] > 0)
            p->kernels->distances_from(clusters->dimensions, imp_clusters_mean(clusters, c), rows,
                                       member, w->members[c], z);
        for (size_t i = 0; i < w->members[c]; i++) {
            z[i] = clusters->offset[c] - z[i] / twice;
            most[member[i]] = z[i] > most[member[i]] ? z[i] : most[member[i]];
        }
    }
}

/* Too far from all clusters even for a log density: point r goes to the nearest. */
static void give_to_nearest(const pass *p, workspace *w, size_t r)
{
    double *taker = NULL, least = INFINITY;
    for (size_t c = 0; c < p->clusters->count; c++)
        for (size_t i = 0; i < w->members[c]; i++) {
            if (w->member[c * GROUP + i] != r)
                continue;
            double *z = &w->z[c * GROUP + i];
            double distance = imp_clusters_distance(p->clusters, c, w->points.point[r]);
            *z = -INFINITY;
            if (!taker || distance < least) {
                least = distance;
                taker = z;
            }
        }
    if (taker)
        *taker = 0;
}

/* Processes a group of points with these rows; the first has index `number`. */
static void share_group(const pass *p, workspace *w, size_t number, const float *rows, size_t count,
                        const partial *to)
{
    const imp_clusters *clusters = p->clusters;
    size_t d = clusters->dimensions;
    double most[GROUP], total[GROUP] = {0};
    w->points.count = count;
    for (size_t r = 0; r < count; r++) {
        w->points.point[r] = rows + r * d;
        most[r] = -INFINITY;
    }
    gather(p, w, number);
    find_densities(p, w, rows, most);
    for (size_t r = 0; r < count; r++)
        if (!(most[r] >= -DBL_MAX)) {
            give_to_nearest(p, w, r);
            most[r] = 0;
        }
    for (size_t c = 0; c < clusters->count; c++) {
        const uint32_t *member = w->member + c * GROUP;
        double *z = w->z + c * GROUP;
        for (size_t i = 0; i < w->members[c]; i++)
            z[i] -= most[member[i]];
        p->kernels->exponentials(w->members[c], z);
        for (size_t i = 0; i < w->members[c]; i++)
            total[member[i]] += z[i];
    }
    for (size_t r = 0; r < count; r++)
        total[r] = 1 / total[r];
    for (size_t c = 0; c < clusters->count; c++) {
        const uint32_t *member = w->member + c * GROUP;
        double *z = w->z + c * GROUP, weight = 0;
        for (size_t i = 0; i < w->members[c]; i++) {
            z[i] *= total[member[i]];
            weight += z[i];
        }
        if (weight == 0)
            continue;
        to->weight[c] += weight;
        p->kernels->weighted_sum(d, rows, member, z, w->members[c], to->sum + c * d);
    }
}

static void share_part(size_t part, int worker, void *context)
{
    const pass *p = context;
    size_t d = p->clusters->dimensions, k = p->clusters->count, begin = p->begin + part * p->part;
    size_t end = p->end - begin < p->part ? p->end : begin + p->part;
    const partial *to = &p->partials[part];
    memset(to->weight, 0, k * sizeof *to->weight);
    memset(to->sum, 0, k * d * sizeof *to->sum);
    for (; begin < end; begin += GROUP)
        share_group(p, &p->workspaces[worker], begin, p->rows + (begin - p->begin) * d,
                    end - begin < GROUP ? end - begin : GROUP, to);
}

/* Adds the sums of the block's parts, in order, for some clusters. */
static void merge(size_t some, int worker, void *context)
{
    (void)worker;
    const pass *p = context;
    size_t d = p->clusters->dimensions, k = p->clusters->count;
    size_t parts = (p->end - p->begin + p->part - 1) / p->part, first = some * MERGED;
    size_t end = k - first < MERGED ? k : first + MERGED;
    memset(p->block + first * (d + 1), 0, (end - first) * (d + 1) * sizeof *p->block);
    for (size_t part = 0; part < parts; part++) {
        const partial *from = &p->partials[part];
        for (size_t c = first; c < end; c++) {
            double *to = p->block + c * (d + 1);
            if (from->weight[c] == 0)
                continue;
            to[0] += from->weight[c];
            for (size_t j = 0; j < d; j++)
                to[1 + j] += from->sum[c * d + j];
        }
    }
}

/* Adds a block's sums to those of all blocks before it. */
static void add_block(size_t some, int worker, void *context)
{
    (void)worker;
    const pass *p = context;
    imp_clusters *clusters = p->clusters;
    size_t d = clusters->dimensions, first = some * MERGED;
    size_t end = clusters->count - first < MERGED ? clusters->count : first + MERGED;
    for (size_t c = first; c < end; c++) {
        const double *from = p->block + c * (d + 1);
        if (from[0] == 0)
            continue;
        clusters->weight[c] += from[0];
        for (size_t j = 0; j < d; j++)
            imp_clusters_sum(clusters, c)[j] += from[1 + j];
    }
}

/* ---- a pass ---- */

static imp_status sort_by_label(pass *p, imp_error *error)
{
    const imp_clusters *clusters = p->clusters;
    for (size_t c = 0; c < clusters->count; c++)
        if (clusters->label[c] >= 0 && (size_t)clusters->label[c] >= p->labels)
            p->labels = (size_t)clusters->label[c] + 1;
    p->of_label = imp_allocate_zeroed(p->labels + 2, sizeof *p->of_label);
    p->by_label = imp_allocate(clusters->count, sizeof *p->by_label);
    if (!p->of_label || !p->by_label)
        return imp_fail_memory(error, "the clusters of the classes");
    size_t *next =
        p->of_label + 1; /* where a label's next cluster goes; finally the end of the label */
    for (size_t c = 0; c < clusters->count; c++)
        if (clusters->label[c] >= 0)
            next[clusters->label[c] + 1]++;
    for (size_t label = 1; label <= p->labels; label++)
        next[label] += next[label - 1];
    for (size_t c = 0; c < clusters->count; c++)
        if (clusters->label[c] >= 0)
            p->by_label[next[clusters->label[c]]++] = (uint32_t)c;
    return IMP_OK;
}

/* Divides points into parts and allocates the sums of a block's parts. */
static imp_status create_partials(pass *p, imp_error *error)
{
    size_t n = p->source->count, k = p->clusters->count, values;
    size_t part = (n / MOST_PARTS + GROUP) / GROUP * GROUP;
    p->part = part < MOST_PART ? part : MOST_PART;
    if (!imp_multiply(k, p->clusters->dimensions + 1, &values))
        return imp_fail_memory(error, "the sums of the clusters");
    size_t parts = MOST_VALUES / values, wanted = (n + p->part - 1) / p->part;
    size_t for_points = MOST_POINT_VALUES / (p->part * p->clusters->dimensions);
    parts = parts < for_points ? parts : for_points;
    parts = parts < LEAST_PARTS ? LEAST_PARTS : parts < MOST_PARTS ? parts : MOST_PARTS;
    p->parts = parts < wanted ? parts : wanted;
    size_t all;
    if (imp_multiply(p->parts, values, &all))
        p->values = imp_allocate(all, sizeof *p->values);
    p->block = imp_allocate(values, sizeof *p->block);
    if (!p->values || !p->block)
        return imp_fail_memory(error, "the sums of the clusters");
    for (size_t i = 0; i < p->parts; i++)
        p->partials[i] = (partial){p->values + i * values, p->values + i * values + k};
    return IMP_OK;
}

enum { ROOMS = 9 };

/* A thread's arrays. Without columns there are but the first four. */
static size_t list_rooms(const pass *p, workspace *w, imp_room rooms[ROOMS])
{
    const imp_columns *columns = &p->columns;
    size_t k = p->clusters->count, slots = p->rough ? columns->groups * p->kernels->lanes : 0;
    const imp_room all[ROOMS] = {
        /* nearest_over() may write one entry per column after those already found */
        IMP_ROOM(w->candidate, k + (p->rough ? columns->count : 0), 1),
        IMP_ROOM(w->members, k, 1),
        IMP_ROOM(w->member, k, GROUP),
        IMP_ROOM(w->z, k, GROUP),
        IMP_ROOM(w->points.rows, GROUP, imp_row_halves(p->clusters->dimensions)),
        IMP_ROOM(w->scores, GROUP, columns->stride),
        IMP_ROOM(w->slots.best, slots, 1),
        IMP_ROOM(w->slots.second, slots, 1),
        IMP_ROOM(w->slots.leader, slots, 1),
    };
    memcpy(rooms, all, sizeof all);
    return p->rough ? ROOMS : 4;
}

static void release_workspaces(pass *p)
{
    imp_room rooms[ROOMS];
    for (int i = 0; p->workspaces && i < p->threads; i++)
        imp_rooms_release(rooms, list_rooms(p, &p->workspaces[i], rooms));
    imp_release(p->workspaces);
}

static imp_status create_workspaces(pass *p, imp_error *error)
{
    size_t halves = imp_row_halves(p->clusters->dimensions);
    p->workspaces = imp_allocate_zeroed((size_t)p->threads, sizeof *p->workspaces);
    bool enough = p->workspaces != NULL;
    for (int i = 0; enough && i < p->threads; i++) {
        imp_room rooms[ROOMS];
        workspace *w = &p->workspaces[i];
        enough = imp_rooms_make(rooms, list_rooms(p, w, rooms));
        if (enough && p->rough) /* kernels read the rows of points that are not there */
            memset(w->points.rows, 0, GROUP * halves * sizeof *w->points.rows);
    }
    return enough ? IMP_OK : imp_fail_memory(error, "the points' shares");
}

/* Sums this rank's next block, if there is one. */
static imp_status sum_block(pass *p, imp_reader *reader, size_t begin, imp_error *error)
{
    size_t n = p->source->count, block = p->part * p->parts;
    p->begin = begin;
    p->end = n - begin < block ? n : begin + block;
    imp_status status = imp_reader_read(reader, begin, p->end - begin, &p->rows, error);
    if (status)
        return status;
    imp_parallel((p->end - begin + p->part - 1) / p->part, p->threads, share_part, p);
    imp_parallel((p->clusters->count + MERGED - 1) / MERGED, p->threads, merge, p);
    return IMP_OK;
}

/* Adds the blocks that the ranks have just summed, from `begin` on, in order. Rank r's sums are
 * broadcast and added on every rank, so memory holds one at a time. */
static imp_status add_round(pass *p, size_t begin, double *own, imp_error *error)
{
    const imp_ranks *ranks = p->crew->ranks;
    size_t n = p->source->count, block = p->part * p->parts;
    size_t merged = (p->clusters->count + MERGED - 1) / MERGED;
    size_t bytes = p->clusters->count * (p->clusters->dimensions + 1) * sizeof *own;
    imp_status status = IMP_OK;
    if (!imp_ranks_any(ranks)) {
        imp_parallel(merged, p->threads, add_block, p);
        return IMP_OK;
    }
    memcpy(own, p->block, bytes);
    for (int r = 0; r < ranks->size && begin < n && !status; r++, begin += block) {
        if (r == ranks->rank)
            memcpy(p->block, own, bytes);
        status = ranks->broadcast(ranks, r, p->block, bytes, error);
        if (!status)
            imp_parallel(merged, p->threads, add_block, p);
    }
    return status;
}

static imp_status do_blocks(pass *p, size_t *done, imp_error *error)
{
    imp_reader reader;
    const imp_ranks *ranks = p->crew->ranks;
    size_t n = p->source->count, block = p->part * p->parts, values = 0;
    size_t others = imp_ranks_any(ranks) ? (size_t)ranks->size : 1;
    double *own = NULL;
    imp_status status = imp_reader_create(&reader, p->source, NULL, block, error);
    if (!status && others > 1) {
        if (imp_multiply(p->clusters->count, p->clusters->dimensions + 1, &values))
            own = imp_allocate(values, sizeof *own);
        status = own ? IMP_OK : imp_fail_memory(error, "the sums of the clusters");
    }
    for (size_t begin = *done; begin < n && !status; begin += block * others) {
        size_t mine = begin + block * (size_t)imp_rank_of(ranks);
        if (mine < n)
            status = sum_block(p, &reader, mine, error);
        if (!status)
            status = add_round(p, begin, own, error);
        if (!status) {
            *done = begin + block * others < n ? begin + block * others : n;
            status = imp_crew_done(p->crew, begin, *done, error);
        }
    }
    imp_reader_release(&reader);
    imp_release(own);
    return status;
}

imp_status imp_refine(imp_clusters *clusters, const imp_point_source *source, const imp_crew *crew,
                      imp_error *error)
{
    size_t done = 0;
    return imp_refine_from(clusters, source, crew, &done, error);
}

imp_status imp_refine_from(imp_clusters *clusters, const imp_point_source *source,
                           const imp_crew *crew, size_t *done, imp_error *error)
{
    if (*done == 0)
        imp_means_begin(clusters);
    if (clusters->count == 0 || source->count == 0) {
        imp_means_finish(clusters, NULL);
        return IMP_OK;
    }
    pass p = {.clusters = clusters,
              .source = source,
              .crew = crew,
              .threads = imp_parallel_threads(crew->threads),
              .window = log((double)source->count / (1e-6 * IMP_LEAST_WEIGHT))};
    float *origin = NULL;
    imp_status status = imp_kernels_choose(&p.kernels, error);
    if (!status && source->count >= FEW && clusters->count >= FEW_CLUSTERS) {
        double radius;
        origin = imp_allocate(clusters->dimensions, sizeof *origin);
        status = origin ? imp_source_center(source, origin, &radius, error)
                        : imp_fail_memory(error, "the points' shares");
        if (!status) /* classes do not matter here, so all clusters count as one class */
            status = imp_columns_create(&p.columns, clusters, 0, true, origin, radius, error);
        p.rough = p.columns.sections > 0;
    }
    if (!status)
        status = sort_by_label(&p, error);
    if (!status)
        status = create_partials(&p, error);
    if (!status)
        status = create_workspaces(&p, error);
    if (!status)
        status = do_blocks(&p, done, error);
    if (!status)
        imp_means_finish(clusters, NULL);
    release_workspaces(&p);
    imp_columns_release(&p.columns);
    imp_release(p.of_label);
    imp_release(p.by_label);
    imp_release(p.values);
    imp_release(p.block);
    imp_release(origin);
    return status;
}
