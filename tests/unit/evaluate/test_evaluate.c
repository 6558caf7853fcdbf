/*
 * test_evaluate.c - evaluation: the same bits on any number of threads, several methods at once,
 * agreement with doing it by hand; and projections.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/projection.h"
#include "evaluate/contestant.h"
#include "evaluate/evaluate.h"
#include "failing_allocator.h"
#include "learners/view.h"

static imp_dataset *open_data(void)
{
    imp_dataset_options options = imp_dataset_defaults();
    options.size = 16;
    options.glyphs = (imp_glyph_options){
        .alphabets = 10, .fewest_characters = 6, .most_characters = 8, .drawings = 10};
    options.threads = 1;
    imp_dataset *dataset;
    assert_int_equal(imp_dataset_open("glyphs", &options, &dataset, NULL), IMP_OK);
    return dataset;
}

static imp_network *make_network(void)
{
    imp_network_options options = {
        .size = sizeof options, .channels = 1, .height = 16, .width = 16, .seed = 2, .threads = 1};
    imp_network *network;
    assert_int_equal(imp_network_create("conv3x3:8,bn,relu,pool,conv3x3:8,bn,relu,pool", &options,
                                        &network, NULL),
                     IMP_OK);
    return network;
}

static imp_encoder *make_encoder(void)
{
    imp_network *network = make_network();
    imp_encoder *encoder;
    assert_int_equal(imp_encoder_create(network, &encoder, NULL), IMP_OK);
    imp_network_free(network);
    return encoder;
}

static imp_evaluate_options options_for(size_t episodes, int threads)
{
    imp_evaluate_options options = {
        .task = imp_episode_defaults(), .episodes = episodes, .threads = threads};
    options.task.kind = IMP_EPISODE_SUPER_CLASSES;
    options.task.purpose = IMP_FOR_TESTING;
    options.task.way = 2;
    options.task.modes = 3;
    options.task.queries = 4;
    options.task.fewest_shot = 1;
    options.task.shot = 3; /* episodes of different sizes */
    return options;
}

static imp_contestant contestant(const char *method)
{
    imp_contestant one = {.options = imp_learner_defaults()};
    one.options.method = method;
    return one;
}

static void test_threads(void **state)
{
    (void)state;
    imp_dataset *dataset = open_data();
    imp_encoder *encoder = make_encoder();
    imp_contestant all[] = {contestant("imp"), contestant("prototypes"), contestant("dp-means")};
    imp_evaluation first[3], again[3];
    static const int threads[] = {1, 2, 8};
    for (size_t t = 0; t < 3; t++) {
        imp_evaluate_options options = options_for(25, threads[t]);
        assert_int_equal(
            imp_evaluate(encoder, dataset, all, 3, &options, t == 0 ? first : again, NULL), IMP_OK);
        if (t > 0)
            assert_memory_equal(first, again, sizeof first);
    }
    assert_true(first[0].accuracy.mean > 0.3 && first[0].accuracy.half_width > 0);
    assert_true(first[0].clusters.mean >= 2);
    assert_true(first[1].clusters_per_class == 1 && isnan(first[1].lambda));
    imp_encoder_free(encoder);
    imp_dataset_free(dataset);
}

/* One episode by hand: options->network embeds it, or else the encoder. *open, if wanted, becomes
 * the share of queries that the best of all clusters classifies rightly. */
