/*
 * test_mixture.c - fitted mixtures: the same clusters as the method imp, adding to the same bits
 * before and after a file, and every refusal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <imp/mixture.h>

#include "base/random.h"
#include "base/safetensors.h"
#include "episodes.h"
#include "failing_allocator.h"
#include "methods/imp.h"
#include "scratch.h"

static const test_shape shape = {.dimensions = 5,
                                 .way = 3,
                                 .modes = 2,
                                 .shot = 4,
                                 .unlabeled = 3,
                                 .distractors = 6,
                                 .queries = 3,
                                 .spread = 25,
                                 .seed = 11};

/* The paper's rule, whose clusters these tests know; what points choose is tested elsewhere. */
static imp_mixture_options paper(void)
{
    imp_mixture_options options = imp_mixture_defaults();
    options.preset = IMP_PRESET_PAPER;
    return options;
}

static imp_mixture *fit(const float *x, const int32_t *y, size_t n, size_t d,
                        const imp_mixture_options *options)
{
    imp_mixture *mixture;
    imp_error error;
    imp_mixture_options usual = paper();
    if (imp_mixture_fit(x, y, n, d, options ? options : &usual, &mixture, &error) != IMP_OK)
        fail_msg("%s", error.message);
    return mixture;
}

static imp_mixture *add(const imp_mixture *mixture, const float *x, const int32_t *y, size_t n,
                        size_t d)
{
    imp_mixture *grown;
    imp_error error;
    if (imp_mixture_add(mixture, x, y, n, d, &grown, &error) != IMP_OK)
        fail_msg("%s", error.message);
    return grown;
}

static void assert_same(const imp_mixture *a, const imp_mixture *b)
{
    imp_mixture_summary left = imp_mixture_summarize(a), right = imp_mixture_summarize(b);
    assert_int_equal(left.clusters, right.clusters);
    assert_int_equal(left.classes, right.classes);
    assert_memory_equal(&left.rule, &right.rule, sizeof left.rule);
    for (size_t c = 0; c < left.clusters; c++) {
        imp_mixture_cluster one = imp_mixture_cluster_at(a, c), two = imp_mixture_cluster_at(b, c);
        assert_int_equal(one.label, two.label);
        assert_true(one.weight == two.weight && one.sigma == two.sigma);
        assert_memory_equal(one.mean, two.mean, left.dimensions * sizeof *one.mean);
    }
}

/* Supports and unlabelled points of the episode in one array, unlabelled ones in between. */
typedef struct joined {
    test_episode episode;
    size_t n, d;
    float *x;
    int32_t *y;
} joined;

static joined join(void)
{
    joined all = {.episode = episode_generate(&shape)};
    const imp_episode_view *view = &all.episode.view;
    all.d = view->dimensions;
    all.n = view->support_count + view->unlabeled_count;
    all.x = malloc(all.n * all.d * sizeof *all.x);
    all.y = malloc(all.n * sizeof *all.y);
    assert_true(all.x && all.y);
    size_t supports = 0, unlabeled = 0;
    for (size_t i = 0; i < all.n; i++) {
        bool labeled =
            unlabeled == view->unlabeled_count || (supports < view->support_count && i % 2 == 0);
        const float *from =
            labeled ? view->support + supports * all.d : view->unlabeled + unlabeled * all.d;
        memcpy(all.x + i * all.d, from, all.d * sizeof *from);
        all.y[i] = labeled ? view->support_label[supports] : IMP_UNLABELED;
        supports += labeled;
        unlabeled += !labeled;
    }
    return all;
}

static void part(joined *all)
{
    episode_free(&all->episode);
    free(all->x);
    free(all->y);
}

/* ---- fitting and predicting ---- */

