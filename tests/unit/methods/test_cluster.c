/*
 * test_cluster.c - clustering without labels: both rules, the choice of lambda, the orders, and
 * input that is odd or bad.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <imp/cluster.h>
#include <imp/method.h>
#include <imp/metrics.h>

#include "base/random.h"
#include "failing_allocator.h"
#include "failing_threads.h"

enum { BLOBS = 7, EACH = 30, DIMENSIONS = 4, COUNT = BLOBS * EACH };

/* Blobs of variance 1 around points 30 apart, in random order. */
static void draw_blobs(float *x, int32_t *y, uint64_t seed)
{
    imp_random random = imp_random_start(seed, IMP_STREAM_DEMO, 0);
    uint32_t order[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        order[i] = i;
    imp_random_shuffle(&random, order, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        y[i] = (int32_t)(order[i] % BLOBS);
        for (size_t j = 0; j < DIMENSIONS; j++)
            x[i * DIMENSIONS + j] = (float)(30 * (y[i] >> j & 1) + imp_random_normal(&random));
    }
}

static imp_clustering *cluster(const float *x, size_t n, size_t d,
                               const imp_cluster_options *options)
{
    imp_clustering *clustering;
    imp_error error;
    if (imp_cluster(x, n, d, options, &clustering, &error) != IMP_OK)
        fail_msg("%s", error.message);
    return clustering;
}

/* The clusters are the blobs, however they are numbered, and all numbers fit together. */
static void assert_blobs(const imp_clustering *found, const float *x, const int32_t *y)
{
    imp_contingency *contingency;
    assert_int_equal(found->clusters, BLOBS);
    assert_int_equal(imp_contingency_create(y, found->assignment, COUNT, &contingency, NULL),
                     IMP_OK);
    assert_true(imp_adjusted_rand(contingency) == 1);
    imp_contingency_free(contingency);

    double objective = found->lambda * (double)found->clusters;
    size_t size[BLOBS] = {0};
    for (size_t i = 0; i < COUNT; i++) {
        size[found->assignment[i]]++;
        for (size_t j = 0; j < DIMENSIONS; j++)
            objective += pow(x[i * DIMENSIONS + j] -
                                 found->mean[(size_t)found->assignment[i] * DIMENSIONS + j],
                             2);
    }
    assert_true(fabs(objective - found->objective) < 1e-5 * objective);
    for (size_t c = 0; c < BLOBS; c++)
        assert_int_equal(found->cluster_size[c], size[c]);
}

/* Threads stay when their work is done, and serve whoever comes next; hence this test comes before
 * any that leaves their number open. */
static void no_more_threads_than_wanted(void **state)
{
    (void)state;
    enum { MANY = 600000 }; /* more than one thread looks at */
    float *x = malloc(MANY * sizeof *x);
    for (size_t i = 0; i < MANY; i++)
        x[i] = (float)(i % 3);
    int32_t y[] = {0, 1};
    imp_cluster_options options = imp_cluster_defaults();
    options.method = "dp-means";
    options.rule.lambda = 0.5;
    failing_threads_allow(SIZE_MAX);
    for (int threads = 1; threads <= 2; threads++) {
        double lambda;
        options.threads = threads;
        imp_clustering *found = cluster(x, MANY, 1, &options);
        assert_int_equal(found->clusters, 3);
        imp_clustering_free(found);
        assert_int_equal(
            imp_cluster_tune(&(imp_labeled_points){x, y, 2}, 1, 1, &options, &lambda, NULL),
            IMP_OK);
        assert_int_equal(failing_threads_allow(SIZE_MAX), threads - 1);
    }
    free(x);
}

static void blobs_are_found(void **state)
{
    (void)state;
    float x[COUNT * DIMENSIONS];
    int32_t y[COUNT];
    for (uint64_t seed = 1; seed <= 5; seed++) {
        draw_blobs(x, y, seed);
        for (int rule = 0; rule < 2; rule++)
            for (int order = 0; order < 4; order++)
                for (int how = 0; how < 3; how++) {
                    imp_cluster_options options = imp_cluster_defaults();
                    options.method = rule ? "dp-means" : "imp";
                    options.order = (imp_cluster_order)order;
                    options.rule.lambda = how == 0 ? 200 : NAN;
                    options.clusters = how == 1 ? BLOBS : 0;
                    imp_clustering *found = cluster(x, COUNT, DIMENSIONS, &options);
                    assert_blobs(found, x, y);
                    assert_true(rule == 0 || found->converged);
                    assert_true(rule == 1 || found->steps == 5);
                    imp_clustering_free(found);
                }
    }
}

/* Four points on a line, by hand. */
static void dp_means_by_hand(void **state)
{
    (void)state;
    const float x[] = {0, 2, 5, 6};
    imp_cluster_options options = imp_cluster_defaults();
    options.method = "dp-means";
    options.rule.lambda = 10;
    /* 0 and 2 join 0; 5 is 25 away and starts the second, 6 joins. Then 1 and 5.5: nothing moves.
     */
    imp_clustering *found = cluster(x, 4, 1, &options);
    static const int32_t expected[] = {0, 0, 1, 1};
    assert_int_equal(found->clusters, 2);
    assert_memory_equal(found->assignment, expected, sizeof expected);
    assert_true(found->mean[0] == 1 && found->mean[1] == 5.5F);
    assert_true(fabs(found->objective - (1 + 1 + 0.25 + 0.25 + 20)) < 1e-12);
    assert_true(found->converged);
    assert_int_equal(found->steps, 2);
    imp_clustering_free(found);

    options.rule.lambda = 36; /* a distance equal to lambda is not greater */
    found = cluster(x, 4, 1, &options);
    assert_int_equal(found->clusters, 1);
    imp_clustering_free(found);
}

/* The order matters, and the farthest-first one makes just as many clusters as are wanted. */
static void orders(void **state)
{
    (void)state;
    const float x[] = {3, 0, 6, 3.5F};
    imp_cluster_options options = imp_cluster_defaults();
    options.method = "dp-means";
    options.rule.lambda = 9;
    options.rule.steps = 1;
    options.order = IMP_ORDER_GIVEN;
    imp_clustering *found = cluster(x, 4, 1, &options);
    assert_int_equal(found->clusters, 1); /* all within 3 of the first */
    imp_clustering_free(found);

    const float moved[] = {0, 3, 6, 3.5F};
    found = cluster(moved, 4, 1, &options);
    assert_int_equal(found->clusters, 2);
    imp_clustering_free(found);

    float cloud[200];
    imp_random random = imp_random_start(5, IMP_STREAM_DEMO, 0);
    for (size_t i = 0; i < 200; i++)
        cloud[i] = (float)imp_random_normal(&random);
    options.rule.lambda = NAN;
    options.order = IMP_ORDER_DEFAULT;
    for (size_t k = 1; k <= 100; k++) {
        options.clusters = k;
        found = cluster(cloud, 100, 2, &options);
        assert_int_equal(found->clusters, k);
        imp_clustering_free(found);
    }

    /* A shuffle is one of its seed. */
    options.clusters = 0;
    options.rule.lambda = 1;
    options.order = IMP_ORDER_RANDOM;
    found = cluster(cloud, 100, 2, &options);
    imp_clustering *again = cluster(cloud, 100, 2, &options);
    assert_memory_equal(found->assignment, again->assignment, 100 * sizeof(int32_t));
    imp_clustering_free(again);
    options.seed = 2;
    again = cluster(cloud, 100, 2, &options);
    assert_memory_not_equal(found->assignment, again->assignment, 100 * sizeof(int32_t));
    imp_clustering_free(again);
    imp_clustering_free(found);
}

/* Whatever the points' scale, as many clusters as are wanted. */
static void a_wanted_number_is_what_comes(void **state)
{
    (void)state;
    enum { POINTS = 300, D = 8 };
    float cloud[POINTS * D];
    static const double scales[] = {0.01, 1, 100};
    for (size_t s = 0; s < 3; s++)
        for (size_t k = 5; k <= 100; k += 15)
            for (int rule = 0; rule < 2; rule++) {
                imp_random random = imp_random_start(6, IMP_STREAM_DEMO, 0);
                for (size_t i = 0; i < POINTS * D; i++)
                    cloud[i] = (float)(scales[s] * imp_random_normal(&random));
                imp_cluster_options options = imp_cluster_defaults();
                options.method = rule ? "dp-means" : "imp";
                options.clusters = k;
                imp_clustering *found = cluster(cloud, POINTS, D, &options);
                assert_int_equal(found->clusters, k);
                assert_int_equal(found->choice, IMP_CLUSTER_WANTED);
                /* and they divide the points: none holds most of them */
                for (size_t c = 0; c < found->clusters; c++)
                    assert_true(found->cluster_size[c] < POINTS / 2);
                imp_clustering_free(found);
            }
}

/* Blobs of different sizes whose nearest centers are six standard deviations apart; n of them. */
static size_t draw_tight_blobs(size_t blobs, size_t d, uint64_t seed, float **x)
{
    enum { FEWEST = 20, MORE = 50 };
    imp_random random = imp_random_start(seed, IMP_STREAM_DEMO, 1);
    double *center = malloc(blobs * d * sizeof *center), nearest = INFINITY;
    for (size_t i = 0; i < blobs * d; i++)
        center[i] = imp_random_normal(&random);
    for (size_t a = 0; a < blobs; a++)
        for (size_t b = 0; b < a; b++) {
            double square = 0;
            for (size_t j = 0; j < d; j++)
                square += pow(center[a * d + j] - center[b * d + j], 2);
            nearest = fmin(nearest, sqrt(square));
        }
    *x = malloc(blobs * (FEWEST + MORE) * d * sizeof **x);
    size_t n = 0;
    for (size_t b = 0; b < blobs; b++)
        for (size_t left = FEWEST + imp_random_below(&random, MORE); left > 0; left--, n++)
            for (size_t j = 0; j < d; j++)
                (*x)[n * d + j] =
                    (float)(6 / nearest * center[b * d + j] + imp_random_normal(&random));
    free(center);
    return n;
}

static void blobs_are_counted(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{2, 2}, {10, 2}, {40, 2}, {5, 16}, {20, 8}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int rule = 0; rule < 2; rule++) {
            float *x;
            size_t blobs = shapes[s][0], d = shapes[s][1], n = draw_tight_blobs(blobs, d, s, &x);
            imp_cluster_options options = imp_cluster_defaults();
            options.method = rule ? "dp-means" : "imp";
            options.threads = 1;
            imp_clustering *found = cluster(x, n, d, &options);
            assert_in_range(found->clusters, blobs - blobs / 10, blobs + blobs / 10);
            assert_true(found->choice == IMP_CLUSTER_APART ||
                        (found->choice == IMP_CLUSTER_LIKELY && found->dimensions >= 16));
            assert_true(found->groups > found->clusters && found->sampled == n);

            /* The same at another scale and with more threads. */
            for (size_t i = 0; i < n * d; i++)
                x[i] *= 128;
            options.threads = 3;
            imp_clustering *large = cluster(x, n, d, &options);
            assert_memory_equal(large->assignment, found->assignment, n * sizeof(int32_t));
            imp_clustering_free(found);
            imp_clustering_free(large);
            free(x);
        }
}

