/*
 * projection.c - the two largest principal components, by orthogonal iteration on the covariance.
 */
#include "draw/projection.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static void covariance_of(const float *points, size_t count, size_t d, const double *mean,
                          double *covariance)
{
    memset(covariance, 0, d * d * sizeof *covariance);
    for (size_t n = 0; n < count; n++) {
        const float *row = points + n * d;
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++)
                covariance[i * d + j] += (row[i] - mean[i]) * (row[j] - mean[j]);
    }
}

static double dot(const double *a, const double *b, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Removes from `vector` its component along the axis, which has unit length. False if only rounding
 * noise is left. */
static bool remove_share(double *vector, const double *axis, size_t d)
{
    double before = dot(vector, vector, d), share = dot(vector, axis, d);
    for (size_t i = 0; i < d; i++)
        vector[i] -= share * axis[i];
    return dot(vector, vector, d) > 1e-24 * before;
}

/* Scales to unit length; false if it has none. */
static bool normalize(double *vector, size_t d)
{
    double length = sqrt(dot(vector, vector, d));
    for (size_t i = 0; i < d && length > 0; i++)
        vector[i] /= length;
    return length > 0;
}

static void set_coordinate(double *vector, size_t d, size_t coordinate)
{
    memset(vector, 0, d * sizeof *vector);
    vector[coordinate] = 1;
}

/* An axis orthogonal to `axis`: the coordinate axis least along it. In a single dimension there is
 * none, and the result is zero. */
static void choose_across(const double *axis, size_t d, double *across)
{
    size_t least = 0;
    for (size_t i = 1; i < d; i++)
        if (fabs(axis[i]) < fabs(axis[least]))
            least = i;
    set_coordinate(across, d, least);
    if (!remove_share(across, axis, d) || !normalize(across, d))
        memset(across, 0, d * sizeof *across);
}

static void multiply(const double *covariance, size_t d, const double *axis, double *product)
{
    for (size_t i = 0; i < d; i++)
        product[i] = dot(covariance + i * d, axis, d);
}

static void iterate(const double *covariance, size_t d, double *axes, double *next)
{
    enum { STEPS = 300 };
    double *first = axes, *second = axes + d;
    for (size_t i = 0; i < d; i++) {
        first[i] = 1;
        second[i] = (double)(i % 2) - 0.5 + 0.01 * (double)i;
    }
    for (int step = 0; step < STEPS; step++) {
        multiply(covariance, d, first, next);
        if (!normalize(next, d))
            set_coordinate(next, d, 0);
        memcpy(first, next, d * sizeof *next);

        multiply(covariance, d, second, next);
        if (!remove_share(next, first, d) || !normalize(next, d))
            choose_across(first, d, next);
        memcpy(second, next, d * sizeof *next);
    }
}

static void settle_sign(double *axis, size_t d)
{
    size_t largest = 0;
    for (size_t i = 1; i < d; i++)
        if (fabs(axis[i]) > fabs(axis[largest]))
            largest = i;
    for (size_t i = 0; i < d && axis[largest] < 0; i++)
        if (i != largest)
            axis[i] = -axis[i];
    axis[largest] = fabs(axis[largest]);
}

imp_status imp_projection_fit(imp_projection *projection, const float *points, size_t count,
                              size_t d, imp_error *error)
{
    *projection = (imp_projection){0};
    if (count == 0 || d == 0)
        return imp_fail(error, IMP_EINVAL, "a projection needs points of at least one dimension");
    size_t square;
    double *covariance = imp_multiply(d, d, &square) ? imp_allocate(square, sizeof(double)) : NULL;
    double *next = imp_allocate(d, sizeof *next);
    *projection = (imp_projection){.dimensions = d,
                                   .mean = imp_allocate_zeroed(d, sizeof(double)),
                                   .axes = imp_allocate_zeroed(2 * d, sizeof(double))};
    imp_status status = IMP_OK;
    if (covariance && next && projection->mean && projection->axes) {
        for (size_t n = 0; n < count; n++)
            for (size_t i = 0; i < d; i++)
                projection->mean[i] += points[n * d + i] / (double)count;
        covariance_of(points, count, d, projection->mean, covariance);
        iterate(covariance, d, projection->axes, next);
        settle_sign(projection->axes, d);
        settle_sign(projection->axes + d, d);
    } else {
        imp_projection_clear(projection);
        status = imp_fail_memory(error, "a projection");
    }
    imp_release(covariance);
    imp_release(next);
    return status;
}

void imp_projection_apply(const imp_projection *projection, const float *point, double plane[2])
{
    size_t d = projection->dimensions;
    plane[0] = plane[1] = 0;
    for (size_t i = 0; i < d; i++) {
        double centred = point[i] - projection->mean[i];
        plane[0] += centred * projection->axes[i];
        plane[1] += centred * projection->axes[d + i];
    }
}

void imp_projection_clear(imp_projection *projection)
{
    imp_release(projection->mean);
    imp_release(projection->axes);
    *projection = (imp_projection){0};
}