static double accuracies_by_hand(const imp_dataset *dataset, const imp_encoder *encoder,
                                 const imp_evaluate_options *options, const imp_contestant *one,
                                 uint64_t index, double *open)
{
    imp_episode episode;
    assert_int_equal(imp_episode_draw(dataset, &options->task, index, &episode, NULL), IMP_OK);
    size_t images = imp_episode_size(&episode), d = imp_encoder_output_size(encoder);
    float *pixels = malloc(images * 16 * 16 * sizeof *pixels);
    float *embeddings = malloc(images * d * sizeof *embeddings);
    imp_episode_pixels(dataset, &episode, pixels);
    if (options->network)
        assert_int_equal(imp_network_forward(options->network, pixels, images, embeddings, NULL),
                         IMP_OK);
    else
        assert_int_equal(imp_encoder_encode(encoder, pixels, images, 1, embeddings, NULL), IMP_OK);
    imp_method *method;
    imp_method_result result;
    assert_int_equal(
        imp_method_create(one->options.method, &one->options.method_options, &method, NULL),
        IMP_OK);
    imp_episode_view view = imp_view_of(&episode, embeddings, d);
    assert_int_equal(imp_method_run(method, &view, false, &result, NULL), IMP_OK);
    double accuracy = imp_accuracy(view.query_label, result.predictions, view.query_count).mean;
    size_t right = 0;
    for (size_t q = 0; q < view.query_count; q++) {
        double most = -INFINITY;
        int32_t label = 0;
        for (size_t c = 0; c < result.cluster_count; c++) {
            double distance = 0, sigma = result.cluster_sigma[c];
            for (size_t j = 0; j < d; j++)
                distance += pow(view.query[q * d + j] - result.cluster_mean[c * d + j], 2);
            double score = -0.5 * (distance / sigma + (double)d * log(sigma));
            if (score > most) {
                most = score;
                label = result.cluster_label[c];
            }
        }
        right += label == view.query_label[q];
    }
    if (open)
        *open = (double)right / (double)view.query_count;
    imp_method_free(method);
    imp_episode_clear(&episode);
    free(pixels);
    free(embeddings);
    return accuracy;
}

static double accuracy_by_hand(const imp_dataset *dataset, const imp_encoder *encoder,
                               const imp_evaluate_options *options, const imp_contestant *one,
                               uint64_t index)
{
    return accuracies_by_hand(dataset, encoder, options, one, index, NULL);
}

/* Where unlabelled points make clusters of their own, a query may be theirs. */
static void test_two_accuracies(void **state)
{
    (void)state;
    imp_dataset *dataset = open_data();
    imp_encoder *encoder = make_encoder();
    imp_contestant one = contestant("imp");
    imp_evaluate_options options = options_for(6, 2);
    imp_evaluation result;
    assert_int_equal(imp_evaluate(encoder, dataset, &one, 1, &options, &result, NULL), IMP_OK);
    assert_true(result.unlabeled_clusters == 0);
    assert_memory_equal(&result.accuracy, &result.open_accuracy, sizeof result.accuracy);

    options.task.kind = IMP_EPISODE_CLASSES;
    options.task.shot = 1;
    options.task.queries = 3;
    options.task.unlabeled = 3;
    options.task.distractors = 2;
    one.options.method_options.rule.lambda = 1;
    assert_int_equal(imp_evaluate(encoder, dataset, &one, 1, &options, &result, NULL), IMP_OK);
    double closed[6], open[6];
    for (uint64_t i = 0; i < 6; i++)
        closed[i] = accuracies_by_hand(dataset, encoder, &options, &one, i, &open[i]);
    assert_true(result.unlabeled_clusters > 0);
    assert_true(fabs(result.accuracy.mean - imp_mean_interval(closed, 6).mean) < 1e-12);
    assert_true(fabs(result.open_accuracy.mean - imp_mean_interval(open, 6).mean) < 1e-12);
    assert_true(fabs(result.open_accuracy.half_width - imp_mean_interval(open, 6).half_width) <
                1e-12);
    assert_true(result.open_accuracy.mean < result.accuracy.mean);
    imp_encoder_free(encoder);
    imp_dataset_free(dataset);
}

static void test_by_hand(void **state)
{
    (void)state;
    imp_dataset *dataset = open_data();
    imp_encoder *encoder = make_encoder();
    imp_contestant one = contestant("imp");
    imp_evaluate_options options = options_for(6, 2);
    imp_evaluation result;
    assert_int_equal(imp_evaluate(encoder, dataset, &one, 1, &options, &result, NULL), IMP_OK);
    double accuracies[6];
    for (uint64_t i = 0; i < 6; i++)
        accuracies[i] = accuracy_by_hand(dataset, encoder, &options, &one, i);
    imp_interval expected = imp_mean_interval(accuracies, 6);
    assert_true(fabs(result.accuracy.mean - expected.mean) < 1e-12);
    assert_true(fabs(result.accuracy.half_width - expected.half_width) < 1e-12);
    imp_encoder_free(encoder);
    imp_dataset_free(dataset);
}

