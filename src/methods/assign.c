/*
 * assign.c - exact nearest clusters for many points, mostly without computing distances.
 *
 * Points are compared in blocks with the clusters known at the start of the block; those that start
 * a cluster are rare and handled afterwards, in order. A point keeps an upper bound on the distance
 * to its own cluster and a lower bound on the distance to all others. As means move these bounds
 * weaken; as long as they do not cross, only clusters that moved far have to be examined
 * (lineup.h).
 *
 * Each rank compares its part of every block and sends the results to the others; the rest, which
 * is little, is computed on all. Only the rank that compared a point knows its bounds.
 */
#include "methods/assign.h"

#include <float.h>
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "methods/block_exchange.h"
#include "methods/compare.h"
#include "methods/imp.h"
#include "methods/lineup.h"
#include "methods/member_sums.h"

enum {
    PART = 12 * IMP_NEAREST_POINTS,      /* points of a block that one thread takes at a time */
    SMALL_PART = 2 * IMP_NEAREST_POINTS, /* the same if there are few */
    SMALL_BLOCK = 8 * PART,
    LEAST_BLOCK = SMALL_PART, /* points between two checks for new clusters */
    MOST_BLOCK = 128 * PART,
    MOST_VALUES = 1 << 23, /* most values in a block */
    LEVELS = 32,           /* of the bucket sort of visits */
    /* If new clusters times points of a block exceeds this, blocks become smaller: each new cluster
       is compared with all later points of its block, in double. */
    MUCH_NEW = 1 << 13
};

/* Bounds on a point's distances, not squared, from its last comparison. */
typedef struct bounds {
    float upper; /* on the distance to its own cluster */
    float lower; /* on the distance to all others in line when that pass began */
} bounds;

/* A point to be compared. */
typedef struct visit {
    uint32_t position;   /* in the block */
    uint32_t point;      /* its index */
    uint32_t first;      /* the first place in line to compare with */
    double own_distance; /* squared, to the mean of its cluster, unless it is compared with all */
} visit;

/* The memory of one thread. */
typedef struct workspace {
    imp_group group;
    visit visits[PART], sorted[PART];
} workspace;

struct imp_assigner {
    const imp_point_source *source;
    size_t most; /* clusters */
    imp_reader reader;
    imp_crew crew;
    int threads;
    float *origin;         /* near the points, so that rows relative to it are short */
    imp_spill bounds_room; /* per point */
    bounds *bounds;
    imp_lineup line;
    workspace *workspaces; /* per thread */
    double *distance; /* per point of a block: squared distance to its nearest cluster; NAN if not
                         above lambda */
    int32_t *nearest;
    uint32_t *maker; /* per cluster made in a block: the position of the point that made it */
    size_t changed[MOST_BLOCK / PART]; /* per part of a block */
    imp_block_exchange exchange;
};

static imp_status create_workspaces(imp_assigner *a, imp_error *error)
{
    size_t halves;
    bool enough = imp_multiply(IMP_NEAREST_POINTS, imp_row_halves(a->source->dimensions), &halves);
    a->workspaces = imp_allocate_zeroed((size_t)a->threads, sizeof *a->workspaces);
    for (int i = 0; enough && a->workspaces && i < a->threads; i++) {
        imp_group *group = &a->workspaces[i].group;
        group->points.rows = imp_allocate_zeroed(halves, sizeof *group->points.rows);
        enough = group->points.rows != NULL;
    }
    return enough && a->workspaces ? IMP_OK : imp_fail_memory(error, "the assignments");
}

/* Points of the largest block: fewer in many dimensions. */
static size_t most_block(size_t dimensions)
{
    size_t most = MOST_VALUES / dimensions / PART * PART;
    return most < PART ? PART : most < MOST_BLOCK ? most : MOST_BLOCK;
}