static void fits_and_predicts_as_the_method_does(void **state)
{
    (void)state;
    joined all = join();
    for (size_t steps = 1; steps <= 3; steps++)
        for (int open_set = 0; open_set < 2; open_set++) {
            imp_mixture_options options = paper();
            options.rule.sigma_l = 1.5;
            options.rule.sigma_u = 2.5;
            options.rule.steps = (double)steps;
            imp_mixture *mixture = fit(all.x, all.y, all.n, all.d, &options);

            imp_method_options method_options = imp_method_defaults();
            method_options.rule.sigma_l = 1.5;
            method_options.rule.sigma_u = 2.5;
            method_options.rule.steps = (double)steps;
            method_options.open_set = open_set;
            imp_method *method;
            imp_method_result result;
            assert_int_equal(imp_method_create("imp", &method_options, &method, NULL), IMP_OK);
            assert_int_equal(imp_method_run(method, &all.episode.view, false, &result, NULL),
                             IMP_OK);

            imp_mixture_summary summary = imp_mixture_summarize(mixture);
            assert_int_equal(summary.clusters, result.cluster_count);
            assert_true(summary.clusters > 4);
            assert_true(fabs(summary.rule.lambda - result.lambda) < 1e-9 * result.lambda);
            for (size_t c = 0; c < summary.clusters; c++) {
                imp_mixture_cluster cluster = imp_mixture_cluster_at(mixture, c);
                assert_int_equal(cluster.label, result.cluster_label[c]);
                assert_true(fabs(cluster.weight - result.cluster_weight[c]) < 1e-9);
                for (size_t j = 0; j < all.d; j++)
                    assert_true(fabs(cluster.mean[j] - result.cluster_mean[c * all.d + j]) < 1e-5);
            }

            size_t queries = all.episode.view.query_count;
            int32_t labels[64], clusters[64];
            float probabilities[64 * 4], distances[64];
            assert_true(queries <= 64);
            imp_mixture_predictions out = {labels, probabilities, distances, clusters};
            assert_int_equal(imp_mixture_predict(mixture, all.episode.query, queries, all.d,
                                                 open_set, &out, NULL),
                             IMP_OK);
            assert_memory_equal(labels, result.predictions, queries * sizeof *labels);
            for (size_t i = 0; i < queries * result.outcomes; i++)
                assert_true(fabsf(probabilities[i] - result.probabilities[i]) < 1e-5F);
            for (size_t q = 0; q < queries; q++) {
                imp_mixture_cluster decided = imp_mixture_cluster_at(mixture, (size_t)clusters[q]);
                assert_int_equal(decided.label, labels[q]);
                double distance = 0;
                for (size_t j = 0; j < all.d; j++)
                    distance += pow(all.episode.query[q * all.d + j] - decided.mean[j], 2);
                assert_true(fabs(distance - distances[q]) < 1e-5 * distance);
            }
            imp_method_free(method);
            imp_mixture_free(mixture);
        }
    part(&all);
}

static void without_labels(void **state)
{
    (void)state;
    const float x[] = {0, 1, 10, 11, 0.5F};
    imp_mixture_options options = paper();
    options.rule.lambda = 9;
    options.rule.sigma_u = 0.1;
    imp_mixture *mixture = fit(x, NULL, 5, 1, &options);
    imp_mixture_summary summary = imp_mixture_summarize(mixture);
    assert_int_equal(summary.clusters, 2);
    assert_int_equal(summary.classes, 0);
    int32_t label, cluster;
    const float query = 9;
    imp_mixture_predictions out = {.label = &label, .cluster = &cluster};
    assert_int_equal(imp_mixture_predict(mixture, &query, 1, 1, false, &out, NULL), IMP_OK);
    assert_int_equal(label, IMP_UNLABELED);
    assert_int_equal(cluster, 1);
    imp_mixture_free(mixture);
}

/* The smallest and largest variances there may be, points at the ends of what a float can be. */
static void extreme_variances_and_points(void **state)
{
    (void)state;
    const float x[] = {3e38F, -3e38F, 0, 1, 2}, query[] = {3e38F, -1e38F, 1e-38F};
    const int32_t y[] = {0, 1, 0, -1, -1};
    for (int s = 0; s < 4; s++) {
        imp_mixture_options options = paper();
        options.rule.sigma_l = s % 2 ? 1e30 : 1e-30;
        options.rule.sigma_u = s / 2 ? 1e30 : 1e-30;
        imp_mixture *mixture = fit(x, y, 5, 1, &options), *grown = add(mixture, x, y, 5, 1);
        int32_t label[3], cluster[3];
        float probability[9], distance[3];
        imp_mixture_predictions out = {label, probability, distance, cluster};
        assert_int_equal(imp_mixture_predict(grown, query, 3, 1, true, &out, NULL), IMP_OK);
        size_t clusters = imp_mixture_summarize(grown).clusters;
        for (size_t i = 0; i < 3; i++) {
            assert_true(cluster[i] >= 0 && (size_t)cluster[i] < clusters);
            assert_true(fabsf(probability[3 * i] + probability[3 * i + 1] + probability[3 * i + 2] -
                              1) < 1e-5F);
        }
        imp_mixture_free(mixture);
        imp_mixture_free(grown);
    }
}