/* Whatever is said of points holds in the end, for both rules, and nobody else is moved far. */
static void what_is_known_holds(void **state)
{
    (void)state;
    float x[COUNT * DIMENSIONS];
    int32_t y[COUNT], label[COUNT];
    draw_blobs(x, y, 11);
    imp_random random = imp_random_start(12, IMP_STREAM_DEMO, 0);
    enum { PAIRS = 20 };
    imp_cluster_pair pairs[PAIRS];
    for (int rule = 0; rule < 2; rule++) {
        for (size_t i = 0; i < COUNT; i++) /* two classes within blobs, and of several blobs */
            label[i] = i % 3 ? IMP_UNLABELED : (int32_t)(i % 2 + (size_t)(y[i] > 3));
        for (size_t k = 0; k < PAIRS; k++) {
            pairs[k] = (imp_cluster_pair){3 * imp_random_below(&random, COUNT / 3) + 1,
                                          3 * imp_random_below(&random, COUNT / 3) + 2, k % 2};
            if (k % 2) /* of points that no other pair has together */
                pairs[k].a = pairs[k].b - 2;
        }
        imp_cluster_options options = imp_cluster_defaults();
        options.method = rule ? "dp-means" : "imp";
        options.label = label;
        options.pairs = pairs;
        options.pair_count = PAIRS;
        imp_clustering *found = cluster(x, COUNT, DIMENSIONS, &options);
        for (size_t i = 0; i < COUNT; i++)
            if (label[i] >= 0)
                assert_int_equal(found->cluster_label[found->assignment[i]], label[i]);
        for (size_t k = 0; k < PAIRS; k++)
            assert_int_equal(found->assignment[pairs[k].a] == found->assignment[pairs[k].b],
                             !pairs[k].apart);
        imp_clustering_free(found);
    }
    imp_cluster_options options = imp_cluster_defaults();
    options.pairs = (imp_cluster_pair[]){{0, COUNT, false}};
    options.pair_count = 1;
    imp_clustering *found;
    imp_error error;
    assert_int_equal(imp_cluster(x, COUNT, DIMENSIONS, &options, &found, &error), IMP_EINVAL);
    assert_null(found);
}

