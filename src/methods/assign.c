/*
 * assign.c - exact nearest clusters for many points, mostly without computing distances.
 *
 * Points are compared in blocks with the clusters known at the block's beginning; those that start
 * a cluster are rare and settled afterwards in order. What a point learns it keeps: how far its own
 * cluster is at most and the others are at least. As means move these bounds weaken, and while they
 * do not cross, only the clusters that moved far must be looked at (lineup.h).
 */
#include "methods/assign.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "methods/compare.h"
#include "methods/lineup.h"

enum {
    PART = 12 * IMP_NEAREST_POINTS,      /* points of a block that one thread takes at a time, */
    SMALL_PART = 2 * IMP_NEAREST_POINTS, /* and where there are few */
    SMALL_BLOCK = 8 * PART,
    LEAST_BLOCK = SMALL_PART, /* points between two looks at new clusters */
    MOST_BLOCK = 128 * PART,
    LEVELS = 32, /* that visits are sorted by */
    /* New clusters times points of a block that ask for smaller blocks: each is compared with all
     * points behind it, in double. */
    MUCH_NEW = 1 << 13
};

/* What a point knows since its last comparison. */
typedef struct knowledge {
    float own;    /* its cluster was no farther than this, */
    float others; /* and no other that stood in line when that pass began nearer than this */
} knowledge;

/* A point that has to be compared. */
typedef struct visit {
    uint32_t position;   /* in the block */
    uint32_t point;      /* its number */
    uint32_t first;      /* the first place in line that it has to meet */
    double own_distance; /* squared, to the mean of its cluster, unless it has to meet all */
} visit;

/* A thread's work. */
typedef struct desk {
    imp_group group;
    visit visits[PART], sorted[PART];
} desk;

struct imp_assigner {
    const imp_points *points;
    int threads;
    float *origin;        /* a point among them: rows counted from it are short */
    knowledge *knowledge; /* per point */
    imp_lineup line;
    desk *desks;      /* per thread */
    double *distance; /* per point of a block: squared, to its nearest; NAN if not above lambda */
    int32_t *nearest;
    uint32_t *maker; /* per cluster made in a block: the position of the point that made it */
    size_t changed[MOST_BLOCK / PART]; /* per part of a block */
};

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where most points are, by a sample that is spread over all: its mean, and several times the
 * radius within which nine tenths of it lie. */
static double find_origin(imp_assigner *a)
{
    enum { SAMPLE = 1000, SEVERAL = 4 };
    size_t n = imp_points_count(a->points), step = n / SAMPLE + 1, seen = (n + step - 1) / step;
    for (size_t j = 0; j < a->points->dimensions; j++) {
        double sum = 0;
        for (size_t i = 0; i < n; i += step)
            sum += imp_points_row(a->points, i)[j];
        a->origin[j] = (float)(sum / (double)seen);
    }
    double square[SAMPLE] = {0};
    for (size_t s = 0; s < seen; s++)
        for (size_t j = 0; j < a->points->dimensions; j++)
            square[s] += pow(imp_points_row(a->points, s * step)[j] - (double)a->origin[j], 2);
    qsort(square, seen, sizeof *square, compare_doubles);
    double most = square[seen - 1 - seen / 10];
    return most > 0 ? SEVERAL * sqrt(most) : INFINITY;
}

static imp_status create_desks(imp_assigner *a, imp_error *error)
{
    size_t halves;
    bool enough = imp_multiply(IMP_NEAREST_POINTS, imp_row_halves(a->points->dimensions), &halves);
    a->desks = imp_allocate_zeroed((size_t)a->threads, sizeof *a->desks);
    for (int i = 0; enough && a->desks && i < a->threads; i++) {
        imp_group *group = &a->desks[i].group;
        group->rows = imp_allocate_zeroed(halves, sizeof *group->rows);
        enough = group->rows != NULL;
    }
    return enough && a->desks ? IMP_OK : imp_fail_memory(error, "the assignments");
}

