/*
 * propagate.c - label propagation over a graph of neighbours (Zhou et al., 2004).
 *
 * Every point has edges to its seven nearest neighbours (fewer if classes have fewer than 14 points
 * on average) and to the points of which it is a neighbour, with weight exp(-d^2 / r r'), where r
 * is the distance of a point's last neighbour (Zelnik-Manor and Perona, 2004): so weights adapt to
 * the local scale. Weights are normalised symmetrically by the degrees. In each of thirty
 * iterations the class scores of a point become nine tenths of its neighbours' scores plus one
 * tenth of its own label.
 *
 * A label found so rests on all the neighbours, but what comes later is compared with points one by
 * one, and the nearest may be the one that stands out. Therefore every labelled point moves to the
 * mean of itself and its neighbours of the same label.
 */
#include "methods/propagate.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/first_failure.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "kernels/kernels.h"
#include "methods/gaussian.h"
#include "methods/points.h"

enum {
    MOST_NEIGHBORS = 7,
    LEAST_NEIGHBORS = 2,
    ROUNDS = 30,
    TOGETHER = 64, /* points whose neighbours are searched together */
};

static const float passed_on = 0.9F;

typedef struct tie {
    uint32_t to;
    float weight;
} tie;

typedef struct graph {
    const imp_kernels *kernels;
    const float *rows;
    float *across;  /* (d, n): the rows, transposed */
    double *square; /* (n): squared lengths */
    size_t n, d, way, near;
    uint32_t *neighbor; /* (n, near) */
    double *distance;   /* (n, near), squared, ascending */
    tie *ties;          /* of point i: first[i] .. first[i + 1] - 1 */
    size_t *first;
    const float *from; /* (n, way) */
    float *to;
    imp_first_failure failure;
} graph;

/* ---- neighbours ---- */

/* Inserts point `other` among the nearest so far; ties go to the first. */
static void insert(uint32_t *neighbor, double *distance, size_t *count, size_t most, uint32_t other,
                   double far)
{
    size_t at = *count;
    if (at == most && far >= distance[most - 1])
        return;
    if (at == most)
        at--;
    else
        (*count)++;
    for (; at > 0 && far < distance[at - 1]; at--) {
        distance[at] = distance[at - 1];
        neighbor[at] = neighbor[at - 1];
    }
    distance[at] = far;
    neighbor[at] = other;
}

static void find_neighbors(graph *g, size_t i, const float *product)
{
    uint32_t *neighbor = g->neighbor + i * g->near;
    double *distance = g->distance + i * g->near;
    size_t count = 0;
    for (size_t k = 0; k < g->n; k++)
        if (k != i)
            insert(neighbor, distance, &count, g->near, (uint32_t)k,
                   g->square[i] + g->square[k] - 2 * (double)product[k]);
    /* The products are inaccurate for points that nearly coincide, so recompute. */
    for (size_t k = 0; k < count; k++) {
        const float *other = g->rows + neighbor[k] * g->d;
        distance[k] = imp_distance_between(g->rows + i * g->d, other, g->d);
    }
}

static void find_block(size_t block, int worker, void *context)
{
    (void)worker;
    graph *g = context;
    size_t begin = block * TOGETHER, count = g->n - begin < TOGETHER ? g->n - begin : TOGETHER;
    float *product = imp_allocate_zeroed(count * g->n, sizeof *product);
    imp_error error;
    imp_status status = product ? IMP_OK : imp_fail_memory(&error, "neighbours of points");
    if (!status) {
        g->kernels->multiply(count, g->n, g->d, g->rows + begin * g->d, g->d, 1, g->across, g->n,
                             product, g->n);
        for (size_t i = 0; i < count; i++)
            find_neighbors(g, begin + i, product + i * g->n);
    }
    imp_release(product);
    imp_first_failure_note(&g->failure, block, status, &error);
}

/* ---- edges ---- */

static bool is_neighbor(const graph *g, size_t i, size_t other)
{
    for (size_t k = 0; k < g->near; k++)
        if (g->neighbor[i * g->near + k] == other)
            return true;
    return false;
}

/* exp(-d^2 / r r'); 1 for coinciding points. */
static float weight_of(const graph *g, size_t i, size_t k)
{
    size_t other = g->neighbor[i * g->near + k], last = g->near - 1;
    double far = g->distance[i * g->near + k];
    double radii = sqrt(g->distance[i * g->near + last] * g->distance[other * g->near + last]);
    return (float)(far > 0 ? exp(-far / fmax(radii, 1e-3 * far)) : 1);
}

