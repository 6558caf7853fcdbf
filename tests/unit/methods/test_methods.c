/*
 * test_methods.c - the methods' interface: bad input gets a sentence, odd input the right answer,
 * and a workspace once grown allocates no more.
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
#include "failing_allocator.h"
#include "methods/imp.h"
#include "methods/masked_loss.h"

static const test_shape semi = {.dimensions = 6,
                                .way = 3,
                                .modes = 2,
                                .shot = 2,
                                .unlabeled = 3,
                                .distractors = 5,
                                .queries = 2,
                                .spread = 9,
                                .seed = 3};

/* Whether method number `m` can be asked for gradients. */
static bool differentiates(size_t m)
{
    return !imp_method_at(m)->sampled;
}

/* ---- options ---- */

static void refuse_options(const char *name, const imp_method_options *options,
                           const char *sentence)
{
    imp_method *method;
    imp_error error;
    assert_int_equal(imp_method_create(name, options, &method, &error), IMP_EINVAL);
    assert_null(method);
    assert_string_equal(error.message, sentence);
    assert_int_equal(imp_method_create(name, options, &method, NULL), IMP_EINVAL);
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    imp_method_options options, good = imp_method_defaults();

    refuse_options("impp", &good, "'impp' is not a method; did you mean 'imp'?");
    refuse_options(
        "wardrobe", &good,
        "'wardrobe' is not a method; there are imp, imp-tied, prototypes, neighbors, "
        "soft-kmeans, soft-kmeans-cluster, soft-kmeans-masked, dp-means, map-dp, em, nca, "
        "fixed-modes and gibbs");
    options = good, options.rule.sigma_l = 0;
    refuse_options("imp", &options,
                   "sigma-l is 0; it must be a number from 1e-30 to 1e+30, or auto");
    options = good, options.rule.sigma_u = -1;
    refuse_options("imp", &options,
                   "sigma-u is -1; it must be a number from 1e-30 to 1e+30, or auto");
    options = good, options.rule.sigma_l = INFINITY;
    refuse_options("imp", &options,
                   "sigma-l is inf; it must be a number from 1e-30 to 1e+30, or auto");
    options = good, options.rule.sigma_l = 1e-300;
    refuse_options("em", &options,
                   "sigma-l is 1e-300; it must be a number from 1e-30 to 1e+30, or auto");
    options = good, options.rule.sigma_u = 1e308;
    refuse_options("imp", &options,
                   "sigma-u is 1e+308; it must be a number from 1e-30 to 1e+30, or auto");
    options = good, options.rule.alpha = 0;
    refuse_options("imp", &options,
                   "alpha is 0; it must be a number from 1e-300 to 1e+300, or auto");
    options = good, options.rule.lambda = -2;
    refuse_options("imp", &options, "lambda is -2; it must be a number of at least 0, or auto");
    options = good, options.rule.lambda = 3;
    refuse_options("em", &options, "'em' has no threshold lambda; imp, imp-tied and dp-means do");
    options = good, options.rule.steps = 0;
    refuse_options("imp", &options,
                   "cluster-steps is 0; it must be an integer from 1 to 1000000, or auto");
    options = good, options.rule.steps = 1.5;
    refuse_options("imp", &options,
                   "cluster-steps is 1.5; it must be an integer from 1 to 1000000, or auto");
    options = good, options.rule.steps = 2;
    refuse_options("map-dp", &options,
                   "'map-dp' clusters once; only imp, imp-tied, soft-kmeans, soft-kmeans-cluster "
                   "and dp-means take more than one cluster step");
    options = good, options.own[0] = (imp_named_value){"no-prior", 1};
    refuse_options("imp", &options, "'imp' has no option 'no-prior'; em has");
    options.own[0].value = 2;
    refuse_options("em", &options, "no-prior is 2; it must be yes or no");
    options.own[0].name = "wardrobe";
    refuse_options("em", &options, "no method has an option 'wardrobe'");
}

