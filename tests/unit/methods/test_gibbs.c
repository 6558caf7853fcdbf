/*
 * test_gibbs.c - the sampler against the posterior itself, which a few points allow to be computed
 * seating by seating; and the other methods' clusterings against the sampler's, on data that leaves
 * no doubt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "episodes.h"

enum { POINTS = 4, DIMENSIONS = 2, WAY = 2, MOST_SEATINGS = 400 };

static const float support[WAY * DIMENSIONS] = {0, 0, 3, 0};
static const int32_t labels[WAY] = {0, 1};
static const float unlabeled[POINTS * DIMENSIONS] = {1, 1, 2.5F, 1, 5, 3, 4.5F, 3.5F};
static const double sigma = 1, sigma_0 = 4, alpha = 0.7;

static imp_episode_view view_of_points(void)
{
    return (imp_episode_view){.dimensions = DIMENSIONS,
                              .way = WAY,
                              .support = support,
                              .support_label = labels,
                              .support_count = WAY,
                              .unlabeled = unlabeled,
                              .unlabeled_count = POINTS};
}

/* ---- the posterior, by the chain rule: each point given those before it ---- */

/* Which cluster each point sits in: 0 and 1 are the classes', the others in order of appearance. */
typedef struct seating {
    int cluster[POINTS];
    double log_probability;
} seating;

static double log_normal(const double *x, const double *mean, double variance)
{
    double square = 0;
    for (size_t j = 0; j < DIMENSIONS; j++)
        square += (x[j] - mean[j]) * (x[j] - mean[j]);
    return -0.5 * (square / variance + DIMENSIONS * log(2 * acos(-1.0) * variance));
}

/* ln p(point i, its cluster | the points before it): the counts of a restaurant, and the predictive
 * density. */
static double log_step(const seating *s, int i)
{
    double x[DIMENSIONS], mean[DIMENSIONS], members = 0;
    int c = s->cluster[i];
    for (size_t j = 0; j < DIMENSIONS; j++) {
        double mu_0 = (support[j] + support[DIMENSIONS + j]) / 2.0, sum = 0;
        x[j] = unlabeled[i * DIMENSIONS + (int)j];
        members = 0;
        if (c < WAY) {
            sum += support[c * DIMENSIONS + (int)j];
            members++;
        }
        for (int other = 0; other < i; other++)
            if (s->cluster[other] == c) {
                sum += unlabeled[other * DIMENSIONS + (int)j];
                members++;
            }
        mean[j] = (mu_0 / sigma_0 + sum / sigma) / (1 / sigma_0 + members / sigma);
    }
    double variance = 1 / (1 / sigma_0 + members / sigma) + sigma;
    return log(members > 0 ? members : alpha) + log_normal(x, mean, variance);
}

static size_t enumerate(seating *all)
{
    size_t count = 0;
    seating s = {0};
    for (int code = 0; code < 6 * 6 * 6 * 6; code++) {
        int rest = code, clusters = WAY;
        bool valid = true;
        s.log_probability = 0;
        for (int i = 0; i < POINTS && valid; i++, rest /= 6) {
            s.cluster[i] = rest % 6;
            valid = s.cluster[i] <= clusters;
            clusters += s.cluster[i] == clusters;
            if (valid)
                s.log_probability += log_step(&s, i);
        }
        if (valid)
            all[count++] = s;
    }
    assert_true(count > 100 && count <= MOST_SEATINGS);
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, all[i].log_probability);
    for (size_t i = 0; i < count; i++)
        sum += exp(all[i].log_probability - most);
    for (size_t i = 0; i < count; i++)
        all[i].log_probability -= most + log(sum);
    return count;
}

/* ---- what the method found ---- */

/* The seating that explains the clusters: their weights and posterior means. */
static size_t recognize(const imp_method_result *result, const seating *all, size_t count)
{
    for (size_t s = 0; s < count; s++) {
        int clusters = WAY;
        for (int i = 0; i < POINTS; i++)
            clusters = all[s].cluster[i] >= clusters ? all[s].cluster[i] + 1 : clusters;
        if ((size_t)clusters != result->cluster_count)
            continue;
        bool taken[WAY + POINTS] = {false}, same = true;
        for (int c = 0; c < clusters && same; c++) {
            double members = c < WAY ? 1 : 0, sum[DIMENSIONS] = {0};
            for (size_t j = 0; j < DIMENSIONS && c < WAY; j++)
                sum[j] = support[c * DIMENSIONS + (int)j];
            for (int i = 0; i < POINTS; i++)
                if (all[s].cluster[i] == c) {
                    members++;
                    for (size_t j = 0; j < DIMENSIONS; j++)
                        sum[j] += unlabeled[i * DIMENSIONS + (int)j];
                }
            same = false;
            for (size_t r = 0; r < result->cluster_count && !same; r++) {
                bool equal = !taken[r] && result->cluster_weight[r] == members &&
                             (result->cluster_label[r] < 0) == (c >= WAY) &&
                             (c >= WAY || result->cluster_label[r] == c);
                for (size_t j = 0; j < DIMENSIONS && equal; j++) {
                    double mu_0 = (support[j] + support[DIMENSIONS + j]) / 2.0;
                    double mean =
                        (mu_0 / sigma_0 + sum[j] / sigma) / (1 / sigma_0 + members / sigma);
                    equal = fabs(result->cluster_mean[r * DIMENSIONS + j] - mean) < 1e-5;
                }
                same = taken[r] = equal;
            }
        }
        if (same)
            return s;
    }
    fail_msg("no seating explains the clusters");
    return 0;
}

