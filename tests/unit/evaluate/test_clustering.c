/*
 * test_clustering.c - episodes without labels: the same bits on any number of threads,
 * agreement with doing it by hand, a threshold that is chosen well, and failures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate/clustering.h"
#include "failing_allocator.h"

enum { SIDE = 16, WAY = 4, IMAGES = 5 };

static imp_dataset *open_data(void)
{
    imp_dataset_options options = imp_dataset_defaults();
    options.size = SIDE;
    options.glyphs = (imp_glyph_options){
        .alphabets = 10, .fewest_characters = 6, .most_characters = 8, .drawings = 10};
    options.threads = 1;
    imp_dataset *dataset;
    assert_int_equal(imp_dataset_open("glyphs", &options, &dataset, NULL), IMP_OK);
    return dataset;
}

static imp_status try_encoder(imp_encoder **encoder)
{
    *encoder = NULL;
    imp_network_options options = {.size = sizeof options,
                                   .channels = 1,
                                   .height = SIDE,
                                   .width = SIDE,
                                   .seed = 2,
                                   .threads = 1};
    imp_network *network;
    imp_status status = imp_network_create("conv3x3:8,bn,relu,pool,conv3x3:8,bn,relu,pool",
                                           &options, &network, NULL);
    if (!status)
        status = imp_encoder_create(network, encoder, NULL);
    imp_network_free(network);
    return status;
}

static imp_encoder *make_encoder(void)
{
    imp_encoder *encoder;
    assert_int_equal(try_encoder(&encoder), IMP_OK);
    return encoder;
}

static imp_evaluate_options options_for(imp_purpose purpose, size_t episodes, int threads)
{
    imp_evaluate_options options = {
        .task = imp_episode_defaults(), .episodes = episodes, .threads = threads};
    options.task.kind = IMP_EPISODE_UNSUPERVISED;
    options.task.purpose = purpose;
    options.task.way = WAY;
    options.task.unlabeled = IMAGES;
    return options;
}

static imp_cluster_options rule_of(const char *method, double lambda)
{
    imp_cluster_options options = imp_cluster_defaults();
    options.method = method;
    options.rule.lambda = lambda;
    options.rule.sigma_u = 0.05; /* of the scale of a network that has learned nothing */
    return options;
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    imp_dataset *dataset = open_data();
    imp_encoder *encoder = make_encoder();
    imp_cluster_options rules[] = {rule_of("imp", 1), rule_of("dp-means", 1)};
    imp_clustering_evaluation first[2], again[2];
    double first_lambda = 0, lambda = 0;
    static const int threads[] = {1, 2, 8};
    for (size_t t = 0; t < 3; t++) {
        imp_evaluate_options options = options_for(IMP_FOR_TESTING, 20, threads[t]);
        assert_int_equal(imp_evaluate_clustering(encoder, dataset, rules, 2, &options,
                                                 t == 0 ? first : again, NULL),
                         IMP_OK);
        options = options_for(IMP_FOR_VALIDATION, 10, threads[t]);
        assert_int_equal(imp_tune_clustering(encoder, dataset, &rules[0], &options,
                                             t == 0 ? &first_lambda : &lambda, NULL),
                         IMP_OK);
        if (t > 0) {
            assert_memory_equal(first, again, sizeof first);
            assert_true(lambda == first_lambda);
        }
    }
    imp_encoder_free(encoder);
    imp_dataset_free(dataset);
}

/* The adjusted mutual information of one episode. */
static double ami_by_hand(const imp_dataset *dataset, const imp_encoder *encoder,
                          const imp_evaluate_options *options, const imp_cluster_options *rule,
                          uint64_t index)
{
    imp_episode episode;
    assert_int_equal(imp_episode_draw(dataset, &options->task, index, &episode, NULL), IMP_OK);
    size_t d = imp_encoder_output_size(encoder);
    assert_int_equal(episode.unlabeled, WAY * IMAGES);
    float *pixels = malloc(episode.unlabeled * SIDE * SIDE * sizeof *pixels);
    float *x = malloc(episode.unlabeled * d * sizeof *x);
    imp_episode_pixels(dataset, &episode, pixels);
    assert_int_equal(imp_encoder_encode(encoder, pixels, episode.unlabeled, 1, x, NULL), IMP_OK);
    imp_clustering *found;
    imp_contingency *contingency;
    double ami;
    assert_int_equal(imp_cluster(x, episode.unlabeled, d, rule, &found, NULL), IMP_OK);
    assert_int_equal(
        imp_contingency_create(episode.truth, found->assignment, found->points, &contingency, NULL),
        IMP_OK);
    assert_int_equal(imp_ami(contingency, IMP_ARITHMETIC, &ami, NULL), IMP_OK);
    imp_contingency_free(contingency);
    imp_clustering_free(found);
    imp_episode_clear(&episode);
    free(pixels);
    free(x);
    return ami;
}