/* A method that samples classifies, and says that it cannot be trained. */
static void a_method_without_gradient_says_so(void **state)
{
    (void)state;
    test_episode episode = episode_generate(&semi);
    imp_method *method = method_create("gibbs", NULL);
    imp_method_result result;
    imp_error error;
    assert_int_equal(imp_method_run(method, &episode.view, true, &result, &error),
                     IMP_EUNSUPPORTED);
    assert_string_equal(error.message,
                        "'gibbs' has no gradient: it classifies and cannot be trained; choose "
                        "another method");
    assert_null(result.predictions);
    result = method_run(method, &episode.view, false);
    assert_true(result.cluster_count >= 3 && result.loss > 0);
    imp_method_free(method);
    episode_free(&episode);
}

static void options_of_an_older_caller_are_taken(void **state)
{
    (void)state;
    imp_method_options options = imp_method_defaults();
    options.size = offsetof(imp_method_options, own); /* knew only the rule */
    options.rule.sigma_l = 2;
    options.own[0].name = "wardrobe"; /* beyond its end */
    imp_method *method = method_create("imp", &options);
    assert_true(imp_method_values(method, NULL)[0] == log(2));
    imp_method_free(method);
}

static void parameters_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *method, *first;
        size_t parameters, values;
    } rows[] = {{"imp", "log_sigma_l", 2, 2},
                {"imp-tied", "log_sigma", 1, 1},
                {"prototypes", NULL, 0, 0},
                {"neighbors", "log_sigma_l", 1, 1},
                {"soft-kmeans", NULL, 0, 0},
                {"soft-kmeans-cluster", "log_sigma_u", 1, 1},
                {"soft-kmeans-masked", "mask.0.weight", 4, 162},
                {"dp-means", NULL, 0, 0},
                {"map-dp", "log_sigma_l", 2, 2},
                {"em", "log_sigma_l", 2, 2},
                {"nca", "log_sigma_l", 1, 1},
                {"fixed-modes", NULL, 0, 0},
                {"gibbs", NULL, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(imp_method_at(i)->name, rows[i].method);
        imp_method *method = method_create(rows[i].method, NULL);
        size_t parameters, values, sum = 0;
        const imp_method_parameter *parameter = imp_method_parameters(method, &parameters);
        imp_method_values(method, &values);
        assert_int_equal(parameters, rows[i].parameters);
        assert_int_equal(values, rows[i].values);
        for (size_t p = 0; p < parameters; p++) {
            assert_int_equal(parameter[p].offset, sum);
            sum += parameter[p].count;
        }
        assert_int_equal(sum, values);
        if (rows[i].first)
            assert_string_equal(parameter[0].name, rows[i].first);
        imp_method_free(method);
    }
    assert_null(imp_method_at(sizeof rows / sizeof *rows));
    imp_method_free(NULL);
}

/* ---- episodes ---- */

static void refuse_episode(imp_method *method, const imp_episode_view *view, const char *sentence)
{
    imp_method_result result;
    imp_error error;
    assert_int_equal(imp_method_run(method, view, false, &result, &error), IMP_EINVAL);
    assert_string_equal(error.message, sentence);
    assert_null(result.predictions);
}

static void bad_episodes_are_refused(void **state)
{
    (void)state;
    for (size_t m = 0; imp_method_at(m); m++) {
        imp_method *method = method_create(imp_method_at(m)->name, NULL);
        test_episode episode = episode_generate(&semi);
        imp_episode_view view = episode.view;

        episode.support[2 * 6 + 4] = NAN;
        refuse_episode(method, &view,
                       "support row 2, column 4 is not a number (NaN); every value must be a "
                       "finite number");
        episode.support[2 * 6 + 4] = 0;
        episode.unlabeled[3 * 6] = -INFINITY;
        refuse_episode(method, &view,
                       "unlabelled row 3, column 0 is infinite; every value must be a finite "
                       "number");
        episode.unlabeled[3 * 6] = 0;
        episode.query[5] = INFINITY;
        refuse_episode(method, &view,
                       "query row 0, column 5 is infinite; every value must be a finite number");
        episode.query[5] = 0;

        episode.support_label[1] = 3;
        refuse_episode(
            method, &view,
            "support row 1 has the label 3; labels here are classes from 0 to 2, or -1 for "
            "an unlabelled point");
        episode.support_label[1] = -2;
        refuse_episode(method, &view,
                       "support row 1 has the label -2; labels here are classes from 0 to 2, or -1 "
                       "for an unlabelled point");
        episode.support_label[1] = 0;
        episode.query_label[1] = -1;
        refuse_episode(method, &view,
                       "query row 1 has the label -1; labels here are classes from 0 to 2");
        episode.query_label[1] = 0;

        view.way = 4;
        refuse_episode(method, &view,
                       "class 3 has no labelled point; every class from 0 to 3 needs at least one");
        view.way = 0;
        refuse_episode(method, &view,
                       "the episode has 0 classes; it needs at least 1 and at most 2147483648");
        view = episode.view;
        view.dimensions = 0;
        refuse_episode(method, &view, "the points have no dimensions; they need at least 1");

        method_run(method, &episode.view, differentiates(m)); /* and can still be used */
        episode_free(&episode);
        imp_method_free(method);
    }
}

