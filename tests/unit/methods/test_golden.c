/*
 * test_golden.c - the methods against the answers of an independent implementation in double
 * precision: every cluster in the order of its creation, predictions, probabilities, lambda, loss.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "episodes.h"

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        fail_msg("%s is not a number", key);
    return json_number_value(value);
}

static void assert_near(double found, double expected, double tolerance, const char *what)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s is %.9g, expected %.9g", what, found, expected);
}

/* ---- golden/episodes ---- */

static void compare_clusters(const json_t *expected, const imp_method_result *result,
                             size_t dimensions)
{
    const json_t *clusters = json_object_get(expected, "clusters");
    assert_int_equal(result->cluster_count, json_array_size(clusters));
    for (size_t c = 0; c < result->cluster_count; c++) {
        const json_t *cluster = json_array_get(clusters, c);
        assert_int_equal(result->cluster_label[c], (int)number(cluster, "label"));
        double sigma = number(cluster, "sigma"), weight = number(cluster, "weight");
        assert_near(result->cluster_sigma[c], sigma, 1e-6 * sigma, "sigma");
        assert_near(result->cluster_weight[c], weight, 1e-4 * weight, "weight");

        const json_t *mean = json_object_get(cluster, "mean");
        double norm = 0, difference = 0;
        for (size_t j = 0; j < dimensions; j++) {
            double value = json_number_value(json_array_get(mean, j));
            norm += value * value;
            difference += pow(result->cluster_mean[c * dimensions + j] - value, 2);
        }
        assert_near(sqrt(difference), 0, 1e-4 * sqrt(norm), "distance of a mean");
    }
}

static void compare_queries(const json_t *expected, const imp_method_result *result,
                            const imp_episode_view *view)
{
    const json_t *predictions = json_object_get(expected, "predictions");
    const json_t *probabilities = json_object_get(expected, "probabilities");
    assert_int_equal(result->outcomes, view->way);
    assert_int_equal(json_array_size(predictions), view->query_count);
    for (size_t q = 0; q < view->query_count; q++) {
        assert_int_equal(result->predictions[q],
                         json_integer_value(json_array_get(predictions, q)));
        const json_t *row = json_array_get(probabilities, q);
        assert_int_equal(json_array_size(row), view->way);
        for (size_t k = 0; k < view->way; k++)
            assert_near(result->probabilities[q * view->way + k],
                        json_number_value(json_array_get(row, k)), 1e-4, "probability");
    }
}

/* The methods that the episodes have answers of; check_reference.py has those of the others. */
enum { DP_MEANS = 3 };
static const char *const answered[] = {"imp",      "prototypes",  "neighbors",
                                       "dp-means", "soft-kmeans", "soft-kmeans-cluster"};

enum { ANSWERED = sizeof answered / sizeof *answered };

static void count_method(const char *name, size_t compared[ANSWERED])
{
    size_t m = 0;
    while (m < ANSWERED && strcmp(answered[m], name) != 0)
        m++;
    assert_true(m < ANSWERED);
    compared[m]++;
}

static void compare_episode(const char *folder, size_t compared[ANSWERED])
{
    test_episode episode = episode_load(folder);
    const json_t *parameters = json_object_get(episode.expected, "parameters");
    const char *name;
    json_t *expected;
    json_object_foreach(json_object_get(episode.expected, "methods"), name, expected)
    {
        imp_method_options options = imp_method_defaults();
        options.rule.alpha = number(parameters, "alpha");
        options.rule.sigma_l = number(parameters, "sigma_l");
        if (strcmp(name, "soft-kmeans-cluster") != 0) /* which starts from its own 100 */
            options.rule.sigma_u = number(parameters, "sigma_u");
        imp_method *method = method_create(name, &options);
        imp_method_result result = method_run(method, &episode.view, false);
        if (json_object_get(expected, "lambda")) {
            double lambda = number(expected, "lambda");
            assert_near(result.lambda, lambda, 1e-5 * lambda, "lambda");
        }
        compare_clusters(expected, &result, episode.view.dimensions);
        compare_queries(expected, &result, &episode.view);
        imp_method_free(method);
        count_method(name, compared);
    }
    episode_free(&episode);
}

static void compare_episodes(const char *folder, size_t compared[ANSWERED])
{
    DIR *list = opendir(folder);
    if (!list)
        fail_msg("%s is not a folder of episodes", folder);
    for (struct dirent *entry; (entry = readdir(list));) {
        if (strncmp(entry->d_name, "episode-", 8) != 0)
            continue;
        char path[1400];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        compare_episode(path, compared);
    }
    closedir(list);
}

