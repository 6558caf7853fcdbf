/*
 * farthest_first.c - the farthest-first traversal (Gonzalez, 1985), with which Kulis and Jordan
 * choose lambda for a wanted number of clusters, and that choice.
 *
 * With the first k points chosen, every point is within the radius r_k of one of them, while those
 * k are at least r_(k-1) apart. A threshold between the two makes k clusters of them.
 */
#include "methods/farthest_first.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "methods/gaussian.h"

enum {
    PART = 1 << 14,    /* values that one thread measures at a time */
    BLOCK = 64 * PART, /* values that all threads measure together */
};

/* The number of points with that many values, at least one. */
static size_t points_of(size_t values, size_t dimensions)
{
    return values / dimensions > 0 ? values / dimensions : 1;
}

imp_status imp_traversal_begin(imp_traversal *traversal, const imp_point_source *source,
                               int threads, imp_error *error)
{
    *traversal = (imp_traversal){
        .threads = imp_parallel_threads(threads),
        .center = imp_allocate(source->dimensions, sizeof *traversal->center),
        .distance = imp_allocate(source->count, sizeof *traversal->distance),
    };
    imp_status status = imp_reader_create(&traversal->reader, source, NULL,
                                          points_of(BLOCK, source->dimensions), error);
    if (!status && (!traversal->center || !traversal->distance))
        status = imp_fail_memory(error, "a farthest-first traversal");
    if (status) {
        imp_traversal_end(traversal);
        return status;
    }
    for (size_t i = 0; i < source->count; i++)
        traversal->distance[i] = INFINITY;
    return IMP_OK;
}

void imp_traversal_end(imp_traversal *traversal)
{
    imp_reader_release(&traversal->reader);
    imp_release(traversal->center);
    imp_release(traversal->distance);
    *traversal = (imp_traversal){0};
}

/* The point farthest from all chosen ones, the first of several. */
static size_t farthest(const imp_traversal *traversal)
{
    size_t row = 0;
    for (size_t i = 1; i < traversal->reader.source->count; i++)
        if (traversal->distance[i] > traversal->distance[row])
            row = i;
    return row;
}

/* A block of points to measure against the center. */
typedef struct block {
    const imp_traversal *traversal;
    size_t begin, count, part;
    const float *rows;
} block;

static void measure_part(size_t part, int worker, void *context)
{
    (void)worker;
    const block *b = context;
    const imp_traversal *traversal = b->traversal;
    size_t d = traversal->reader.source->dimensions, begin = part * b->part;
    size_t end = b->count - begin < b->part ? b->count : begin + b->part;
    for (size_t i = begin; i < end; i++) {
        double distance = imp_distance_between(b->rows + i * d, traversal->center, d);
        if (distance < traversal->distance[b->begin + i])
            traversal->distance[b->begin + i] = distance;
    }
}

imp_status imp_traversal_next(imp_traversal *traversal, size_t *row, imp_error *error)
{
    imp_reader *reader = &traversal->reader;
    size_t d = reader->source->dimensions, n = reader->source->count;
    *row = farthest(traversal);
    block b = {.traversal = traversal, .part = points_of(PART, d)};
    imp_status status = imp_reader_read(reader, *row, 1, &b.rows, error);
    if (!status)
        memcpy(traversal->center, b.rows, d * sizeof *traversal->center);
    for (; b.begin < n && !status; b.begin += b.count) {
        b.count = n - b.begin < reader->most ? n - b.begin : reader->most;
        status = imp_reader_read(reader, b.begin, b.count, &b.rows, error);
        if (!status)
            imp_parallel((b.count + b.part - 1) / b.part, traversal->threads, measure_part, &b);
    }
    traversal->distance[*row] = -1;
    return status;
}

double imp_traversal_radius(const imp_traversal *traversal)
{
    double radius = traversal->distance[farthest(traversal)];
    return radius > 0 ? radius : 0;
}

/* ---- choosing lambda ---- */

/* For one cluster: no point is farther than twice the radius from any mean of points (squared: 4
 * times). */
static double lambda_of_one(double radius)
{
    return 4 * radius;
}

/* Half-way between two radii. If both are equal up to rounding, no threshold separates them: it is
 * set below both, for too many clusters rather than too few. */
static double threshold_between(double before, double radius)
{
    bool tie = before <= radius * (1 + 1e-9);
    return tie ? radius * (1 - 1e-6) : (before + radius) / 2;
}

imp_status imp_find_gap(const imp_point_source *source, double least_gap, int threads,
                        imp_distance_gap *found, imp_error *error)
{
    imp_traversal traversal;
    imp_status status = imp_traversal_begin(&traversal, source, threads, error);
    if (status)
        return status;

    /* At most half as many clusters as points, or every point would be its own. */
    size_t most = source->count / 2, row;
    status = imp_traversal_next(&traversal, &row, error);
    double radius = imp_traversal_radius(&traversal), gap = least_gap;
    *found = (imp_distance_gap){1, lambda_of_one(radius)};
    for (size_t k = 2; k <= most && radius > 0 && !status; k++) {
        double before = radius;
        status = imp_traversal_next(&traversal, &row, error);
        radius = imp_traversal_radius(&traversal);
        if (before > gap * radius) {
            gap = radius > 0 ? before / radius : INFINITY;
            *found = (imp_distance_gap){k, threshold_between(before, radius)};
        }
    }
    imp_traversal_end(&traversal);
    return status;
}

imp_status imp_order_farthest_first(const imp_point_source *source, double lambda, int threads,
                                    uint32_t *order, imp_error *error)
{
    imp_traversal traversal;
    imp_status status = imp_traversal_begin(&traversal, source, threads, error);
    if (status)
        return status;
    size_t used = 0, row;
    do {
        status = imp_traversal_next(&traversal, &row, error);
        order[used++] = (uint32_t)row;
    } while (!status && imp_traversal_radius(&traversal) > lambda);
    for (size_t i = 0; i < source->count && !status; i++)
        if (traversal.distance[i] >= 0)
            order[used++] = (uint32_t)i;
    imp_traversal_end(&traversal);
    return status;
}