imp_status imp_assigner_create(const imp_points *points, int threads, imp_assigner **out,
                               imp_error *error)
{
    *out = NULL;
    imp_assigner *a = imp_allocate_zeroed(1, sizeof *a);
    if (!a)
        return imp_fail_memory(error, "the assignments");
    a->points = points;
    a->threads = imp_parallel_threads(threads);
    a->origin = imp_allocate_zeroed(points->dimensions, sizeof *a->origin);
    a->knowledge = imp_allocate(imp_points_count(points), sizeof *a->knowledge);
    a->distance = imp_allocate(MOST_BLOCK, sizeof *a->distance);
    a->nearest = imp_allocate(MOST_BLOCK, sizeof *a->nearest);
    a->maker = imp_allocate(MOST_BLOCK, sizeof *a->maker);
    imp_status status = IMP_OK;
    if (!a->origin || !a->knowledge || !a->distance || !a->nearest || !a->maker)
        status = imp_fail_memory(error, "the assignments");
    if (!status)
        status = create_desks(a, error);
    if (!status)
        status = imp_lineup_create(&a->line, points->dimensions, a->origin, find_origin(a), error);
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
    for (int i = 0; a->desks && i < a->threads; i++)
        imp_release(a->desks[i].group.rows);
    imp_release(a->desks);
    imp_lineup_release(&a->line);
    imp_release(a->origin);
    imp_release(a->knowledge);
    imp_release(a->distance);
    imp_release(a->nearest);
    imp_release(a->maker);
    imp_release(a);
}

void imp_assigner_renumber(imp_assigner *a, const uint32_t *moved)
{
    imp_lineup_renumber(&a->line, moved);
}

/* One pass's state, shared by its blocks. */
typedef struct pass {
    imp_assigner *assigner;
    const imp_clusters *clusters; /* those known at the block's beginning, and those it made */
    double lambda;
    int32_t *assignment;
    size_t begin, end; /* the block's positions */
    size_t part;       /* how many one thread takes at a time */
} pass;

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

/* Rounded so that a bound stays a bound. */
static knowledge remember(double own, double others)
{
    const double little = 4 * (double)FLT_EPSILON;
    return (knowledge){.own = (float)fmin(own * (1 + little), FLT_MAX),
                       .others = (float)fmin(others * (1 - little), FLT_MAX)};
}

/* The first place in line that point i has to meet; the end of the line if its cluster is still the
 * nearest, whatever the others did. *distance is then that to its mean, squared, or NAN if that is
 * not above lambda; else it is that distance, unless the point has to meet all. */
static size_t first_to_meet(const pass *p, size_t i, double *distance)
{
    imp_assigner *a = p->assigner;
    knowledge *k = &a->knowledge[i];
    int32_t own = p->assignment[i];
    *distance = NAN;
    if (own < 0)
        return 0;
    double moved = imp_lineup_moved(&a->line, (size_t)own);
    double most_moved = imp_lineup_most_moved(&a->line, a->line.count);
    double far = k->own + moved;
    if (k->others - far > most_moved && far * far <= p->lambda) {
        *k = remember(far, k->others - most_moved);
        return a->line.count;
    }
    /* it has to meet all anyway, most likely: no use in looking at the point */
    if (imp_lineup_meets_all(&a->line, k->others - k->own))
        return 0;
    *distance = imp_clusters_distance(p->clusters, (size_t)own, imp_points_row(a->points, i));
    far = sqrt(*distance);
    if (k->others - far > most_moved) {
        *k = remember(far, k->others - most_moved);
        return a->line.count;
    }
    double slack = k->others - far;
    return imp_lineup_meets_all(&a->line, slack) ? 0 : imp_lineup_first(&a->line, slack);
}

/* ---- comparing ---- */

