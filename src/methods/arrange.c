/* arrange.c - puts the points of a fit in order, some in memory and the rest as a source. */
#include "methods/arrange.h"

#include <string.h>

#include "base/bisect.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "methods/held_out.h"

/* ---- the order ---- */

/* The number of an unlabelled point, by its place among those. */
static size_t number_at(const imp_arranged *points, size_t place)
{
    return place < points->early_count ? points->early[place]
                                       : points->source->label_count + place - points->early_count;
}

static bool is_placed_before(const void *places, size_t index, const void *place)
{
    return ((const uint32_t *)places)[index] < *(const size_t *)place;
}

/* The first of the moved points at this place or behind it. */
static size_t first_moved(const imp_arranged *points, size_t place)
{
    return imp_bisect(points->place, points->moved_count, is_placed_before, &place);
}

size_t imp_arranged_at(const imp_arranged *points, size_t position)
{
    if (position < points->labeled + points->near)
        return points->number[position];
    size_t place = position - points->labeled, m = first_moved(points, place);
    return m < points->moved_count && points->place[m] == place ? points->moved[m]
                                                                : number_at(points, place);
}

/* Lists labelled points, and unlabelled ones among them. */
static void list_labeled(imp_arranged *points)
{
    const imp_point_source *source = points->source;
    size_t labeled = 0;
    for (size_t i = 0; i < source->label_count; i++)
        if (source->label[i] >= 0)
            points->number[labeled++] = (uint32_t)i;
        else
            points->early[points->early_count++] = (uint32_t)i;
}

/* Point i of those near at hand changes places with the first of an i-th part of all. */
static void choose_near(imp_arranged *points)
{
    uint32_t *near = points->number + points->labeled;
    for (size_t i = 0; i < points->near; i++)
        near[i] = (uint32_t)number_at(points, i);
    for (size_t i = 0; i < points->near; i++) {
        size_t from = imp_block_begin(points->unlabeled, points->near, i);
        uint32_t leaves = near[i];
        if (from < points->near) {
            near[i] = near[from];
            near[from] = leaves;
        } else {
            near[i] = (uint32_t)number_at(points, from);
            points->place[points->moved_count] = (uint32_t)from;
            points->moved[points->moved_count++] = leaves;
        }
    }
}

/* ---- the rest ---- */

/* Blocks of it, as they are. */
static imp_status read_far(const imp_point_source *rest, size_t begin, size_t count, float *room,
                           const float **rows, imp_error *error)
{
    const imp_arranged *points = rest->where;
    const imp_point_source *source = points->source;
    size_t d = source->dimensions, first = points->near + begin, end = first + count;
    imp_status status = IMP_OK;
    for (size_t place = first, some; place < end && !status; place += some) {
        float *to = room + (place - first) * d;
        const float *from;
        some = place < points->early_count ? 1 : end - place;
        status = source->read(source, number_at(points, place), some, to, &from, error);
        if (!status && from != to)
            memcpy(to, from, some * d * sizeof *to);
    }
    for (size_t m = first_moved(points, first);
         m < points->moved_count && points->place[m] < end && !status; m++)
        memcpy(room + (points->place[m] - first) * d, points->moved_row + m * d, d * sizeof *room);
    *rows = room;
    return status;
}

static imp_status map_rows(const void *context, const float *rows, size_t begin, size_t count,
                           float *out, imp_error *error)
{
    (void)begin;
    return imp_metric_apply(context, rows, NULL, count, 0, out, error);
}

imp_status imp_arranged_rest(imp_arranged *points, size_t begin, size_t keep,
                             const imp_point_source **rest, imp_error *error)
{
    size_t d = points->source->dimensions, at_hand = points->labeled + points->near - begin;
    points->at_hand = imp_source_of_rows(points->rows + begin * d, at_hand, d);
    *rest = &points->at_hand;
    if (points->near == points->unlabeled)
        return IMP_OK;
    points->far = (imp_point_source){.dimensions = d,
                                     .count = points->unlabeled - points->near,
                                     .read = read_far,
                                     .where = points};
    imp_status status = imp_mapped_source_create(&points->far_mapped, &points->far, d, map_rows,
                                                 points->metric, keep, error);
    points->both = (imp_source_pair){&points->at_hand, &points->far_mapped.source};
    points->rest = imp_source_of_pair(&points->both);
    *rest = &points->rest;
    return status;
}

/* ---- all of it ---- */

imp_status imp_arrange(imp_arranged *points, const imp_point_source *source, size_t most,
                       imp_error *error)
{
    size_t d = source->dimensions, unlabeled = imp_source_unlabeled(source);
    *points = (imp_arranged){.source = source,
                             .labeled = source->count - unlabeled,
                             .unlabeled = unlabeled,
                             .near = unlabeled < most ? unlabeled : most};
    size_t in_memory = points->labeled + points->near, values = 0;
    size_t early = imp_count_unlabeled(source->label, source->label_count);
    points->number = imp_allocate(in_memory, sizeof *points->number);
    points->early = imp_allocate(early, sizeof *points->early);
    points->place = imp_allocate(points->near, sizeof *points->place);
    points->moved = imp_allocate(points->near, sizeof *points->moved);
    if (imp_multiply(in_memory, d, &values))
        points->rows = imp_allocate(values, sizeof *points->rows);
    if (!points->number || !points->early || !points->place || !points->moved || !points->rows)
        return imp_fail_memory(error, "points in a metric");
    list_labeled(points);
    choose_near(points);
    points->moved_row = imp_allocate(points->moved_count * d, sizeof *points->moved_row);
    if (!points->moved_row)
        return imp_fail_memory(error, "points in a metric");
    imp_status status = imp_source_gather(source, points->number, in_memory, points->rows, error);
    return status ? status
                  : imp_source_gather(source, points->moved, points->moved_count, points->moved_row,
                                      error);
}

imp_status imp_arranged_map(imp_arranged *points, const imp_metric *metric, imp_error *error)
{
    points->metric = metric;
    return imp_metric_apply(metric, points->rows, NULL, points->labeled + points->near, 0,
                            points->rows, error);
}

imp_status imp_arranged_spread(const imp_arranged *points, double *spread, imp_error *error)
{
    size_t d = points->source->dimensions, n = points->source->count;
    if (points->near == points->unlabeled)
        return imp_spread_of(points->rows, n, d, spread, error);
    uint32_t number[IMP_SPREAD_ROWS];
    size_t count = n < IMP_SPREAD_ROWS ? n : IMP_SPREAD_ROWS;
    for (size_t i = 0; i < count; i++)
        number[i] = (uint32_t)imp_arranged_at(points, imp_block_begin(n, count, i));
    float *rows = imp_allocate(count * d, sizeof *rows);
    imp_status status = rows ? imp_source_gather(points->source, number, count, rows, error)
                             : imp_fail_memory(error, "the spread of points");
    if (!status)
        status = imp_metric_apply(points->metric, rows, NULL, count, 0, rows, error);
    if (!status)
        status = imp_spread_of(rows, count, d, spread, error);
    imp_release(rows);
    return status;
}

void imp_arranged_release(imp_arranged *points)
{
    imp_mapped_source_release(&points->far_mapped);
    imp_release(points->number);
    imp_release(points->rows);
    imp_release(points->early);
    imp_release(points->place);
    imp_release(points->moved);
    imp_release(points->moved_row);
    *points = (imp_arranged){0};
}