imp_status imp_assigner_create(const imp_point_source *source, const uint32_t *order,
                               const imp_crew *crew, imp_assigner **out, imp_error *error)
{
    *out = NULL;
    imp_assigner *a = imp_allocate_zeroed(1, sizeof *a);
    if (!a)
        return imp_fail_memory(error, "the assignments");
    a->source = source;
    a->most = SIZE_MAX;
    a->crew = *crew;
    a->threads = imp_parallel_threads(crew->threads);
    a->origin = imp_allocate_zeroed(source->dimensions, sizeof *a->origin);
    size_t block = source->count < MOST_BLOCK ? source->count : MOST_BLOCK;
    a->distance = imp_allocate(block, sizeof *a->distance);
    a->nearest = imp_allocate(block, sizeof *a->nearest);
    a->maker = imp_allocate(block, sizeof *a->maker);
    imp_status status = IMP_OK;
    double radius = INFINITY;
    if (!a->origin || !a->distance || !a->nearest || !a->maker)
        status = imp_fail_memory(error, "the assignments");
    if (!status)
        status =
            imp_spill_create(&a->bounds_room, crew->place, source->count, sizeof *a->bounds, error);
    a->bounds = a->bounds_room.values;
    if (!status)
        status = imp_block_exchange_create(&a->exchange, crew->ranks, block, error);
    if (!status)
        status =
            imp_reader_create(&a->reader, source, order, most_block(source->dimensions), error);
    if (!status)
        status = create_workspaces(a, error);
    if (!status)
        status = imp_source_center(source, a->origin, &radius, error);
    if (!status)
        status = imp_lineup_create(&a->line, source->dimensions, a->origin, radius, error);
    if (status) {
        imp_assigner_free(a);
        return status;
    }
    *out = a;
    return IMP_OK;
}

void imp_assigner_free(imp_assigner *a)
{
    if (!a)
        return;
    for (int i = 0; a->workspaces && i < a->threads; i++)
        imp_release(a->workspaces[i].group.points.rows);
    imp_release(a->workspaces);
    imp_reader_release(&a->reader);
    imp_lineup_release(&a->line);
    imp_release(a->origin);
    imp_spill_release(&a->bounds_room);
    imp_block_exchange_release(&a->exchange);
    imp_release(a->distance);
    imp_release(a->nearest);
    imp_release(a->maker);
    imp_release(a);
}

void imp_assigner_renumber(imp_assigner *a, const uint32_t *moved, int32_t *assignment)
{
    for (size_t i = 0; i < a->source->count; i++)
        if (assignment[i] >= 0)
            assignment[i] = (int32_t)moved[assignment[i]]; /* UINT32_MAX becomes -1 */
    imp_lineup_renumber(&a->line, moved);
}

/* One pass's state, shared by its blocks. */
typedef struct pass {
    imp_assigner *assigner;
    imp_clusters *clusters; /* those known at the start of the block, and those made in it */
    double lambda, sigma_l, sigma_u;
    bool growing; /* only whether a point is near enough to any cluster matters */
    bool summing; /* compute the clusters' sums */
    int32_t *assignment;
    size_t begin, end; /* the block's positions */
    const float *rows; /* of its points */
    size_t part;       /* points that one thread takes at a time */
    size_t own_part;   /* the first part of the block that belongs to this rank */
} pass;

static const float *row_at(const pass *p, size_t position)
{
    return p->rows + (position - p->begin) * p->assigner->source->dimensions;
}

static size_t point_at(const pass *p, size_t position)
{
    return imp_reader_point(&p->assigner->reader, position);
}

/* Labels matter only while clusters grow. */
static int32_t label_of(const pass *p, size_t point)
{
    return p->growing ? imp_source_label(p->assigner->source, point) : IMP_UNLABELED;
}

/* A part's positions. */
static size_t part_begin(const pass *p, size_t part)
{
    return p->begin + part * p->part;
}

static size_t part_end(const pass *p, size_t part)
{
    size_t begin = part_begin(p, part);
    return p->end - begin < p->part ? p->end : begin + p->part;
}

/* ---- bounds ---- */

