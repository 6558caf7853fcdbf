/*
 * test_classify.c - step 6 of Algorithm 1 for many queries at once, against taking them one by one
 * in double precision: the same labels, clusters and distances, and probabilities to 1e-6.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "failing_allocator.h"
#include "methods/classify.h"
#include "methods/columns.h"

typedef struct scene {
    size_t queries, d, clusters, way;
    double sigma_l, sigma_u;
    double offset, scale; /* of everything from the origin; of everything */
    double grid;          /* coordinates are multiples of it, which makes ties; 0: none */
    double outlier;       /* how far away a few are; 0: none */
    bool many_sigmas;
} scene;

static double draw(imp_random *random, const scene *s)
{
    double v = imp_random_normal(random);
    if (s->grid > 0)
        v = s->grid * round(v / s->grid);
    return v;
}

static void draw_row(imp_random *random, const scene *s, double spread, double *row)
{
    bool out = s->outlier > 0 && imp_random_below(random, 60) == 0;
    for (size_t j = 0; j < s->d; j++)
        row[j] = (s->offset + spread * draw(random, s) * (out ? s->outlier : 1)) * s->scale;
}

static void make_clusters(imp_random *random, const scene *s, imp_clusters *clusters)
{
    imp_clusters_restart(clusters, s->d);
    double square = s->scale * s->scale;
    for (size_t c = 0; c < s->clusters; c++) {
        int32_t label = s->way > 0 ? (int32_t)imp_random_below(random, (uint32_t)s->way) : -1;
        if (c % 7 == 3)
            label = -1;
        double sigma = (label < 0 ? s->sigma_u : s->sigma_l) * square;
        if (s->many_sigmas)
            sigma *= 1 + imp_random_uniform(random);
        assert_int_equal(imp_clusters_add(clusters, label, sigma, NULL, NULL), IMP_OK);
        draw_row(random, s, 1, imp_clusters_mean(clusters, c));
        if (c > 0 && imp_random_below(random, 10) == 0) /* the same as another */
            memcpy(imp_clusters_mean(clusters, c),
                   imp_clusters_mean(clusters, imp_random_below(random, (uint32_t)c)),
                   s->d * sizeof(double));
    }
}

/* Around clusters, at clusters, anywhere, and, for one in five, in the middle between two, where
 * rounding decides what does not look again. */
static float *make_queries(imp_random *random, const scene *s, const imp_clusters *clusters)
{
    float *x = malloc(s->queries * s->d * sizeof *x);
    double *row = malloc(s->d * sizeof *row);
    for (size_t i = 0; i < s->queries; i++) {
        const double *mean =
            imp_clusters_mean(clusters, imp_random_below(random, (uint32_t)clusters->count));
        draw_row(random, s, i % 3 == 0 ? 1 : 0.3, row);
        for (size_t j = 0; j < s->d; j++)
            x[i * s->d + j] =
                (float)(i % 3 == 0 ? row[j]
                                   : mean[j] + (i % 3 == 1) * (row[j] - s->offset * s->scale));
        const double *other =
            imp_clusters_mean(clusters, imp_random_below(random, (uint32_t)clusters->count));
        for (size_t j = 0; i % 5 == 4 && j < s->d; j++)
            x[i * s->d + j] = (float)((mean[j] + other[j]) / 2);
    }
    free(row);
    return x;
}

typedef struct answers {
    imp_decisions decisions;
    size_t outcomes;
} answers;

static answers make_answers(size_t queries, size_t outcomes)
{
    return (answers){{malloc(queries * sizeof(int32_t)),
                      calloc(queries * outcomes + 1, sizeof(float)),
                      malloc(queries * sizeof(float)), malloc(queries * sizeof(int32_t))},
                     outcomes};
}

static void free_answers(answers *a)
{
    free(a->decisions.label);
    free(a->decisions.probability);
    free(a->decisions.distance);
    free(a->decisions.cluster);
}

static void check_probabilities(const float *found, const float *expected, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++) {
        assert_true(fabs((double)found[k] - expected[k]) < 1e-6);
        sum += found[k];
    }
    assert_true(count == 0 || fabs(sum - 1) < 1e-5);
}

static void check_decisions(const imp_decisions *found, const imp_decisions *expected,
                            size_t queries)
{
    size_t bytes = queries * sizeof(int32_t);
    assert_memory_equal(found->label, expected->label, bytes);
    assert_memory_equal(found->cluster, expected->cluster, bytes);
    assert_memory_equal(found->distance, expected->distance, bytes);
}

