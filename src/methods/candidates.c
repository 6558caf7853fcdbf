/* candidates.c - which clusters may matter to queries. */
#include "methods/candidates.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/rooms.h"

enum {
    FEW = 256, /* with fewer queries or clusters columns do not pay */
    FEW_CLUSTERS = 16,
    SMALL_GROUP = 12,      /* points whose scores nearly stay in the L1 cache */
    SMALL = 1 << 19,       /* bytes of columns that stay in the L2 cache */
    LEAST_LOGARITHM = -60, /* of the terms that imp_kernels.nearest_shares() adds up */
    WIDE = 60, /* an error with which a share may be 0 because it is too small for a float */
    FIRST_HALVING = 2, /* tails are tried from a fourth of their limit on */
    TOGETHER = IMP_CANDIDATES_TOGETHER,
    USUAL = 16,          /* most queries have fewer than TOGETHER times this many candidates */
    MANY = 2048,         /* candidates that are listed together */
    MANY_SLOTS = 1 << 14 /* of all queries listed together */
};

/* The largest error of a probability, apart from float rounding. */
static const double tolerance = 8e-7;
/* Of a log density in double precision, relative to the largest of its terms; rather too large. */
static const double rounding = 16 * DBL_EPSILON;

/* fmax() would be a call, and has to handle NaN. */
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Those from the first one on. */
static imp_slots slots_from(const imp_slots *slots, size_t first)
{
    return (imp_slots){slots->best + first, slots->second + first, slots->leader + first};
}

/* ---- the clusters ---- */

/* How many points and queries are taken together. */
static void choose_sizes(imp_contest *contest)
{
    const imp_columns *columns = &contest->columns;
    size_t bytes = columns->count * contest->clusters->dimensions * sizeof(int16_t);
    contest->slots = columns->groups * columns->frame.kernels->lanes;
    contest->group = bytes <= SMALL ? SMALL_GROUP : IMP_NEAREST_POINTS;
    size_t fit = MANY_SLOTS / (contest->slots + contest->way + 1);
    contest->together = fit < 1 ? 1 : fit < IMP_MOST_QUERIES ? fit : IMP_MOST_QUERIES;
}

imp_status imp_contest_create(imp_contest *contest, const imp_clusters *clusters, size_t way,
                              bool open_set, bool shares, const imp_point_source *queries,
                              imp_error *error)
{
    size_t d = clusters->dimensions;
    double radius;
    *contest = (imp_contest){.clusters = clusters, .way = way, .shares = shares};
    if (queries->count < FEW || clusters->count < FEW_CLUSTERS)
        return IMP_OK;
    contest->origin = imp_allocate(d, sizeof *contest->origin);
    imp_columns *columns = &contest->columns;
    imp_status status = contest->origin
                            ? imp_source_center(queries, contest->origin, &radius, error)
                            : imp_fail_memory(error, "the answers");
    if (!status)
        status = imp_columns_create(columns, clusters, way, open_set || way == 0, contest->origin,
                                    radius, error);
    if (!status && columns->sections > 0) {
        contest->alike = columns->sections == 1 && columns->strays == 0;
        choose_sizes(contest);
        if (d <= IMP_MOST_BYTES && columns->frame.kernels->nearest_bytes_pay())
            status = imp_columns_add_bytes(columns, clusters, error);
    }
    if (status || contest->group == 0)
        imp_contest_release(contest);
    return status;
}

void imp_contest_release(imp_contest *contest)
{
    imp_columns_release(&contest->columns);
    imp_release(contest->origin);
    contest->origin = NULL;
    contest->group = 0;
}

/* ---- the memory of a thread ---- */

enum { ROOMS = 11 };

/* Candidates of one query. nearest_leaders() may write one entry per slot; kernels store and load
 * whole vectors, and up to four of them at a time. */
static size_t room_of_one(const imp_contest *contest)
{
    size_t clusters = contest->clusters->count, slots = contest->slots;
    return (clusters > slots ? clusters : slots) + TOGETHER +
           4 * contest->columns.frame.kernels->lanes;
}

