/*
 * compare.c - finds nearest clusters from quantised rows, and in double precision where these are
 * not conclusive.
 *
 * The error of a distance computed from quantised rows is bounded. If the second nearest is farther
 * than the nearest by more than twice the bound, quantisation did not decide; otherwise all
 * clusters within twice the bound are compared again.
 */
#include "methods/compare.h"

#include <math.h>
#include <stdbool.h>

/* The state of a point's comparison. */
typedef struct finding {
    int32_t nearest;         /* -1: none so far */
    double distance, second; /* squared */
} finding;

/* Considers a cluster at that distance. */
static void consider(finding *f, int32_t cluster, double distance)
{
    bool nearer = distance < f->distance || f->nearest < 0 ||
                  (distance == f->distance && cluster < f->nearest);
    f->second = fmin(f->second, nearer ? f->distance : distance);
    if (nearer) {
        f->distance = distance;
        f->nearest = cluster;
    }
}

/* Considers the cluster at a place, in double. */
static void consider_place(finding *f, const imp_lineup *line, const imp_clusters *clusters,
                           const imp_group *group, size_t r, size_t place)
{
    int32_t c = (int32_t)line->standing[place].cluster;
    if (c != group->own[r])
        consider(f, c, imp_clusters_distance(clusters, (size_t)c, group->points.point[r]));
}

static finding begin_with_own(const imp_group *group, size_t r)
{
    finding f = {.nearest = -1, .distance = INFINITY, .second = INFINITY};
    if (group->own[r] >= 0)
        consider(&f, group->own[r], group->own_distance[r]);
    return f;
}

static void answer(imp_group *group, size_t r, const finding *f)
{
    group->nearest[r] = f->nearest;
    group->most[r] = f->distance;
    group->least[r] = f->second;
}

/* Compares with all clusters from `begin` on, in double. */
static void look_at_all(const imp_lineup *line, const imp_clusters *clusters, size_t begin,
                        imp_group *group, size_t r)
{
    finding f = begin_with_own(group, r);
    for (size_t place = begin; place < line->count; place++)
        consider_place(&f, line, clusters, group, r, place);
    answer(group, r, &f);
}

/* Compares in double with those from `begin` on that may be nearer than `limit`, squared. */
static void look_again(const imp_lineup *line, const imp_clusters *clusters, size_t begin,
                       imp_group *group, size_t r, double limit)
{
    const imp_kernels *kernels = line->frame.kernels;
    const imp_rounding *by = &group->points.by;
    size_t d = line->frame.dimensions, found;
    const int16_t *row = group->points.rows + r * imp_row_halves(d);
    double least = (group->points.square[r] - limit) / by->unit - 1;
    int32_t score = (int32_t)fmin(fmax(least, IMP_LEAST_SCORE), INT32_MAX);
    int32_t place[IMP_MOST_NEAREST_WIDTH];
    finding f = begin_with_own(group, r);
    bool all = kernels->nearest_close(group->leaders, r, score, place, &found);
    for (size_t i = 0; all && i < found; i++)
        consider_place(&f, line, clusters, group, r, (size_t)place[i]);
    while (!all && begin < line->count) {
        found = kernels->nearest_above(d, row, (float)by->ratio, &begin, line->count, line->packed,
                                       score, place);
        for (size_t i = 0; i < found; i++)
            consider_place(&f, line, clusters, group, r, (size_t)place[i]);
    }
    answer(group, r, &f);
}

/* Turns the scores of point r into its results. */
static void conclude(const imp_lineup *line, const imp_clusters *clusters, size_t begin,
                     imp_group *group, size_t r)
{
    double square = group->points.square[r], unit = group->points.by.unit;
    double error = group->points.error[r];
    const imp_standing *best = &line->standing[group->center[r]];
    finding f = {.nearest = (int32_t)best->cluster,
                 .distance = square - unit * group->best[r],
                 .second = square - unit * group->second[r]};
    int32_t own = group->own[r];
    if (own >= 0 && line->place[own] < begin)
        consider(&f, own, group->own_distance[r]);
    if (best->outside) {
        look_at_all(line, clusters, begin, group, r); /* its row is shorter than the mean */
    } else if (f.second - f.distance > 2 * error) {
        group->nearest[r] = f.nearest;
        group->most[r] = f.distance + error;
        group->least[r] = f.second - error;
    } else {
        look_again(line, clusters, begin, group, r, f.distance + 2 * error);
        group->least[r] =
            fmin(group->least[r], f.distance + error); /* clusters not compared in double */
    }
}

void imp_compare(const imp_lineup *line, const imp_clusters *clusters, size_t begin,
                 imp_group *group)
{
    imp_rounded *points = &group->points;
    bool any = line->count > 0;
    imp_round_points(&line->frame, points);
    if (any && points->by.usable)
        line->frame.kernels->nearest(points->count, line->frame.dimensions, points->rows,
                                     (float)points->by.ratio, begin, line->count, line->packed,
                                     group->leaders, group->center, group->best, group->second);
    for (size_t r = 0; r < points->count; r++)
        if (any && points->inside[r])
            conclude(line, clusters, begin, group, r);
        else
            look_at_all(line, clusters, begin, group, r);
}