static imp_method_options options_for(uint64_t seed, double sweeps, bool last)
{
    imp_method_options options = imp_method_defaults();
    options.rule.sigma_l = sigma;
    options.rule.sigma_u = sigma_0;
    options.rule.alpha = alpha;
    options.seed = seed;
    options.own[0] = (imp_named_value){"sweeps", sweeps};
    if (last)
        options.own[1] = (imp_named_value){"last-sample", 1};
    return options;
}

/* Samples come as often as the posterior says: chi squared over the likely seatings. */
static void samples_follow_the_posterior(void **state)
{
    (void)state;
    enum { SAMPLES = 20000 };
    static seating all[MOST_SEATINGS];
    static size_t found[MOST_SEATINGS];
    size_t count = enumerate(all);
    imp_episode_view view = view_of_points();
    for (uint64_t seed = 1; seed <= SAMPLES; seed++) {
        imp_method_options options = options_for(seed, 20, true);
        imp_method *method = method_create("gibbs", &options);
        imp_method_result result = method_run(method, &view, false);
        found[recognize(&result, all, count)]++;
        imp_method_free(method);
    }
    double chi_squared = 0, rest = 0, rest_found = 0;
    size_t cells = 0;
    for (size_t s = 0; s < count; s++) {
        double expected = SAMPLES * exp(all[s].log_probability);
        if (expected >= 20) {
            chi_squared += pow((double)found[s] - expected, 2) / expected;
            cells++;
        } else {
            rest += expected;
            rest_found += (double)found[s];
        }
    }
    chi_squared += pow(rest_found - rest, 2) / rest;
    assert_true(cells > 15);
    /* mean `cells`, standard deviation sqrt(2 cells): the seeds are fixed, and so is the answer */
    if (!(chi_squared < (double)cells + 4 * sqrt(2 * (double)cells)))
        fail_msg("chi squared is %g of %zu cells", chi_squared, cells);
}

static void the_most_probable_seating_is_found(void **state)
{
    (void)state;
    static seating all[MOST_SEATINGS];
    size_t count = enumerate(all), most = 0;
    for (size_t s = 1; s < count; s++)
        if (all[s].log_probability > all[most].log_probability)
            most = s;
    imp_episode_view view = view_of_points();
    for (uint64_t seed = 1; seed <= 10; seed++) {
        imp_method_options options = options_for(seed, 500, false);
        imp_method *method = method_create("gibbs", &options);
        imp_method_result result = method_run(method, &view, false);
        assert_int_equal(recognize(&result, all, count), most);
        /* and a second run finds the same */
        imp_method_result again = method_run(method, &view, false);
        assert_int_equal(recognize(&again, all, count), most);
        imp_method_free(method);
    }
}

/* ---- as a check of the others ---- */

static bool has_cluster(const imp_method_result *result, size_t d, int32_t label, double weight,
                        const float *mean, double tolerance)
{
    for (size_t c = 0; c < result->cluster_count; c++) {
        double distance = 0;
        for (size_t j = 0; j < d; j++)
            distance += pow(result->cluster_mean[c * d + j] - mean[j], 2);
        if (result->cluster_label[c] == label && fabs(result->cluster_weight[c] - weight) < 0.01 &&
            distance < tolerance)
            return true;
    }
    return false;
}

/* Where groups lie far apart, every way to infer them comes to the same clusters. */
static void the_others_agree_where_nothing_is_doubtful(void **state)
{
    (void)state;
    static const char *const others[] = {"imp", "imp-tied", "dp-means", "map-dp"};
    test_shape shape = {.dimensions = 4,
                        .way = 3,
                        .modes = 1,
                        .shot = 3,
                        .unlabeled = 4,
                        .distractors = 9,
                        .queries = 2,
                        .spread = 1e4};
    for (shape.seed = 1; shape.seed <= 5; shape.seed++) {
        test_episode episode = episode_generate(&shape);
        imp_method_options options = imp_method_defaults();
        options.rule.sigma_l = 2;
        options.rule.sigma_u = 1e4; /* a base as wide as the groups are spread */
        imp_method *gibbs = method_create("gibbs", &options);
        imp_method_result expected = method_run(gibbs, &episode.view, false);
        assert_true(expected.cluster_count > 3);
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            imp_method_options own = imp_method_defaults();
            own.rule.sigma_l = own.rule.sigma_u = 2;
            if (strcmp(others[i], "map-dp") == 0)
                own.rule.sigma_u = 1e4;
            else
                own.rule.lambda = 60;
            imp_method *method = method_create(others[i], &own);
            imp_method_result result = method_run(method, &episode.view, false);
            assert_int_equal(result.cluster_count, expected.cluster_count);
            for (size_t c = 0; c < result.cluster_count; c++)
                if (!has_cluster(&expected, 4, result.cluster_label[c], result.cluster_weight[c],
                                 result.cluster_mean + c * 4, 0.1))
                    fail_msg("%s, seed %d: gibbs has no cluster like %zu", others[i],
                             (int)shape.seed, c);
            assert_memory_equal(result.predictions, expected.predictions,
                                episode.view.query_count * sizeof(int32_t));
            imp_method_free(method);
        }
        imp_method_free(gibbs);
        episode_free(&episode);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_follow_the_posterior),
        cmocka_unit_test(the_most_probable_seating_is_found),
        cmocka_unit_test(the_others_agree_where_nothing_is_doubtful),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