static void a_lost_variance_is_refused(void **state)
{
    (void)state;
    test_episode episode = episode_generate(&semi);
    imp_method *method = method_create("imp", NULL);
    imp_method_values(method, NULL)[1] = -1e4;
    refuse_episode(method, &episode.view,
                   "the parameter log_sigma_u is -10000; its exponential is a variance, a number "
                   "from 1e-30 to 1e+30");
    imp_method_free(method);
    method = method_create("soft-kmeans-masked", NULL);
    imp_method_values(method, NULL)[3] = NAN;
    refuse_episode(method, &episode.view,
                   "the parameter mask.0.weight is nan; it must be a finite number");
    imp_method_free(method);
    episode_free(&episode);
}

/* ---- odd but sound ---- */

static void one_point_of_one_class(void **state)
{
    (void)state;
    const float point[] = {1, 2}, query[] = {-3, 5};
    const int32_t label = 0;
    imp_episode_view view = {.dimensions = 2,
                             .way = 1,
                             .support = point,
                             .support_label = &label,
                             .support_count = 1,
                             .query = query,
                             .query_label = &label,
                             .query_count = 1};
    for (size_t m = 0; imp_method_at(m); m++) {
        imp_method *method = method_create(imp_method_at(m)->name, NULL);
        imp_method_result result = method_run(method, &view, differentiates(m));
        assert_int_equal(result.cluster_count, 1);
        assert_int_equal(result.predictions[0], 0);
        assert_true(result.probabilities[0] == 1);
        assert_true(result.loss == 0);
        if (differentiates(m))
            assert_true(result.support_gradient[0] == 0 && result.query_gradient[1] == 0);
        imp_method_free(method);
    }
}

static void all_points_equal(void **state)
{
    (void)state;
    float points[12 * 3];
    int32_t labels[12];
    for (size_t i = 0; i < 36; i++)
        points[i] = 0.3F;
    for (int i = 0; i < 12; i++)
        labels[i] = i % 4;
    imp_episode_view view = {.dimensions = 3,
                             .way = 4,
                             .support = points,
                             .support_label = labels,
                             .support_count = 12,
                             .unlabeled = points,
                             .unlabeled_count = 12,
                             .query = points,
                             .query_label = labels,
                             .query_count = 12};
    for (size_t m = 0; imp_method_at(m); m++) {
        imp_method *method = method_create(imp_method_at(m)->name, NULL);
        imp_method_result result = method_run(method, &view, differentiates(m));
        assert_true(isfinite(result.loss));
        for (size_t c = 0; c < result.cluster_count; c++)
            if (result.cluster_label[c] >= 0)
                assert_true(fabsf(result.cluster_mean[c * 3] - 0.3F) < 1e-6F);
        for (size_t i = 0; i < 12 && differentiates(m); i++) {
            assert_int_equal(result.predictions[i], 0); /* of equals the first */
            /* map-dp's prior prefers the class that all unlabelled points went to */
            assert_true(strcmp(imp_method_at(m)->name, "map-dp") == 0 ||
                        fabsf(result.probabilities[i * 4] - 0.25F) < 1e-6F);
        }
        for (size_t i = 0; i < 36 && differentiates(m); i++)
            assert_true(isfinite(result.support_gradient[i]) &&
                        isfinite(result.unlabeled_gradient[i]) &&
                        isfinite(result.query_gradient[i]));
        imp_method_free(method);
    }
}

/* Each further step may start a cluster for every point again, so there may be more of them than
 * classes and points together. */
