/*
 * compare.c - nearest clusters from rounded rows, and in double precision where these do not tell.
 *
 * No distance that follows from rounded rows is off by more than an error that is known. Where the
 * second is farther than the nearest by more than two of these errors, rounding did not decide;
 * elsewhere all within two errors of the nearest are compared again.
 */
#include "methods/compare.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Lengths between which floats neither lose digits nor overflow when squared. */
#define LEAST_LENGTH 1e-15
#define MOST_LENGTH 1e15

/* How squared distances follow from a group's scores: |x|^2 - unit * score. */
typedef struct scale {
    bool usable;
    double per_step;                      /* 1 over the step of the group's rows */
    double ratio;                         /* the clusters' step by that */
    double unit;                          /* twice the product of both steps */
    double error, per_length, per_square; /* the most it is off: error + per_length |x| + ... */
} scale;

static scale choose_scale(const imp_lineup *line, double longest)
{
    double d = (double)line->dimensions;
    double step =
        fmax(longest, line->reach / 2) / IMP_LONGEST_ROW; /* so that |c|^2 / 2 fits, too */
    double center_step = line->reach / IMP_LONGEST_ROW;
    double length = step * IMP_LONGEST_ROW;
    scale s = {.usable = line->count > 0 && d <= IMP_MOST_DIMENSIONS && length > LEAST_LENGTH &&
                         length < MOST_LENGTH,
               .per_step = 1 / step,
               .ratio = center_step / step,
               .unit = 2 * step * center_step};
    /* Rows x and c are without the fractions e and f of a step, so that a product xc lacks
     * (x + e)f + ec, in which |e| and |f| are at most: */
    double lost = IMP_MOST_ROUNDING * sqrt(d);
    s.error = s.unit * (lost * (IMP_LONGEST_ROW + lost) + IMP_HALF_SQUARE_ERROR);
    s.per_length = s.unit * lost / step;
    s.per_square = (d + 8) * FLT_EPSILON; /* of |x|^2, a sum of floats */
    return s;
}

/* Whether a point is within the line's radius, and not just because of rounding. */
static bool inside(const imp_lineup *line, const imp_group *group, size_t r)
{
    return group->length[r] < 0.99 * line->radius;
}

static scale round_group(const imp_lineup *line, imp_group *group)
{
    size_t d = line->dimensions;
    double longest = 0;
    for (size_t r = 0; r < group->count; r++) {
        group->square[r] = line->kernels->nearest_square(d, group->point[r], line->origin);
        group->length[r] = sqrt(group->square[r]);
        if (inside(line, group, r))
            longest = fmax(longest, group->length[r]);
    }
    scale s = choose_scale(line, longest);
    for (size_t r = 0; s.usable && r < group->count; r++)
        if (inside(line, group, r))
            line->kernels->nearest_round(d, group->point[r], line->origin, (float)s.per_step,
                                         group->rows + r * imp_row_halves(d));
    return s;
}

/* What is known of a point in the middle of its comparison. */
typedef struct finding {
    int32_t nearest;         /* -1: no cluster so far */
    double distance, second; /* squared */
} finding;

/* A cluster at that distance comes in. */
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

/* What the cluster at a place adds, in double. */
static void consider_place(finding *f, const imp_lineup *line, const imp_clusters *clusters,
                           const imp_group *group, size_t r, size_t place)
{
    int32_t c = (int32_t)line->standing[place].cluster;
    if (c != group->own[r])
        consider(f, c, imp_clusters_distance(clusters, (size_t)c, group->point[r]));
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
                       imp_group *group, size_t r, const scale *s, double limit)
{
    const imp_kernels *kernels = line->kernels;
    size_t d = line->dimensions, found;
    const int16_t *row = group->rows + r * imp_row_halves(d);
    double least = (group->square[r] - limit) / s->unit - 1;
    int32_t score = (int32_t)fmin(fmax(least, IMP_LEAST_SCORE), INT32_MAX);
    int32_t place[IMP_MOST_NEAREST_WIDTH];
    finding f = begin_with_own(group, r);
    bool all = kernels->nearest_close(group->leaders, r, score, place, &found);
    for (size_t i = 0; all && i < found; i++)
        consider_place(&f, line, clusters, group, r, (size_t)place[i]);
    while (!all && begin < line->count) {
        found = kernels->nearest_above(d, row, (float)s->ratio, &begin, line->count, line->packed,
                                       score, place);
        for (size_t i = 0; i < found; i++)
            consider_place(&f, line, clusters, group, r, (size_t)place[i]);
    }
    answer(group, r, &f);
}

/* Turns the scores of point r into its answers. */
static void conclude(const imp_lineup *line, const imp_clusters *clusters, size_t begin,
                     imp_group *group, size_t r, const scale *s)
{
    double square = group->square[r];
    double error = s->error + s->per_length * group->length[r] + s->per_square * square;
    const imp_standing *best = &line->standing[group->center[r]];
    finding f = {.nearest = (int32_t)best->cluster,
                 .distance = square - s->unit * group->best[r],
                 .second = square - s->unit * group->second[r]};
    int32_t own = group->own[r];
    if (own >= 0 && line->place[own] < begin)
        consider(&f, own, group->own_distance[r]);
    if (best->outside) {
        look_at_all(line, clusters, begin, group, r); /* it looks nearer than it is */
    } else if (f.second - f.distance > 2 * error) {
        group->nearest[r] = f.nearest;
        group->most[r] = f.distance + error;
        group->least[r] = f.second - error;
    } else {
        look_again(line, clusters, begin, group, r, s, f.distance + 2 * error);
        group->least[r] = fmin(group->least[r], f.distance + error); /* those not looked at */
    }
}

void imp_compare(const imp_lineup *line, const imp_clusters *clusters, size_t begin,
                 imp_group *group)
{
    scale s = round_group(line, group);
    if (s.usable)
        line->kernels->nearest(group->count, line->dimensions, group->rows, (float)s.ratio, begin,
                               line->count, line->packed, group->leaders, group->center,
                               group->best, group->second);
    for (size_t r = 0; r < group->count; r++)
        if (s.usable && inside(line, group, r))
            conclude(line, clusters, begin, group, r, &s);
        else
            look_at_all(line, clusters, begin, group, r);
}