enum { VISITORS = 4, VISITS = 16, MOST_QUERIES = 64 };

typedef struct visitor {
    const imp_mixture *mixture;
    const joined *all;
    const int32_t *expected;
    size_t wrong;
    pthread_t thread;
} visitor;

static void *visit(void *argument)
{
    visitor *v = argument;
    size_t queries = v->all->episode.view.query_count;
    for (int i = 0; i < VISITS; i++) {
        int32_t labels[MOST_QUERIES];
        imp_mixture_predictions out = {.label = labels};
        v->wrong += imp_mixture_predict(v->mixture, v->all->episode.query, queries, v->all->d, true,
                                        &out, NULL) != IMP_OK ||
                    memcmp(labels, v->expected, queries * sizeof *labels) != 0;
    }
    return NULL;
}

static void many_threads_predict_at_once(void **state)
{
    (void)state;
    joined all = join();
    imp_mixture *mixture = fit(all.x, all.y, all.n, all.d, NULL);
    int32_t expected[MOST_QUERIES];
    imp_mixture_predictions first = {.label = expected};
    assert_int_equal(imp_mixture_predict(mixture, all.episode.query, all.episode.view.query_count,
                                         all.d, true, &first, NULL),
                     IMP_OK);
    visitor visitors[VISITORS];
    for (size_t i = 0; i < VISITORS; i++) {
        visitors[i] = (visitor){.mixture = mixture, .all = &all, .expected = expected};
        assert_int_equal(pthread_create(&visitors[i].thread, NULL, visit, &visitors[i]), 0);
    }
    for (size_t i = 0; i < VISITORS; i++) {
        pthread_join(visitors[i].thread, NULL);
        assert_int_equal(visitors[i].wrong, 0);
    }
    imp_mixture_free(mixture);
    part(&all);
}

/* ---- adding ---- */

static void adding_follows_the_rule(void **state)
{
    (void)state;
    const float x[] = {0, 10};
    const int32_t y[] = {0, 1};
    imp_mixture_options options = paper();
    options.rule.lambda = 4;
    options.rule.sigma_l = options.rule.sigma_u = 0.01;
    imp_mixture *mixture = fit(x, y, 2, 1, &options);

    /* joins 0; a new mode of 0; a new class; joins the new mode; starts one; joins that */
    const float more[] = {1, 5, 20, 5.5F, 30, 31};
    const int32_t more_y[] = {0, 0, 2, -1, -1, -1};
    imp_mixture *grown = add(mixture, more, more_y, 6, 1);
    imp_mixture_summary before = imp_mixture_summarize(mixture);
    imp_mixture_summary after = imp_mixture_summarize(grown);
    assert_int_equal(before.clusters, 2);
    assert_int_equal(after.clusters, 5);
    assert_int_equal(after.classes, 3);
    assert_true(after.rule.lambda == 4 && fabs(after.weight - 8) < 1e-9);
    static const int32_t labels[] = {0, 1, 0, 2, -1};
    static const double means[] = {0.5, 10, 5.25, 20, 30.5}, weights[] = {2, 1, 2, 1, 2};
    for (size_t c = 0; c < 5; c++) {
        imp_mixture_cluster cluster = imp_mixture_cluster_at(grown, c);
        assert_int_equal(cluster.label, labels[c]);
        assert_true(fabs(cluster.mean[0] - means[c]) < 1e-9);
        assert_true(fabs(cluster.weight - weights[c]) < 1e-9);
    }
    imp_mixture_free(mixture);
    imp_mixture_free(grown);
}

