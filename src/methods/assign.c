/*
 * assign.c - exact nearest clusters for many points, mostly without computing distances.
 *
 * Three things make it quick. Points are compared in float, in blocks, with the clusters known at
 * the block's beginning; those that start a cluster are rare and settled afterwards in order. A
 * float answer counts only where the runner-up is beyond rounding, elsewhere the point is compared
 * again in double. And a point whose own mean is nearer than all others can have come since its
 * last comparison needs none (Hamerly 2010).
 */
#include "methods/assign.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "kernels/kernels.h"

enum {
    PART = 512,             /* points of a block that one thread compares at a time */
    LEAST_BLOCK = PART / 4, /* points between two looks at new clusters */
    MOST_BLOCK = 64 * PART,
    MANY_NEW = 16 /* new clusters in a block that ask for smaller blocks */
};

/* Norms beyond which a product of two floats may overflow. */
#define MOST_NORM 1e18

/* What is known of a point from its last comparison. */
typedef struct knowledge {
    float others;   /* no other cluster of those `known` is nearer than this less the drift since */
    uint32_t known; /* clusters it was compared with */
} knowledge;

/* A thread's points to compare. */
typedef struct desk {
    float *rows;             /* (PART, dimensions), less the origin */
    uint32_t position[PART]; /* in the block */
    int32_t center[PART];
    float best[PART], second[PART];
} desk;

struct imp_assigner {
    const imp_points *points;
    const imp_kernels *kernels;
    int threads;
    float *origin;        /* the mean point: near it, floats have digits to spare */
    knowledge *knowledge; /* per point */
    double drift;         /* how far means can have come, summed over the passes */
    double *previous;     /* the means of the last pass */
    size_t previous_count, capacity;
    float *centers, *packed;
    double rounding;  /* most that a float score can be off, for a point at the origin, and */
    double per_norm;  /* that much more per unit of its norm */
    desk *desks;      /* per thread */
    double *distance; /* per point of a block: squared, to its nearest */
    int32_t *nearest;
    uint32_t *maker; /* per cluster made in a block: the position of the point that made it */
    size_t changed[MOST_BLOCK / PART]; /* per part of a block */
};

static double length(const double *a, const double *b, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(sum);
}

static void find_origin(imp_assigner *a)
{
    size_t d = a->points->dimensions, n = imp_points_count(a->points);
    /* any point near them will do: a sample, spread over all */
    size_t step = n / 1000 + 1, seen = 0;
    for (size_t i = 0; i < n; i += step, seen++)
        for (size_t j = 0; j < d; j++)
            a->origin[j] += (imp_points_row(a->points, i)[j] - a->origin[j]) / (float)(seen + 1);
}

imp_status imp_assigner_create(const imp_points *points, imp_assigner **out, imp_error *error)
{
    *out = NULL;
    imp_assigner *a = imp_allocate_zeroed(1, sizeof *a);
    if (!a)
        return imp_fail_memory(error, "the assignments");
    a->points = points;
    a->threads = imp_parallel_threads(0);
    imp_status status = imp_kernels_choose(&a->kernels, error);
    size_t d = points->dimensions, row_floats;
    a->origin = imp_allocate_zeroed(d, sizeof *a->origin);
    a->knowledge = imp_allocate(imp_points_count(points), sizeof *a->knowledge);
    a->desks = imp_allocate_zeroed((size_t)a->threads, sizeof *a->desks);
    a->distance = imp_allocate(MOST_BLOCK, sizeof *a->distance);
    a->nearest = imp_allocate(MOST_BLOCK, sizeof *a->nearest);
    a->maker = imp_allocate(MOST_BLOCK, sizeof *a->maker);
    bool enough = a->origin && a->knowledge && a->desks && a->distance && a->nearest && a->maker &&
                  imp_multiply(PART, d, &row_floats);
    for (int i = 0; enough && i < a->threads; i++)
        enough = (a->desks[i].rows = imp_allocate(row_floats, sizeof(float))) != NULL;
    if (!status && !enough)
        status = imp_fail_memory(error, "the assignments");
    if (status) {
        imp_assigner_free(a);
        return status;
    }
    find_origin(a);
    imp_assigner_forget(a);
    *out = a;
    return IMP_OK;
}