/* Two heaps, six deviations apart, in more dimensions than there are points. */
static void two_heaps_in_many_dimensions(void **state)
{
    (void)state;
    enum { N = 122, MANY = 256, DRAWS = 5 };
    static float x[N * MANY];
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        imp_random random = imp_random_start(300 + seed, IMP_STREAM_TEST, 0);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < MANY; j++)
                x[i * MANY + j] =
                    (float)(imp_random_normal(&random) + (i % 2 ? 6 / sqrt((double)MANY) : 0));
        imp_cluster_options options = imp_cluster_defaults();
        imp_clustering *found = cluster(x, N, MANY, &options);
        assert_int_equal(found->clusters, 2);
        imp_clustering_free(found);
    }
}

/* One cloud is one cluster, in many dimensions, too. */
static void one_cloud_is_one(void **state)
{
    (void)state;
    static const size_t dimensions[] = {1, 2, 20, 200};
    for (size_t s = 0; s < 4; s++) {
        size_t d = dimensions[s], n = 600;
        float *x = malloc(n * d * sizeof *x);
        imp_random random = imp_random_start(7, IMP_STREAM_DEMO, s);
        for (size_t i = 0; i < n * d; i++)
            x[i] = (float)imp_random_normal(&random);
        imp_clustering *found = cluster(x, n, d, NULL);
        assert_int_equal(found->clusters, 1);
        imp_clustering_free(found);
        free(x);
    }
}