/* Rounded outwards, so that bounds stay valid. */
static bounds round_bounds(double upper, double lower)
{
    const double little = 4 * (double)FLT_EPSILON;
    return (bounds){.upper = (float)fmin(upper * (1 + little), FLT_MAX),
                    .lower = (float)fmin(lower * (1 - little), FLT_MAX)};
}

/* The first place in line with which point i, whose row is x, has to be compared; the end of the
 * line if its cluster is certainly still the nearest, or, while growing, near enough. In that case
 * *distance is the squared distance to the cluster's mean, or NAN if not above lambda; otherwise it
 * is that distance, unless the point is compared with all. */
static size_t first_to_meet(const pass *p, size_t i, const float *x, double *distance)
{
    imp_assigner *a = p->assigner;
    bounds *b = &a->bounds[i];
    int32_t own = p->assignment[i];
    *distance = NAN;
    if (own < 0)
        return 0;
    double shift = imp_lineup_moved(&a->line, (size_t)own);
    double most_shift = imp_lineup_most_moved(&a->line, a->line.count);
    double far = b->upper + shift;
    if ((p->growing || b->lower - far > most_shift) && far * far <= p->lambda) {
        *b = round_bounds(far, b->lower - most_shift);
        return a->line.count;
    }
    /* it will most likely be compared with all anyway, so do not compute its own distance */
    if (!p->growing && imp_lineup_meets_all(&a->line, b->lower - b->upper))
        return 0;
    *distance = imp_clusters_distance(p->clusters, (size_t)own, x);
    far = sqrt(*distance);
    bool enough = p->growing && *distance <= p->lambda;
    if (enough || b->lower - far > most_shift) {
        *b = round_bounds(far, b->lower - most_shift);
        *distance = enough ? NAN : *distance;
        return a->line.count;
    }
    double slack = b->lower - far;
    return imp_lineup_meets_all(&a->line, slack) ? 0 : imp_lineup_first(&a->line, slack);
}

/* ---- comparing ---- */

/* Points with the most comparisons come first, so that points grouped together need about as many.
 */
static void sort_visits(workspace *work, size_t count, size_t places)
{
    size_t after[LEVELS + 1] = {0};
    for (size_t v = 0; v < count; v++)
        after[work->visits[v].first * (size_t)LEVELS / places + 1]++;
    for (size_t level = 1; level < LEVELS; level++)
        after[level] += after[level - 1];
    for (size_t v = 0; v < count; v++)
        work->sorted[after[work->visits[v].first * (size_t)LEVELS / places]++] = work->visits[v];
}

/* Sets the point's bounds from a comparison. */
static void update_bounds(const pass *p, const imp_group *group, size_t r, size_t first,
                          const visit *v)
{
    imp_assigner *a = p->assigner;
    double own = fmax(group->most[r], 0), others = sqrt(fmax(group->least[r], 0));
    double distance = NAN;
    if (own > p->lambda) {
        if (group->nearest[r] >= 0)
            own = imp_clusters_distance(p->clusters, (size_t)group->nearest[r],
                                        group->points.point[r]);
        distance = own;
    }
    if (first > 0) /* clusters it was not compared with came nearer by at most this */
        others = fmin(others, a->bounds[v->point].lower - imp_lineup_most_moved(&a->line, first));
    a->nearest[v->position] = group->nearest[r];
    a->distance[v->position] = distance;
    if (p->growing &&
        p->assignment[v->point] >= 0) /* it keeps its cluster even if another is nearer now */
        a->bounds[v->point] = (bounds){.upper = FLT_MAX, .lower = 0};
    else
        a->bounds[v->point] = round_bounds(sqrt(own), others);
}

static void compare_group(const pass *p, imp_group *group, const visit *visits, size_t count)
{
    imp_assigner *a = p->assigner;
    size_t first = a->line.count;
    for (size_t r = 0; r < count; r++)
        first = visits[r].first < first ? visits[r].first : first;
    group->points.count = count;
    for (size_t r = 0; r < count; r++) {
        group->points.point[r] = row_at(p, p->begin + visits[r].position);
        group->own[r] = first > 0 ? p->assignment[visits[r].point] : -1;
        group->own_distance[r] = visits[r].own_distance;
    }
    imp_compare(&a->line, p->clusters, first, group);
    for (size_t r = 0; r < count; r++)
        update_bounds(p, group, r, first, &visits[r]);
}