/* Those who have to meet most come first: visits that meet the line together meet as many. */
static void sort_visits(desk *work, size_t count, size_t places)
{
    size_t after[LEVELS + 1] = {0};
    for (size_t v = 0; v < count; v++)
        after[work->visits[v].first * (size_t)LEVELS / places + 1]++;
    for (size_t level = 1; level < LEVELS; level++)
        after[level] += after[level - 1];
    for (size_t v = 0; v < count; v++)
        work->sorted[after[work->visits[v].first * (size_t)LEVELS / places]++] = work->visits[v];
}

/* What a visit found becomes the point's knowledge. */
static void learn(const pass *p, const imp_group *group, size_t r, size_t first, const visit *v)
{
    imp_assigner *a = p->assigner;
    double own = fmax(group->most[r], 0), others = sqrt(fmax(group->least[r], 0));
    double distance = NAN;
    if (own > p->lambda) {
        if (group->nearest[r] >= 0)
            own = imp_clusters_distance(p->clusters, (size_t)group->nearest[r], group->point[r]);
        distance = own;
    }
    if (first > 0) /* those it did not meet came nearer by no more than that */
        others =
            fmin(others, a->knowledge[v->point].others - imp_lineup_most_moved(&a->line, first));
    a->nearest[v->position] = group->nearest[r];
    a->distance[v->position] = distance;
    a->knowledge[v->point] = remember(sqrt(own), others);
}

static void compare_group(const pass *p, imp_group *group, const visit *visits, size_t count)
{
    imp_assigner *a = p->assigner;
    size_t first = a->line.count;
    for (size_t r = 0; r < count; r++)
        first = visits[r].first < first ? visits[r].first : first;
    group->count = count;
    for (size_t r = 0; r < count; r++) {
        group->point[r] = imp_points_row(a->points, visits[r].point);
        group->own[r] = first > 0 ? p->assignment[visits[r].point] : -1;
        group->own_distance[r] = visits[r].own_distance;
    }
    imp_compare(&a->line, p->clusters, first, group);
    for (size_t r = 0; r < count; r++)
        learn(p, group, r, first, &visits[r]);
}

