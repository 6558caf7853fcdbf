/*
 * tsne.c - the gradient descent of t-SNE: momentum, a gain per coordinate, and early exaggeration,
 * with scikit-learn's constants.
 */
#include "draw/tsne.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "draw/projection.h"
#include "draw/tsne_gradient.h"

enum { EXAGGERATED = 250 }; /* iterations */

static const double exaggeration = 12;

/* ---- options ---- */

static imp_status check(const float *points, size_t count, size_t d,
                        const imp_tsne_options *options, imp_error *error)
{
    if (count == 0 || d == 0)
        return imp_fail(error, IMP_EINVAL, "t-SNE needs points of at least one dimension");
    if (count > IMP_TSNE_MOST_POINTS)
        return imp_fail(
            error, IMP_EUNSUPPORTED,
            "t-SNE compares all pairs of at most %d points, but there are %zu; use a subset",
            IMP_TSNE_MOST_POINTS, count);
    if (options->perplexity != 0 && !(options->perplexity >= 1))
        return imp_fail(error, IMP_EINVAL, "a perplexity must be at least 1, not %g",
                        options->perplexity);
    if (!(options->learning_rate >= 0 && isfinite(options->learning_rate)))
        return imp_fail(error, IMP_EINVAL, "a learning rate must be positive, not %g",
                        options->learning_rate);
    for (size_t i = 0; i < count * d; i++)
        if (!isfinite(points[i]))
            return imp_fail(error, IMP_EINVAL, "row %zu, column %zu of the points is not finite",
                            i / d, i % d);
    return IMP_OK;
}

/* The options with the defaults in place of zeros. */
static imp_tsne_options completed(const imp_tsne_options *given, size_t count)
{
    imp_tsne_options options = given ? *given : (imp_tsne_options){0};
    if (options.perplexity == 0)
        options.perplexity = 30;
    options.perplexity = fmax(1, fmin(options.perplexity, 0.5 * ((double)count - 1)));
    if (options.iterations == 0)
        options.iterations = 1000;
    if (options.learning_rate == 0)
        options.learning_rate = fmax((double)count / exaggeration / 4, 50);
    options.threads = imp_parallel_threads(options.threads);
    return options;
}

/* ---- initialisation ---- */

static double deviation(const double *values, size_t count)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)count);
}

/* The principal components, scaled down: points far apart would hardly interact. */
static imp_status begin(imp_tsne_field *field, const float *points, size_t d, imp_error *error)
{
    const double size = 1e-4, jitter = 1e-6;
    imp_projection plane;
    imp_status status = imp_projection_fit(&plane, points, field->count, d, error);
    if (status)
        return status;
    for (size_t i = 0; i < field->count; i++) {
        double at[2];
        imp_projection_apply(&plane, points + i * d, at);
        field->place[0][i] = at[0];
        field->place[1][i] = at[1];
    }
    imp_projection_clear(&plane);
    /* Without the jitter, no force would take points on a line off it. */
    double spread = deviation(field->place[0], field->count);
    imp_random random = imp_random_start(1, IMP_STREAM_TSNE, 0);
    for (size_t i = 0; i < field->count; i++)
        for (int axis = 0; axis < 2; axis++) {
            double scaled = spread > 0 ? field->place[axis][i] / spread * size : 0;
            field->place[axis][i] = scaled + jitter * imp_random_normal(&random);
        }
    return IMP_OK;
}

/* ---- the descent ---- */

/* One coordinate of one point. Its gain grows while it keeps its direction, and shrinks when it
 * oscillates. */
typedef struct motion {
    double velocity, gain;
} motion;

static void step(motion *own, double *place, double gradient, double momentum, double rate)
{
    const double least_gain = 0.01;
    bool onwards = own->velocity * gradient < 0;
    own->gain = fmax(onwards ? own->gain + 0.2 : own->gain * 0.8, least_gain);
    own->velocity = momentum * own->velocity - rate * own->gain * gradient;
    *place += own->velocity;
}

/* Gains differ, so all points might drift away together. */
static void centre(imp_tsne_field *field)
{
    for (int axis = 0; axis < 2; axis++) {
        double mean = 0;
        for (size_t i = 0; i < field->count; i++)
            mean += field->place[axis][i] / (double)field->count;
        for (size_t i = 0; i < field->count; i++)
            field->place[axis][i] -= mean;
    }
}

static void descend(imp_tsne_field *field, const imp_affinity *affinity,
                    const imp_tsne_options *options, motion *motions)
{
    for (size_t i = 0; i < 2 * field->count; i++)
        motions[i] = (motion){.gain = 1};
    for (size_t done = 0; done < options->iterations; done++) {
        bool early = done < EXAGGERATED;
        imp_tsne_gradient(field, affinity, early ? exaggeration : 1, options->threads);
        for (size_t i = 0; i < 2 * field->count; i++)
            step(&motions[i], &field->place[i % 2][i / 2], field->gradient[i % 2][i / 2],
                 early ? 0.5 : 0.8, options->learning_rate);
        centre(field);
        if (options->proceed && !options->proceed(done + 1, options->iterations, options->context))
            break;
    }
}

imp_status imp_tsne(const float *points, size_t count, size_t d, const imp_tsne_options *options,
                    double *plane, imp_error *error)
{
    static const imp_tsne_options defaults = {0};
    imp_status status = check(points, count, d, options ? options : &defaults, error);
    if (status)
        return status;
    imp_tsne_options by = completed(options, count);
    imp_affinity affinity;
    imp_tsne_field field = {0};
    motion *motions = NULL;
    status = imp_affinity_create(&affinity, points, count, d, by.perplexity, by.threads, error);
    if (!status)
        status = imp_tsne_field_create(&field, &affinity, error);
    if (!status)
        status = begin(&field, points, d, error);
    if (!status && !(motions = imp_allocate(2 * count, sizeof *motions)))
        status = imp_fail_memory(error, "the motion of points in a plane");
    if (!status) {
        descend(&field, &affinity, &by, motions);
        for (size_t i = 0; i < 2 * count; i++)
            plane[i] = field.place[i % 2][i / 2];
        if (by.divergence)
            *by.divergence = imp_tsne_divergence(&field, &affinity);
    }
    imp_release(motions);
    imp_tsne_field_clear(&field);
    imp_affinity_clear(&affinity);
    return status;
}