/* A labelled point is compared only with the clusters of its label, which are few. */
static void compare_labeled(const pass *p, size_t position, int32_t label)
{
    double distance;
    imp_nearest_cluster(p->clusters, row_at(p, position), label, &distance);
    p->assigner->nearest[position - p->begin] = -1;
    p->assigner->distance[position - p->begin] = distance > p->lambda ? distance : NAN;
}

static void compare_part(size_t share, int worker, void *context)
{
    const pass *p = context;
    imp_assigner *a = p->assigner;
    workspace *work = &a->workspaces[worker];
    size_t part = p->own_part + share, count = 0, end = part_end(p, part);
    for (size_t position = part_begin(p, part); position < end; position++) {
        size_t i = point_at(p, position), in_block = position - p->begin;
        int32_t label = label_of(p, i);
        if (label >= 0) {
            compare_labeled(p, position, label);
            continue;
        }
        double distance;
        size_t first = first_to_meet(p, i, row_at(p, position), &distance);
        if (first < a->line.count || a->line.count == 0) {
            work->visits[count++] = (visit){.position = (uint32_t)in_block,
                                            .point = (uint32_t)i,
                                            .first = (uint32_t)first,
                                            .own_distance = distance};
        } else {
            a->nearest[in_block] = p->assignment[i];
            a->distance[in_block] = distance;
        }
    }
    sort_visits(work, count, a->line.count + 1);
    for (size_t v = 0; v < count; v += IMP_NEAREST_POINTS)
        compare_group(p, &work->group, work->sorted + v,
                      count - v < IMP_NEAREST_POINTS ? count - v : IMP_NEAREST_POINTS);
}

/* ---- exchange with other ranks ---- */

/* Where the points of the block that rank r compares begin; for r = ranks, the end of the block. */
static size_t share_begin(const pass *p, int r, size_t parts)
{
    const imp_ranks *ranks = p->assigner->crew.ranks;
    if (r == ranks->size)
        return p->end - p->begin;
    size_t begin, end;
    imp_ranks_share(ranks, r, parts, &begin, &end);
    return begin < parts ? part_begin(p, begin) - p->begin : p->end - p->begin;
}

/* Every rank receives the nearest clusters of all points of the block. */
static imp_status exchange(const pass *p, size_t parts, imp_error *error)
{
    imp_assigner *a = p->assigner;
    const imp_ranks *ranks = a->crew.ranks;
    if (!imp_ranks_any(ranks))
        return IMP_OK;
    size_t *first = a->exchange.first, count = p->end - p->begin;
    for (int r = 0; r <= ranks->size; r++)
        first[r] = share_begin(p, r, parts);
    size_t own = first[ranks->rank], end = first[ranks->rank + 1];
    for (size_t i = 0; i < count; i++)
        if (i < own ||
            i >= end) /* this rank has no bounds for it, should it compare it next time */
            a->bounds[point_at(p, p->begin + i)] = (bounds){.upper = FLT_MAX, .lower = 0};
    return imp_block_exchange_run(&a->exchange, count, p->lambda, a->nearest, a->distance, error);
}

/* ---- new clusters ---- */

/* In order: a point far from every cluster, including those made in the block, starts one. Few
 * points are far from the known ones, so this serial part is short. */