static void episodes_agree(void **state)
{
    (void)state;
    const char *folders[MOST_REFERENCE_FOLDERS];
    size_t count = reference_folders(folders);
    for (size_t i = 0; i < count; i++) {
        size_t compared[ANSWERED] = {0};
        char folder[1100];
        snprintf(folder, sizeof folder, "%s/episodes", folders[i]);
        compare_episodes(folder, compared);
        for (size_t m = 0; m < ANSWERED; m++)
            assert_true(compared[m] > 0);
    }
}

/* Episodes in which it matters that a point joins the cluster nearest at its turn. */
static void points_join_at_their_turn(void **state)
{
    (void)state;
    const char *folders[MOST_REFERENCE_FOLDERS];
    size_t count = reference_folders(folders);
    for (size_t i = 0; i < count; i++) {
        size_t compared[ANSWERED] = {0};
        char folder[1100];
        snprintf(folder, sizeof folder, "%s/dp-means", folders[i]);
        compare_episodes(folder, compared);
        assert_true(compared[DP_MEANS] > 0);
    }
}

/* ---- golden/train-step: from the embedding on ---- */

static double scalar(const char *folder, const char *name)
{
    size_t rows, columns;
    float *value = reference_floats(folder, name, &rows, &columns);
    double result = *value;
    free(value);
    return result;
}

/* False when there is no such step. */
static bool compare_step(const char *golden, const char *kind)
{
    char folder[1200], path[1300];
    snprintf(folder, sizeof folder, "%s/train-step/%s", golden, kind);
    snprintf(path, sizeof path, "%s/expected.json", folder);
    json_t *expected = json_load_file(path, 0, NULL);
    if (!expected)
        return false;

    size_t rows, dimensions, supports, queries;
    float *embedding = reference_floats(folder, "embedding", &rows, &dimensions);
    int32_t *support_label = reference_labels(folder, "support_labels", &supports);
    int32_t *query_label = reference_labels(folder, "query_labels", &queries);
    imp_episode_view view = {
        .dimensions = dimensions,
        .way = (size_t)number(expected, "way"),
        .support = embedding,
        .support_label = support_label,
        .support_count = supports,
        .query = embedding + supports * dimensions,
        .query_label = query_label,
        .query_count = queries,
        .unlabeled = embedding + (supports + queries) * dimensions,
        .unlabeled_count = rows - supports - queries,
    };
    assert_int_equal(view.unlabeled_count, (size_t)number(expected, "unlabeled"));

    imp_method_options options = imp_method_defaults();
    options.rule.alpha = number(expected, "alpha");
    imp_method *method = method_create("imp", &options);
    imp_method_values(method, NULL)[0] = scalar(folder, "initial.log_sigma_l");
    imp_method_values(method, NULL)[1] = scalar(folder, "initial.log_sigma_u");
    imp_method_result result = method_run(method, &view, true);

    assert_near(result.loss, number(expected, "loss"), 1e-5, "loss");
    assert_near(result.lambda, number(expected, "lambda"), 1e-4, "lambda");
    assert_int_equal(result.cluster_count, (int)number(expected, "clusters"));
    const json_t *predictions = json_object_get(expected, "predictions");
    for (size_t q = 0; q < queries; q++)
        assert_int_equal(result.predictions[q], json_integer_value(json_array_get(predictions, q)));
    double slope = scalar(folder, "grad.log_sigma_l");
    assert_near(result.parameter_gradient[0], slope, 1e-4 * fabs(slope), "gradient of log sigma_l");
    if (view.unlabeled_count > 0) {
        slope = scalar(folder, "grad.log_sigma_u");
        assert_near(result.parameter_gradient[1], slope, 1e-4 * fabs(slope),
                    "gradient of log sigma_u");
    } else {
        assert_true(result.parameter_gradient[1] == 0);
    }
    imp_method_free(method);
    free(embedding);
    free(support_label);
    free(query_label);
    json_decref(expected);
    return true;
}

static void training_steps_agree(void **state)
{
    (void)state;
    const char *folders[MOST_REFERENCE_FOLDERS];
    size_t count = reference_folders(folders);
    for (size_t i = 0; i < count; i++) {
        assert_true(compare_step(folders[i], "semi-supervised"));
        assert_int_equal(compare_step(folders[i], "supervised"), i > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(episodes_agree),
        cmocka_unit_test(points_join_at_their_turn),
        cmocka_unit_test(training_steps_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