static void adding_by_parts_and_through_a_file_gives_the_same_bits(void **state)
{
    joined all = join();
    size_t half = all.n / 2;
    imp_mixture *mixture = fit(all.x, all.y, all.n, all.d, NULL);
    size_t queries = all.episode.view.query_count;
    const float *more = all.episode.query;
    int32_t labels[64];
    for (size_t i = 0; i < queries; i++)
        labels[i] = i % 3 ? all.episode.query_label[i] : IMP_UNLABELED;
    imp_mixture *at_once = add(mixture, more, labels, queries, all.d);

    half = queries / 2;
    imp_mixture *first = add(mixture, more, labels, half, all.d), *loaded;
    scratch_path path = scratch_file(state, "mixture.safetensors");
    assert_int_equal(imp_mixture_save(first, path.text, NULL), IMP_OK);
    imp_error error;
    if (imp_mixture_load(path.text, &loaded, &error) != IMP_OK)
        fail_msg("%s", error.message);
    assert_same(first, loaded);
    imp_mixture *by_parts = add(loaded, more + half * all.d, labels + half, queries - half, all.d);
    assert_same(at_once, by_parts);

    imp_mixture_free(mixture);
    imp_mixture_free(at_once);
    imp_mixture_free(first);
    imp_mixture_free(loaded);
    imp_mixture_free(by_parts);
    part(&all);
}

static void bytes_are_those_of_the_file(void **state)
{
    joined all = join();
    imp_mixture *mixture = fit(all.x, all.y, all.n, all.d, NULL), *again;
    scratch_path path = scratch_file(state, "mixture.safetensors");
    unsigned char *bytes;
    size_t size;
    imp_error error;
    assert_int_equal(imp_mixture_save(mixture, path.text, NULL), IMP_OK);
    assert_int_equal(imp_mixture_to_bytes(mixture, &bytes, &size, NULL), IMP_OK);
    assert_true(scratch_holds(path.text, bytes, size));
    if (imp_mixture_from_bytes(bytes, size, &again, &error) != IMP_OK)
        fail_msg("%s", error.message);
    assert_same(mixture, again);
    imp_mixture_free(again);

    for (size_t cut = 0; cut < size; cut += cut < 8 ? 1 : 97) {
        assert_int_equal(imp_mixture_from_bytes(bytes, cut, &again, &error), IMP_EFORMAT);
        assert_null(again);
    }
    imp_mixture_bytes_free(bytes);
    imp_mixture_bytes_free(NULL);
    imp_mixture_free(mixture);
    part(&all);
}

static void the_note_goes_along(void **state)
{
    joined all = join();
    imp_mixture *mixture = fit(all.x, all.y, all.n, all.d, NULL), *merged, *loaded;
    scratch_path path = scratch_file(state, "mixture.safetensors");
    assert_null(imp_mixture_note(mixture));
    assert_int_equal(imp_mixture_set_note(mixture, "first", NULL), IMP_OK);
    assert_int_equal(imp_mixture_set_note(mixture, "cat, \xe2\x82\xac\n", NULL), IMP_OK);
    imp_mixture *grown = add(mixture, all.x, NULL, 1, all.d);
    assert_int_equal(imp_mixture_merge(grown, mixture, &merged, NULL), IMP_OK);
    assert_int_equal(imp_mixture_save(merged, path.text, NULL), IMP_OK);
    assert_int_equal(imp_mixture_load(path.text, &loaded, NULL), IMP_OK);
    assert_string_equal(imp_mixture_note(loaded), "cat, \xe2\x82\xac\n");

    assert_int_equal(imp_mixture_set_note(loaded, "\xff", NULL), IMP_OK);
    assert_int_equal(imp_mixture_save(loaded, path.text, NULL), IMP_EINVAL);
    assert_int_equal(imp_mixture_set_note(loaded, NULL, NULL), IMP_OK);
    assert_int_equal(imp_mixture_save(loaded, path.text, NULL), IMP_OK);
    imp_mixture_free(loaded);
    assert_int_equal(imp_mixture_load(path.text, &loaded, NULL), IMP_OK);
    assert_null(imp_mixture_note(loaded));
    imp_mixture_free(mixture);
    imp_mixture_free(grown);
    imp_mixture_free(merged);
    imp_mixture_free(loaded);
    part(&all);
}