static void check_queries(const imp_clusters *clusters, size_t way, bool open_set, const float *x,
                          size_t count)
{
    size_t d = clusters->dimensions, outcomes = way + open_set;
    imp_point_source queries = imp_source_of_rows(x, count, d);
    answers expected = make_answers(count, outcomes), found = make_answers(count, outcomes),
            again = make_answers(count, outcomes);
    size_t *best = malloc((way + 1) * sizeof *best);
    double *score = malloc((way + 1) * sizeof *score);
    for (size_t i = 0; i < count; i++) {
        imp_best_clusters(clusters, way, x + i * d, best, score);
        imp_decide(clusters, way, open_set, x + i * d, best, score, i, &expected.decisions);
    }
    assert_int_equal(imp_decide_all(clusters, way, open_set, &queries, 3, &found.decisions, NULL),
                     IMP_OK);
    check_decisions(&found.decisions, &expected.decisions, count);
    for (size_t i = 0; i < count; i++)
        check_probabilities(found.decisions.probability + i * outcomes,
                            expected.decisions.probability + i * outcomes, outcomes);
    /* the same bits on another number of threads, and nothing that is not wanted */
    assert_int_equal(imp_decide_all(clusters, way, open_set, &queries, 1, &again.decisions, NULL),
                     IMP_OK);
    assert_memory_equal(found.decisions.probability, again.decisions.probability,
                        count * outcomes * sizeof(float));
    imp_decisions without = again.decisions;
    without.probability = NULL;
    assert_int_equal(imp_decide_all(clusters, way, open_set, &queries, 1, &without, NULL), IMP_OK);
    check_decisions(&without, &expected.decisions, count);
    assert_int_equal(
        imp_decide_all(clusters, way, open_set, &queries, 1, &(imp_decisions){0}, NULL), IMP_OK);
    free(best);
    free(score);
    free_answers(&expected);
    free_answers(&found);
    free_answers(&again);
}

static void check_scene(imp_random *random, const scene *s, bool open_set)
{
    imp_clusters clusters = {0};
    make_clusters(random, s, &clusters);
    float *x = make_queries(random, s, &clusters);
    check_queries(&clusters, s->way, open_set, x, s->queries);
    free(x);
    imp_clusters_release(&clusters);
}

static void test_many_as_one_by_one(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {700, 5, 60, 7, 0.3, 0.3, 0, 1, 0, 0, false},
        {700, 5, 60, 7, 0.3, 0.5, 0, 1, 0, 0, false},
        {900, 16, 200, 100, 1, 1, 0, 1, 0, 0, false},
        {900, 16, 200, 3, 5, 5, 0, 1, 0, 0, false}, /* many clusters of a class, wide */
        {600, 64, 300, 20, 1, 2, 0, 1, 0, 0, false},
        {600, 33, 100, 9, 0.01, 0.01, 0, 1, 0, 0, false}, /* narrow */
        {600, 8, 100, 9, 1, 1, 1e4, 1, 0, 0, false},      /* far from the origin */
        {800, 2, 150, 4, 1, 1, 0, 1, 0.5, 0, false},      /* ties */
        {800, 3, 150, 40, 0.1, 0.1, 0, 1, 0.25, 0, false},
        {600, 6, 100, 5, 1, 1, 0, 1, 0, 1000, false}, /* some are far away */
        {600, 6, 100, 5, 1, 1, 0, 1e-9, 0, 0, false},
        {600, 6, 100, 5, 1, 1, 0, 1e9, 0, 0, false},
        {600, 6, 100, 5, 1, 1, 0, 1e-14, 0, 0, false}, /* squares that float cannot hold */
        {600, 6, 100, 5, 1, 1, 0, 1e14, 0, 0, false},
        {600, 16, 200, 50, 1e6, 1e6, 0, 1, 0, 0, false}, /* every class matters */
        {600, 64, 400, 90, 1e-6, 1e-6, 0, 1, 0, 0, false},
        {300, 300, 250, 12, 0.5, 0.5, 0, 1, 0, 0, false}, /* few matter: bytes pay */
        {300, 301, 250, 12, 0.5, 2, 0, 1e-6, 0, 30, false},
        {300, 402, 250, 240, 3, 3, 1e3, 1e5, 0, 0, false},
        {300, 259, 250, 7, 1e-4, 1e-4, 0, 1, 0.5, 0, false}, /* and ties */
        {600, 6, 100, 5, 1, 1, 0, 1, 0, 0, true},       /* more densities than there are sections */
        {600, 6, 100, 0, 1, 1, 0, 1, 0, 0, false},      /* no classes */
        {100, 6, 100, 5, 1, 1, 0, 1, 0, 0, false},      /* few queries */
        {600, 6, 5, 2, 1, 1, 0, 1, 0, 0, false},        /* few clusters */
        {15000, 4, 40, 6, 0.2, 0.4, 0, 1, 0, 0, false}, /* several blocks */
    };
    imp_random random = imp_random_start(21, 0, 0);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        for (int open_set = 0; open_set < 2; open_set++)
            for (int round = 0; round < (scenes[i].queries > 5000 ? 1 : 4); round++)
                check_scene(&random, &scenes[i], open_set);
}