static void later_steps_may_start_more_clusters(void **state)
{
    (void)state;
    enum { DIMENSIONS = 64 };
    float points[2 * DIMENSIONS] = {0};
    for (size_t i = DIMENSIONS; i < 2 * DIMENSIONS; i++)
        points[i] = 0.1F;
    const int32_t labels[] = {0, 0};
    imp_episode_view view = {.dimensions = DIMENSIONS,
                             .way = 1,
                             .support = points,
                             .support_label = labels,
                             .support_count = 2,
                             .query = points,
                             .query_label = labels,
                             .query_count = 2};
    imp_method_options options = imp_method_defaults();
    options.rule.lambda = 0;
    options.rule.steps = 5;
    imp_method *method = method_create("imp", &options);
    imp_method_result result = method_run(method, &view, true);
    assert_int_equal(result.cluster_count, 1 + 2 * (size_t)options.rule.steps);
    for (size_t i = 0; i < result.cluster_count * DIMENSIONS; i++)
        assert_true(result.cluster_mean[i] >= 0 && result.cluster_mean[i] <= 0.1F);
    imp_method_free(method);

    /* So wide that all clusters share a point alike, until no share keeps its cluster. */
    options.rule.sigma_l = 1e30;
    options.rule.steps = 1000;
    method = method_create("imp", &options);
    imp_error error;
    assert_int_equal(imp_method_run(method, &view, true, &result, &error), IMP_EINVAL);
    assert_string_equal(error.message,
                        "all clusters of class 0 were dropped; take a larger lambda, "
                        "smaller variances or fewer steps");
    imp_method_free(method);
}

/* One class has no variance between classes, and a large alpha makes the estimate negative. */
static void an_estimated_threshold_is_not_negative(void **state)
{
    (void)state;
    const float points[] = {1, 2, 3, 4};
    const int32_t labels[] = {0, 1};
    imp_method_options options = imp_method_defaults();
    options.rule.alpha = 1e9;
    imp_method *method = method_create("imp", &options);
    imp_episode_view view = {.dimensions = 2,
                             .way = 2,
                             .support = points,
                             .support_label = labels,
                             .support_count = 2,
                             .query = points,
                             .query_count = 2};
    imp_method_result result = method_run(method, &view, false);
    assert_true(result.lambda == 0);
    assert_int_equal(result.cluster_count, 2);
    imp_method_free(method);
}

/* The smallest and largest variances there may be, points at the ends of what a float can be. */
static void extreme_variances_and_points(void **state)
{
    (void)state;
    test_episode episode = episode_generate(&semi);
    const imp_episode_view *view = &episode.view;
    for (size_t i = 0; i < 6; i++) {
        episode.support[i] = 3e38F;
        episode.unlabeled[i] = -3e38F;
        episode.unlabeled[6 + i] = 1e-38F;
        episode.query[i] = -3e38F;
    }
    static const double sigmas[] = {1e-30, 1e30};
    for (size_t m = 0; imp_method_at(m); m++)
        for (size_t s = 0; s < 4; s++) {
            imp_method_options options = imp_method_defaults();
            options.rule.sigma_l = sigmas[s % 2];
            options.rule.sigma_u = sigmas[s / 2];
            options.open_set = true;
            imp_method *method = method_create(imp_method_at(m)->name, &options);
            imp_method_result result = method_run(method, view, differentiates(m));
            assert_true(result.cluster_count >= view->way && isfinite(result.loss));
            for (size_t q = 0; q < view->query_count; q++) {
                float sum = 0;
                for (size_t k = 0; k < result.outcomes; k++)
                    sum += result.probabilities[q * result.outcomes + k];
                assert_true(fabsf(sum - 1) < 1e-5F);
            }
            for (size_t c = 0; c < result.cluster_count; c++)
                assert_true(isfinite(result.cluster_weight[c]) && result.cluster_weight[c] > 0);
            imp_method_free(method);
        }
    episode_free(&episode);
}

/* Where no density is left even as a logarithm, the nearest cluster that may be joined takes all.
 */
