/*
 * test_views.c - points of several views: the join against plain loops, weights that held-out
 * points choose, files, growing, and views that cannot be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <imp/mixture.h>

#include "base/random.h"
#include "failing_allocator.h"
#include "methods/views.h"
#include "scratch.h"

enum { WAY = 4, N = 80, QUERIES = 200, A = 3, B = 2, C = 5, D = A + B + C };

/* Each of two views tells half of what there is to know, in a unit of its own; the third is noise.
 */
typedef struct points {
    float x[N * D], query[QUERIES * D];
    int32_t y[N], truth[QUERIES];
} points;

static void draw(imp_random *random, int32_t class, float *x)
{
    for (size_t j = 0; j < D; j++)
        x[j] = (float)imp_random_normal(random);
    x[0] += (float)(4 * (class % 2));
    x[A] += (float)(4 * (class / 2));
    for (size_t j = A; j < A + B; j++)
        x[j] = x[j] * 1000 + 5000;
    for (size_t j = A + B; j < D; j++)
        x[j] *= 30;
}

static void make(points *all)
{
    imp_random random = imp_random_start(5, IMP_STREAM_TEST, 0);
    for (size_t i = 0; i < N; i++)
        draw(&random, all->y[i] = (int32_t)(i % WAY), all->x + i * D);
    for (size_t i = 0; i < QUERIES; i++)
        draw(&random, all->truth[i] = (int32_t)(i % WAY), all->query + i * D);
}

static imp_mixture_options three_views(void)
{
    static const size_t dimensions[] = {A, B, C};
    imp_mixture_options options = imp_mixture_defaults();
    options.view_count = 3;
    options.view_dimensions = dimensions;
    return options;
}

static imp_mixture *fit(const points *all, const imp_mixture_options *options)
{
    imp_mixture *mixture;
    imp_error error;
    if (imp_mixture_fit(all->x, all->y, N, D, options, &mixture, &error))
        fail_msg("%s", error.message);
    return mixture;
}

static double accuracy(const imp_mixture *mixture, const points *all, int32_t *found)
{
    size_t right = 0;
    assert_int_equal(imp_mixture_predict(mixture, all->query, QUERIES, D, false,
                                         &(imp_mixture_predictions){.label = found}, NULL),
                     IMP_OK);
    for (size_t i = 0; i < QUERIES; i++)
        right += found[i] == all->truth[i];
    return (double)right / QUERIES;
}

static void points_choose_the_weights(void **state)
{
    (void)state;
    static points all;
    int32_t found[QUERIES];
    make(&all);
    imp_mixture_options options = three_views();
    imp_mixture *mixture = fit(&all, &options);
    imp_mixture_view view[3];
    double sum = 0;
    for (size_t v = 0; v < 3; v++) {
        view[v] = imp_mixture_view_at(mixture, v);
        sum += view[v].weight;
    }
    assert_int_equal(view[1].dimensions, B);
    assert_true(fabs(sum - 1) < 1e-9);
    assert_true(view[2].weight < 0.15 && view[0].weight > 0.2 && view[1].weight > 0.2);
    assert_true(view[2].loss > view[0].loss && view[2].loss > view[1].loss);
    assert_true(accuracy(mixture, &all, found) > 0.9);
    char text[4000];
    imp_mixture_describe(mixture, text, sizeof text);
    assert_non_null(strstr(text, "view 2: 5 dimensions, metric "));
    imp_mixture_free(mixture);

    options.view_weights = (const double[]){0, 0, 2};
    mixture = fit(&all, &options);
    assert_true(imp_mixture_view_at(mixture, 2).weight == 1);
    assert_true(accuracy(mixture, &all, found) < 0.5);
    imp_mixture_free(mixture);
}

/* A view of weight 0 changes nothing: the others alone give the same answers. */
static void a_view_without_weight_is_not_seen(void **state)
{
    (void)state;
    static points all;
    int32_t found[QUERIES], other[QUERIES];
    make(&all);
    imp_mixture_options options = three_views();
    options.view_weights = (const double[]){0.5, 0.5, 0};
    options.whitening = IMP_WHITEN_NO;
    imp_mixture *mixture = fit(&all, &options);
    accuracy(mixture, &all, found);
    imp_mixture_free(mixture);
    for (size_t i = 0; i < N; i++)
        for (size_t j = A + B; j < D; j++)
            all.x[i * D + j] = (float)(i * j);
    for (size_t i = 0; i < QUERIES; i++)
        all.query[i * D + D - 1] = -1e6f;
    mixture = fit(&all, &options);
    accuracy(mixture, &all, other);
    imp_mixture_free(mixture);
    assert_memory_equal(found, other, sizeof found);
}

