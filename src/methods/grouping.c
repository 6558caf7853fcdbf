/* grouping.c - groups of points that are merged and divided, with k-means passes between. */
#include "methods/grouping.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "methods/assign.h"

imp_status imp_grouping_create(imp_grouping *g, const float *rows, size_t count, size_t dimensions,
                               size_t made, int threads, imp_error *error)
{
    *g = (imp_grouping){.rows = rows,
                        .count = count,
                        .dimensions = dimensions,
                        .made = made,
                        .threads = threads,
                        .assignment = imp_allocate(count, sizeof *g->assignment)};
    imp_clusters_restart(&g->groups, dimensions);
    return g->assignment ? IMP_OK : imp_fail_memory(error, "groups of points");
}

void imp_grouping_release(imp_grouping *g)
{
    imp_clusters_release(&g->groups);
    imp_release(g->assignment);
}

imp_status imp_grouping_begin(imp_grouping *g, const int32_t *number, size_t count,
                              imp_error *error)
{
    imp_clusters_restart(&g->groups, g->dimensions);
    imp_status status = imp_clusters_reserve(&g->groups, count, error);
    for (size_t c = 0; c < count && !status; c++)
        status = imp_clusters_add(&g->groups, IMP_UNLABELED, 1, NULL, error);
    if (status)
        return status;
    imp_means_begin(&g->groups);
    for (size_t i = 0; i < g->made; i++) {
        double *sum = imp_clusters_sum(&g->groups, (size_t)number[i]);
        g->groups.weight[number[i]]++;
        for (size_t j = 0; j < g->dimensions; j++)
            sum[j] += g->rows[i * g->dimensions + j];
    }
    imp_means_finish(&g->groups, NULL);
    return IMP_OK;
}

imp_status imp_grouping_settle(imp_grouping *g, size_t passes, imp_error *error)
{
    imp_point_source made = imp_source_of_rows(g->rows, g->made, g->dimensions);
    imp_point_source all = imp_source_of_rows(g->rows, g->count, g->dimensions);
    const imp_crew crew = {.threads = g->threads};
    imp_assigner *assigner;
    size_t changed = 1;
    imp_status status = imp_assigner_create(&made, NULL, &crew, &assigner, error);
    for (size_t i = 0; i < g->count; i++)
        g->assignment[i] = -1;
    for (size_t p = 0; p < passes && changed > 0 && !status; p++) {
        status =
            imp_assigner_pass(assigner, &g->groups, INFINITY, 1, g->assignment, &changed, error);
        size_t before = g->groups.count;
        if (!status)
            imp_means_finish(&g->groups, NULL);
        if (!status && g->groups.count < before)
            imp_assigner_renumber(assigner, g->groups.moved, g->assignment);
    }
    imp_assigner_free(assigner);
    if (status)
        return status;
    for (size_t i = 0; i < g->count; i++)
        g->assignment[i] = -1;
    status = imp_assigner_create(&all, NULL, &crew, &assigner, error);
    if (!status)
        status = imp_assigner_find(assigner, &g->groups, g->assignment, &changed, error);
    imp_assigner_free(assigner);
    return status;
}

/* ---- neighbours ---- */

static int cheapest_first(const void *x, const void *y)
{
    const imp_group_pair *p = x, *q = y;
    if (p->cost != q->cost)
        return (p->cost > q->cost) - (p->cost < q->cost);
    if (p->a != q->a)
        return (p->a > q->a) - (p->a < q->a);
    return (p->b > q->b) - (p->b < q->b);
}

static double cost_of(const imp_clusters *groups, size_t a, size_t b)
{
    double distance = 0, weight_a = groups->weight[a], weight_b = groups->weight[b];
    const double *x = imp_clusters_mean(groups, a), *y = imp_clusters_mean(groups, b);
    for (size_t j = 0; j < groups->dimensions; j++)
        distance += (x[j] - y[j]) * (x[j] - y[j]);
    return distance * weight_a * weight_b / (weight_a + weight_b);
}

/* Groups, and room for their neighbours. */
typedef struct search {
    const imp_clusters *groups;
    imp_group_pair *pairs;
} search;

static void near_of_group(size_t a, int worker, void *context)
{
    (void)worker;
    const search *s = context;
    imp_group_pair *best = s->pairs + a * IMP_GROUP_NEIGHBORS;
    for (size_t k = 0; k < IMP_GROUP_NEIGHBORS; k++)
        best[k] = (imp_group_pair){INFINITY, 0, 0};
    for (size_t b = 0; b < s->groups->count; b++) {
        imp_group_pair found = {b == a ? INFINITY : cost_of(s->groups, a, b),
                                (uint32_t)(a < b ? a : b), (uint32_t)(a < b ? b : a)};
        for (size_t k = 0; k < IMP_GROUP_NEIGHBORS; k++)
            if (found.cost < best[k].cost) {
                imp_group_pair moved = best[k];
                best[k] = found;
                found = moved;
            }
    }
}

size_t imp_grouping_pairs(const imp_grouping *g, imp_group_pair *pairs)
{
    search s = {&g->groups, pairs};
    size_t groups = g->groups.count, count = groups * IMP_GROUP_NEIGHBORS, kept = 0;
    imp_parallel(groups, imp_parallel_threads(g->threads), near_of_group, &s);
    qsort(pairs, count, sizeof *pairs, cheapest_first);
    for (size_t k = 0; k < count && isfinite(pairs[k].cost); k++)
        if (kept == 0 || pairs[k].a != pairs[kept - 1].a || pairs[k].b != pairs[kept - 1].b)
            pairs[kept++] = pairs[k];
    return kept;
}

void imp_grouping_join(imp_grouping *g, size_t a, size_t b)
{
    imp_clusters *groups = &g->groups;
    double all = groups->weight[a] + groups->weight[b];
    double *to = imp_clusters_mean(groups, a), *from = imp_clusters_mean(groups, b);
    for (size_t j = 0; j < groups->dimensions; j++)
        to[j] = (groups->weight[a] * to[j] + groups->weight[b] * from[j]) / all;
    groups->weight[a] = all;
    groups->weight[b] = -1;
}

void imp_grouping_drop_joined(imp_grouping *g)
{
    imp_clusters *groups = &g->groups;
    size_t kept = 0;
    for (size_t c = 0; c < groups->count; c++)
        if (groups->weight[c] >= 0) {
            if (c != kept)
                imp_clusters_move(groups, c, kept);
            kept++;
        }
    groups->count = kept;
}