static void a_point_without_densities_goes_to_the_nearest(void **state)
{
    (void)state;
    imp_clusters clusters = {0};
    imp_clusters_restart(&clusters, 1);
    const float place[] = {0, 10, 20}, x = 19, far = 3e38F;
    for (int32_t c = 0; c < 3; c++)
        assert_int_equal(imp_clusters_add(&clusters, c, 1e-320, &place[c], NULL), IMP_OK);
    imp_soft_assignment(&clusters, &x, IMP_UNLABELED, clusters.score);
    assert_true(clusters.score[0] == 0 && clusters.score[1] == 0 && clusters.score[2] == 1);
    imp_soft_assignment(&clusters, &x, 1, clusters.score);
    assert_true(clusters.score[0] == 0 && clusters.score[1] == 1 && clusters.score[2] == 0);

    size_t best[4];
    double score[4];
    imp_best_clusters(&clusters, 3, &far, best, score);
    for (size_t k = 0; k < 3; k++)
        assert_true(best[k] == k && isfinite(score[k]));
    assert_true(best[3] == IMP_NO_CLUSTER && score[3] == -INFINITY);
    imp_clusters_release(&clusters);
}

static void no_queries_and_no_labels_of_queries(void **state)
{
    (void)state;
    test_episode episode = episode_generate(&semi);
    for (size_t m = 0; imp_method_at(m); m++) {
        imp_method *method = method_create(imp_method_at(m)->name, NULL);
        imp_episode_view view = episode.view;
        view.query_label = NULL;
        imp_method_result result = method_run(method, &view, differentiates(m));
        assert_true(isnan(result.loss));
        assert_null(result.support_gradient);
        view.query = NULL;
        view.query_count = 0;
        result = method_run(method, &view, differentiates(m));
        assert_true(isnan(result.loss));
        assert_true(result.cluster_count >= 3);
        imp_method_free(method);
    }
    episode_free(&episode);
}

/* Unlabelled supports are unlabelled points like others, wherever they stand. */
static void unlabeled_supports_are_unlabeled_points(void **state)
{
    (void)state;
    test_episode episode = episode_generate(&semi);
    imp_episode_view *apart = &episode.view;
    size_t d = apart->dimensions, total = apart->support_count + apart->unlabeled_count;
    float *points = malloc(total * d * sizeof *points);
    int32_t *labels = malloc(total * sizeof *labels);
    assert_true(points && labels);
    memcpy(points, apart->unlabeled, apart->unlabeled_count * d * sizeof *points);
    memcpy(points + apart->unlabeled_count * d, apart->support,
           apart->support_count * d * sizeof *points);
    for (size_t i = 0; i < apart->unlabeled_count; i++)
        labels[i] = IMP_UNLABELED;
    memcpy(labels + apart->unlabeled_count, apart->support_label,
           apart->support_count * sizeof *labels);
    imp_episode_view mixed = *apart;
    mixed.support = points;
    mixed.support_label = labels;
    mixed.support_count = total;
    mixed.unlabeled = NULL;
    mixed.unlabeled_count = 0;

    for (size_t m = 0; imp_method_at(m); m++) {
        imp_method *one = method_create(imp_method_at(m)->name, NULL);
        imp_method *other = method_create(imp_method_at(m)->name, NULL);
        imp_method_result a = method_run(one, apart, differentiates(m)),
                          b = method_run(other, &mixed, differentiates(m));
        assert_true(a.loss == b.loss);
        assert_int_equal(a.cluster_count, b.cluster_count);
        assert_memory_equal(a.cluster_mean, b.cluster_mean,
                            a.cluster_count * d * sizeof *a.cluster_mean);
        if (differentiates(m)) {
            assert_memory_equal(a.support_gradient, b.support_gradient + apart->unlabeled_count * d,
                                apart->support_count * d * sizeof *a.support_gradient);
            assert_memory_equal(a.unlabeled_gradient, b.support_gradient,
                                apart->unlabeled_count * d * sizeof *a.support_gradient);
        }
        imp_method_free(one);
        imp_method_free(other);
    }
    free(points);
    free(labels);
    episode_free(&episode);
}

