/*
 * test_gradients.c - every method's gradients against finite differences, one row per case.
 *
 * By definition the gradient takes some quantities for constants: lambda, which clusters there are,
 * and the shares of the points in them. The difference is therefore taken of the loss with exactly
 * those kept as they were at the middle point (imp_method_run_again()); everything else moves:
 * means, posteriors, masks, variances, and the best cluster of each class. Inside a run all is
 * computed in double, and the points lie on a grid on which floats are exact, so that a difference
 * is good to nine digits or so, and the comparison can be strict.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "episodes.h"
#include "methods/method.h"

typedef struct gradient_case {
    const char *name;
    const char *method;
    double sigma_l, sigma_u, alpha, lambda; /* lambda 0: estimated */
    size_t steps;
    const char *own; /* a flag of the method's own, or NULL */
    test_shape shape;
    size_t hidden; /* every so manieth support loses its label; 0: none */
} gradient_case;

#define SUPERVISED                                                                  \
    {                                                                               \
        .dimensions = 5, .way = 3, .modes = 2, .shot = 3, .queries = 3, .spread = 6 \
    }
#define SEMI                                                                                \
    {                                                                                       \
        .dimensions = 6, .way = 3, .modes = 1, .shot = 2, .unlabeled = 3, .distractors = 4, \
        .queries = 3, .spread = 4                                                           \
    }

static const gradient_case cases[] = {
    {"imp", "imp", 1, 2, 0.1, 0, 1, NULL, SUPERVISED, 0},
    {"imp, semi-supervised", "imp", 1.5, 2.5, 0.5, 9, 1, NULL, SEMI, 0},
    {"imp, mixed labels", "imp", 1.5, 2.5, 0.5, 9, 1, NULL, SEMI, 3},
    {"imp, three steps", "imp", 1.5, 0.7, 0.5, 9, 3, NULL, SEMI, 0},
    {"imp-tied", "imp-tied", 2, 1, 0.5, 9, 1, NULL, SEMI, 0},
    {"prototypes", "prototypes", 5, 5, 0.1, 0, 1, NULL, SUPERVISED, 0},
    {"prototypes, learned", "prototypes", 2, 5, 0.1, 0, 1, "learn-sigma", SEMI, 0},
    {"neighbors", "neighbors", 1.5, 5, 0.1, 0, 1, NULL, SUPERVISED, 0},
    {"neighbors, semi-supervised", "neighbors", 1.5, 5, 0.1, 0, 1, NULL, SEMI, 3},
    {"soft-kmeans", "soft-kmeans", 5, 5, 0.1, 0, 1, NULL, SEMI, 0},
    {"soft-kmeans, two steps", "soft-kmeans", 5, 5, 0.1, 0, 2, NULL, SEMI, 3},
    {"soft-kmeans-cluster", "soft-kmeans-cluster", 5, 8, 0.1, 0, 1, NULL, SEMI, 0},
    {"soft-kmeans-cluster, no unlabelled", "soft-kmeans-cluster", 5, 8, 0.1, 0, 1, NULL, SUPERVISED,
     0},
    {"soft-kmeans-masked", "soft-kmeans-masked", 5, 5, 0.1, 0, 1, NULL, SEMI, 0},
    {"soft-kmeans-masked, mixed labels", "soft-kmeans-masked", 5, 5, 0.1, 0, 1, NULL, SEMI, 3},
    {"soft-kmeans-masked, no unlabelled", "soft-kmeans-masked", 5, 5, 0.1, 0, 1, NULL, SUPERVISED,
     0},
    {"dp-means", "dp-means", 1, 2, 0.1, 0, 1, NULL, SUPERVISED, 0},
    {"dp-means, semi-supervised", "dp-means", 1, 2, 0.1, 9, 2, NULL, SEMI, 0},
    {"map-dp", "map-dp", 1.5, 4, 0.5, 0, 1, NULL, SEMI, 0},
    {"map-dp, mixed labels", "map-dp", 1.5, 4, 2, 0, 1, NULL, SEMI, 3},
    {"map-dp, supervised", "map-dp", 1.5, 4, 0.5, 0, 1, NULL, SUPERVISED, 0},
    {"em", "em", 1.5, 4, 0.5, 0, 1, NULL, SEMI, 0},
    {"em, mixed labels", "em", 1.5, 4, 0.5, 0, 1, NULL, SEMI, 3},
    {"imp, unmasked", "imp", 1, 2, 0.1, 0, 1, "unmasked-loss", SUPERVISED, 0},
    {"imp, unmasked, semi-supervised", "imp", 1.5, 2.5, 0.5, 9, 1, "unmasked-loss", SEMI, 3},
    {"imp-tied, unmasked", "imp-tied", 2, 1, 0.5, 9, 1, "unmasked-loss", SEMI, 0},
    {"neighbors, unmasked", "neighbors", 1.5, 5, 0.1, 0, 1, "unmasked-loss", SUPERVISED, 0},
    {"nca", "nca", 1.5, 5, 0.1, 0, 1, NULL, SUPERVISED, 0},
    {"nca, semi-supervised", "nca", 1.5, 5, 0.1, 0, 1, NULL, SEMI, 3},
    {"fixed-modes", "fixed-modes", 5, 5, 0.1, 0, 1, NULL, SUPERVISED, 0},
    {"fixed-modes, learned", "fixed-modes", 2, 5, 0.1, 0, 1, "learn-sigma", SUPERVISED, 0},
    {"fixed-modes, semi-supervised", "fixed-modes", 2, 5, 0.1, 0, 1, "learn-sigma", SEMI, 3},
    {"em, without the prior", "em", 1.5, 4, 0.5, 0, 1, "no-prior", SEMI, 0},
};