static void merging(void **state)
{
    (void)state;
    imp_mixture_options options = paper();
    options.rule.lambda = 4;
    const float left[] = {0, 10}, right[] = {1, 20, 10.5F};
    const int32_t left_y[] = {0, 1}, right_y[] = {0, 0, 1};
    options.rule.sigma_l = 0.01;
    imp_mixture *a = fit(left, left_y, 2, 1, &options), *b = fit(right, right_y, 3, 1, &options);
    imp_mixture *merged;
    assert_int_equal(imp_mixture_merge(a, b, &merged, NULL), IMP_OK);
    imp_mixture_summary summary = imp_mixture_summarize(merged);
    /* b has its class mean's heirs at 1 and 20, and one at 10.5 */
    assert_int_equal(summary.clusters, 3);
    assert_true(fabs(summary.weight - 5) < 1e-9);
    assert_true(fabs(imp_mixture_cluster_at(merged, 0).mean[0] - 0.5) < 1e-9);
    assert_true(fabs(imp_mixture_cluster_at(merged, 1).mean[0] - 10.25) < 1e-9);
    assert_true(fabs(imp_mixture_cluster_at(merged, 2).mean[0] - 20) < 1e-9);
    imp_mixture_free(merged);
    imp_mixture_free(b);

    const float wide[] = {1, 2};
    const int32_t zero = 0;
    imp_error error;
    b = fit(wide, &zero, 1, 2, &options);
    assert_int_equal(imp_mixture_merge(a, b, &merged, &error), IMP_EINVAL);
    assert_string_equal(error.message, "the points have 2 dimensions, the mixture has 1");
    assert_null(merged);
    imp_mixture_free(a);
    imp_mixture_free(b);
    imp_mixture_free(NULL);
}

static void describing(void **state)
{
    (void)state;
    const float x[] = {0, 10, 50};
    const int32_t y[] = {0, 1, -1};
    imp_mixture_options options = paper();
    options.rule.lambda = 4;
    imp_mixture *mixture = fit(x, y, 3, 1, &options);
    static const char expected[] = "3 clusters of 2 classes in 1 dimension\n"
                                   "lambda 4, sigma_l 5, sigma_u 5\n"
                                   "class 0: 1 cluster, weight 1\n"
                                   "class 1: 1 cluster, weight 1\n"
                                   "unlabelled: 1 cluster, weight 1\n";
    char text[400];
    assert_int_equal(imp_mixture_describe(mixture, text, sizeof text), sizeof expected - 1);
    assert_string_equal(text, expected);
    assert_int_equal(imp_mixture_describe(mixture, NULL, 0), sizeof expected - 1);
    assert_int_equal(imp_mixture_describe(mixture, text, 11), sizeof expected - 1);
    assert_string_equal(text, "3 clusters");
    imp_mixture_free(mixture);
}

/* ---- refusals ---- */

