/*
 * mixture_thin.c - keeping a class from ever more clusters.
 *
 * A first batch cannot know how far apart points of later classes will be. Where its lambda is too
 * small for them, nearly every point would start a cluster. So a class that has more than enough
 * joins those that are nearest by Ward's rule, of which no more than their sums is needed, and
 * lambda becomes what it should have been.
 */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "methods/mixture.h"

enum { MOST_OF_CLASS = 256, ENOUGH_OF_CLASS = 128 };

/* Leaves out clusters of a negative weight; the others keep their order. */
static void drop_marked(imp_clusters *clusters)
{
    size_t kept = 0;
    for (size_t c = 0; c < clusters->count; c++)
        if (clusters->weight[c] >= 0) {
            if (c != kept)
                imp_clusters_move(clusters, c, kept);
            kept++;
        }
    clusters->count = kept;
}

/* Clusters of one class being joined. */
typedef struct thinning {
    imp_mixture *mixture;
    size_t count;
    uint32_t *cluster; /* (count): those of the class */
    size_t *nearest;   /* (count): the place of the one that it costs least to join, */
    double *cost;      /* and what it costs */
} thinning;

static double squared_distance(const imp_clusters *clusters, size_t a, size_t b)
{
    const double *x = imp_clusters_mean(clusters, a), *y = imp_clusters_mean(clusters, b);
    double sum = 0;
    for (size_t j = 0; j < clusters->dimensions; j++)
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
}

static void find_nearest(thinning *t, size_t i)
{
    const imp_clusters *clusters = &t->mixture->clusters;
    double own = clusters->weight[t->cluster[i]];
    t->cost[i] = INFINITY;
    t->nearest[i] = i;
    for (size_t k = 0; k < t->count; k++) {
        double weight = clusters->weight[t->cluster[k]];
        if (k == i || weight < 0)
            continue;
        double cost = squared_distance(clusters, t->cluster[i], t->cluster[k]) * own * weight /
                      (own + weight);
        if (cost < t->cost[i]) {
            t->cost[i] = cost;
            t->nearest[i] = k;
        }
    }
}

/* Joins the two that it costs least to join; returns how far apart they were, squared. */
static double join_two(thinning *t)
{
    imp_clusters *clusters = &t->mixture->clusters;
    size_t a = t->count;
    for (size_t i = 0; i < t->count; i++)
        if (clusters->weight[t->cluster[i]] >= 0 && (a == t->count || t->cost[i] < t->cost[a]))
            a = i;
    size_t b = t->nearest[a], stays = a < b ? a : b, goes = a < b ? b : a;
    size_t to = t->cluster[stays], from = t->cluster[goes];
    double distance = squared_distance(clusters, to, from);
    clusters->weight[to] += clusters->weight[from];
    for (size_t j = 0; j < clusters->dimensions; j++)
        imp_clusters_sum(clusters, to)[j] += imp_clusters_sum(clusters, from)[j];
    imp_mixture_place(t->mixture, to);
    clusters->weight[from] = -1;
    for (size_t i = 0; i < t->count; i++)
        if (clusters->weight[t->cluster[i]] >= 0 &&
            (i == stays || t->nearest[i] == stays || t->nearest[i] == goes))
            find_nearest(t, i);
    return distance;
}

imp_status imp_mixture_thin(imp_mixture *mixture, int32_t label, imp_error *error)
{
    const imp_clusters *clusters = &mixture->clusters;
    size_t count = 0;
    for (size_t c = 0; c < clusters->count; c++)
        count += clusters->label[c] == label;
    if (count <= MOST_OF_CLASS)
        return IMP_OK;
    thinning t = {.mixture = mixture,
                  .cluster = imp_allocate(count, sizeof *t.cluster),
                  .nearest = imp_allocate(count, sizeof *t.nearest),
                  .cost = imp_allocate(count, sizeof *t.cost)};
    imp_status status =
        t.cluster && t.nearest && t.cost ? IMP_OK : imp_fail_memory(error, "clusters to be joined");
    for (size_t c = 0; c < clusters->count && !status; c++)
        if (clusters->label[c] == label)
            t.cluster[t.count++] = (uint32_t)c;
    for (size_t i = 0; i < count && !status; i++)
        find_nearest(&t, i);
    double *lambda = label < 0 ? &mixture->chosen.lambda_u : &mixture->rule.lambda;
    for (; count > ENOUGH_OF_CLASS && !status; count--)
        *lambda = fmax(*lambda, join_two(&t));
    if (!status)
        drop_marked(&mixture->clusters);
    imp_release(t.cluster);
    imp_release(t.nearest);
    imp_release(t.cost);
    return status;
}
