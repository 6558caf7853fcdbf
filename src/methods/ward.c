/*
 * ward.c - Ward's method by nearest-neighbour chains (Benzecri, 1982): from any group go to its
 * nearest, and on to that one's nearest, until two are each other's nearest; merge these. That
 * finds the same merges as always taking the best of all pairs, in another order, and needs no
 * distance matrix.
 */
#include "methods/ward.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "kernels/kernels.h"

enum { PART = 256 }; /* groups that one thread measures at a time */

typedef struct join {
    double cost;
    uint32_t a, b; /* rows of the two groups */
    uint32_t turn; /* when it was found: children precede their parents */
} join;

/* Groups being merged. Group g has index g in every array as long as it exists. */
typedef struct chain {
    size_t n, d;
    int threads;
    const imp_kernels *kernels;
    float *mean;     /* (n, d) */
    double *size;    /* (n) */
    uint32_t *there; /* groups that are left */
    size_t left;
    uint32_t *link; /* the chain */
    size_t length;
    double *cost;  /* (n): of merging the end of the chain with each remaining group */
    double *place; /* (d): the mean of the end */
    join *joins;
    size_t joined;
} chain;

static void measure_part(size_t part, int worker, void *context)
{
    (void)worker;
    const chain *c = context;
    size_t begin = part * PART, end = c->left - begin < PART ? c->left : begin + PART;
    uint32_t from = c->link[c->length - 1];
    c->kernels->distances_from(c->d, c->place, c->mean, c->there + begin, end - begin,
                               c->cost + begin);
    for (size_t i = begin; i < end; i++) {
        uint32_t to = c->there[i];
        double weight = c->size[from] * c->size[to] / (c->size[from] + c->size[to]);
        c->cost[i] = to == from ? INFINITY : c->cost[i] * weight;
    }
}

/* The index of the nearest remaining group to the end of the chain; ties go to the one before it in
 * the chain, so that the chain ends, then to the first. */
static size_t find_nearest(const chain *c)
{
    for (size_t j = 0; j < c->d; j++)
        c->place[j] = c->mean[c->link[c->length - 1] * c->d + j];
    imp_parallel((c->left + PART - 1) / PART, c->threads, measure_part, (void *)c);
    size_t best = 0;
    for (size_t i = 1; i < c->left; i++)
        if (c->cost[i] < c->cost[best])
            best = i;
    for (size_t i = 0; i < c->left && c->length > 1; i++)
        if (c->there[i] == c->link[c->length - 2] && c->cost[i] <= c->cost[best])
            best = i;
    return best;
}

/* Merges the end of the chain into the one before it. */
static void join_last(chain *c, double cost)
{
    uint32_t gone = c->link[c->length - 1], stays = c->link[c->length - 2];
    double all = c->size[gone] + c->size[stays];
    for (size_t j = 0; j < c->d; j++)
        c->mean[stays * c->d + j] = (float)((c->size[gone] * c->mean[gone * c->d + j] +
                                             c->size[stays] * c->mean[stays * c->d + j]) /
                                            all);
    c->size[stays] = all;
    c->joins[c->joined] = (join){cost, gone, stays, (uint32_t)c->joined};
    c->joined++;
    c->length -= 2;
    size_t place = 0;
    while (c->there[place] != gone)
        place++;
    memmove(c->there + place, c->there + place + 1, (c->left - place - 1) * sizeof *c->there);
    c->left--;
}

static void join_all(chain *c)
{
    while (c->left > 1) {
        if (c->length == 0)
            c->link[c->length++] = c->there[0];
        size_t nearest = find_nearest(c);
        double cost = c->cost[nearest];
        if (c->length > 1 && c->there[nearest] == c->link[c->length - 2])
            join_last(c, cost);
        else
            c->link[c->length++] = c->there[nearest];
    }
}

static int cheapest_first(const void *a, const void *b)
{
    const join *x = a, *y = b;
    return x->cost != y->cost ? (x->cost > y->cost) - (x->cost < y->cost)
                              : (x->turn > y->turn) - (x->turn < y->turn);
}

static uint32_t root_of(uint32_t *parent, uint32_t row)
{
    while (parent[row] != row)
        row = parent[row] = parent[parent[row]];
    return row;
}

/* Applies the cheapest merges that leave `wanted` groups. `parent` and `number` have room for n. */
static void cut(chain *c, size_t wanted, uint32_t *parent, uint32_t *number, int32_t *group)
{
    qsort(c->joins, c->joined, sizeof *c->joins, cheapest_first);
    for (size_t i = 0; i < c->n; i++) {
        parent[i] = (uint32_t)i;
        number[i] = UINT32_MAX;
    }
    for (size_t k = 0; k + wanted < c->n; k++)
        parent[root_of(parent, c->joins[k].a)] = root_of(parent, c->joins[k].b);
    uint32_t found = 0;
    for (size_t i = 0; i < c->n; i++) {
        uint32_t root = root_of(parent, (uint32_t)i);
        if (number[root] == UINT32_MAX)
            number[root] = found++;
        group[i] = (int32_t)number[root];
    }
}

imp_status imp_ward(const float *rows, size_t n, size_t d, size_t wanted, int threads,
                    int32_t *group, imp_error *error)
{
    chain c = {
        .n = n,
        .d = d,
        .threads = imp_parallel_threads(threads),
        .mean = imp_enlarge(rows, n * d, n * d, sizeof *c.mean),
        .size = imp_allocate(n, sizeof *c.size),
        .there = imp_allocate(n, sizeof *c.there),
        .left = n,
        .link = imp_allocate(n + 1, sizeof *c.link),
        .cost = imp_allocate(n, sizeof *c.cost),
        .place = imp_allocate(d, sizeof *c.place),
        .joins = imp_allocate(n, sizeof *c.joins),
    };
    imp_status status = imp_kernels_choose(&c.kernels, error);
    if (!status && (!c.mean || !c.size || !c.there || !c.link || !c.cost || !c.place || !c.joins))
        status = imp_fail_memory(error, "groups of points");
    for (size_t i = 0; i < n && !status; i++) {
        c.size[i] = 1;
        c.there[i] = (uint32_t)i;
    }
    if (!status) {
        join_all(&c);
        cut(&c, wanted, c.there, c.link, group);
    }
    imp_release(c.mean);
    imp_release(c.size);
    imp_release(c.there);
    imp_release(c.link);
    imp_release(c.cost);
    imp_release(c.place);
    imp_release(c.joins);
    return status;
}