static void agrees_with_hand(void **state)
{
    (void)state;
    imp_dataset *dataset = open_data();
    imp_encoder *encoder = make_encoder();
    imp_cluster_options rule = rule_of("imp", NAN);
    imp_evaluate_options options = options_for(IMP_FOR_TESTING, 6, 2);
    imp_clustering_evaluation found;
    double ami[6];
    assert_int_equal(
        imp_tune_clustering(encoder, dataset, &rule, &options, &rule.rule.lambda, NULL), IMP_OK);
    for (size_t e = 0; e < 6; e++)
        ami[e] = ami_by_hand(dataset, encoder, &options, &rule, e);
    assert_int_equal(imp_evaluate_clustering(encoder, dataset, &rule, 1, &options, &found, NULL),
                     IMP_OK);
    imp_interval expected = imp_mean_interval(ami, 6);
    assert_memory_equal(&found.ami, &expected, sizeof expected);
    assert_true(found.purity.mean > 0.25 && found.purity.mean <= 1);
    assert_true(found.nmi.mean >= found.ami.mean && found.clusters.mean >= 1);
    imp_encoder_free(encoder);
    imp_dataset_free(dataset);
}

/* The threshold that is chosen does at least as well on its episodes as any of a wide sweep. */
static void the_choice_is_good(void **state)
{
    (void)state;
    imp_dataset *dataset = open_data();
    imp_encoder *encoder = make_encoder();
    imp_evaluate_options options = options_for(IMP_FOR_VALIDATION, 12, 2);
    imp_cluster_options rule = rule_of("imp", NAN);
    assert_int_equal(
        imp_tune_clustering(encoder, dataset, &rule, &options, &rule.rule.lambda, NULL), IMP_OK);
    enum { SWEEP = 25 };
    imp_cluster_options rules[SWEEP + 1] = {rule};
    for (size_t i = 0; i < SWEEP; i++)
        rules[i + 1] = rule_of("imp", pow(1.5, (double)i - 10));
    imp_clustering_evaluation results[SWEEP + 1];
    assert_int_equal(
        imp_evaluate_clustering(encoder, dataset, rules, SWEEP + 1, &options, results, NULL),
        IMP_OK);
    for (size_t i = 1; i <= SWEEP; i++)
        assert_true(results[0].ami.mean > results[i].ami.mean - 0.02);
    assert_true(results[0].ami.mean > 0.2);
    imp_encoder_free(encoder);
    imp_dataset_free(dataset);
}

static void failures_are_sentences(void **state)
{
    (void)state;
    imp_dataset *dataset = open_data();
    imp_encoder *encoder = make_encoder();
    imp_cluster_options rule = rule_of("imp", NAN);
    imp_evaluate_options options = options_for(IMP_FOR_TESTING, 3, 2);
    imp_clustering_evaluation found;
    imp_error error;
    double lambda = 7;
    assert_int_equal(imp_evaluate_clustering(encoder, dataset, &rule, 1, &options, &found, &error),
                     IMP_EINVAL);
    assert_string_equal(error.message, "clustering needs a given lambda");
    options.task.way = 100000;
    assert_int_equal(imp_tune_clustering(encoder, dataset, &rule, &options, &lambda, &error),
                     IMP_EINVAL);
    assert_non_null(strstr(error.message, "100000-way episodes need 100000"));
    options = options_for(IMP_FOR_TESTING, 0, 2);
    assert_int_equal(imp_tune_clustering(encoder, dataset, &rule, &options, &lambda, &error),
                     IMP_EINVAL);
    options = options_for(IMP_FOR_TESTING, 3, 2);
    options.task.kind = IMP_EPISODE_CLASSES;
    assert_int_equal(imp_tune_clustering(encoder, dataset, &rule, &options, &lambda, &error),
                     IMP_EINVAL);
    assert_true(lambda == 7);
    imp_encoder_free(encoder);
    imp_dataset_free(dataset);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    imp_dataset *dataset = open_data();
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_encoder *encoder; /* keeps memory of its own for each thread */
        imp_cluster_options rule = rule_of("imp", 8);
        imp_evaluate_options options = options_for(IMP_FOR_TESTING, 2, 2);
        imp_clustering_evaluation found;
        imp_error error;
        imp_status status = try_encoder(&encoder);
        if (!status)
            status = imp_evaluate_clustering(encoder, dataset, &rule, 1, &options, &found, &error);
        imp_encoder_free(encoder);
        failing_allocator_expect(&memory, status);
    }
    imp_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_matter), cmocka_unit_test(agrees_with_hand),
        cmocka_unit_test(the_choice_is_good),    cmocka_unit_test(failures_are_sentences),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