static imp_status make_clusters(const pass *p, imp_error *error)
{
    imp_assigner *a = p->assigner;
    imp_clusters *clusters = p->clusters;
    size_t known = clusters->count;
    for (size_t position = p->begin; position < p->end; position++) {
        double distance = a->distance[position - p->begin];
        if (!(distance > p->lambda))
            continue;
        const float *x = row_at(p, position);
        int32_t label = label_of(p, point_at(p, position));
        for (size_t c = known; c < clusters->count && distance > p->lambda; c++)
            if (imp_may_join(label, clusters->label[c]))
                distance = fmin(distance, imp_clusters_distance(clusters, c, x));
        if (distance > p->lambda && clusters->count < a->most) {
            double sigma = label < 0 ? p->sigma_u : p->sigma_l;
            imp_status status = imp_clusters_add(clusters, label, sigma, x, error);
            if (status)
                return status;
            a->maker[clusters->count - 1 - known] = (uint32_t)position;
        }
    }
    return IMP_OK;
}

/* Checks whether a cluster made before the point's turn, or by the point itself, is nearer. */
static void compare_with_new(const pass *p, size_t position, size_t i, int32_t *nearest)
{
    imp_assigner *a = p->assigner;
    size_t known = a->line.count;
    if (p->clusters->count == known || a->maker[0] > position)
        return;
    const float *x = row_at(p, position);
    double distance = a->distance[position - p->begin];
    if (isnan(distance))
        distance = imp_clusters_distance(p->clusters, (size_t)*nearest, x);
    double before = distance;
    for (size_t c = known; c < p->clusters->count && a->maker[c - known] <= position; c++) {
        double to_c = imp_clusters_distance(p->clusters, c, x);
        if (to_c < distance) {
            distance = to_c;
            *nearest = (int32_t)c;
        }
    }
    if ((size_t)*nearest >= known) /* the nearest known cluster is now one of the others */
        a->bounds[i] = round_bounds(sqrt(distance), fmin(a->bounds[i].lower, sqrt(before)));
}

/* Final assignments of a part of the block, once its new clusters exist. */
static void settle_part(size_t part, int worker, void *context)
{
    (void)worker;
    const pass *p = context;
    imp_assigner *a = p->assigner;
    size_t changed = 0, end = part_end(p, part);
    for (size_t position = part_begin(p, part); position < end; position++) {
        size_t i = point_at(p, position);
        if (p->growing && (p->assignment[i] >= 0 || label_of(p, i) >= 0))
            continue;
        int32_t nearest = a->nearest[position - p->begin];
        compare_with_new(p, position, i, &nearest);
        changed += p->assignment[i] != nearest;
        p->assignment[i] = nearest;
    }
    a->changed[part] = changed;
}

/* ---- passes ---- */

/* Processes the block p->begin .. p->end - 1; adds the number of changed assignments to *changed.
 */
static imp_status do_block(pass *p, size_t *changed, imp_error *error)
{
    imp_assigner *a = p->assigner;
    imp_status status = imp_reader_read(&a->reader, p->begin, p->end - p->begin, &p->rows, error);
    if (status)
        return status;
    size_t parts = (p->end - p->begin + p->part - 1) / p->part, end;
    imp_ranks_share(a->crew.ranks, imp_rank_of(a->crew.ranks), parts, &p->own_part, &end);
    imp_parallel(end - p->own_part, a->threads, compare_part, p);
    status = exchange(p, parts, error);
    if (!status)
        status = make_clusters(p, error);
    if (status)
        return status;
    imp_parallel(parts, a->threads, settle_part, p);
    for (size_t part = 0; part < parts; part++)
        *changed += a->changed[part];
    if (p->summing && !a->reader.order)
        imp_sum_points(p->clusters, p->rows, p->assignment + p->begin, p->end - p->begin,
                       a->line.frame.kernels, &a->crew);
    if (!a->reader.order)
        imp_spill_leave(&a->bounds_room, p->begin, p->end);
    return imp_crew_done(&a->crew, p->begin, p->end, error);
}