void imp_assigner_free(imp_assigner *a)
{
    if (!a)
        return;
    for (int i = 0; a->desks && i < a->threads; i++)
        imp_release(a->desks[i].rows);
    imp_release(a->desks);
    imp_release(a->origin);
    imp_release(a->knowledge);
    imp_release(a->previous);
    imp_release(a->centers);
    imp_release(a->packed);
    imp_release(a->distance);
    imp_release(a->nearest);
    imp_release(a->maker);
    imp_release(a);
}

void imp_assigner_forget(imp_assigner *a)
{
    for (size_t i = 0; i < imp_points_count(a->points); i++)
        a->knowledge[i] = (knowledge){.others = -FLT_MAX};
    a->previous_count = 0;
    a->drift = 0;
}

/* Room for `count` clusters in previous, centers and packed. */
static imp_status reserve(imp_assigner *a, size_t count, imp_error *error)
{
    size_t d = a->points->dimensions, capacity = a->capacity ? a->capacity : 64, values;
    if (count <= a->capacity)
        return IMP_OK;
    while (capacity < count)
        capacity *= 2;
    if (!imp_multiply(capacity, d, &values))
        return imp_fail_memory(error, "the clusters");
    double *previous = imp_allocate(values, sizeof *previous);
    float *centers = imp_allocate(values, sizeof *centers);
    float *packed = imp_allocate(a->kernels->nearest_packed(capacity, d), sizeof *packed);
    if (!previous || !centers || !packed) {
        imp_release(previous);
        imp_release(centers);
        imp_release(packed);
        return imp_fail_memory(error, "the clusters");
    }
    if (a->previous_count)
        memcpy(previous, a->previous, a->previous_count * d * sizeof *previous);
    imp_release(a->previous);
    imp_release(a->centers);
    imp_release(a->packed);
    a->previous = previous;
    a->centers = centers;
    a->packed = packed;
    a->capacity = capacity;
    return IMP_OK;
}

/* Means moved since the last pass: every bound is that much weaker. */
static void account_for_drift(imp_assigner *a, const imp_clusters *clusters)
{
    size_t d = clusters->dimensions;
    double most = 0;
    for (size_t c = 0; c < a->previous_count; c++)
        most = fmax(most, length(imp_clusters_mean(clusters, c), a->previous + c * d, d));
    a->drift += most;
}

/* The clusters in the kernel's form, and how far float can be off with them. */
static imp_status pack_centers(imp_assigner *a, const imp_clusters *clusters, imp_error *error)
{
    size_t d = clusters->dimensions;
    imp_status status = reserve(a, clusters->count, error);
    if (status)
        return status;
    double farthest = 0;
    for (size_t c = 0; c < clusters->count; c++) {
        double square = 0;
        for (size_t j = 0; j < d; j++) {
            float x = (float)(imp_clusters_mean(clusters, c)[j] - a->origin[j]);
            a->centers[c * d + j] = x;
            square += (double)x * x;
        }
        farthest = fmax(farthest, sqrt(square));
    }
    if (clusters->count > 0)
        memcpy(a->previous, clusters->mean, clusters->count * d * sizeof *a->previous);
    a->previous_count = clusters->count;
    a->kernels->nearest_pack(clusters->count, d, a->centers, a->packed);
    /* a sum of d products in float, each operand rounded once before (Higham, section 3.1) */
    double unit = (double)(d + 8) * FLT_EPSILON;
    /* products may underflow; where they may overflow, floats say nothing */
    a->rounding = farthest < MOST_NORM ? unit * (farthest * farthest + FLT_MIN) : INFINITY;
    a->per_norm = unit * farthest;
    return IMP_OK;
}