enum { CASES = sizeof cases / sizeof *cases };

static double loss_again(imp_method *method, const imp_episode_view *view)
{
    imp_method_result result;
    imp_error error;
    if (imp_method_run_again(method, view, false, &result, &error) != IMP_OK)
        fail_msg("%s", error.message);
    return result.loss;
}

/* A difference of the loss when *value (a float or a double) moves, of order step^4. */
static double difference(imp_method *method, const imp_episode_view *view, float *number,
                         double *value)
{
    double slope[2];
    for (int half = 0; half < 2; half++) {
        double step = half ? 0x1p-9 : 0x1p-8, loss[2];
        float number_before = number ? *number : 0;
        double value_before = value ? *value : 0;
        for (int side = 0; side < 2; side++) {
            double move = side ? step : -step;
            if (number)
                *number = (float)(number_before + move);
            else
                *value = value_before + move;
            loss[side] = loss_again(method, view);
        }
        if (number)
            *number = number_before;
        else
            *value = value_before;
        slope[half] = (loss[1] - loss[0]) / (2 * step);
    }
    return (4 * slope[1] - slope[0]) / 3;
}

static double largest(const float *values, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(values[i]));
    return most;
}

static void compare(const gradient_case *row, const char *what, size_t i, double found,
                    double expected, double scale)
{
    if (!(fabs(found - expected) <= 2e-6 * scale + 1e-9))
        fail_msg("%s, seed %d: gradient of %s %zu is %.9g, the difference says %.9g", row->name,
                 (int)row->shape.seed, what, i, found, expected);
}

static void compare_floats(const gradient_case *row, imp_method *method,
                           const imp_episode_view *view, const char *what, float *values,
                           const float *gradient, size_t count)
{
    double scale = largest(gradient, count);
    for (size_t i = 0; i < count; i++)
        compare(row, what, i, gradient[i], difference(method, view, &values[i], NULL), scale);
}

static void put_on_grid(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = roundf(values[i] * 0x1p10f) / 0x1p10f;
}

static float *copied(const float *values, size_t count)
{
    float *copy = malloc((count ? count : 1) * sizeof *copy);
    assert_non_null(copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = values[i];
    return copy;
}

static imp_method *create(const gradient_case *row)
{
    imp_method_options options = imp_method_defaults();
    options.rule.sigma_l = row->sigma_l;
    options.rule.sigma_u = row->sigma_u;
    options.rule.alpha = row->alpha;
    options.rule.lambda = row->lambda > 0 ? row->lambda : NAN;
    options.rule.steps = (double)row->steps;
    options.own[0] = (imp_named_value){row->own, 1};
    imp_method *method;
    imp_error error;
    if (imp_method_create(row->method, &options, &method, &error) != IMP_OK)
        fail_msg("%s", error.message);

    /* The mask network starts with weights so small that their part would not show. */
    size_t count;
    double *values = imp_method_values(method, &count);
    imp_random random = imp_random_start(7, IMP_STREAM_DEMO, 1);
    for (size_t i = 0; i < count && strcmp(row->method, "soft-kmeans-masked") == 0; i++)
        values[i] += 0.3 * imp_random_normal(&random);
    return method;
}

static void check(const gradient_case *row)
{
    test_episode episode = episode_generate(&row->shape);
    imp_episode_view *view = &episode.view;
    size_t d = view->dimensions;
    put_on_grid(episode.support, view->support_count * d);
    put_on_grid(episode.unlabeled, view->unlabeled_count * d);
    put_on_grid(episode.query, view->query_count * d);
    for (size_t i = 0; row->hidden > 0 && i < view->support_count; i += row->hidden)
        if (i + 1 < view->support_count && episode.support_label[i] == episode.support_label[i + 1])
            episode.support_label[i] = IMP_UNLABELED;

    imp_method *method = create(row);
    imp_method_result result;
    imp_error error;
    if (imp_method_run(method, view, true, &result, &error) != IMP_OK)
        fail_msg("%s: %s", row->name, error.message);
    assert_true(result.loss == loss_again(method, view));

    size_t count;
    double *values = imp_method_values(method, &count), scale = 0;
    double *slopes = malloc((count ? count : 1) * sizeof *slopes);
    float *support = copied(result.support_gradient, view->support_count * d);
    float *unlabeled = copied(result.unlabeled_gradient, view->unlabeled_count * d);
    float *query = copied(result.query_gradient, view->query_count * d);
    for (size_t i = 0; i < count; i++) {
        slopes[i] = result.parameter_gradient[i];
        scale = fmax(scale, fabs(slopes[i]));
    }
    compare_floats(row, method, view, "support", episode.support, support, view->support_count * d);
    compare_floats(row, method, view, "unlabelled", episode.unlabeled, unlabeled,
                   view->unlabeled_count * d);
    compare_floats(row, method, view, "query", episode.query, query, view->query_count * d);
    for (size_t i = 0; i < count; i++)
        compare(row, "parameter", i, slopes[i], difference(method, view, NULL, &values[i]), scale);

    free(slopes);
    free(support);
    free(unlabeled);
    free(query);
    imp_method_free(method);
    episode_free(&episode);
}

static void check_case(void **state)
{
    gradient_case row = *(const gradient_case *)*state;
    for (row.shape.seed = 1; row.shape.seed <= 5; row.shape.seed++)
        check(&row);
}

int main(void)
{
    struct CMUnitTest tests[CASES];
    for (size_t i = 0; i < CASES; i++)
        tests[i] = (struct CMUnitTest){
            .name = cases[i].name, .test_func = check_case, .initial_state = (void *)&cases[i]};
    return _cmocka_run_group_tests("gradients", tests, CASES, NULL, NULL);
}