size_t imp_candidates_room(const imp_contest *contest)
{
    return MANY + room_of_one(contest);
}

static void list_rooms(const imp_contest *contest, imp_candidates *c, imp_room rooms[ROOMS])
{
    const imp_columns *columns = &contest->columns;
    size_t outcomes = contest->way + 1, slots = contest->slots, together = contest->together;
    size_t all = imp_candidates_room(contest), halves = imp_row_halves(columns->frame.dimensions);
    const imp_room each[ROOMS] = {
        IMP_ROOM(c->points.rows, IMP_NEAREST_POINTS, halves),
        IMP_ROOM(c->scores, IMP_NEAREST_POINTS, columns->stride),
        IMP_ROOM(c->slots.best, together, slots),
        IMP_ROOM(c->slots.second, together, slots),
        IMP_ROOM(c->slots.leader, together, slots),
        IMP_ROOM(c->slot, slots, 1),
        IMP_ROOM(c->slot_share, together, slots),
        IMP_ROOM(c->class_share, together, outcomes),
        IMP_ROOM(c->cluster, all, 1),
        IMP_ROOM(c->class, all, 1),
        IMP_ROOM(c->point, all / TOGETHER + USUAL, 1),
    };
    memcpy(rooms, each, sizeof each);
}

imp_status imp_candidates_create(imp_candidates *c, const imp_contest *contest, imp_error *error)
{
    imp_room rooms[ROOMS];
    *c = (imp_candidates){0};
    list_rooms(contest, c, rooms);
    if (!imp_rooms_make(rooms, ROOMS))
        return imp_fail_memory(error, "the answers");
    for (size_t i = 0; i < contest->together; i++) {
        c->query[i].slots = slots_from(&c->slots, i * contest->slots);
        c->query[i].slot_share = c->slot_share + i * contest->slots;
        c->query[i].class_share = c->class_share + i * (contest->way + 1);
    }
    /* kernels also read the rows of points that are not there */
    memset(c->points.rows, 0, rooms[0].rows * rooms[0].columns * rooms[0].size);
    return IMP_OK;
}

void imp_candidates_release(imp_candidates *c, const imp_contest *contest)
{
    imp_room rooms[ROOMS];
    list_rooms(contest, c, rooms);
    imp_rooms_release(rooms, ROOMS);
}

/* ---- scores of points ---- */

void imp_candidates_score(const imp_contest *contest, imp_candidates *c)
{
    const imp_columns *columns = &contest->columns;
    imp_columns_score(columns, contest->bytes, &c->points, c->scores);
    double error = 0, square = 0, density = 0, halved = 0;
    for (size_t r = 0; r < c->points.count; r++)
        if (c->points.inside[r]) {
            error = larger(error, c->points.error[r]);
            square = larger(square, c->points.square[r]);
        }
    for (size_t s = 0; s < columns->sections; s++) {
        const imp_section *section = &columns->section[s];
        double slope = imp_columns_density(section, &c->points, 0).slope;
        density = larger(density, fabs(section->offset) + section->half * square);
        halved = larger(halved, slope); /* shares are those of scores without their last bit */
        c->per_density[s] = 1 / slope;
    }
    /* The error of an approximate log density is at most half of this, and so is the rounding of
     * an exact one. If R is the largest approximate one, the true probability of a class with
     * R - w is at most exp(error - w), with an error of that times expm1(error / 2), and that of
     * the approximate share. */
    c->error = error / imp_columns_least_sigma(columns) + rounding * density;
    c->limit = log(tolerance / (expm1(c->error / 2) + IMP_SHARE_ERROR + halved)) - c->error;
    c->limit_share = exp(larger(c->limit, LEAST_LOGARITHM));
    c->widest = log((double)(contest->way + 1)) - c->limit;
    double of_class = c->error + halved;
    c->least_of_class = of_class < WIDE ? (float)(0.999 * exp(-of_class)) : 0;
    for (size_t s = 0; s < columns->sections; s++) {
        double whole = c->error * c->per_density[s] + 3;
        c->apart[s] = whole < INT32_MAX ? (int32_t)whole : INT32_MAX;
    }
}