static void refuse_fit(const float *x, const int32_t *y, size_t n, size_t d,
                       const imp_mixture_options *options, const char *sentence)
{
    imp_mixture *mixture;
    imp_error error;
    assert_int_equal(imp_mixture_fit(x, y, n, d, options, &mixture, &error), IMP_EINVAL);
    assert_null(mixture);
    assert_string_equal(error.message, sentence);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    float x[] = {0, 1, 2, 3};
    int32_t y[] = {0, 1, 0, 1};
    imp_mixture_options options = paper();
    refuse_fit(x, y, 0, 1, NULL, "there are no points to fit; at least 1 is needed");
    refuse_fit(x, y, 4, 0, NULL, "the points have no dimensions; they need at least 1");
    refuse_fit(x, NULL, 4, 1, NULL,
               "no point has a label, so lambda cannot be estimated; give lambda");
    y[3] = 3;
    refuse_fit(x, y, 4, 1, NULL,
               "class 2 has no labelled point; every class from 0 to 3 needs at least one");
    y[3] = INT32_MAX;
    refuse_fit(x, y, 4, 1, NULL,
               "class 2 has no labelled point; every class from 0 to 2147483647 needs at least "
               "one");
    y[3] = -7;
    refuse_fit(x, y, 4, 1, NULL,
               "point 3 has the label -7; labels are classes, 0 or more, or -1 for an "
               "unlabelled point");
    y[3] = 1;
    x[1] = NAN;
    refuse_fit(x, y, 4, 1, NULL,
               "point row 1, column 0 is not a number (NaN); every value must be a finite number");
    x[1] = 1;
    options.rule.alpha = -1;
    refuse_fit(x, y, 4, 1, &options,
               "alpha is -1; it must be a number from 1e-300 to 1e+300, or auto");
    options.rule.alpha = 1, options.rule.sigma_l = 1e308;
    refuse_fit(x, y, 4, 1, &options,
               "sigma-l is 1e+308; it must be a number from 1e-30 to 1e+30, or auto");
    options.rule.sigma_l = 1, options.rule.sigma_u = 1e-300;
    refuse_fit(x, y, 4, 1, &options,
               "sigma-u is 1e-300; it must be a number from 1e-30 to 1e+30, or auto");
    options.rule.sigma_u = 0;
    refuse_fit(x, y, 4, 1, &options,
               "sigma-u is 0; it must be a number from 1e-30 to 1e+30, or auto");
    /* Each step starts a cluster at each point, until no share is large enough to keep any. */
    options.rule.sigma_u = 1e30, options.rule.lambda = 0, options.rule.steps = 1000;
    refuse_fit(x, NULL, 2, 1, &options,
               "all clusters were dropped; take a larger lambda, smaller variances or fewer steps");

    imp_mixture *mixture = fit(x, y, 4, 1, NULL), *grown;
    imp_error error;
    y[0] = 5;
    assert_int_equal(imp_mixture_add(mixture, x, y, 4, 1, &grown, &error), IMP_EINVAL);
    assert_string_equal(error.message, "class 2 has no point, but class 5 does; new classes "
                                       "continue the numbering from 2 on without a gap");
    assert_null(grown);
    assert_int_equal(imp_mixture_add(mixture, x, NULL, 2, 2, &grown, &error), IMP_EINVAL);
    assert_string_equal(error.message, "the points have 2 dimensions, the mixture has 1");
    x[2] = INFINITY;
    imp_mixture_predictions none = {0};
    assert_int_equal(imp_mixture_predict(mixture, x, 4, 1, false, &none, &error), IMP_EINVAL);
    assert_string_equal(error.message,
                        "query row 2, column 0 is infinite; every value must be a finite number");
    imp_mixture_free(mixture);
}

/* Writes a file that is a mixture but for one tensor and expects to have it refused. */
static void bad_files_are_refused(void **state)
{
    int32_t labels[] = {0, -1};
    double weights[] = {1, 2}, sums[] = {1, 2}, lambda = 1, sigma_l = 1, sigma_u = 1;
    int64_t classes = 1;
    imp_tensor tensors[] = {
        {"cluster.label", IMP_INT32, 1, {2}, 2, labels},
        {"cluster.weight", IMP_FLOAT64, 1, {2}, 2, weights},
        {"cluster.sum", IMP_FLOAT64, 2, {2, 1}, 2, sums},
        {"classes", IMP_INT64, 0, {0}, 1, &classes},
        {"lambda", IMP_FLOAT64, 0, {0}, 1, &lambda},
        {"sigma_l", IMP_FLOAT64, 0, {0}, 1, &sigma_l},
        {"sigma_u", IMP_FLOAT64, 0, {0}, 1, &sigma_u},
    };
    imp_metadata format = {"format", "imp mixture 1"};
    scratch_path path = scratch_file(state, "m.safetensors");
    imp_mixture *mixture;
    imp_error error;
    for (int fault = 0; fault <= 17; fault++) {
        size_t count = 7;
        labels[0] = fault == 1 ? 1 : fault == 2 || fault == 14 ? -2 : 0;
        weights[1] = fault == 3 ? 0 : fault == 4 ? NAN : fault == 15 ? 1e-310 : 2;
        sums[0] = fault == 5 ? INFINITY : 1;
        classes = fault == 6 ? -1 : fault == 7 ? 2 : fault == 14 ? 0 : 1;
        lambda = fault == 8 ? NAN : fault == 17 ? -1 : 1;
        sigma_l = fault == 9 ? 0 : fault == 16 ? 1e-300 : 1;
        count = fault == 10 ? 6 : 7;
        tensors[1].count = tensors[1].shape[0] = fault == 11 ? 1 : 2;
        tensors[6].name = fault == 12 ? "sigma" : "sigma_u";
        format.value = fault == 13 ? "imp mixture 2" : "imp mixture 1";
        assert_int_equal(imp_safetensors_save(path.text, tensors, count, &format, 1, &error),
                         IMP_OK);
        imp_status status = imp_mixture_load(path.text, &mixture, &error);
        assert_int_equal(status, fault == 0 ? IMP_OK : IMP_EFORMAT);
        if (fault > 0) {
            assert_null(mixture);
            assert_int_equal(error.status, IMP_EFORMAT);
            assert_int_equal(strncmp(error.message, path.text, strlen(path.text)), 0);
        }
        imp_mixture_free(mixture);
    }
    assert_int_equal(imp_mixture_load("/nowhere/at/all", &mixture, &error), IMP_EIO);
    assert_null(mixture);
}