/* Two classes far apart, a heap of unlabelled points elsewhere: a query there is none of these. */
static void open_set(void **state)
{
    (void)state;
    const float support[] = {0, 0, 10, 0}, unlabeled[] = {100, 100, 101, 100};
    const float query[] = {1, 0, 9, 1, 99, 101};
    const int32_t labels[] = {0, 1};
    imp_episode_view view = {.dimensions = 2,
                             .way = 2,
                             .support = support,
                             .support_label = labels,
                             .support_count = 2,
                             .unlabeled = unlabeled,
                             .unlabeled_count = 2,
                             .query = query,
                             .query_count = 3};
    imp_method_options options = imp_method_defaults();
    imp_method *closed = method_create("imp", &options);
    options.open_set = true;
    imp_method *open = method_create("imp", &options);

    imp_method_result result = method_run(closed, &view, false);
    assert_int_equal(result.cluster_count, 3);
    assert_int_equal(result.outcomes, 2);
    assert_int_equal(result.predictions[2], 1);
    assert_int_equal(result.open_predictions[0], 0);
    assert_int_equal(result.open_predictions[1], 1);
    assert_int_equal(result.open_predictions[2], IMP_UNLABELED);
    result = method_run(open, &view, false);
    assert_int_equal(result.outcomes, 3);
    assert_memory_equal(result.open_predictions, result.predictions, 3 * sizeof(int32_t));
    assert_int_equal(result.predictions[0], 0);
    assert_int_equal(result.predictions[1], 1);
    assert_int_equal(result.predictions[2], IMP_UNLABELED);
    assert_true(result.probabilities[2 * 3 + 2] > 0.999F);

    view.unlabeled_count = 0; /* nothing to be instead */
    result = method_run(open, &view, false);
    assert_int_equal(result.predictions[2], 1);
    assert_int_equal(result.open_predictions[2], 1);
    assert_true(result.probabilities[2 * 3 + 2] == 0);
    imp_method_free(closed);
    imp_method_free(open);
}

/* The unmasked loss is minus the mean logarithm of what nca gives the true class; predictions stay
 * those of the nearest point. */
static void the_unmasked_loss_sums_over_clusters(void **state)
{
    (void)state;
    test_shape shape = semi;
    shape.spread = 2; /* so that some queries are doubtful */
    test_episode episode = episode_generate(&shape);
    const imp_episode_view *view = &episode.view;
    imp_method_options options = imp_method_defaults();
    imp_method *nca = method_create("nca", &options);
    imp_method *masked = method_create("neighbors", &options);
    options.own[0] = (imp_named_value){"unmasked-loss", 1};
    imp_method *unmasked = method_create("neighbors", &options);

    imp_method_result by_sums = method_run(nca, view, false);
    imp_method_result by_best = method_run(masked, view, false);
    imp_method_result result = method_run(unmasked, view, false);
    double expected = 0;
    bool differ = false;
    for (size_t q = 0; q < view->query_count; q++) {
        size_t row = q * view->way;
        expected -= log(by_sums.probabilities[row + (size_t)view->query_label[q]]);
        differ |= by_sums.probabilities[row] != by_best.probabilities[row];
    }
    expected /= (double)view->query_count;
    assert_true(fabs(by_sums.loss - expected) < 1e-5);
    assert_true(result.loss == by_sums.loss && fabs(result.loss - by_best.loss) > 1e-3 && differ);
    assert_memory_equal(result.probabilities, by_best.probabilities,
                        view->query_count * view->way * sizeof *result.probabilities);
    imp_method_free(nca);
    imp_method_free(masked);
    imp_method_free(unmasked);
    episode_free(&episode);
}

static void a_million_points(void **state)
{
    (void)state;
    enum { COUNT = 1000000 };
    float *points = malloc(2 * COUNT * sizeof *points);
    int32_t *labels = malloc(COUNT * sizeof *labels);
    assert_true(points && labels);
    /* Class i % 4 at (20 i, +-1): mean (20 i, 0), weight 250000. */
    for (size_t i = 0; i < COUNT; i++) {
        labels[i] = (int32_t)(i % 4);
        points[2 * i] = 20 * (float)(i % 4);
        points[2 * i + 1] = i / 4 % 2 ? 1 : -1;
    }
    const float query[] = {61, 3};
    imp_episode_view view = {.dimensions = 2,
                             .way = 4,
                             .support = points,
                             .support_label = labels,
                             .support_count = COUNT,
                             .query = query,
                             .query_count = 1};
    static const char *const names[] = {"imp", "prototypes", "dp-means", "neighbors"};
    for (size_t m = 0; m < 4; m++) {
        imp_method *method = method_create(names[m], NULL);
        imp_method_result result = method_run(method, &view, false);
        assert_int_equal(result.cluster_count, m == 3 ? COUNT : 4);
        assert_int_equal(result.predictions[0], 3);
        assert_true(result.cluster_mean[6] == 60 && (m == 3 || result.cluster_mean[7] == 0));
        assert_true(m == 3 || result.cluster_weight[3] == COUNT / 4);
        imp_method_free(method);
    }
    free(points);
    free(labels);
}