/* One pass's state, shared by its blocks. */
typedef struct pass {
    imp_assigner *assigner;
    const imp_clusters *clusters; /* those known at the block's beginning */
    const imp_clusters *grown;    /* and with those the block made */
    int32_t *assignment;
    size_t begin, end; /* the block's positions */
} pass;

/* Compares with every cluster, in double. */
static void look_closely(const imp_clusters *clusters, const float *x, int32_t *nearest,
                         double *distance, double *second)
{
    *nearest = 0;
    *distance = *second = INFINITY;
    for (size_t c = 0; c < clusters->count; c++) {
        double to_c = imp_clusters_distance(clusters, c, x);
        if (to_c < *distance) {
            *second = *distance;
            *distance = to_c;
            *nearest = (int32_t)c;
        } else if (to_c < *second) {
            *second = to_c;
        }
    }
}

/* Whether point i's own cluster is still the nearest, whatever the others did. */
static bool stays(const imp_assigner *a, const pass *p, size_t i, double *distance)
{
    const knowledge *k = &a->knowledge[i];
    if (k->known != p->clusters->count || p->assignment[i] < 0)
        return false;
    double others = k->others - a->drift;
    if (!(others > 0))
        return false;
    *distance =
        imp_clusters_distance(p->clusters, (size_t)p->assignment[i], imp_points_row(a->points, i));
    return *distance < others * others;
}

static void remember(imp_assigner *a, size_t i, size_t known, double second_square)
{
    /* rounded down, so that a bound stays a bound */
    double bound = (sqrt(fmax(second_square, 0)) + a->drift) * (1 - 4 * (double)FLT_EPSILON);
    a->knowledge[i] = (knowledge){.others = (float)fmin(bound, FLT_MAX), .known = (uint32_t)known};
}

static void compare_desk(imp_assigner *a, const pass *p, desk *work, size_t count)
{
    size_t d = a->points->dimensions;
    a->kernels->nearest(count, d, work->rows, p->clusters->count, a->packed, work->center,
                        work->best, work->second);
    for (size_t r = 0; r < count; r++) {
        size_t position = work->position[r], i = imp_points_at(a->points, p->begin + position);
        const float *x = imp_points_row(a->points, i);
        double norm = 0, second;
        for (size_t j = 0; j < d; j++)
            norm += (double)work->rows[r * d + j] * work->rows[r * d + j];
        double off =
            norm < MOST_NORM * MOST_NORM ? a->rounding + a->per_norm * sqrt(norm) : INFINITY;
        int32_t *nearest = &a->nearest[position];
        double *distance = &a->distance[position];
        if ((double)work->best[r] - work->second[r] > 2 * off) {
            *nearest = work->center[r];
            *distance = imp_clusters_distance(p->clusters, (size_t)*nearest, x);
            second = norm * (1 - 4 * (double)FLT_EPSILON) - 2 * (work->second[r] + off);
        } else {
            look_closely(p->clusters, x, nearest, distance, &second);
        }
        remember(a, i, p->clusters->count, second);
    }
}

static void compare_part(size_t part, int worker, void *context)
{
    const pass *p = context;
    imp_assigner *a = p->assigner;
    desk *work = &a->desks[worker];
    size_t d = a->points->dimensions, count = 0;
    size_t begin = p->begin + part * PART;
    size_t end = p->end - begin < PART ? p->end : begin + PART;
    for (size_t position = begin; position < end; position++) {
        size_t i = imp_points_at(a->points, position);
        if (stays(a, p, i, &a->distance[position - p->begin])) {
            a->nearest[position - p->begin] = p->assignment[i];
            continue;
        }
        const float *x = imp_points_row(a->points, i);
        for (size_t j = 0; j < d; j++)
            work->rows[count * d + j] = x[j] - a->origin[j];
        work->position[count++] = (uint32_t)(position - p->begin);
    }
    if (count)
        compare_desk(a, p, work, count);
}