/* A bit of each byte: never is another mixture read than the one that was written. */
static void damaged_files_are_refused(void **state)
{
    (void)state;
    joined all = join();
    imp_mixture *mixture, *read;
    unsigned char *bytes;
    size_t size, read_all = 0;
    assert_int_equal(imp_mixture_fit(all.x, all.y, all.n, all.d, NULL, &mixture, NULL), IMP_OK);
    assert_int_equal(imp_mixture_to_bytes(mixture, &bytes, &size, NULL), IMP_OK);
    for (size_t i = 0; i < size; i++) {
        unsigned char bit = (unsigned char)(1 << i % 8);
        bytes[i] ^= bit;
        if (imp_mixture_from_bytes(bytes, size, &read, NULL) == IMP_OK)
            read_all++;
        imp_mixture_free(read);
        bytes[i] ^= bit;
    }
    /* The name of the checksum is 6 letters; without it the rest is as it was. */
    assert_true(read_all <= 6);
    imp_mixture_bytes_free(bytes);
    imp_mixture_free(mixture);
    part(&all);
}

/* ---- memory ---- */

static void every_allocation_may_fail(void **state)
{
    joined all = join();
    scratch_path path = scratch_file(state, "m.safetensors");
    failing_allocator memory = {.spare_jansson = true};
    while (failing_allocator_next(&memory)) {
        imp_mixture *mixture = NULL, *grown = NULL, *merged = NULL, *loaded = NULL, *read = NULL;
        unsigned char *bytes = NULL;
        size_t size;
        int32_t labels[64];
        imp_mixture_predictions out = {.label = labels};
        imp_mixture_options options = paper();
        imp_status status = imp_mixture_fit(all.x, all.y, all.n, all.d, &options, &mixture, NULL);
        if (status == IMP_OK)
            status = imp_mixture_set_note(mixture, "note", NULL);
        if (status == IMP_OK)
            status = imp_mixture_add(mixture, all.x, NULL, all.n, all.d, &grown, NULL);
        if (status == IMP_OK)
            status = imp_mixture_merge(mixture, grown, &merged, NULL);
        if (status == IMP_OK)
            status = imp_mixture_predict(merged, all.x, 30, all.d, true, &out, NULL);
        if (status == IMP_OK)
            status = imp_mixture_save(merged, path.text, NULL);
        if (status == IMP_OK)
            status = imp_mixture_load(path.text, &loaded, NULL);
        if (status == IMP_OK)
            status = imp_mixture_to_bytes(loaded, &bytes, &size, NULL);
        if (status == IMP_OK)
            status = imp_mixture_from_bytes(bytes, size, &read, NULL);
        imp_mixture_bytes_free(bytes);
        imp_mixture_free(read);
        imp_mixture_free(mixture);
        imp_mixture_free(grown);
        imp_mixture_free(merged);
        imp_mixture_free(loaded);
        failing_allocator_expect(&memory, status);
    }
    part(&all);
}