/* ---- queries ---- */

/* Finds the best of each slot and of all. */
static void score_slots(const imp_contest *contest, const imp_candidates *c, imp_query *q)
{
    const imp_columns *columns = &contest->columns;
    const imp_kernels *kernels = columns->frame.kernels;
    const int32_t *scores = c->scores + q->point * columns->stride;
    double most = -INFINITY;
    for (size_t s = 0; s < columns->sections; s++) {
        const imp_section *section = &columns->section[s];
        imp_slots slots = slots_from(&q->slots, section->first_group * kernels->lanes);
        q->line[s] = imp_columns_density(section, &c->points, q->point);
        q->largest[s] = kernels->nearest_maxima(
            section->end_group - section->first_group, columns->group + section->first_group,
            scores + section->begin, columns->cluster + section->begin, &slots);
        most = larger(most, q->line[s].base + q->line[s].slope * q->largest[s]);
    }
    q->most = most;
}

/* The shares of classes from those of their slots. */
static void share_classes(const imp_contest *contest, imp_query *q)
{
    const int32_t *class = contest->columns.slot_class;
    memset(q->class_share, 0, (contest->way + 1) * sizeof *q->class_share);
    for (size_t slot = 0; slot < contest->slots; slot++)
        if (class[slot] >= 0) {
            float *share = &q->class_share[class[slot]];
            *share = *share > q->slot_share[slot] ? *share : q->slot_share[slot];
        }
}

/* The shares of all slots and classes, and how far below the best classes matter. */
static void share_out(const imp_contest *contest, const imp_candidates *c, imp_query *q)
{
    const imp_columns *columns = &contest->columns;
    const imp_kernels *kernels = columns->frame.kernels;
    float tail[IMP_TAIL_STEPS] = {0}, limit = (float)c->limit_share;
    size_t step = 0; /* that of the first tail that is small enough: they fall */
    for (size_t s = 0; s < columns->sections; s++) {
        const imp_section *section = &columns->section[s];
        size_t first = section->first_group * kernels->lanes;
        size_t end = section->end_group * kernels->lanes;
        double slope = q->line[s].slope;
        double offset = q->line[s].base + slope * q->largest[s] - q->most;
        step = kernels->nearest_shares(end - first, q->slots.best + first, q->largest[s],
                                       (float)slope, (float)offset, limit / (1 << FIRST_HALVING),
                                       limit, q->slot_share + first, tail);
    }
    q->share = columns->ordered ? q->slot_share : q->class_share;
    if (!columns->ordered)
        share_classes(contest, q);
    bool known = c->limit > LEAST_LOGARITHM && step < IMP_TAIL_STEPS;
    q->window = known ? (double)(step + FIRST_HALVING) * log(2) - c->limit : c->widest;
}

/* Without shares only the best class of all is known, and only if each has one slot. */
static bool needs_shares(const imp_contest *contest)
{
    return contest->shares || !contest->columns.single;
}

void imp_candidates_prepare(const imp_contest *contest, imp_candidates *c)
{
    /* each step for all: one after the other, a query would have to wait for its own results */
    for (size_t i = 0; i < c->queries; i++)
        score_slots(contest, c, &c->query[i]);
    for (size_t i = 0; i < c->queries && needs_shares(contest); i++)
        share_out(contest, c, &c->query[i]);
    c->count = 0;
}

/* ---- their candidates ---- */

/* Collects the clusters of a slot that score at least `close`. */
static size_t collect_slot(const imp_columns *columns, const imp_query *q, const int32_t *scores,
                           size_t slot, int32_t close, uint32_t *cluster, uint32_t *class)
{
    size_t lanes = columns->frame.kernels->lanes, column = columns->column[slot], found = 0;
    cluster[0] = (uint32_t)q->slots.leader[slot];
    class[0] = (uint32_t)columns->slot_class[slot];
    if (q->slots.second[slot] < close)
        return 1;
    const imp_slot_group *group = &columns->group[slot / lanes];
    for (size_t lane = 0; lane < lanes; lane += group->width)
        for (size_t row = 0; row < group->depth; row++)
            if (scores[column + lane + row * lanes] >= close) {
                cluster[found] = (uint32_t)columns->cluster[column + lane + row * lanes];
                class[found++] = (uint32_t)columns->slot_class[slot];
            }
    return found;
}

