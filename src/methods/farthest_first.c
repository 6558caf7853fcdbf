/*
 * farthest_first.c - the farthest-first traversal (Gonzalez, 1985), by which Kulis and Jordan
 * choose lambda for a wanted number of clusters, and the choice itself.
 *
 * With the first k points chosen, every point is within the radius r_k of one of them, while those
 * k are at least r_(k-1) apart. A threshold between the two makes k clusters of them.
 */
#include "methods/farthest_first.h"

#include <math.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/memory.h"

imp_status imp_traversal_begin(imp_traversal *traversal, const float *x, size_t count,
                               size_t dimensions, imp_error *error)
{
    *traversal = (imp_traversal){.x = x, .count = count, .dimensions = dimensions};
    traversal->distance = imp_allocate(count, sizeof *traversal->distance);
    if (!traversal->distance)
        return imp_fail_memory(error, "a farthest-first traversal");
    for (size_t i = 0; i < count; i++)
        traversal->distance[i] = INFINITY;
    return IMP_OK;
}

void imp_traversal_end(imp_traversal *traversal)
{
    imp_release(traversal->distance);
    traversal->distance = NULL;
}

/* The first of the points farthest from all chosen ones. */
static size_t farthest(const imp_traversal *traversal)
{
    size_t row = 0;
    for (size_t i = 1; i < traversal->count; i++)
        if (traversal->distance[i] > traversal->distance[row])
            row = i;
    return row;
}

static double squared_distance(const float *a, const float *b, size_t dimensions)
{
    double sum = 0;
    for (size_t j = 0; j < dimensions; j++) {
        double difference = (double)a[j] - b[j];
        sum += difference * difference;
    }
    return sum;
}

size_t imp_traversal_next(imp_traversal *traversal)
{
    size_t row = farthest(traversal), d = traversal->dimensions;
    const float *center = traversal->x + row * d;
    for (size_t i = 0; i < traversal->count; i++) {
        double distance = squared_distance(traversal->x + i * d, center, d);
        if (distance < traversal->distance[i])
            traversal->distance[i] = distance;
    }
    traversal->distance[row] = -1;
    return row;
}

double imp_traversal_radius(const imp_traversal *traversal)
{
    double radius = traversal->distance[farthest(traversal)];
    return radius > 0 ? radius : 0;
}

/* ---- choosing lambda ---- */

/* For one cluster: no point is farther than twice the radius, squared, from any mean of points. */
static double lambda_of_one(double radius)
{
    return 4 * radius;
}

/* Between two radii half-way. Points equally far, up to rounding, cannot be told apart by a
 * threshold: it lies below them all, for too many clusters rather than too few. */
static double threshold_between(double before, double radius)
{
    bool tie = before <= radius * (1 + 1e-9);
    return tie ? radius * (1 - 1e-6) : (before + radius) / 2;
}

imp_status imp_choose_lambda(const float *x, size_t count, size_t dimensions, size_t clusters,
                             double *lambda, imp_error *error)
{
    enum { MOST_CLUSTERS = 1000 };
    static const double least_gap = 2;
    imp_traversal traversal;
    imp_status status = imp_traversal_begin(&traversal, x, count, dimensions, error);
    if (status != IMP_OK)
        return status;

    /* Automatically: no more clusters than half the points, or each would be its own. */
    size_t most = clusters;
    if (clusters == 0)
        most = count / 2 < MOST_CLUSTERS ? count / 2 : MOST_CLUSTERS;
    imp_traversal_next(&traversal);
    double radius = imp_traversal_radius(&traversal), gap = least_gap;
    double chosen = lambda_of_one(radius);
    for (size_t k = 2; k <= most && radius > 0; k++) {
        double before = radius;
        imp_traversal_next(&traversal);
        radius = imp_traversal_radius(&traversal);
        if (clusters > 0 || before > gap * radius) {
            gap = radius > 0 ? before / radius : INFINITY;
            chosen = threshold_between(before, radius);
        }
    }
    imp_traversal_end(&traversal);
    *lambda = chosen;
    return IMP_OK;
}

imp_status imp_order_farthest_first(const float *x, size_t count, size_t dimensions, double lambda,
                                    uint32_t *order, imp_error *error)
{
    imp_traversal traversal;
    imp_status status = imp_traversal_begin(&traversal, x, count, dimensions, error);
    if (status != IMP_OK)
        return status;
    size_t used = 0;
    do
        order[used++] = (uint32_t)imp_traversal_next(&traversal);
    while (imp_traversal_radius(&traversal) > lambda);
    for (size_t i = 0; i < count; i++)
        if (traversal.distance[i] >= 0)
            order[used++] = (uint32_t)i;
    imp_traversal_end(&traversal);
    return IMP_OK;
}