/* Points among many clusters of many dimensions, which threads share, against the plain rule. */
static void adding_among_many_clusters(void **state)
{
    (void)state;
    enum { D = 700, SUPPORTS = 260, MORE = 30, CLASSES = 3 };
    imp_random random = imp_random_start(31, 0, 0);
    float *x = malloc((SUPPORTS + MORE) * D * sizeof *x);
    int32_t y[SUPPORTS + MORE];
    for (size_t i = 0; i < SUPPORTS + MORE; i++) {
        y[i] = i < SUPPORTS ? (int32_t)(i % CLASSES) : (int32_t)(i % (CLASSES + 1)) - 1;
        for (size_t j = 0; j < D; j++)
            x[i * D + j] = (float)imp_random_normal(&random);
        for (size_t j = 0; i >= SUPPORTS && j < D; j++) /* near to one that there is, or not */
            x[i * D + j] = x[(i - SUPPORTS) * 7 * D + j] + (i % 5 ? 0.1F : 1.5F) * x[i * D + j];
    }
    imp_mixture_options options = imp_mixture_defaults();
    options.rule.sigma_l = options.rule.sigma_u = 50;
    options.rule.lambda = 600;
    imp_mixture *mixture = fit(x, y, SUPPORTS, D, &options);
    imp_mixture *grown = add(mixture, x + SUPPORTS * D, y + SUPPORTS, MORE, D);

    imp_clusters plain = {0};
    imp_clusters_restart(&plain, D);
    size_t before = imp_mixture_summarize(mixture).clusters;
    assert_true(before > 200);
    for (size_t c = 0; c < before; c++) {
        imp_mixture_cluster from = imp_mixture_cluster_at(mixture, c);
        assert_int_equal(imp_clusters_add(&plain, from.label, from.sigma, NULL, NULL), IMP_OK);
        plain.weight[c] = from.weight;
        memcpy(imp_clusters_mean(&plain, c), from.mean, D * sizeof *from.mean);
    }
    for (size_t i = SUPPORTS; i < SUPPORTS + MORE; i++) {
        double distance;
        imp_nearest_cluster(&plain, x + i * D, y[i], &distance);
        if (distance > 600) {
            assert_int_equal(imp_clusters_add(&plain, y[i], 50, x + i * D, NULL), IMP_OK);
            plain.weight[plain.count - 1] = 1;
            continue;
        }
        imp_soft_assignment(&plain, x + i * D, y[i], plain.score);
        for (size_t c = 0; c < plain.count; c++) {
            double z = plain.score[c];
            plain.weight[c] += z;
            for (size_t j = 0; j < D; j++)
                imp_clusters_mean(&plain, c)[j] +=
                    z * (x[i * D + j] - imp_clusters_mean(&plain, c)[j]) / plain.weight[c];
        }
    }
    assert_int_equal(imp_mixture_summarize(grown).clusters, plain.count);
    assert_true(plain.count > before && plain.count < before + MORE);
    for (size_t c = 0; c < plain.count; c++) {
        imp_mixture_cluster found = imp_mixture_cluster_at(grown, c);
        assert_int_equal(found.label, plain.label[c]);
        assert_true(fabs(found.weight - plain.weight[c]) < 1e-9);
        for (size_t j = 0; j < D; j++)
            assert_true(fabs(found.mean[j] - imp_clusters_mean(&plain, c)[j]) < 1e-9);
    }
    imp_clusters_release(&plain);
    imp_mixture_free(mixture);
    imp_mixture_free(grown);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_and_predicts_as_the_method_does),
        cmocka_unit_test(without_labels),
        cmocka_unit_test(extreme_variances_and_points),
        cmocka_unit_test(many_threads_predict_at_once),
        cmocka_unit_test(adding_follows_the_rule),
        cmocka_unit_test(adding_among_many_clusters),
        cmocka_unit_test_setup_teardown(adding_by_parts_and_through_a_file_gives_the_same_bits,
                                        scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(bytes_are_those_of_the_file, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(the_note_goes_along, scratch_setup, scratch_teardown),
        cmocka_unit_test(merging),
        cmocka_unit_test(describing),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test_setup_teardown(bad_files_are_refused, scratch_setup, scratch_teardown),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