/* Corners of a square are equally far, which is no reason for another number than is wanted. */
static void equal_radii(void **state)
{
    (void)state;
    const float square[] = {0, 0, 0, 1, 1, 0, 1, 1};
    for (size_t k = 1; k <= 4; k++)
        for (int rule = 0; rule < 2; rule++) {
            imp_cluster_options options = imp_cluster_defaults();
            options.method = rule ? "dp-means" : "imp";
            options.clusters = k;
            options.rule.steps = 1;
            imp_clustering *found = cluster(square, 4, 2, &options);
            assert_int_equal(found->clusters, k);
            imp_clustering_free(found);
        }
}

static void extreme_variances_and_points(void **state)
{
    (void)state;
    const float x[] = {3e38F, -3e38F, 0, 1e-38F, 1};
    static const double sigmas[] = {1e-30, 1e30}, lambdas[] = {0, 1, 1e300};
    for (size_t s = 0; s < 2; s++)
        for (size_t l = 0; l < 3; l++) {
            imp_cluster_options options = imp_cluster_defaults();
            options.rule.sigma_u = sigmas[s];
            options.rule.lambda = lambdas[l];
            imp_clustering *found = cluster(x, 5, 1, &options);
            assert_true(found->clusters > 0 && isfinite(found->objective));
            for (size_t i = 0; i < 5; i++)
                assert_in_range(found->assignment[i], 0, found->clusters - 1);
            imp_clustering_free(found);
        }
}