/* With the metric scaled the join is plain arithmetic. */
static void views_are_joined_by_their_weights(void **state)
{
    (void)state;
    static points all;
    make(&all);
    imp_mixture_options options = three_views();
    options.metric = IMP_METRIC_SCALED;
    options.view_weights = (const double[]){1, 2, 1};
    imp_mixture *mixture = fit(&all, &options);
    static float joined[N * D];
    assert_int_equal(imp_mixture_transform(mixture, all.x, N, D, joined, NULL), IMP_OK);
    const size_t begin[] = {0, A, A + B, D};
    double part[3] = {0};
    for (size_t v = 0; v < 3; v++)
        for (size_t i = 0; i < N; i++) {
            double distance = 0;
            for (size_t j = begin[v]; j < begin[v + 1]; j++)
                distance += (double)joined[i * D + j] * joined[i * D + j];
            part[v] += distance / N; /* around the mean, which is 0 */
        }
    /* In units of each view's median squared distance, whose ratio to the mean differs a little. */
    assert_true(fabs(part[1] / part[0] / 2 - 1) < 0.5 && fabs(part[2] / part[0] - 1) < 0.5);
    /* What one view says grows with nothing but its own numbers. */
    static points moved;
    moved = all;
    moved.x[A] += 1000;
    static float after[N * D];
    assert_int_equal(imp_mixture_transform(mixture, moved.x, N, D, after, NULL), IMP_OK);
    for (size_t j = 0; j < D; j++)
        assert_int_equal(after[j] != joined[j], j == A);
    imp_mixture_free(mixture);
}

static void files_and_growing(void **state)
{
    static points all;
    int32_t found[QUERIES], other[QUERIES];
    make(&all);
    imp_mixture_options options = three_views();
    imp_mixture *mixture = fit(&all, &options), *loaded, *grown, *merged;
    scratch_path path = scratch_file(state, "m.safetensors");
    assert_int_equal(imp_mixture_save(mixture, path.text, NULL), IMP_OK);
    assert_int_equal(imp_mixture_load(path.text, &loaded, NULL), IMP_OK);
    accuracy(mixture, &all, found);
    accuracy(loaded, &all, other);
    assert_memory_equal(found, other, sizeof found);
    imp_mixture_choice choice;
    imp_mixture_choice_of(loaded, &choice, sizeof choice);
    assert_int_equal(choice.views, 3);
    assert_true(imp_mixture_view_at(loaded, 1).weight == imp_mixture_view_at(mixture, 1).weight);
    assert_int_equal(imp_mixture_add(loaded, all.query, all.truth, QUERIES, D, &grown, NULL),
                     IMP_OK);
    assert_true(accuracy(grown, &all, other) > 0.9);
    assert_int_equal(imp_mixture_merge(mixture, loaded, &merged, NULL), IMP_OK);
    imp_mixture_free(merged);
    options.view_weights = (const double[]){1, 1, 1};
    static points more;
    memcpy(more.x, all.query, sizeof more.x);
    memcpy(more.y, all.truth, sizeof more.y);
    imp_mixture *equal = fit(&more, &options);
    assert_int_equal(imp_mixture_merge(mixture, equal, &merged, NULL), IMP_OK);
    assert_true(accuracy(merged, &all, other) > 0.9);
    imp_mixture_free(merged);
    imp_mixture_free(equal);
    imp_mixture *plain = fit(&all, NULL);
    assert_int_equal(imp_mixture_merge(mixture, plain, &merged, NULL), IMP_EINVAL);
    imp_mixture_free(plain);
    imp_mixture_free(grown);
    imp_mixture_free(loaded);
    imp_mixture_free(mixture);
}

static void views_that_cannot_be(void **state)
{
    (void)state;
    static points all;
    make(&all);
    const struct {
        size_t count;
        const size_t *dimensions;
        const double *weights;
        double sigma;
        const char *sentence;
    } cases[] = {
        {2, NULL, NULL, NAN, "the dimensions of the 2 views are not given"},
        {2, (const size_t[]){A, B}, NULL, NAN, "the views have 5 dimensions, the points have 10"},
        {2, (const size_t[]){0, D}, NULL, NAN, "view 0 has no dimensions"},
        {2, (const size_t[]){A, D - A}, (const double[]){1, -1}, NAN, "the weight of view 1 is -1"},
        {2, (const size_t[]){A, D - A}, (const double[]){0, 0}, NAN, "sum to 0"},
        {2, (const size_t[]){A, D - A}, NULL, 5, "joined in a unit of their own"},
        {17, (const size_t[]){A}, NULL, NAN, "there are 17 views; at most 16 are allowed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        imp_mixture_options options = imp_mixture_defaults();
        options.view_count = cases[i].count;
        options.view_dimensions = cases[i].dimensions;
        options.view_weights = cases[i].weights;
        options.rule.sigma_l = cases[i].sigma;
        imp_mixture *mixture;
        imp_error error;
        assert_int_equal(imp_mixture_fit(all.x, all.y, N, D, &options, &mixture, &error),
                         IMP_EINVAL);
        assert_null(mixture);
        if (!strstr(error.message, cases[i].sentence))
            fail_msg("'%s' is not in '%s'", cases[i].sentence, error.message);
    }
}

static void fitting_survives_lack_of_memory(void **state)
{
    (void)state;
    static points all;
    make(&all);
    imp_mixture_options options = three_views();
    options.view_weights = (const double[]){1, 1, 1};
    options.metric = IMP_METRIC_SCALED;
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_mixture *mixture;
        imp_status status = imp_mixture_fit(all.x, all.y, WAY * 2, D, &options, &mixture, NULL);
        imp_mixture_free(mixture);
        failing_allocator_expect(&memory, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_choose_the_weights),
        cmocka_unit_test(a_view_without_weight_is_not_seen),
        cmocka_unit_test(views_are_joined_by_their_weights),
        cmocka_unit_test_setup_teardown(files_and_growing, scratch_setup, scratch_teardown),
        cmocka_unit_test(views_that_cannot_be),
        cmocka_unit_test(fitting_survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