/* In order: a point far from every cluster, those made within the block included, makes one. Few
 * points are far from the known ones, so there is little to do one after the other. */
static imp_status make_clusters(const pass *p, imp_clusters *clusters, double lambda, double sigma,
                                imp_error *error)
{
    imp_assigner *a = p->assigner;
    size_t known = p->clusters->count;
    for (size_t position = p->begin; position < p->end; position++) {
        double distance = a->distance[position - p->begin];
        if (!(distance > lambda))
            continue;
        const float *x = imp_points_row(a->points, imp_points_at(a->points, position));
        for (size_t c = known; c < clusters->count && distance > lambda; c++)
            distance = fmin(distance, imp_clusters_distance(clusters, c, x));
        if (distance > lambda) {
            imp_status status = imp_clusters_add(clusters, IMP_UNLABELED, sigma, x, error);
            if (status)
                return status;
            a->maker[clusters->count - 1 - known] = (uint32_t)position;
        }
    }
    return IMP_OK;
}

/* The assignments of a part of the block, now that its clusters are made. */
static void settle_part(size_t part, int worker, void *context)
{
    (void)worker;
    const pass *p = context;
    imp_assigner *a = p->assigner;
    size_t known = p->clusters->count, begin = p->begin + part * PART, changed = 0;
    size_t end = p->end - begin < PART ? p->end : begin + PART;
    for (size_t position = begin; position < end; position++) {
        size_t i = imp_points_at(a->points, position);
        const float *x = imp_points_row(a->points, i);
        int32_t nearest = a->nearest[position - p->begin];
        double distance = a->distance[position - p->begin];
        /* what was made before the point's turn, or by itself */
        for (size_t c = known; c < p->grown->count && a->maker[c - known] <= position; c++) {
            double to_c = imp_clusters_distance(p->grown, c, x);
            if (to_c < distance) {
                distance = to_c;
                nearest = (int32_t)c;
            }
        }
        if ((size_t)nearest >= known)
            a->knowledge[i].others = -FLT_MAX; /* was not among those compared */
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
    account_for_drift(a, clusters);
    imp_status status = IMP_OK;
    for (size_t begin = 0; begin < n && !status;) {
        if (begin == 0 || a->previous_count != clusters->count)
            status = pack_centers(a, clusters, error);
        if (status)
            return status;
        imp_clusters known = *clusters; /* the list may grow and move while the block is settled */
        pass p = {.assigner = a,
                  .clusters = &known,
                  .grown = clusters,
                  .assignment = assignment,
                  .begin = begin,
                  .end = n - begin < block ? n : begin + block};
        size_t parts = (p.end - begin + PART - 1) / PART;
        imp_parallel(parts, a->threads, compare_part, &p);
        status = make_clusters(&p, clusters, lambda, sigma, error);
        if (status)
            return status;
        imp_parallel(parts, a->threads, settle_part, &p);
        for (size_t part = 0; part < parts; part++)
            *changed += a->changed[part];
        size_t made = clusters->count - known.count;
        if (made > MANY_NEW && block > LEAST_BLOCK)
            block /= 2;
        else if (made <= MANY_NEW && block < MOST_BLOCK)
            block *= 2;
        begin = p.end;
    }
    return status;
}

typedef struct summing {
    const imp_assigner *assigner;
    const int32_t *assignment;
    imp_clusters *clusters;
} summing;

enum { SLICE = 16 }; /* dimensions that one thread sums, over all points: a cache line of floats */

static void sum_slice(size_t slice, int worker, void *context)
{
    (void)worker;
    const summing *s = context;
    const imp_points *points = s->assigner->points;
    size_t d = points->dimensions, begin = slice * SLICE;
    size_t end = d - begin < SLICE ? d : begin + SLICE;
    for (size_t i = 0; i < imp_points_count(points); i++) {
        const float *x = imp_points_row(points, i);
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
