/*
 * lineup.c - sorts clusters by movement and packs them for the kernels.
 *
 * By the triangle inequality the distance of a point to a cluster shrinks by at most the movement
 * of its mean. Hamerly (2010) keeps one bound per point for all clusters but its own, and weakens
 * it by the largest movement of any mean; a few clusters that keep moving then spoil it for all.
 * Here a point is compared with those few, and its bound weakens only by the largest movement of
 * the others.
 */
#include "methods/lineup.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define LEAST_REACH 1e-300 /* so that the step is never 0 */
#define ROOM 1.25          /* spare reach, for clusters to come */

imp_status imp_lineup_create(imp_lineup *line, size_t dimensions, const float *origin,
                             double radius, imp_error *error)
{
    *line = (imp_lineup){
        .frame = {
            .dimensions = dimensions, .origin = origin, .radius = radius, .reach = LEAST_REACH}};
    imp_status status = imp_kernels_choose(&line->frame.kernels, error);
    size_t values;
    if (!status && imp_multiply(line->frame.kernels->nearest_width, dimensions, &values))
        line->rows = imp_allocate(values, sizeof *line->rows);
    if (!status && !line->rows)
        status = imp_fail_memory(error, "the clusters");
    return status;
}

void imp_lineup_release(imp_lineup *line)
{
    imp_release(line->standing);
    imp_release(line->place);
    imp_release(line->mean);
    imp_release(line->packed);
    imp_release(line->rows);
    *line = (imp_lineup){0};
}

/* Room for `count` clusters. */
static imp_status reserve(imp_lineup *line, size_t count, imp_error *error)
{
    size_t d = line->frame.dimensions, capacity = line->capacity ? line->capacity : 64, values,
           numbers;
    if (count <= line->capacity)
        return IMP_OK;
    while (capacity < count)
        capacity *= 2;
    size_t panels = capacity / line->frame.kernels->nearest_width + 1;
    if (!imp_multiply(capacity, d, &values) ||
        !imp_multiply(panels, line->frame.kernels->nearest_panel(d), &numbers))
        return imp_fail_memory(error, "the clusters");
    imp_lineup larger = *line;
    larger.capacity = capacity;
    larger.standing = imp_allocate(capacity, sizeof *larger.standing);
    larger.place = imp_allocate(capacity, sizeof *larger.place);
    larger.mean = imp_allocate(values, sizeof *larger.mean);
    larger.packed = imp_allocate(numbers, sizeof *larger.packed);
    larger.packed_count = 0;
    larger.rows = NULL;
    if (!larger.standing || !larger.place || !larger.mean || !larger.packed) {
        imp_lineup_release(&larger);
        return imp_fail_memory(error, "the clusters");
    }
    if (line->count > 0) {
        memcpy(larger.standing, line->standing, line->count * sizeof *line->standing);
        memcpy(larger.place, line->place, line->count * sizeof *line->place);
        memcpy(larger.mean, line->mean, line->count * d * sizeof *line->mean);
    }
    larger.rows = line->rows;
    line->rows = NULL;
    imp_lineup_release(line);
    *line = larger;
    return IMP_OK;
}

static double length(const double *a, const double *b, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(sum);
}

static double norm(const double *mean, const float *origin, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++)
        sum += (mean[j] - origin[j]) * (mean[j] - origin[j]);
    return sqrt(sum);
}

/* Packs what is not packed yet. */
static void pack(imp_lineup *line)
{
    size_t d = line->frame.dimensions, width = line->frame.kernels->nearest_width;
    double per_step = IMP_LONGEST_ROW / line->frame.reach;
    if (line->packed_count == 0)
        line->frame.lost = 0;
    for (size_t first = line->packed_count / width * width; first < line->count; first += width) {
        size_t count = line->count - first < width ? line->count - first : width;
        for (size_t i = 0; i < count; i++) {
            const imp_standing *standing = &line->standing[first + i];
            const double *mean = line->mean + standing->cluster * d;
            double factor = per_step;
            if (standing->outside)
                factor *= line->frame.radius / norm(mean, line->frame.origin, d);
            for (size_t j = 0; j < d; j++)
                line->rows[i * d + j] = (float)((mean[j] - line->frame.origin[j]) * factor);
        }
        size_t panel = first / width * line->frame.kernels->nearest_panel(d);
        double lost =
            line->frame.kernels->nearest_pack(count, d, line->rows, NULL, line->packed + panel);
        line->frame.lost =
            fmax(line->frame.lost, imp_lost_by_packing(lost, false, (double)d, per_step));
    }
    line->packed_count = line->count;
}