static imp_status do_pass(pass *p, size_t *changed, imp_error *error)
{
    imp_assigner *a = p->assigner;
    size_t n = a->source->count, block = LEAST_BLOCK;
    imp_status status = imp_lineup_begin(&a->line, p->clusters, error);
    for (; p->begin < n && !status; p->begin = p->end) {
        p->end = n - p->begin < block ? n : p->begin + block;
        p->part = block < SMALL_BLOCK ? SMALL_PART : PART;
        status = do_block(p, changed, error);
        if (status)
            return status;
        size_t made = p->clusters->count - a->line.count;
        if (made * block > MUCH_NEW)
            block = block / 2 > LEAST_BLOCK ? block / 2 : LEAST_BLOCK;
        else if (made * block <= MUCH_NEW / 4)
            block = block * 2 < a->reader.most ? block * 2 : a->reader.most;
        if (made > 0)
            status = imp_lineup_extend(&a->line, p->clusters, error);
    }
    return status;
}

void imp_assigner_know_nothing(imp_assigner *a)
{
    enum { TOGETHER = 1 << 20 };
    size_t n = a->source->count;
    for (size_t begin = 0, end; begin < n; begin = end) {
        end = n - begin < TOGETHER ? n : begin + TOGETHER;
        for (size_t i = begin; i < end; i++)
            a->bounds[i] = (bounds){.upper = FLT_MAX, .lower = 0};
        imp_spill_leave(&a->bounds_room, begin, end);
    }
}

imp_status imp_assigner_pass(imp_assigner *a, imp_clusters *clusters, double lambda, double sigma,
                             int32_t *assignment, size_t *changed, imp_error *error)
{
    size_t done = 0;
    return imp_assigner_pass_from(a, clusters, lambda, sigma, assignment, &done, changed, error);
}

imp_status imp_assigner_pass_from(imp_assigner *a, imp_clusters *clusters, double lambda,
                                  double sigma, int32_t *assignment, size_t *done, size_t *changed,
                                  imp_error *error)
{
    pass p = {.assigner = a,
              .clusters = clusters,
              .lambda = lambda,
              .sigma_u = sigma,
              .summing = true,
              .assignment = assignment,
              .begin = *done,
              .end = *done};
    if (*done == 0) {
        *changed = 0;
        imp_means_begin(clusters);
    }
    imp_status status = do_pass(&p, changed, error);
    *done = p.end;
    if (!status && a->reader.order)
        status = imp_sum_source(clusters, a->source, a->reader.most, assignment,
                                a->line.frame.kernels, &a->crew, error);
    return status ? status : imp_exchange_sums(clusters, &a->crew, error);
}

imp_status imp_assigner_find(imp_assigner *a, imp_clusters *clusters, int32_t *assignment,
                             size_t *changed, imp_error *error)
{
    size_t done = 0;
    return imp_assigner_find_from(a, clusters, assignment, &done, changed, error);
}

imp_status imp_assigner_find_from(imp_assigner *a, imp_clusters *clusters, int32_t *assignment,
                                  size_t *done, size_t *changed, imp_error *error)
{
    pass p = {.assigner = a,
              .clusters = clusters,
              .lambda = INFINITY,
              .assignment = assignment,
              .begin = *done,
              .end = *done};
    if (*done == 0)
        *changed = 0;
    imp_status status = do_pass(&p, changed, error);
    *done = p.end;
    return status;
}

void imp_assigner_limit(imp_assigner *a, size_t clusters)
{
    a->most = clusters;
}

imp_status imp_assigner_grow(imp_assigner *a, imp_clusters *clusters, double lambda, double sigma_l,
                             double sigma_u, int32_t *assignment, imp_error *error)
{
    size_t done = 0;
    return imp_assigner_grow_from(a, clusters, lambda, sigma_l, sigma_u, assignment, &done, error);
}

imp_status imp_assigner_grow_from(imp_assigner *a, imp_clusters *clusters, double lambda,
                                  double sigma_l, double sigma_u, int32_t *assignment, size_t *done,
                                  imp_error *error)
{
    pass p = {.assigner = a,
              .clusters = clusters,
              .lambda = lambda,
              .sigma_l = sigma_l,
              .sigma_u = sigma_u,
              .growing = true,
              .assignment = assignment,
              .begin = *done,
              .end = *done};
    size_t changed = 0;
    imp_status status = do_pass(&p, &changed, error);
    *done = p.end;
    return status;
}
