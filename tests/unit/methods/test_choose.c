/*
 * test_choose.c - mixtures whose points choose: the same answers on any scale, metrics against
 * plain computations, what is kept in a file, unlabelled points that cannot do harm, and the
 * open-set rate.
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
#include "methods/metric.h"
#include "scratch.h"

enum { WAY = 3, SHOT = 8, D = 6, N = WAY * SHOT, QUERIES = 300 };

/* Classes a few deviations apart; the last features are noise of another unit. */
typedef struct points {
    float x[N * D], query[QUERIES * D], unlabeled[QUERIES * D];
    int32_t y[N], truth[QUERIES];
} points;

static void draw(imp_random *random, int32_t class, double apart, double noise, float *x)
{
    for (size_t j = 0; j < D; j++) {
        double value = imp_random_normal(random) + (j == (size_t) class ? apart : 0);
        x[j] = (float)(j < WAY ? value : noise * value);
    }
}

static void make(points *all, double apart, double noise, uint64_t seed)
{
    imp_random random = imp_random_start(seed, IMP_STREAM_TEST, 0);
    for (size_t i = 0; i < N; i++) {
        all->y[i] = (int32_t)(i % WAY);
        draw(&random, all->y[i], apart, noise, all->x + i * D);
    }
    for (size_t i = 0; i < QUERIES; i++) {
        all->truth[i] = (int32_t)(i % WAY);
        draw(&random, all->truth[i], apart, noise, all->query + i * D);
        draw(&random, all->truth[i], apart, noise, all->unlabeled + i * D);
    }
}

static imp_mixture *fit(const float *x, const int32_t *y, size_t n, size_t d,
                        const imp_mixture_options *options)
{
    imp_mixture *mixture;
    imp_error error;
    if (imp_mixture_fit(x, y, n, d, options, &mixture, &error))
        fail_msg("%s", error.message);
    return mixture;
}

static imp_mixture_choice choice_of(const imp_mixture *mixture)
{
    imp_mixture_choice choice;
    imp_mixture_choice_of(mixture, &choice, sizeof choice);
    return choice;
}

static double accuracy(const imp_mixture *mixture, const points *all)
{
    int32_t found[QUERIES];
    imp_mixture_predictions out = {.label = found};
    assert_int_equal(imp_mixture_predict(mixture, all->query, QUERIES, D, false, &out, NULL),
                     IMP_OK);
    size_t right = 0;
    for (size_t i = 0; i < QUERIES; i++)
        right += found[i] == all->truth[i];
    return (double)right / QUERIES;
}

/* ---- scale and metric ---- */

static void answers_do_not_depend_on_the_scale(void **state)
{
    (void)state;
    static points all, scaled;
    make(&all, 4, 1, 1);
    imp_mixture *mixture = fit(all.x, all.y, N, D, NULL);
    int32_t labels[QUERIES], others[QUERIES];
    float probability[QUERIES * WAY], other[QUERIES * WAY];
    imp_mixture_predictions out = {.label = labels, .probability = probability};
    imp_mixture_predictions again = {.label = others, .probability = other};
    assert_int_equal(imp_mixture_predict(mixture, all.query, QUERIES, D, false, &out, NULL),
                     IMP_OK);
    const double factors[] = {100, 1e-3, 1e-30, 1e30};
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        for (size_t i = 0; i < N * D; i++)
            scaled.x[i] = (float)(all.x[i] * factors[f]);
        for (size_t i = 0; i < QUERIES * D; i++)
            scaled.query[i] = (float)(all.query[i] * factors[f]);
        imp_mixture *same = fit(scaled.x, all.y, N, D, NULL);
        assert_int_equal(choice_of(same).metric, choice_of(mixture).metric);
        assert_int_equal(imp_mixture_predict(same, scaled.query, QUERIES, D, false, &again, NULL),
                         IMP_OK);
        assert_memory_equal(labels, others, sizeof labels);
        for (size_t i = 0; i < QUERIES * WAY; i++)
            assert_true(fabs(probability[i] - other[i]) < 1e-3);
        imp_mixture_free(same);
    }
    imp_mixture_free(mixture);
}