static int compare_standings(const void *a, const void *b)
{
    const imp_standing *x = a, *y = b;
    if (x->moved != y->moved)
        return x->moved < y->moved ? -1 : 1;
    return (x->cluster > y->cluster) - (x->cluster < y->cluster);
}

imp_status imp_lineup_begin(imp_lineup *line, const imp_clusters *clusters, imp_error *error)
{
    imp_status status = reserve(line, clusters->count, error);
    if (status)
        return status;
    size_t d = line->frame.dimensions, count = clusters->count;
    line->frame.reach = LEAST_REACH;
    for (size_t c = 0; c < count; c++) {
        const double *mean = imp_clusters_mean(clusters, c);
        double moved = c < line->known ? length(mean, line->mean + c * d, d) : INFINITY;
        double far = norm(mean, line->frame.origin, d);
        line->standing[c] = (imp_standing){
            .moved = moved, .cluster = (uint32_t)c, .outside = far > line->frame.radius};
        line->frame.reach = fmax(line->frame.reach, fmin(far, line->frame.radius));
    }
    if (count > 0) {
        qsort(line->standing, count, sizeof *line->standing, compare_standings);
        memcpy(line->mean, clusters->mean, count * d * sizeof *line->mean);
    }
    for (size_t place = 0; place < count; place++)
        line->place[line->standing[place].cluster] = (uint32_t)place;
    line->count = line->known = count;
    line->packed_count = 0;
    pack(line);
    return IMP_OK;
}

imp_status imp_lineup_extend(imp_lineup *line, const imp_clusters *clusters, imp_error *error)
{
    imp_status status = reserve(line, clusters->count, error);
    if (status)
        return status;
    size_t d = line->frame.dimensions;
    for (size_t c = line->count; c < clusters->count; c++) {
        const double *mean = imp_clusters_mean(clusters, c);
        double far = norm(mean, line->frame.origin, d);
        if (fmin(far, line->frame.radius) > line->frame.reach) {
            line->frame.reach = fmin(ROOM * far, line->frame.radius);
            line->packed_count = 0;
        }
        line->standing[c] = (imp_standing){
            .moved = INFINITY, .cluster = (uint32_t)c, .outside = far > line->frame.radius};
        line->place[c] = (uint32_t)c;
        memcpy(line->mean + c * d, mean, d * sizeof *mean);
    }
    line->count = clusters->count;
    pack(line);
    return IMP_OK;
}

void imp_lineup_renumber(imp_lineup *line, const uint32_t *moved)
{
    size_t d = line->frame.dimensions, known = line->known;
    line->count = line->known = 0;
    for (size_t c = 0; c < known; c++)
        if (moved[c] != UINT32_MAX) {
            memmove(line->mean + moved[c] * d, line->mean + c * d, d * sizeof *line->mean);
            line->known = line->count = moved[c] + 1;
        }
}

size_t imp_lineup_first(const imp_lineup *line, double slack)
{
    size_t width = line->frame.kernels->nearest_width;
    size_t first = line->count / 2 / width, end = (line->count + width - 1) / width; /* panels */
    while (first < end) {
        size_t middle = first + (end - first) / 2, next = (middle + 1) * width;
        if (imp_lineup_most_moved(line, next < line->count ? next : line->count) < slack / 2)
            first = middle + 1;
        else
            end = middle;
    }
    return first * width < line->count ? first * width : line->count;
}
