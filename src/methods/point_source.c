/*
 * point_source.c - sources of points in memory and in .npy files, and reading them in any order.
 */
#include "methods/point_source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare_doubles.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"

/* ---- memory ---- */

static imp_status read_rows(const imp_point_source *source, size_t begin, size_t count, float *room,
                            const float **rows, imp_error *error)
{
    (void)count, (void)room, (void)error;
    *rows = (const float *)source->where + begin * source->dimensions;
    return IMP_OK;
}

imp_point_source imp_source_of_rows(const float *rows, size_t count, size_t dimensions)
{
    return (imp_point_source){.dimensions = dimensions,
                              .count = count,
                              .read = read_rows,
                              .in_place = true,
                              .where = rows};
}

imp_point_source imp_source_of_labeled(const float *rows, const int32_t *label, size_t count,
                                       size_t dimensions)
{
    imp_point_source source = imp_source_of_rows(rows, count, dimensions);
    source.label = label;
    source.label_count = label ? count : 0;
    return source;
}

/* Only a block that spans both arrays has to be assembled. */
static imp_status read_points(const imp_point_source *source, size_t begin, size_t count,
                              float *room, const float **rows, imp_error *error)
{
    (void)error;
    const imp_points *points = source->where;
    size_t first = points->first_count > begin ? points->first_count - begin : 0;
    *rows = imp_points_row(points, begin);
    if (first > 0 && first < count) {
        size_t values = first * points->dimensions;
        memcpy(room, *rows, values * sizeof *room);
        memcpy(room + values, points->second, (count - first) * points->dimensions * sizeof *room);
        *rows = room;
    }
    return IMP_OK;
}

imp_point_source imp_source_of_points(const imp_points *points)
{
    return (imp_point_source){.dimensions = points->dimensions,
                              .count = imp_points_count(points),
                              .label = points->label,
                              .label_count = points->label ? points->first_count : 0,
                              .read = read_points,
                              .in_place = points->second_count == 0,
                              .where = points};
}

/* ---- files ---- */

static imp_status read_shards(const imp_point_source *source, size_t begin, size_t count,
                              float *room, const float **rows, imp_error *error)
{
    return imp_npy_shards_read_ahead(source->where, begin, count, room, rows, error);
}

imp_point_source imp_source_of_shards(const imp_npy_shards *shards)
{
    return (imp_point_source){
        .dimensions = shards->columns, .count = shards->rows, .read = read_shards, .where = shards};
}

/* ---- some of the points ---- */

size_t imp_source_unlabeled(const imp_point_source *source)
{
    return imp_count_unlabeled(source->label, source->label_count) + source->count -
           source->label_count;
}

static imp_status copy_row(const imp_point_source *source, size_t point, float *to,
                           imp_error *error)
{
    const float *row;
    imp_status status = source->read(source, point, 1, to, &row, error);
    if (!status && row != to)
        memcpy(to, row, source->dimensions * sizeof *to);
    return status;
}

imp_status imp_source_gather(const imp_point_source *source, const uint32_t *number, size_t count,
                             float *rows, imp_error *error)
{
    imp_status status = IMP_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = copy_row(source, number[i], rows + i * source->dimensions, error);
    return status;
}

imp_status imp_source_sample(const imp_point_source *source, size_t most, float **room,
                             const float **rows, size_t *count, imp_error *error)
{
    size_t n = source->count, values;
    *room = NULL;
    *count = n < most ? n : most;
    if (*count == n && source->in_place)
        return source->read(source, 0, n, NULL, rows, error);
    if (imp_multiply(*count, source->dimensions, &values))
        *room = imp_allocate(values, sizeof **room);
    *rows = *room;
    imp_status status = *room ? IMP_OK : imp_fail_memory(error, "a sample of points");
    for (size_t i = 0; i < *count && !status; i++)
        status =
            copy_row(source, imp_block_begin(n, *count, i), *room + i * source->dimensions, error);
    return status;
}

/* ---- blocks in an order ---- */

imp_status imp_reader_create(imp_reader *reader, const imp_point_source *source,
                             const uint32_t *order, size_t most, imp_error *error)
{
    *reader = (imp_reader){.source = source, .order = order, .most = most};
    size_t values;
    if (source->in_place && !order)
        return IMP_OK;
    if (imp_multiply(most, source->dimensions, &values))
        reader->room = imp_allocate(values, sizeof *reader->room);
    return reader->room ? IMP_OK : imp_fail_memory(error, "a block of points");
}

void imp_reader_release(imp_reader *reader)
{
    imp_release(reader->room);
    *reader = (imp_reader){0};
}

imp_status imp_reader_read(imp_reader *reader, size_t begin, size_t count, const float **rows,
                           imp_error *error)
{
    const imp_point_source *source = reader->source;
    if (!reader->order)
        return source->read(source, begin, count, reader->room, rows, error);
    *rows = reader->room;
    return imp_source_gather(source, reader->order + begin, count, reader->room, error);
}

/* ---- location and spread ---- */

imp_status imp_source_center(const imp_point_source *source, float *origin, double *radius,
                             imp_error *error)
{
    enum { SAMPLE = 1000, SEVERAL = 4 };
    size_t n = source->count, d = source->dimensions, step = n / SAMPLE + 1;
    size_t seen = (n + step - 1) / step;
    uint32_t numbers[SAMPLE];
    for (size_t s = 0; s < seen; s++)
        numbers[s] = (uint32_t)(s * step);
    imp_reader sample;
    const float *rows = NULL;
    imp_status status = imp_reader_create(&sample, source, numbers, SAMPLE, error);
    if (!status)
        status = imp_reader_read(&sample, 0, seen, &rows, error);
    for (size_t j = 0; j < d && !status; j++) {
        double sum = 0;
        for (size_t s = 0; s < seen; s++)
            sum += rows[s * d + j];
        origin[j] = seen > 0 ? (float)(sum / (double)seen) : 0;
    }
    double square[SAMPLE] = {0};
    for (size_t s = 0; s < seen && !status; s++)
        for (size_t j = 0; j < d; j++)
            square[s] += pow(rows[s * d + j] - (double)origin[j], 2);
    imp_reader_release(&sample);
    qsort(square, seen, sizeof *square, imp_compare_doubles);
    double most = seen > 0 ? square[seen - 1 - seen / 10] : 0;
    *radius = most > 0 ? SEVERAL * sqrt(most) : INFINITY;
    return status;
}