/* As they are, points of this kind are told apart by noise alone. */
static void features_of_another_unit_are_standardised(void **state)
{
    (void)state;
    static points all;
    make(&all, 5, 1000, 2);
    imp_mixture_options paper = imp_mixture_defaults();
    paper.preset = IMP_PRESET_PAPER;
    imp_mixture *mixture = fit(all.x, all.y, N, D, NULL), *plain = fit(all.x, all.y, N, D, &paper);
    imp_mixture_choice choice = choice_of(mixture);
    assert_true(choice.metric == IMP_METRIC_STANDARD || choice.whitened);
    assert_int_equal(choice.held_out, N);
    assert_true(choice.loss < log(WAY));
    assert_true(accuracy(mixture, &all) > 0.9);
    assert_true(accuracy(plain, &all) < 0.6);
    assert_true(choice.candidates >= 4);
    for (size_t i = 0; i < choice.candidates; i++)
        assert_true(imp_mixture_candidate_at(mixture, i).loss >= 0);
    assert_int_equal(choice_of(plain).candidates, 0);
    imp_mixture_free(mixture);
    imp_mixture_free(plain);
}

/* The covariance within classes as Ledoit and Wolf shrink it, in plain loops: from deviations of
 * the points from the means of their classes, with as many degrees of freedom as these leave. */