static void compare_part(size_t part, int worker, void *context)
{
    const pass *p = context;
    imp_assigner *a = p->assigner;
    desk *work = &a->desks[worker];
    size_t count = 0, end = part_end(p, part);
    for (size_t position = part_begin(p, part); position < end; position++) {
        size_t i = imp_points_at(a->points, position), in_block = position - p->begin;
        double distance;
        size_t first = first_to_meet(p, i, &distance);
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

/* ---- new clusters ---- */

/* In order: a point far from every cluster, those made within the block included, makes one. Few
 * points are far from the known ones, so there is little to do one after the other. */
static imp_status make_clusters(const pass *p, imp_clusters *clusters, double sigma,
                                imp_error *error)
{
    imp_assigner *a = p->assigner;
    size_t known = clusters->count;
    for (size_t position = p->begin; position < p->end; position++) {
        double distance = a->distance[position - p->begin];
        if (!(distance > p->lambda))
            continue;
        const float *x = imp_points_row(a->points, imp_points_at(a->points, position));
        for (size_t c = known; c < clusters->count && distance > p->lambda; c++)
            distance = fmin(distance, imp_clusters_distance(clusters, c, x));
        if (distance > p->lambda) {
            imp_status status = imp_clusters_add(clusters, IMP_UNLABELED, sigma, x, error);
            if (status)
                return status;
            a->maker[clusters->count - 1 - known] = (uint32_t)position;
        }
    }
    return IMP_OK;
}

/* Whether one of the clusters that were made before the point's turn, or by itself, is nearer. */
static void compare_with_new(const pass *p, size_t position, int32_t *nearest)
{
    imp_assigner *a = p->assigner;
    size_t i = imp_points_at(a->points, position), known = a->line.count;
    if (p->clusters->count == known || a->maker[0] > position)
        return;
    const float *x = imp_points_row(a->points, i);
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
    if ((size_t)*nearest >= known) /* the nearest of those known is now one of the others */
        a->knowledge[i] = remember(sqrt(distance), fmin(a->knowledge[i].others, sqrt(before)));
}

/* The assignments of a part of the block, now that its clusters are made. */
static void settle_part(size_t part, int worker, void *context)
{
    (void)worker;
    const pass *p = context;
    imp_assigner *a = p->assigner;
    size_t changed = 0, end = part_end(p, part);
    for (size_t position = part_begin(p, part); position < end; position++) {
        size_t i = imp_points_at(a->points, position);
        int32_t nearest = a->nearest[position - p->begin];
        compare_with_new(p, position, &nearest);
        changed += p->assignment[i] != nearest;
        p->assignment[i] = nearest;
    }
    a->changed[part] = changed;
}

imp_status imp_assigner_pass(imp_assigner *a, imp_clusters *clusters, double lambda, double sigma,
                             int32_t *assignment, size_t *changed, imp_error *error)
{
    size_t n = imp_points_count(a->points), block = LEAST_BLOCK;
    *changed = 0;
    imp_status status = imp_lineup_begin(&a->line, clusters, error);
    for (size_t begin = 0; begin < n && !status;) {
        pass p = {.assigner = a,
                  .clusters = clusters,
                  .lambda = lambda,
                  .assignment = assignment,
                  .begin = begin,
                  .end = n - begin < block ? n : begin + block,
                  .part = block < SMALL_BLOCK ? SMALL_PART : PART};
        size_t parts = (p.end - begin + p.part - 1) / p.part;
        imp_parallel(parts, a->threads, compare_part, &p);
        status = make_clusters(&p, clusters, sigma, error);
        if (status)
            return status;
        imp_parallel(parts, a->threads, settle_part, &p);
        for (size_t part = 0; part < parts; part++)
            *changed += a->changed[part];
        size_t made = clusters->count - a->line.count;
        if (made * block > MUCH_NEW)
            block = block / 2 > LEAST_BLOCK ? block / 2 : LEAST_BLOCK;
        else if (made * block <= MUCH_NEW / 4)
            block = block * 2 < MOST_BLOCK ? block * 2 : MOST_BLOCK;
        if (made > 0)
            status = imp_lineup_extend(&a->line, clusters, error);
        begin = p.end;
    }
    return status;
}

/* ---- sums ---- */

typedef struct summing {
    const imp_assigner *assigner;
    const int32_t *assignment;
    imp_clusters *clusters;
} summing;

enum {
    SLICE = 16, /* dimensions that one thread sums, over all points: a cache line of floats */
    AHEAD = 16  /* points that are fetched before their turn; processors do not see that far */
};

static void sum_slice(size_t slice, int worker, void *context)
{
    (void)worker;
    const summing *s = context;
    const imp_points *points = s->assigner->points;
    size_t d = points->dimensions, begin = slice * SLICE;
    size_t end = d - begin < SLICE ? d : begin + SLICE;
    size_t n = imp_points_count(points);
    for (size_t i = 0; i < n; i++) {
        const float *x = imp_points_row(points, i);
        const float *coming = imp_points_row(points, i + AHEAD < n ? i + AHEAD : i);
        __builtin_prefetch(coming + begin);
        __builtin_prefetch(coming + end - 1); /* of another cache line if rows are not aligned */
        double *sum = imp_clusters_sum(s->clusters, (size_t)s->assignment[i]);
        for (size_t j = begin; j < end; j++)
            sum[j] += x[j];
    }
}

void imp_assigner_sums(const imp_assigner *a, const int32_t *assignment, imp_clusters *clusters)
{
    summing s = {a, assignment, clusters};
    for (size_t i = 0; i < imp_points_count(a->points); i++)
        clusters->weight[assignment[i]]++;
    imp_parallel((clusters->dimensions + SLICE - 1) / SLICE, a->threads, sum_slice, &s);
}