/* ---- soft-kmeans-masked, forward: by another way ---- */

/* The refined mean of class c in double, straight from the definition. */
static void refined_mean(const imp_episode_view *view, const double *w, size_t c, double *mean)
{
    size_t d = view->dimensions, n = view->unlabeled_count, way = view->way;
    double *center = calloc(way * d, sizeof *center), *members = calloc(way, sizeof *members);
    double *distance = calloc(way * n, sizeof *distance);
    assert_true(center && members && distance);
    for (size_t i = 0; i < view->support_count; i++)
        members[view->support_label[i]]++;
    for (size_t i = 0; i < view->support_count; i++)
        for (size_t j = 0; j < d; j++)
            center[(size_t)view->support_label[i] * d + j] +=
                view->support[i * d + j] / members[view->support_label[i]];
    for (size_t k = 0; k < way; k++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < d; j++)
                distance[k * n + i] += pow(view->unlabeled[i * d + j] - center[k * d + j], 2);

    const double *own = distance + c * n;
    double average = 0, moment[5] = {0}, least = INFINITY, most = 0;
    for (size_t i = 0; i < n; i++)
        average += own[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        least = fmin(least, own[i] / average);
        most = fmax(most, own[i] / average);
        for (int p = 2; p < 5; p++)
            moment[p] += pow(own[i] / average - 1, p) / (double)n;
    }
    const double statistics[] = {least, most, moment[2], moment[3] / pow(moment[2], 1.5),
                                 moment[4] / pow(moment[2], 2) - 3};
    double output[2] = {w[160], w[161]};
    for (size_t h = 0; h < 20; h++) {
        double sum = w[100 + h];
        for (size_t s = 0; s < 5; s++)
            sum += w[5 * h + s] * statistics[s];
        output[0] += w[120 + h] * tanh(sum);
        output[1] += w[140 + h] * tanh(sum);
    }
    double weight = members[c];
    for (size_t j = 0; j < d; j++)
        mean[j] = members[c] * center[c * d + j];
    for (size_t i = 0; i < n; i++) {
        double others = 0;
        for (size_t k = 0; k < way; k++)
            others += exp((own[i] - distance[k * n + i]) / 2);
        double share = 1 / others / (1 + exp(output[1] * (own[i] / average - output[0])));
        weight += share;
        for (size_t j = 0; j < d; j++)
            mean[j] += share * view->unlabeled[i * d + j];
    }
    for (size_t j = 0; j < d; j++)
        mean[j] /= weight;
    free(center);
    free(members);
    free(distance);
}

static void masked_means_follow_the_definition(void **state)
{
    (void)state;
    test_episode episode = episode_generate(&semi);
    imp_method *method = method_create("soft-kmeans-masked", NULL);
    size_t count;
    double *values = imp_method_values(method, &count), mean[6];
    for (size_t i = 0; i < count; i++)
        values[i] = 0.7 * sin(1 + 3 * (double)i); /* anything, and not small */
    imp_method_result result = method_run(method, &episode.view, false);
    for (size_t c = 0; c < 3; c++) {
        refined_mean(&episode.view, values, c, mean);
        for (size_t j = 0; j < 6; j++)
            assert_true(fabs(result.cluster_mean[c * 6 + j] - mean[j]) < 1e-5);
    }
    imp_method_free(method);
    episode_free(&episode);
}

/* ---- memory ---- */