static void tuning_finds_the_blobs(void **state)
{
    (void)state;
    float x[2][COUNT * DIMENSIONS];
    int32_t y[2][COUNT];
    draw_blobs(x[0], y[0], 8);
    draw_blobs(x[1], y[1], 9);
    const imp_labeled_points episodes[] = {{x[0], y[0], COUNT}, {x[1], y[1], COUNT}};
    imp_cluster_options options = imp_cluster_defaults();
    imp_error error;
    if (imp_cluster_tune(episodes, 2, DIMENSIONS, &options, &options.rule.lambda, &error) != IMP_OK)
        fail_msg("%s", error.message);
    imp_clustering *found = cluster(x[0], COUNT, DIMENSIONS, &options);
    assert_blobs(found, x[0], y[0]);
    imp_clustering_free(found);

    assert_int_equal(imp_cluster_tune(episodes, 0, DIMENSIONS, NULL, &options.rule.lambda, &error),
                     IMP_EINVAL);
    assert_string_equal(error.message, "there are no episodes to choose lambda on");
}

/* Large thresholds split off one outlier of each class, which is worse than nothing. */
static void tuning_goes_on_below_what_is_worthless(void **state)
{
    (void)state;
    const float x[] = {100, 0, 0, 0, 0.01F, 0, 100, 1, 0, 1, 0.01F, 1};
    const int32_t y[] = {0, 0, 0, 1, 1, 1};
    imp_cluster_options options = imp_cluster_defaults();
    options.method = "dp-means";
    assert_int_equal(imp_cluster_tune(&(imp_labeled_points){x, y, 6}, 1, 2, &options,
                                      &options.rule.lambda, NULL),
                     IMP_OK);
    assert_true(options.rule.lambda < 1);
    imp_clustering *found = cluster(x, 6, 2, &options);
    assert_int_equal(found->clusters, 4);
    imp_clustering_free(found);
}

static void odd_input(void **state)
{
    (void)state;
    enum { MANY = 1000000 };
    float *x = malloc(2 * MANY * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < MANY; i++) {
        x[2 * i] = 100 * (float)(i % 3);
        x[2 * i + 1] = 1;
    }
    for (int rule = 0; rule < 2; rule++) {
        imp_cluster_options options = imp_cluster_defaults();
        options.method = rule ? "dp-means" : "imp";
        options.rule.steps = 2;
        imp_clustering *found = cluster(x, 1, 2, &options); /* one point */
        assert_int_equal(found->clusters, 1);
        assert_true(found->mean[0] == 0 && found->mean[1] == 1);
        imp_clustering_free(found);

        found = cluster(x, MANY, 2, &options); /* a million, three of them different */
        assert_int_equal(found->clusters, 3);
        assert_int_equal(found->cluster_size[0] + found->cluster_size[1] + found->cluster_size[2],
                         MANY);
        assert_true(fabs(found->mean[2] - 100) < 1e-3);
        imp_clustering_free(found);
    }
    for (size_t i = 0; i < 2000; i++)
        x[i] = 0.1F;
    for (int rule = 0; rule < 2; rule++)
        for (size_t k = 0; k < 3; k++) { /* all equal */
            imp_cluster_options options = imp_cluster_defaults();
            options.method = rule ? "dp-means" : "imp";
            options.clusters = k;
            imp_clustering *found = cluster(x, 1000, 2, &options);
            assert_int_equal(found->clusters, 1);
            assert_true(found->mean[0] == 0.1F);
            imp_clustering_free(found);
        }
    free(x);
}

/* ---- more points ---- */

static void points_go_to_the_nearest_mean(void **state)
{
    (void)state;
    enum { MEANS = 50, POINTS = 3000 };
    float *mean = malloc(MEANS * DIMENSIONS * sizeof *mean);
    float *x = malloc(POINTS * DIMENSIONS * sizeof *x);
    int32_t *assignment = malloc(POINTS * sizeof *assignment);
    imp_random random = imp_random_start(5, IMP_STREAM_DEMO, 0);
    for (size_t i = 0; i < MEANS * DIMENSIONS; i++)
        mean[i] = (float)imp_random_normal(&random);
    /* on a grid as coarse as this, points are often as near to two means */
    for (size_t i = 0; i < POINTS * DIMENSIONS; i++)
        x[i] = roundf((float)imp_random_normal(&random));
    memcpy(mean + DIMENSIONS, mean, DIMENSIONS * sizeof *mean);
    assert_int_equal(imp_cluster_assign(mean, MEANS, x, POINTS, DIMENSIONS, assignment, NULL),
                     IMP_OK);
    for (size_t i = 0; i < POINTS; i++) {
        size_t nearest = 0;
        double least = INFINITY;
        for (size_t c = 0; c < MEANS; c++) {
            double distance = 0;
            for (size_t j = 0; j < DIMENSIONS; j++)
                distance += pow((double)x[i * DIMENSIONS + j] - mean[c * DIMENSIONS + j], 2);
            if (distance < least) {
                least = distance;
                nearest = c;
            }
        }
        assert_int_equal(assignment[i], nearest);
    }
    free(mean);
    free(x);
    free(assignment);
}