/* Each episode normalised by itself: as by hand, on any number of threads, and not as by running
 * statistics. */
static void test_episode_statistics(void **state)
{
    (void)state;
    imp_dataset *dataset = open_data();
    imp_encoder *encoder = make_encoder();
    imp_contestant one = contestant("imp");
    imp_evaluate_options options = options_for(6, 1);
    imp_evaluation running, first, again;
    assert_int_equal(imp_evaluate(encoder, dataset, &one, 1, &options, &running, NULL), IMP_OK);
    options.network = make_network();
    options.episode_statistics = true;
    assert_int_equal(imp_evaluate(encoder, dataset, &one, 1, &options, &first, NULL), IMP_OK);
    options.threads = 3;
    assert_int_equal(imp_evaluate(encoder, dataset, &one, 1, &options, &again, NULL), IMP_OK);
    assert_memory_equal(&first, &again, sizeof first);
    assert_true(fabs(first.loss - running.loss) > 1e-3);
    double accuracies[6];
    for (uint64_t i = 0; i < 6; i++)
        accuracies[i] = accuracy_by_hand(dataset, encoder, &options, &one, i);
    assert_true(fabs(first.accuracy.mean - imp_mean_interval(accuracies, 6).mean) < 1e-12);
    imp_network_free(options.network);
    imp_encoder_free(encoder);
    imp_dataset_free(dataset);
}

static void test_refusals(void **state)
{
    (void)state;
    imp_dataset *dataset = open_data();
    imp_encoder *encoder = make_encoder();
    imp_contestant one = contestant("imp");
    imp_evaluation result;
    imp_error error;
    imp_evaluate_options options = options_for(0, 1);
    assert_int_equal(imp_evaluate(encoder, dataset, &one, 1, &options, &result, &error),
                     IMP_EINVAL);
    options = options_for(5, 1);
    options.task.way = 20;
    assert_int_equal(imp_evaluate(encoder, dataset, &one, 1, &options, &result, &error),
                     IMP_EINVAL);
    one.options.method = "unknown";
    options = options_for(5, 1);
    assert_int_equal(imp_evaluate(encoder, dataset, &one, 1, &options, &result, &error),
                     IMP_EINVAL);
    options.task.kind = IMP_EPISODE_UNSUPERVISED;
    assert_int_equal(imp_evaluate(encoder, dataset, &one, 1, &options, &result, &error),
                     IMP_EINVAL);
    imp_encoder_free(encoder);
    imp_dataset_free(dataset);
}

/* ---- contestants ---- */

/* A model of one method evaluated by others: what is not theirs does not get in their way, what was
 * asked for does. */