/* Edges in both directions, normalised symmetrically by the degrees. */
static void make_ties(graph *g, double *sum)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < g->n; i++)
            for (size_t k = 0; k < g->near; k++) {
                size_t other = g->neighbor[i * g->near + k];
                bool back = !is_neighbor(g, other, i);
                if (pass == 0) {
                    g->first[i + 1]++;
                    g->first[other + 1] += back;
                    continue;
                }
                float weight = weight_of(g, i, k);
                g->ties[g->first[i]++] = (tie){(uint32_t)other, weight};
                if (back)
                    g->ties[g->first[other]++] = (tie){(uint32_t)i, weight};
            }
        for (size_t i = 0; i < g->n && pass == 0; i++)
            g->first[i + 1] += g->first[i];
    }
    for (size_t i = g->n; i > 0; i--)
        g->first[i] = g->first[i - 1];
    g->first[0] = 0;
    for (size_t i = 0; i < g->n; i++) {
        sum[i] = 0;
        for (size_t t = g->first[i]; t < g->first[i + 1]; t++)
            sum[i] += g->ties[t].weight;
    }
    for (size_t i = 0; i < g->n; i++)
        for (size_t t = g->first[i]; t < g->first[i + 1]; t++) {
            double both = sum[i] * sum[g->ties[t].to];
            g->ties[t].weight = both > 0 ? (float)(g->ties[t].weight / sqrt(both)) : 0;
        }
}

/* ---- iterations ---- */

static void pass_block(size_t block, int worker, void *context)
{
    (void)worker;
    graph *g = context;
    size_t begin = block * TOGETHER, end = g->n - begin < TOGETHER ? g->n : begin + TOGETHER;
    for (size_t i = begin; i < end; i++)
        for (size_t t = g->first[i]; t < g->first[i + 1]; t++) {
            const float *from = g->from + g->ties[t].to * g->way;
            float share = passed_on * g->ties[t].weight, *to = g->to + i * g->way;
            for (size_t class = 0; class < g->way; class ++)
                to[class] += share * from[class];
        }
}

/* The final class scores of every point, in one of the two arrays. */
static const float *spread(graph *g, const int32_t *label, size_t labeled, float *one, float *other)
{
    size_t blocks = (g->n + TOGETHER - 1) / TOGETHER;
    memset(one, 0, g->n * g->way * sizeof *one);
    for (size_t i = 0; i < labeled; i++)
        one[i * g->way + (size_t)label[i]] = 1;
    for (size_t round = 0; round < ROUNDS; round++) {
        memset(other, 0, g->n * g->way * sizeof *other);
        for (size_t i = 0; i < labeled; i++)
            other[i * g->way + (size_t)label[i]] = 1 - passed_on;
        g->from = one;
        g->to = other;
        imp_parallel(blocks, imp_parallel_threads(0), pass_block, g);
        one = g->to;
        other = (float *)g->from;
    }
    return one;
}

/* ---- means of neighbours ---- */

/* Labelled points and those that received a label. */
typedef struct move {
    graph *graph;
    const int32_t *label, *found; /* of the points with a label at first, and of the others */
    const double *sure;
    size_t labeled;
    const float *from; /* (n, d) */
    float *to;
} move;

static int32_t label_of(const move *m, size_t i)
{
    return i < m->labeled ? m->label[i] : m->found[i - m->labeled];
}

static double sure_of(const move *m, size_t i)
{
    return i < m->labeled ? 1 : m->sure[i - m->labeled];
}

static void move_point(const move *m, size_t i, double *sum)
{
    const graph *g = m->graph;
    double weight = sure_of(m, i);
    for (size_t j = 0; j < g->d; j++)
        sum[j] = weight * m->from[i * g->d + j];
    for (size_t t = g->first[i]; t < g->first[i + 1]; t++) {
        size_t other = g->ties[t].to;
        double share = sure_of(m, other);
        if (label_of(m, other) != label_of(m, i))
            continue;
        weight += share;
        for (size_t j = 0; j < g->d; j++)
            sum[j] += share * m->from[other * g->d + j];
    }
    for (size_t j = 0; j < g->d; j++)
        m->to[i * g->d + j] = (float)(sum[j] / weight);
}

static void move_block(size_t block, int worker, void *context)
{
    (void)worker;
    move *m = context;
    graph *g = m->graph;
    size_t begin = block * TOGETHER, end = g->n - begin < TOGETHER ? g->n : begin + TOGETHER;
    double *sum = imp_allocate(g->d, sizeof *sum);
    imp_error error;
    imp_status status = sum ? IMP_OK : imp_fail_memory(&error, "neighbours of points");
    for (size_t i = begin; i < end && !status; i++)
        if (label_of(m, i) >= 0)
            move_point(m, i, sum);
    imp_release(sum);
    imp_first_failure_note(&g->failure, block, status, &error);
}