/* A cluster with a density of its own: its variance, and the log of its prior. */
static double *add_cluster(imp_clusters *clusters, int32_t label, double sigma, double log_prior)
{
    assert_int_equal(imp_clusters_add(clusters, label, 1, NULL, NULL), IMP_OK);
    imp_clusters_set_density(clusters, clusters->count - 1, sigma, log_prior);
    return imp_clusters_mean(clusters, clusters->count - 1);
}

/* Clusters without a column may be nearer than all that have one, or of a class whose other
 * clusters matter as well. */
static void test_strays(void **state)
{
    (void)state;
    enum { QUERIES = 1000, D = 2 };
    imp_random random = imp_random_start(24, 0, 0);
    imp_clusters clusters = {0};
    imp_clusters_restart(&clusters, D);
    for (int32_t c = 0; c < 40; c++) {
        double *mean = add_cluster(&clusters, c % 5, 0.1, 0);
        for (size_t j = 0; j < D; j++)
            mean[j] = imp_random_normal(&random);
    }
    double *stray = add_cluster(&clusters, 2, 0.1, 0);
    stray[0] = 9.2;
    stray[1] = 0;
    float x[QUERIES * D];
    for (size_t i = 0; i < QUERIES; i++) {
        bool near = i % 50 == 7;
        x[i * D] =
            (float)(near ? 7 + 1.6 * imp_random_uniform(&random) : imp_random_normal(&random));
        x[i * D + 1] = near ? 0 : (float)imp_random_normal(&random);
    }
    for (int open_set = 0; open_set < 2; open_set++)
        check_queries(&clusters, 5, open_set, x, QUERIES);
    imp_clusters_release(&clusters);

    static const scene scenes[] = {
        {363, 1, 179, 42, 0.32, 0.64, 1.5, 1, 0.75, 116, false},
        {606, 4, 400, 37, 0.24, 125, 1924, 2.7e7, 0, 196, false},
        {620, 4, 61, 31, 0.65, 8.3, 0, 2e-3, 0, 678, false},
    };
    for (size_t i = 0; i < 30; i++)
        check_scene(&random, &scenes[i % 3], i % 2);
}

/* Of two variances that nearly agree, with scores so rough that shares within their error are too
 * small for a float. */
static void test_shares_too_small(void **state)
{
    (void)state;
    enum { QUERIES = 2000 };
    imp_random random = imp_random_start(25, 0, 0);
    float x[QUERIES];
    for (size_t i = 0; i < QUERIES; i++)
        x[i] = i < QUERIES / 2 ? (float)((imp_random_uniform(&random) - 0.5) * 3.2e-5)
               : i % 2         ? 0.5F
                               : -0.5F;
    for (double error = 70; error <= 112; error += 3) {
        imp_clusters clusters = {0};
        imp_clusters_restart(&clusters, 1);
        double sigma = 1.64e-5 / error;
        for (int c = 0; c < 40; c++)
            *add_cluster(&clusters, 0, c < 20 ? sigma : sigma * (1 + 1e-9), 0) =
                (c < 20 ? 1 : -1) * (1 + 0.0005 * (c % 20));
        for (int open_set = 0; open_set < 2; open_set++)
            check_queries(&clusters, 1, open_set, x, QUERIES);
        imp_clusters_release(&clusters);
    }
}

/* Variances and priors so large that rounding to double decides between clusters. */
static void test_densities_that_round(void **state)
{
    (void)state;
    enum { QUERIES = 600, D = 5 };
    imp_random random = imp_random_start(26, 0, 0);
    float x[QUERIES * D];
    for (size_t i = 0; i < QUERIES * D; i++)
        x[i] = (float)imp_random_normal(&random);
    for (double power = 6; power <= 20; power += 2)
        for (int prior = 0; prior < 2; prior++) {
            imp_clusters clusters = {0};
            imp_clusters_restart(&clusters, D);
            for (int32_t c = 0; c < 60; c++) {
                double *mean = add_cluster(&clusters, c % 20, prior ? 1 : pow(10, power),
                                           prior ? -pow(10, power) : 0);
                for (size_t j = 0; j < D; j++)
                    mean[j] = imp_random_normal(&random);
            }
            check_queries(&clusters, 20, false, x, QUERIES);
            imp_clusters_release(&clusters);
        }
}