static void test_contestants(void **state)
{
    (void)state;
    double values[] = {1, 2};
    imp_model model = {.values = values, .value_count = 2};
    imp_settings_init(&model.settings);
    model.settings.method = "imp";
    model.settings.rule.lambda = 20;
    model.settings.rule.steps = 2;
    model.settings.rule.sigma_l = 3;
    model.settings.rule.sigma_u = 4;

    imp_settings asked = model.settings;
    imp_contestant own = imp_contestant_of(&model, &asked);
    assert_ptr_equal(own.values, values);
    assert_true(own.options.method_options.rule.lambda == 20 &&
                own.options.method_options.rule.steps == 2);

    asked.method = "prototypes";
    imp_contestant other = imp_contestant_of(&model, &asked);
    assert_null(other.values);
    assert_true(isnan(other.options.method_options.rule.lambda) &&
                isnan(other.options.method_options.rule.steps));
    imp_method *method;
    assert_int_equal(imp_method_create("prototypes", &other.options.method_options, &method, NULL),
                     IMP_OK);
    imp_method_free(method);

    asked.method = "soft-kmeans-cluster";
    assert_true(isnan(imp_contestant_of(&model, &asked).options.method_options.rule.sigma_u));
    asked.rule.sigma_u = 50;
    assert_true(imp_contestant_of(&model, &asked).options.method_options.rule.sigma_u == 50);

    asked = model.settings;
    asked.method = "dp-means";
    asked.rule.lambda = 7;
    assert_true(imp_contestant_of(&model, &asked).options.method_options.rule.lambda == 7);
    assert_true(imp_contestant_of(&model, &asked).options.method_options.rule.sigma_u == 4);

    /* options of another method are dropped; a learned variance is none where there is no such */
    asked = model.settings;
    asked.own[0] = (imp_named_value){"no-prior", 1};
    assert_null(imp_contestant_of(&model, &asked).options.method_options.own[0].name);
    asked.method = "em";
    assert_string_equal(imp_contestant_of(&model, &asked).options.method_options.own[0].name,
                        "no-prior");
    model.settings.method = asked.method = "prototypes";
    assert_null(imp_contestant_of(&model, &asked).values);
    imp_settings_clear(&model.settings);
}

/* ---- projections ---- */

static void test_projection(void **state)
{
    (void)state;
    /* long along (3, 4) / 5 in the first two dimensions, short along the third, flat elsewhere */
    enum { POINTS = 40, D = 5 };
    float points[POINTS * D] = {0};
    for (size_t i = 0; i < POINTS; i++) {
        float along = (float)i - 19.5f, across = i % 2 ? 1 : -1;
        points[i * D] = 7 + 0.6f * along;
        points[i * D + 1] = -2 + 0.8f * along;
        points[i * D + 2] = across;
    }
    imp_projection plane;
    assert_int_equal(imp_projection_fit(&plane, points, POINTS, D, NULL), IMP_OK);
    double spot[2], mean[2] = {0};
    for (size_t i = 0; i < POINTS; i++) {
        imp_projection_apply(&plane, points + i * D, spot);
        assert_true(fabs(spot[0] - ((double)i - 19.5)) < 0.05);
        assert_true(fabs(fabs(spot[1]) - 1) < 0.1);
        mean[0] += spot[0];
        mean[1] += spot[1];
    }
    assert_true(fabs(mean[0]) < 1e-3 && fabs(mean[1]) < 1e-3);
    imp_projection_clear(&plane);

    imp_error error;
    assert_int_equal(imp_projection_fit(&plane, points, 0, D, &error), IMP_EINVAL);
    /* a single point, and a single dimension, have no plane but get one */
    assert_int_equal(imp_projection_fit(&plane, points, 1, D, &error), IMP_OK);
    imp_projection_apply(&plane, points, spot);
    assert_true(spot[0] == 0 && spot[1] == 0);
    imp_projection_clear(&plane);
    assert_int_equal(imp_projection_fit(&plane, points, 5, 1, &error), IMP_OK);
    imp_projection_apply(&plane, points, spot);
    assert_true(spot[0] != 0 && spot[1] == 0);
    imp_projection_clear(&plane);
    /* nor have points on a line, along a coordinate or not: they lie on the first axis */
    const float lines[][3 * 2] = {{0, 0, 0, 1, 0, 2}, {0, 0, 0.1f, 0.7f, 0.2f, 1.4f}};
    for (size_t line = 0; line < 2; line++) {
        assert_int_equal(imp_projection_fit(&plane, lines[line], 3, 2, &error), IMP_OK);
        imp_projection_apply(&plane, lines[line], spot);
        assert_true(fabs(spot[0]) > 0.5 && fabs(spot[1]) < 1e-6);
        imp_projection_clear(&plane);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_two_accuracies), cmocka_unit_test(test_episode_statistics),
        cmocka_unit_test(test_refusals),       cmocka_unit_test(test_contestants),
        cmocka_unit_test(test_projection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