static imp_status move_all(graph *g, const int32_t *label, size_t labeled, const int32_t *found,
                           const double *sure, float *rows, imp_error *error)
{
    move m = {.graph = g,
              .label = label,
              .found = found,
              .sure = sure,
              .labeled = labeled,
              .from = g->across, /* no longer needed, and as large */
              .to = rows};
    memcpy(g->across, rows, g->n * g->d * sizeof *rows);
    imp_first_failure_begin(&g->failure);
    imp_parallel((g->n + TOGETHER - 1) / TOGETHER, imp_parallel_threads(0), move_block, &m);
    return imp_first_failure_end(&g->failure, error);
}

/* ---- all of it ---- */

/* With more neighbours than half a class, labels would spread to other classes. */
static size_t neighbors_for(size_t n, size_t way)
{
    size_t near = n / (2 * way);
    near = near < LEAST_NEIGHBORS ? LEAST_NEIGHBORS : near;
    near = near > MOST_NEIGHBORS ? MOST_NEIGHBORS : near;
    return near < n ? near : n - 1;
}

static imp_status make_graph(graph *g, imp_error *error)
{
    size_t n = g->n, d = g->d;
    g->across = imp_allocate(n * d, sizeof *g->across);
    g->square = imp_allocate(n, sizeof *g->square);
    g->neighbor = imp_allocate(n * g->near, sizeof *g->neighbor);
    g->distance = imp_allocate(n * g->near, sizeof *g->distance);
    g->ties = imp_allocate(2 * n * g->near, sizeof *g->ties);
    g->first = imp_allocate_zeroed(n + 1, sizeof *g->first);
    if (!g->across || !g->square || !g->neighbor || !g->distance || !g->ties || !g->first)
        return imp_fail_memory(error, "neighbours of points");
    for (size_t i = 0; i < n; i++) {
        g->square[i] = 0;
        for (size_t j = 0; j < d; j++) {
            float value = g->rows[i * d + j];
            g->across[j * n + i] = value;
            g->square[i] += (double)value * value;
        }
    }
    imp_first_failure_begin(&g->failure);
    imp_parallel((n + TOGETHER - 1) / TOGETHER, imp_parallel_threads(0), find_block, g);
    imp_status status = imp_first_failure_end(&g->failure, error);
    if (!status)
        make_ties(g, g->square);
    return status;
}

static void take_labels(const graph *g, const float *reached, size_t labeled, int32_t *found,
                        double *sure)
{
    for (size_t i = 0; i + labeled < g->n; i++) {
        const float *of = reached + (labeled + i) * g->way;
        size_t most = 0;
        double sum = 0;
        for (size_t class = 0; class < g->way; class ++) {
            most = of[class] > of[most] ? class : most;
            sum += of[class];
        }
        found[i] = sum > 1e-9 ? (int32_t)most : IMP_UNLABELED;
        sure[i] = sum > 1e-9 ? of[most] / sum : 0;
    }
}

imp_status imp_propagate(float *rows, size_t d, const int32_t *label, size_t labeled,
                         size_t unlabeled, size_t way, int32_t *found, double *sure,
                         imp_error *error)
{
    size_t n = labeled + unlabeled;
    graph g = {.rows = rows, .n = n, .d = d, .way = way, .near = neighbors_for(n, way)};
    float *reached = imp_allocate(2 * n * way, sizeof *reached);
    imp_status status = reached ? imp_kernels_choose(&g.kernels, error)
                                : imp_fail_memory(error, "labels of neighbours");
    if (!status)
        status = make_graph(&g, error);
    if (!status) {
        take_labels(&g, spread(&g, label, labeled, reached, reached + n * way), labeled, found,
                    sure);
        status = move_all(&g, label, labeled, found, sure, rows, error);
    }
    imp_release(g.across);
    imp_release(g.square);
    imp_release(g.neighbor);
    imp_release(g.distance);
    imp_release(g.ties);
    imp_release(g.first);
    imp_release(reached);
    return status;
}

size_t imp_keep_labeled(float *rows, size_t d, int32_t *label, double *weight, size_t begin,
                        size_t count)
{
    size_t kept = begin;
    for (size_t i = begin; i < begin + count; i++) {
        if (label[i] < 0)
            continue;
        for (size_t j = 0; j < d && kept < i; j++) {
            float value = rows[i * d + j];
            rows[i * d + j] = rows[kept * d + j];
            rows[kept * d + j] = value;
        }
        int32_t of = label[i];
        double counts = weight[i];
        label[i] = label[kept];
        weight[i] = weight[kept];
        label[kept] = of;
        weight[kept++] = counts;
    }
    return kept - begin;
}