/* Collects every cluster that may be the best of a class whose score is no less than `least`,
 * strays first; returns how many. */
static size_t collect(const imp_contest *contest, const imp_candidates *c, imp_query *q,
                      double least, uint32_t *cluster, uint32_t *class)
{
    const imp_columns *columns = &contest->columns;
    const imp_kernels *kernels = columns->frame.kernels;
    const int32_t *scores = c->scores + q->point * columns->stride;
    size_t found = 0;
    for (size_t i = 0; i < columns->strays; i++) {
        int32_t label = contest->clusters->label[columns->stray[i]];
        class[found] = label < 0 ? (uint32_t)contest->way : (uint32_t)label;
        cluster[found++] = columns->stray[i];
    }
    for (size_t s = 0; s < columns->sections; s++) {
        const imp_section *section = &columns->section[s];
        size_t first = section->first_group * kernels->lanes, leaders;
        size_t end = section->end_group * kernels->lanes;
        q->enough = imp_whole_score((least - q->line[s].base) * c->per_density[s]);
        q->alone = columns->single && contest->alike &&
                   kernels->nearest_leaders(end, &q->slots, columns->slot_class, q->enough,
                                            c->apart[s], cluster, class, &leaders);
        if (q->alone)
            return leaders;
        size_t slots =
            kernels->nearest_over(end - first, q->slots.best + first, q->enough, c->slot);
        for (size_t i = 0; i < slots; i++) {
            size_t slot = first + c->slot[i];
            int64_t close = (int64_t)q->slots.best[slot] - c->apart[s];
            if (columns->single || !(q->slot_share[slot] <
                                     c->least_of_class * q->class_share[columns->slot_class[slot]]))
                found += collect_slot(columns, q, scores, slot,
                                      close > IMP_LEAST_SCORE ? (int32_t)close : IMP_LEAST_SCORE,
                                      cluster + found, class + found);
        }
    }
    return found;
}

bool imp_candidates_list(const imp_contest *contest, imp_candidates *c, imp_query *q)
{
    /* no class that could be the best stays approximate */
    double window = needs_shares(contest) ? larger(c->error, q->window) : c->error;
    uint32_t *cluster = c->cluster + c->count, *point = c->point + c->count / TOGETHER;
    q->first = c->count;
    q->count = collect(contest, c, q, q->most - window, cluster, c->class + c->count);
    for (size_t i = 0; i < TOGETHER; i++) /* up to a multiple */
        cluster[q->count + i] = cluster[0];
    size_t fours = (q->count + TOGETHER - 1) / TOGETHER, done = 0;
    do { /* most often once, which can be predicted */
        for (size_t i = 0; i < USUAL; i++)
            point[done + i] = (uint32_t)q->point;
        done += USUAL;
    } while (done < fours);
    c->count += fours * TOGETHER;
    return c->count > MANY;
}

void imp_candidates_choose_bytes(imp_contest *contest, imp_candidates *c)
{
    size_t d = contest->clusters->dimensions, looked_at = 0, points = 0;
    contest->bytes = contest->columns.packed_bytes != NULL;
    if (!contest->bytes)
        return;
    imp_candidates_score(contest, c);
    for (size_t r = 0; r < c->points.count; r++) {
        if (!c->points.inside[r])
            continue;
        c->queries = 1;
        c->query[0].point = r;
        imp_candidates_prepare(contest, c);
        imp_candidates_list(contest, c, &c->query[0]);
        looked_at += c->query[0].count;
        points++;
    }
    c->queries = 0;
    /* In cycles: one for 64 byte products, about one per dimension in double, plus some per
     * cluster. */
    contest->bytes = looked_at * (d + 20) * 64 < points * contest->columns.count * d;
}