static void plain_covariance(const float *x, const int32_t *y, size_t n, size_t d, double *s)
{
    double mean[WAY * 64] = {0}, members[WAY] = {0}, trace = 0, square = 0;
    memset(s, 0, d * d * sizeof *s);
    for (size_t i = 0; i < n; i++) {
        members[y[i]]++;
        for (size_t j = 0; j < d; j++)
            mean[(size_t)y[i] * d + j] += x[i * d + j];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            for (size_t k = 0; k < d; k++)
                s[j * d + k] += (x[i * d + j] - mean[(size_t)y[i] * d + j] / members[y[i]]) *
                                (x[i * d + k] - mean[(size_t)y[i] * d + k] / members[y[i]]) /
                                (double)(n - WAY);
    for (size_t j = 0; j < d; j++)
        trace += s[j * d + j];
    for (size_t j = 0; j < d * d; j++)
        square += s[j] * s[j];
    /* Fourth moments of the contrasts: each point minus the mean of those of its class before it.
     */
    double sum[WAY * 64] = {0}, seen[WAY] = {0}, fourth = 0, contrasts = (double)(n - WAY);
    for (size_t i = 0; i < n; i++) {
        double before = seen[y[i]]++, length = 0;
        for (size_t j = 0; j < d; j++) {
            double *of = &sum[(size_t)y[i] * d + j];
            double c = before > 0 ? (x[i * d + j] - *of / before) * sqrt(before / (before + 1)) : 0;
            length += c * c;
            *of += x[i * d + j];
        }
        fourth += length * length / contrasts;
    }
    double share =
        fmin(1, fmax(0, (fourth - square) / contrasts) / (square - trace * trace / (double)d));
    for (size_t j = 0; j < d * d; j++)
        s[j] *= 1 - share;
    for (size_t j = 0; j < d; j++)
        s[j * d + j] += (share + 1e-6) * trace / (double)d;
}

/* Squared distances in the whitened space are u' S^-1 u, so S u has the distance u' S u. */
static void whitening_is_the_inverse_of_the_covariance(void **state)
{
    (void)state;
    enum { MOST = 64, COUNT = 30 };
    static float x[COUNT * MOST], pair[2 * MOST], mapped[2 * MOST];
    static double s[MOST * MOST];
    int32_t y[COUNT];
    const size_t dimensions[] = {3, 10, 27, 40, MOST};
    for (size_t c = 0; c < sizeof dimensions / sizeof *dimensions; c++) {
        size_t d = dimensions[c];
        imp_random random = imp_random_start(7, IMP_STREAM_TEST, c);
        for (size_t i = 0; i < COUNT; i++) {
            y[i] = (int32_t)(i % WAY);
            double common = imp_random_normal(&random);
            for (size_t j = 0; j < d; j++)
                x[i * d + j] = (float)(imp_random_normal(&random) * (1 + (double)(j % 5)) +
                                       3 * common + 10 * y[i]);
        }
        plain_covariance(x, y, COUNT, d, s);
        imp_metric metric = {.kind = IMP_METRIC_AS_IS, .dimensions = d, .scale = 1};
        bool possible;
        assert_int_equal(imp_metric_whiten(&metric, x, y, COUNT, 1, &possible, NULL), IMP_OK);
        assert_true(possible);
        for (size_t trial = 0; trial < 10; trial++) {
            double u[MOST], expected = 0, found = 0;
            for (size_t j = 0; j < d; j++)
                u[j] = imp_random_normal(&random);
            for (size_t j = 0; j < d; j++) {
                double su = 0;
                for (size_t k = 0; k < d; k++)
                    su += s[j * d + k] * u[k];
                pair[j] = 1;
                pair[d + j] = (float)(1 + su);
                expected += u[j] * su;
            }
            assert_int_equal(imp_metric_apply(&metric, pair, NULL, 2, 1, mapped, NULL), IMP_OK);
            for (size_t j = 0; j < d; j++)
                found += pow((double)mapped[d + j] - mapped[j], 2);
            assert_true(fabs(found / expected - 1) < 1e-2);
        }
        imp_metric_release(&metric);
    }
}

static void every_metric_can_be_given(void **state)
{
    (void)state;
    static points all;
    make(&all, 6, 1, 3);
    for (size_t i = 0; i < N * D; i++)
        all.x[i] = fabsf(all.x[i]);
    for (size_t i = 0; i < QUERIES * D; i++)
        all.query[i] = fabsf(all.query[i]);
    for (int kind = IMP_METRIC_AS_IS; kind <= IMP_METRIC_COSINE; kind++)
        for (int whitening = IMP_WHITEN_NO; whitening <= IMP_WHITEN_YES; whitening++) {
            imp_mixture_options options = imp_mixture_defaults();
            options.metric = (imp_metric_kind)kind;
            options.whitening = (imp_whitening)whitening;
            imp_mixture *mixture = fit(all.x, all.y, N, D, &options);
            imp_mixture_choice choice = choice_of(mixture);
            assert_int_equal(choice.metric, kind);
            assert_int_equal(choice.whitened, whitening == IMP_WHITEN_YES);
            assert_true(accuracy(mixture, &all) > 0.85);
            float rows[N * D];
            assert_int_equal(imp_mixture_transform(mixture, all.x, N, D, rows, NULL), IMP_OK);
            if (kind >= IMP_METRIC_UNIT && whitening == IMP_WHITEN_NO)
                for (size_t i = 0; i < N; i++) {
                    double square = 0;
                    for (size_t j = 0; j < D; j++)
                        square += rows[i * D + j] * rows[i * D + j];
                    assert_true(fabs(square - 1) < 1e-5);
                }
            imp_mixture_free(mixture);
        }
    assert_string_equal(imp_metric_name(IMP_METRIC_UNIT), "unit");
    assert_null(imp_metric_name((imp_metric_kind)99));
}

/* ---- little to go by ---- */

static void one_label_of_each_class_says_little(void **state)
{
    (void)state;
    static points all;
    make(&all, 8, 1, 4);
    imp_mixture *mixture = fit(all.x, all.y, WAY, D, NULL);
    imp_mixture_choice choice = choice_of(mixture);
    assert_true(choice.little);
    assert_int_equal(choice.held_out, 0);
    assert_true(isnan(choice.loss));
    assert_true(isinf(choice.open_set_distance));
    assert_true(accuracy(mixture, &all) > 0.8);
    imp_mixture_free(mixture);
    /* One class and coinciding points are no reason to fail, either. */
    float same[4 * D] = {0};
    int32_t zero[4] = {0}, two[4] = {0, 1, 0, 1};
    mixture = fit(same, zero, 4, D, NULL);
    assert_true(choice_of(mixture).little);
    imp_mixture_free(mixture);
    mixture = fit(same, two, 4, D, NULL);
    imp_mixture_free(mixture);
}

/* In many dimensions distances differ less by chance, and so the variance that is guessed is less.
 */
static void a_guessed_variance_follows_the_dimensions(void **state)
{
    (void)state;
    enum { CLASSES = 30, MANY = 200 };
    static float x[CLASSES * MANY];
    int32_t y[CLASSES];
    double sigma[2];
    imp_random random = imp_random_start(12, IMP_STREAM_TEST, 0);
    for (size_t i = 0; i < CLASSES * MANY; i++)
        x[i] = (float)imp_random_normal(&random);
    for (size_t i = 0; i < CLASSES; i++)
        y[i] = (int32_t)i;
    imp_mixture_options options = imp_mixture_defaults();
    options.metric = IMP_METRIC_UNIT; /* in which all have the same spread */
    for (int many = 0; many < 2; many++) {
        imp_mixture *mixture = fit(x, y, CLASSES, many ? MANY : 8, &options);
        sigma[many] = imp_mixture_summarize(mixture).rule.sigma_l;
        imp_mixture_free(mixture);
    }
    assert_true(fabs(sigma[0] - 0.2) < 0.02);
    assert_true(fabs(sigma[1] - 0.2 * sqrt(16.0 / MANY)) < 0.02);
}

/* ---- files and growth ---- */

static void bits_survive_files_and_parts(void **state)
{
    static points all;
    static int32_t y[N + QUERIES];
    static float x[(N + QUERIES) * D];
    make(&all, 3, 1, 5);
    memcpy(x, all.x, sizeof all.x);
    memcpy(x + N * D, all.unlabeled, sizeof all.unlabeled);
    memcpy(y, all.y, sizeof all.y);
    for (size_t i = N; i < N + QUERIES; i++)
        y[i] = IMP_UNLABELED;
    scratch_path path = scratch_file(state, "m.safetensors");
    for (int whitening = IMP_WHITEN_NO; whitening <= IMP_WHITEN_YES; whitening++)
        for (int kind = IMP_METRIC_AS_IS; kind <= IMP_METRIC_COSINE; kind++) {
            imp_mixture_options options = imp_mixture_defaults();
            options.metric = (imp_metric_kind)kind;
            options.whitening = (imp_whitening)whitening;
            imp_mixture *mixture = fit(x, y, N + QUERIES, D, &options), *loaded, *first, *second;
            assert_int_equal(imp_mixture_save(mixture, path.text, NULL), IMP_OK);
            assert_int_equal(imp_mixture_load(path.text, &loaded, NULL), IMP_OK);
            imp_mixture_choice before = choice_of(mixture), after = choice_of(loaded);
            assert_memory_equal(&before, &after, sizeof before);
            assert_int_equal(imp_mixture_add(mixture, all.query, all.truth, 50, D, &first, NULL),
                             IMP_OK);
            imp_mixture *half;
            assert_int_equal(imp_mixture_add(loaded, all.query, all.truth, 20, D, &half, NULL),
                             IMP_OK);
            assert_int_equal(
                imp_mixture_add(half, all.query + 20 * D, all.truth + 20, 30, D, &second, NULL),
                IMP_OK);
            float left[QUERIES * (WAY + 1)], right[QUERIES * (WAY + 1)];
            imp_mixture_predictions a = {.probability = left}, b = {.probability = right};
            assert_int_equal(imp_mixture_predict(first, all.query, QUERIES, D, true, &a, NULL),
                             IMP_OK);
            assert_int_equal(imp_mixture_predict(second, all.query, QUERIES, D, true, &b, NULL),
                             IMP_OK);
            assert_memory_equal(left, right, sizeof left);
            imp_mixture_free(mixture);
            imp_mixture_free(loaded);
            imp_mixture_free(half);
            imp_mixture_free(first);
            imp_mixture_free(second);
        }
}

/* However many unlabelled points come, they weigh no more than they were found to be good for. */
static void a_stream_without_labels_does_no_harm(void **state)
{
    (void)state;
    static points all;
    make(&all, 2.5, 1, 6);
    imp_mixture *mixture = fit(all.x, all.y, N, D, NULL), *grown;
    double before = accuracy(mixture, &all);
    for (int round = 0; round < 20; round++) {
        assert_int_equal(imp_mixture_add(mixture, all.unlabeled, NULL, QUERIES, D, &grown, NULL),
                         IMP_OK);
        imp_mixture_free(mixture);
        mixture = grown;
    }
    assert_true(accuracy(mixture, &all) >= before - 0.01);
    imp_mixture_free(mixture);
}

static void the_weight_of_unlabelled_points_can_be_given(void **state)
{
    (void)state;
    static points all;
    static int32_t y[N + QUERIES];
    static float x[(N + QUERIES) * D];
    make(&all, 3, 1, 8);
    memcpy(x, all.x, sizeof all.x);
    memcpy(x + N * D, all.unlabeled, sizeof all.unlabeled);
    for (size_t i = 0; i < N + QUERIES; i++)
        y[i] = i < N ? all.y[i] : IMP_UNLABELED;
    imp_mixture_options options = imp_mixture_defaults();
    options.metric = IMP_METRIC_AS_IS;
    options.rule.lambda = 1e6;
    options.rule.sigma_l = 1;
    options.unlabeled_weight = 0.25;
    imp_mixture *mixture = fit(x, y, N + QUERIES, D, &options);
    assert_true(choice_of(mixture).unlabeled_weight == 0.25);
    double weight = 0;
    for (size_t c = 0; c < WAY; c++)
        weight += imp_mixture_cluster_at(mixture, c).weight;
    assert_true(fabs(weight - (N + 0.25 * QUERIES)) < 10); /* but for points far from everything */
    imp_mixture_free(mixture);
    options.unlabeled_weight = 1.5;
    imp_error error;
    assert_int_equal(imp_mixture_fit(x, y, N, D, &options, &mixture, &error), IMP_EINVAL);
    assert_string_equal(error.message,
                        "the weight of unlabelled points is 1.5; it must be a number from 0 to 1");
    options.unlabeled_weight = IMP_AUTO;
    options.preset = IMP_PRESET_PAPER;
    options.metric = IMP_METRIC_UNIT;
    assert_int_equal(imp_mixture_fit(x, y, N, D, &options, &mixture, &error), IMP_EINVAL);
    assert_null(mixture);
}

/* ---- open set ---- */

static double share_of_none(const imp_mixture *mixture, const float *x, size_t n)
{
    int32_t label[QUERIES];
    float probability[QUERIES * (WAY + 1)];
    imp_mixture_predictions out = {.label = label, .probability = probability};
    assert_int_equal(imp_mixture_predict(mixture, x, n, D, true, &out, NULL), IMP_OK);
    size_t none = 0;
    for (size_t i = 0; i < n; i++) {
        /* The label is the most probable outcome, and probabilities sum to 1. */
        const float *of = probability + i * (WAY + 1);
        size_t best = label[i] < 0 ? WAY : (size_t)label[i];
        double sum = 0;
        for (size_t o = 0; o <= WAY; o++) {
            assert_true(of[o] <= of[best]);
            sum += of[o];
        }
        assert_true(fabs(sum - 1) < 1e-5);
        none += label[i] < 0;
    }
    return (double)none / (double)n;
}

static void the_open_set_rate_is_kept(void **state)
{
    (void)state;
    static points all;
    static float far[QUERIES * D];
    make(&all, 6, 1, 9);
    for (size_t i = 0; i < QUERIES * D; i++)
        far[i] = all.query[i] - 30;
    imp_mixture *mixture = fit(all.query, all.truth, QUERIES, D, NULL);
    double usual = share_of_none(mixture, all.unlabeled, QUERIES);
    assert_true(usual > 0.01 && usual < 0.12);
    assert_true(share_of_none(mixture, far, QUERIES) > 0.99);
    assert_int_equal(imp_mixture_set_open_set_rate(mixture, 0.3, NULL), IMP_OK);
    double more = share_of_none(mixture, all.unlabeled, QUERIES);
    assert_true(more > 0.2 && more < 0.4);
    assert_int_equal(imp_mixture_set_open_set_rate(mixture, 0, NULL), IMP_OK);
    assert_true(share_of_none(mixture, all.unlabeled, QUERIES) == 0);
    assert_int_equal(imp_mixture_set_open_set_rate(mixture, 2, NULL), IMP_EINVAL);
    imp_mixture_free(mixture);
}

/* Points of another kind are none of the classes, even where unlabelled ones of that kind, which
 * may have been given labels, moved clusters; and the farther a point, the more so. */
static void strangers_are_told_by_labelled_points(void **state)
{
    (void)state;
    static points all;
    make(&all, 8, 1, 12);
    static float x[(N + QUERIES) * D];
    static int32_t y[N + QUERIES];
    memcpy(x, all.x, sizeof all.x);
    memcpy(y, all.y, sizeof all.y);
    for (size_t i = 0; i < QUERIES; i++) {
        y[N + i] = IMP_UNLABELED;
        for (size_t j = 0; j < D; j++)
            x[(N + i) * D + j] = all.unlabeled[i * D + j] + (i % 2 && j == D - 1 ? 12 : 0);
    }
    imp_mixture *mixture = fit(x, y, N + QUERIES, D, NULL);
    enum { STEPS = 40 };
    float query[STEPS * D] = {0}, probability[STEPS * (WAY + 1)];
    int32_t label[STEPS];
    for (size_t i = 0; i < STEPS; i++) {
        query[i * D] = 8;
        query[i * D + D - 1] = (float)(6 + 0.25 * (double)i);
    }
    const imp_mixture_predictions out = {.label = label, .probability = probability};
    assert_int_equal(imp_mixture_predict(mixture, query, STEPS, D, true, &out, NULL), IMP_OK);
    for (size_t i = 0; i < STEPS; i++) {
        const float *of = probability + i * (WAY + 1);
        assert_int_equal(label[i], of[WAY] >= 0.5 ? IMP_UNLABELED : 0);
        if (i > 0)
            assert_true(of[WAY] >= of[WAY - (WAY + 1)]);
    }
    assert_int_equal(label[STEPS - 1], IMP_UNLABELED);
    imp_mixture_free(mixture);
}

/* ---- memory ---- */

static void every_allocation_may_fail(void **state)
{
    scratch_path path = scratch_file(state, "m.safetensors");
    static points all;
    make(&all, 4, 1, 10);
    for (int whitening = IMP_WHITEN_NO; whitening <= IMP_WHITEN_YES; whitening++) {
        imp_mixture_options options = imp_mixture_defaults();
        options.metric = IMP_METRIC_STANDARD;
        options.whitening = (imp_whitening)whitening;
        failing_allocator memory = {.spare_jansson = true};
        while (failing_allocator_next(&memory)) {
            imp_mixture *mixture = NULL, *grown = NULL, *loaded = NULL;
            int32_t labels[10];
            imp_mixture_predictions out = {.label = labels};
            imp_status status = imp_mixture_fit(all.x, all.y, N, D, &options, &mixture, NULL);
            if (!status)
                status = imp_mixture_add(mixture, all.query, NULL, 5, D, &grown, NULL);
            if (!status)
                status = imp_mixture_predict(grown, all.query, 10, D, true, &out, NULL);
            if (!status)
                status = imp_mixture_save(grown, path.text, NULL);
            if (!status)
                status = imp_mixture_load(path.text, &loaded, NULL);
            imp_mixture_free(mixture);
            imp_mixture_free(grown);
            imp_mixture_free(loaded);
            failing_allocator_expect(&memory, status);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_do_not_depend_on_the_scale),
        cmocka_unit_test(features_of_another_unit_are_standardised),
        cmocka_unit_test(whitening_is_the_inverse_of_the_covariance),
        cmocka_unit_test(every_metric_can_be_given),
        cmocka_unit_test(one_label_of_each_class_says_little),
        cmocka_unit_test(a_guessed_variance_follows_the_dimensions),
        cmocka_unit_test_setup_teardown(bits_survive_files_and_parts, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(a_stream_without_labels_does_no_harm),
        cmocka_unit_test(the_weight_of_unlabelled_points_can_be_given),
        cmocka_unit_test(the_open_set_rate_is_kept),
        cmocka_unit_test(strangers_are_told_by_labelled_points),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