static void the_points_of_a_clustering_keep_their_clusters(void **state)
{
    (void)state;
    float x[COUNT * DIMENSIONS];
    int32_t y[COUNT], assignment[COUNT];
    draw_blobs(x, y, 4);
    imp_cluster_options options = imp_cluster_defaults();
    options.method = "dp-means";
    imp_clustering *found = cluster(x, COUNT, DIMENSIONS, &options);
    assert_true(found->converged);
    assert_int_equal(
        imp_cluster_assign(found->mean, found->clusters, x, COUNT, DIMENSIONS, assignment, NULL),
        IMP_OK);
    assert_memory_equal(assignment, found->assignment, sizeof assignment);
    imp_clustering_free(found);
}

static void assigning_bad_input_is_refused(void **state)
{
    (void)state;
    static const struct {
        size_t means, points, dimensions;
        const char *sentence;
    } faults[] = {
        {0, 1, 2, "there are no means to assign points to"},
        {1, 1, 0, "the points have no dimensions; they need at least 1"},
        {2, 1, 2,
         "mean row 1, column 1 is not a number (NaN); every value must be a finite number"},
        {1, 2, 2, "point row 1, column 0 is infinite; every value must be a finite number"},
    };
    const float mean[] = {0, 1, 2, NAN}, x[] = {0, 1, INFINITY, 2};
    int32_t assignment[2] = {7, 7};
    imp_error error;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        assert_int_equal(imp_cluster_assign(mean, faults[i].means, x, faults[i].points,
                                            faults[i].dimensions, assignment, &error),
                         IMP_EINVAL);
        assert_string_equal(error.message, faults[i].sentence);
    }
    assert_int_equal(imp_cluster_assign(mean, 1, NULL, 0, 2, NULL, &error), IMP_OK);
}

static void refuse(const float *x, size_t n, size_t d, const imp_cluster_options *options,
                   const char *sentence)
{
    imp_clustering *clustering;
    imp_error error;
    assert_int_equal(imp_cluster(x, n, d, options, &clustering, &error), IMP_EINVAL);
    assert_null(clustering);
    assert_string_equal(error.message, sentence);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    float x[] = {0, 1, 2, NAN};
    imp_cluster_options options = imp_cluster_defaults();
    refuse(x, 0, 2, NULL, "there are no points to cluster; at least 1 is needed");
    refuse(x, 2, 0, NULL, "the points have no dimensions; they need at least 1");
    refuse(x, 2, 2, NULL,
           "point row 1, column 1 is not a number (NaN); every value must be a finite number");
    options.rule.sigma_u = 0;
    refuse(x, 1, 2, &options, "sigma-u is 0; it must be a number from 1e-30 to 1e+30, or auto");
    options.rule.sigma_u = 1e-300;
    refuse(x, 1, 2, &options,
           "sigma-u is 1e-300; it must be a number from 1e-30 to 1e+30, or auto");
    options.rule.sigma_u = 1e308;
    refuse(x, 1, 2, &options,
           "sigma-u is 1e+308; it must be a number from 1e-30 to 1e+30, or auto");
    options.rule.sigma_u = 1, options.rule.lambda = -1;
    refuse(x, 1, 2, &options, "lambda is -1; it must be a number of at least 0, or auto");
    options.rule.lambda = NAN, options.clusters = 3;
    refuse(x, 1, 2, &options, "3 clusters are wanted of 1 points");
    options.clusters = 0, options.method = "em";
    refuse(x, 1, 2, &options, "'em' does not cluster without labels; imp and dp-means do");
    options.method = "impp";
    refuse(x, 1, 2, &options, "'impp' is not a method; did you mean 'imp'?");
    options.method = NULL, options.order = (imp_cluster_order)9;
    refuse(x, 1, 2, &options, "9 is not an order of points");
    options.size = 0;
    assert_int_equal(imp_cluster(x, 1, 2, &options, &(imp_clustering *){0}, NULL), IMP_EINVAL);
    imp_clustering_free(NULL);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    float x[COUNT * DIMENSIONS];
    int32_t y[COUNT];
    draw_blobs(x, y, 3);
    for (int what = 0; what < 4; what++) {
        failing_allocator memory = {0};
        while (failing_allocator_next(&memory)) {
            imp_cluster_options options = imp_cluster_defaults();
            options.method = what ? "dp-means" : "imp";
            options.clusters = BLOBS;
            imp_clustering *found = NULL;
            imp_status status;
            double lambda;
            if (what < 2)
                status = imp_cluster(x, COUNT, DIMENSIONS, &options, &found, NULL);
            else if (what == 2)
                status = imp_cluster_assign(x, BLOBS, x, COUNT, DIMENSIONS, y, NULL);
            else
                status = imp_cluster_tune(&(imp_labeled_points){x, y, 20}, 1, DIMENSIONS, NULL,
                                          &lambda, NULL);
            imp_clustering_free(found);
            failing_allocator_expect(&memory, status);
        }
    }
}