/* Whatever clusters the points come to, and in fewer dimensions or with fewer points too. */
static void a_grown_workspace_allocates_no_more(void **state)
{
    (void)state;
    enum { EPISODES = 7 };
    test_episode episodes[EPISODES];
    for (size_t e = 0; e < EPISODES; e++) {
        test_shape shape = semi;
        shape.seed = e;
        shape.spread = e < 4 ? pow(10, (double)e - 1) : 1000; /* few clusters, then one per point */
        shape.dimensions = e == 4 ? 2 : shape.dimensions;
        shape.shot = e == 5 ? 1 : shape.shot;
        shape.distractors = e == 6 ? 0 : shape.distractors;
        episodes[e] = episode_generate(&shape);
    }
    size_t fewest = SIZE_MAX, most = 0;
    for (size_t m = 0; imp_method_at(m); m++) {
        failing_allocator memory = {0};
        failing_allocator_install(&memory, 0);
        imp_method *method = method_create(imp_method_at(m)->name, NULL);
        method_run(method, &episodes[0].view, differentiates(m));
        size_t before = atomic_load(&memory.calls);
        for (size_t e = 0; e < EPISODES; e++) {
            imp_method_result result = method_run(method, &episodes[e].view, differentiates(m));
            assert_int_equal(atomic_load(&memory.calls), before);
            fewest = result.cluster_count < fewest ? result.cluster_count : fewest;
            most = result.cluster_count > most ? result.cluster_count : most;
        }
        imp_method_free(method);
        failing_allocator_end(&memory);
    }
    assert_true(fewest <= 3 && most >= 20); /* the episodes were different enough */
    for (size_t e = 0; e < EPISODES; e++)
        episode_free(&episodes[e]);
}

/* Many points in few dimensions and few in many take turns: each size has been seen. */
static void sizes_that_take_turns_allocate_no_more(void **state)
{
    (void)state;
    test_shape wide = semi, long_ = semi;
    wide.dimensions = 40, wide.unlabeled = 1;
    long_.dimensions = 2, long_.unlabeled = 30;
    test_episode episodes[] = {episode_generate(&wide), episode_generate(&long_)};
    for (size_t m = 0; imp_method_at(m); m++) {
        failing_allocator memory = {0};
        failing_allocator_install(&memory, 0);
        imp_method *method = method_create(imp_method_at(m)->name, NULL);
        method_run(method, &episodes[0].view, differentiates(m));
        method_run(method, &episodes[1].view, differentiates(m));
        size_t before = atomic_load(&memory.calls);
        method_run(method, &episodes[0].view, differentiates(m));
        method_run(method, &episodes[1].view, differentiates(m));
        assert_int_equal(atomic_load(&memory.calls), before);
        imp_method_free(method);
        failing_allocator_end(&memory);
    }
    episode_free(&episodes[0]);
    episode_free(&episodes[1]);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_episode episode = episode_generate(&semi);
    for (size_t m = 0; imp_method_at(m); m++) {
        failing_allocator memory = {0};
        while (failing_allocator_next(&memory)) {
            imp_method *method;
            imp_method_result result;
            imp_error error;
            imp_status status = imp_method_create(imp_method_at(m)->name, NULL, &method, &error);
            if (status == IMP_OK)
                status = imp_method_run(method, &episode.view, differentiates(m), &result, &error);
            if (status != IMP_OK) {
                assert_int_equal(strncmp(error.message, "out of memory for ", 18), 0);
                if (method) /* nothing is lost: the second time there is enough */
                    method_run(method, &episode.view, differentiates(m));
            }
            imp_method_free(method);
            failing_allocator_expect(&memory, status);
        }
    }
    episode_free(&episode);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(options_of_an_older_caller_are_taken),
        cmocka_unit_test(a_method_without_gradient_says_so),
        cmocka_unit_test(parameters_are_named),
        cmocka_unit_test(bad_episodes_are_refused),
        cmocka_unit_test(a_lost_variance_is_refused),
        cmocka_unit_test(one_point_of_one_class),
        cmocka_unit_test(all_points_equal),
        cmocka_unit_test(later_steps_may_start_more_clusters),
        cmocka_unit_test(an_estimated_threshold_is_not_negative),
        cmocka_unit_test(extreme_variances_and_points),
        cmocka_unit_test(a_point_without_densities_goes_to_the_nearest),
        cmocka_unit_test(no_queries_and_no_labels_of_queries),
        cmocka_unit_test(unlabeled_supports_are_unlabeled_points),
        cmocka_unit_test(open_set),
        cmocka_unit_test(the_unmasked_loss_sums_over_clusters),
        cmocka_unit_test(a_million_points),
        cmocka_unit_test(masked_means_follow_the_definition),
        cmocka_unit_test(a_grown_workspace_allocates_no_more),
        cmocka_unit_test(sizes_that_take_turns_allocate_no_more),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