/* Every cluster that is wanted has one column or is a stray, a slot is of one class, and no group
 * has lanes to spare while it has several rows. */
static void test_columns(void **state)
{
    (void)state;
    imp_random random = imp_random_start(22, 0, 0);
    for (int round = 0; round < 60; round++) {
        scene s = {.d = 1 + imp_random_below(&random, 9),
                   .clusters = 1 + imp_random_below(&random, 400),
                   .way = imp_random_below(&random, 30),
                   .sigma_l = 1,
                   .sigma_u = round % 2 ? 1 : 2,
                   .scale = 1,
                   .outlier = round % 3 ? 0 : 100};
        bool unlabeled = round % 4 != 0;
        imp_clusters clusters = {0};
        make_clusters(&random, &s, &clusters);
        float origin[10] = {0};
        imp_columns columns;
        assert_int_equal(
            imp_columns_create(&columns, &clusters, s.way, unlabeled, origin, 12, NULL), IMP_OK);
        size_t lanes = columns.frame.kernels->lanes, width = columns.frame.kernels->nearest_width;
        int *seen = calloc(clusters.count, sizeof *seen);
        for (size_t i = 0; i < columns.strays; i++)
            seen[columns.stray[i]]++;
        for (size_t section = 0; section < columns.sections; section++) {
            const imp_section *at = &columns.section[section];
            assert_int_equal(at->begin % width, 0);
            for (size_t g = at->first_group; g < at->end_group; g++) {
                const imp_slot_group *group = &columns.group[g];
                size_t slots = 0;
                for (size_t lane = 0; lane < lanes; lane++)
                    slots += columns.slot_class[g * lanes + lane] >= 0;
                assert_true(slots <= group->width);
                assert_true(slots > group->width / 2 || group->depth == 1);
                for (size_t i = 0; i < group->depth * lanes; i++) {
                    int32_t c = columns.cluster[columns.column[g * lanes] + i];
                    if (c < 0)
                        continue;
                    seen[c]++;
                    int32_t label = clusters.label[c];
                    assert_int_equal(columns.slot_class[g * lanes + i % group->width],
                                     label < 0 ? (int32_t)s.way : label);
                    assert_true(clusters.sigma[c] == at->sigma);
                }
            }
        }
        for (size_t c = 0; c < clusters.count; c++)
            assert_int_equal(seen[c], clusters.label[c] >= 0 || unlabeled ? 1 : 0);
        free(seen);
        imp_columns_release(&columns);
        imp_clusters_release(&clusters);
    }
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    scene s = {300, 3, 50, 4, 1, 2, 0, 1, 0, 0, false};
    imp_random random = imp_random_start(23, 0, 0);
    imp_clusters clusters = {0};
    make_clusters(&random, &s, &clusters);
    float *x = make_queries(&random, &s, &clusters);
    imp_point_source queries = imp_source_of_rows(x, s.queries, s.d);
    answers a = make_answers(s.queries, s.way);
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory))
        failing_allocator_expect(
            &memory, imp_decide_all(&clusters, s.way, false, &queries, 2, &a.decisions, NULL));
    free_answers(&a);
    free(x);
    imp_clusters_release(&clusters);
}

static void test_the_chosen_is_the_first_largest(void **state)
{
    (void)state;
    float later[3] = {0.25F, 0.5F, 0.5F}, first[3] = {0.5F, 0.5F, 0}, smaller[2] = {0.6F, 0.4F};
    imp_agree(later, 3, 2);
    assert_true(later[2] > later[1] && later[2] < 0.500001F);
    imp_agree(first, 3, 0);
    assert_true(first[0] == 0.5F && first[1] == 0.5F);
    imp_agree(smaller, 2, 1);
    assert_true(smaller[1] > smaller[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_as_one_by_one),
        cmocka_unit_test(test_strays),
        cmocka_unit_test(test_shares_too_small),
        cmocka_unit_test(test_densities_that_round),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_the_chosen_is_the_first_largest),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests_name("classify", tests, NULL, NULL);
}