/* Means move, and with a threshold of 0 every point would start a cluster in every pass. */
static void there_are_no_more_clusters_than_points(void **state)
{
    (void)state;
    enum { POINTS = 40 };
    float x[POINTS * 2];
    imp_random random = imp_random_start(5, IMP_STREAM_TEST, 0);
    for (size_t i = 0; i < POINTS * 2; i++)
        x[i] = (float)imp_random_normal(&random);
    imp_cluster_options options = imp_cluster_defaults();
    for (int tiny = 0; tiny < 2; tiny++) {
        imp_clustering *found;
        options.rule.lambda = tiny ? 0.01 : 0;
        assert_int_equal(imp_cluster(x, POINTS, 2, &options, &found, NULL), IMP_OK);
        assert_true(found->clusters <= POINTS);
        imp_clustering_free(found);
    }
}

/* Ten groups of 40 points, six standard deviations apart in pairs, but in 256 dimensions. */
static void spherical_groups_are_counted_by_their_likelihood(void **state)
{
    (void)state;
    enum { MANY = 10, SIZE = 40, WIDE = 256 };
    float *x = malloc(sizeof *x * MANY * SIZE * WIDE);
    imp_random random = imp_random_start(5, IMP_STREAM_DEMO, 0);
    for (size_t i = 0; i < MANY * SIZE; i++)
        for (size_t j = 0; j < WIDE; j++)
            x[i * WIDE + j] =
                (float)(imp_random_normal(&random) + (j == i % MANY ? 6 / sqrt(2) : 0));
    imp_clustering *found;
    imp_error error;
    if (imp_cluster(x, MANY * SIZE, WIDE, NULL, &found, &error))
        fail_msg("%s", error.message);
    assert_int_equal(found->choice, IMP_CLUSTER_LIKELY);
    assert_int_equal(found->clusters, MANY);
    assert_true(isinf(found->apart));
    assert_true(found->groups > MANY && found->groups < MANY * SIZE);
    imp_clustering_free(found);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_more_threads_than_wanted),
        cmocka_unit_test(blobs_are_found),
        cmocka_unit_test(there_are_no_more_clusters_than_points),
        cmocka_unit_test(dp_means_by_hand),
        cmocka_unit_test(orders),
        cmocka_unit_test(a_wanted_number_is_what_comes),
        cmocka_unit_test(equal_radii),
        cmocka_unit_test(blobs_are_counted),
        cmocka_unit_test(two_heaps_in_many_dimensions),
        cmocka_unit_test(one_cloud_is_one),
        cmocka_unit_test(what_is_known_holds),
        cmocka_unit_test(extreme_variances_and_points),
        cmocka_unit_test(tuning_finds_the_blobs),
        cmocka_unit_test(tuning_goes_on_below_what_is_worthless),
        cmocka_unit_test(points_go_to_the_nearest_mean),
        cmocka_unit_test(the_points_of_a_clustering_keep_their_clusters),
        cmocka_unit_test(assigning_bad_input_is_refused),
        cmocka_unit_test(odd_input),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(spherical_groups_are_counted_by_their_likelihood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
