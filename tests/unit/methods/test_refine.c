/*
 * test_refine.c - soft assignments of many points, in blocks, whole numbers and threads, against
 * the plain rule that methods take episodes by: the same means but for rounding, and the same bits
 * on any number of threads and from any source.
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
#include "methods/imp.h"
#include "methods/refine.h"
#include "scratch.h"

typedef struct scene {
    size_t n, d, k;
    double spread; /* of points about the clusters' means, which have deviation 1 */
    double sigma_l, sigma_u;
    size_t way;    /* classes of points and clusters; 0: none has a label */
    double offset; /* of everything from the origin */
    double far;    /* every 50th point is that many times as far away; 1: it is not */
} scene;

typedef struct cloud {
    float *x;
    int32_t *label;
    imp_points points;
    imp_clusters clusters;
} cloud;

static void make(const scene *s, cloud *c)
{
    imp_random random = imp_random_start(s->n, 5, s->d);
    *c = (cloud){.x = malloc(s->n * s->d * sizeof *c->x), .label = malloc(s->n * sizeof(int32_t))};
    imp_clusters_restart(&c->clusters, s->d);
    float *mean = malloc(s->d * sizeof *mean);
    for (size_t i = 0; i < s->k; i++) {
        int32_t label = s->way > 0 && i % 3 < 2 ? (int32_t)(i % s->way) : IMP_UNLABELED;
        for (size_t j = 0; j < s->d; j++)
            mean[j] = (float)(s->offset + imp_random_normal(&random));
        assert_int_equal(
            imp_clusters_add(&c->clusters, label, label < 0 ? s->sigma_u : s->sigma_l, mean, NULL),
            IMP_OK);
    }
    free(mean);
    size_t unlabeled = 0;
    for (size_t i = 0; i < s->n; i++) {
        size_t of = imp_random_below(&random, (uint32_t)s->k);
        bool known = imp_random_below(&random, 2) == 0;
        double by = i % 50 == 49 ? s->far : 1;
        c->label[i] = known ? c->clusters.label[of] : IMP_UNLABELED;
        unlabeled += c->label[i] < 0;
        for (size_t j = 0; j < s->d; j++)
            c->x[i * s->d + j] = (float)(by * (imp_clusters_mean(&c->clusters, of)[j] +
                                               s->spread * imp_random_normal(&random)));
    }
    c->points = (imp_points){.dimensions = s->d,
                             .first = c->x,
                             .label = c->label,
                             .first_count = s->n,
                             .unlabeled_count = unlabeled};
}

static void copy_clusters(const imp_clusters *from, imp_clusters *to)
{
    imp_clusters_restart(to, from->dimensions);
    for (size_t i = 0; i < from->count; i++) {
        assert_int_equal(imp_clusters_add(to, from->label[i], from->sigma[i], NULL, NULL), IMP_OK);
        memcpy(imp_clusters_mean(to, i), imp_clusters_mean(from, i),
               from->dimensions * sizeof *from->mean);
    }
}

static void discard(cloud *c)
{
    imp_clusters_release(&c->clusters);
    free(c->x);
    free(c->label);
}

static void expect_close(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * (1 + fabs(expected))))
        fail_msg("%.17g instead of %.17g", found, expected);
}

static void compare(const scene *s)
{
    cloud c;
    make(s, &c);
    imp_clusters slow = {0}, fast = {0}, again = {0};
    imp_shares shares = {0};
    copy_clusters(&c.clusters, &slow);
    copy_clusters(&c.clusters, &fast);
    copy_clusters(&c.clusters, &again);
    assert_int_equal(imp_assign_all_softly(&slow, &c.points, &shares, NULL), IMP_OK);
    imp_weighted_means(&slow, &c.points, &shares);

    imp_point_source source = imp_source_of_points(&c.points);
    assert_int_equal(imp_refine(&fast, &source, &(imp_crew){.threads = 3}, NULL), IMP_OK);
    assert_int_equal(fast.count, slow.count);
    for (size_t i = 0; i < fast.count; i++) {
        assert_int_equal(fast.label[i], slow.label[i]);
        expect_close(fast.weight[i], slow.weight[i]);
        for (size_t j = 0; j < s->d; j++)
            expect_close(imp_clusters_mean(&fast, i)[j], imp_clusters_mean(&slow, i)[j]);
    }
    assert_int_equal(imp_refine(&again, &source, &(imp_crew){.threads = 1}, NULL), IMP_OK);
    assert_memory_equal(again.mean, fast.mean, fast.count * s->d * sizeof *fast.mean);
    assert_memory_equal(again.weight, fast.weight, fast.count * sizeof *fast.weight);
    imp_shares_release(&shares);
    imp_clusters_release(&slow);
    imp_clusters_release(&fast);
    imp_clusters_release(&again);
    discard(&c);
}

static void test_same_as_the_plain_rule(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {1, 1, 1, 1, 1, 1, 0, 0, 1},
        {40, 3, 5, 0.3, 0.1, 0.1, 2, 0, 1}, /* too few for whole numbers */
        {3000, 2, 30, 0.2, 0.05, 0.1, 0, 0, 1},
        {3000, 64, 40, 0.5, 0.3, 0.3, 0, 0, 1}, /* few clusters matter */
        {1500, 64, 40, 0.5, 5, 5, 0, 0, 1},     /* all do */
        {2000, 16, 60, 0.5, 0.2, 0.4, 5, 0, 1}, /* two densities, and labels */
        {2000, 7, 300, 0.3, 0.01, 0.5, 20, 0, 1},
        {2000, 16, 60, 0.5, 0.3, 0.3, 4, 1000, 1}, /* far from the origin */
        {2000, 16, 60, 0.5, 0.3, 0.3, 4, 0, 1e4},  /* points far from the others */
        {600, 9, 20, 0.5, 1e-3, 1e-3, 3, 0, 1e30}, /* too far for any density */
        {60000, 3, 50, 0.2, 0.05, 0.05, 0, 0, 1},  /* several blocks */
        {1000, 130, 17, 0.4, 0.2, 0.3, 2, -5, 1},
    };
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        compare(&scenes[i]);
}

/* A cluster that has nearly nothing keeps what it has, or is dropped, as by the plain rule. */
static void test_small_weights(void **state)
{
    (void)state;
    for (int step = 0; step < 12; step++) {
        scene s = {2000, 2, 20, 0.1, 0.05, 0.05, 0, 0, 1};
        cloud c;
        make(&s, &c);
        /* the last cluster goes farther and farther away */
        imp_clusters_mean(&c.clusters, s.k - 1)[0] = 3 + 0.1 * step;
        imp_clusters slow = {0}, fast = {0};
        imp_shares shares = {0};
        copy_clusters(&c.clusters, &slow);
        copy_clusters(&c.clusters, &fast);
        assert_int_equal(imp_assign_all_softly(&slow, &c.points, &shares, NULL), IMP_OK);
        imp_weighted_means(&slow, &c.points, &shares);
        imp_point_source source = imp_source_of_points(&c.points);
        assert_int_equal(imp_refine(&fast, &source, &(imp_crew){.threads = 0}, NULL), IMP_OK);
        assert_int_equal(fast.count, slow.count);
        for (size_t i = 0; i < fast.count; i++)
            assert_true(fabs(fast.weight[i] - slow.weight[i]) <= 1e-6 * slow.weight[i]);
        imp_shares_release(&shares);
        imp_clusters_release(&slow);
        imp_clusters_release(&fast);
        discard(&c);
    }
}

/* Points without labels, from a file: the same bits as from memory. */
static void test_file(void **state)
{
    scene s = {5000, 6, 40, 0.3, 0.2, 0.2, 0, 0, 1};
    cloud c;
    make(&s, &c);
    imp_array array;
    size_t shape[2] = {s.n, s.d};
    assert_int_equal(imp_array_create(&array, IMP_FLOAT32, 2, shape, NULL), IMP_OK);
    memcpy(array.data, c.x, s.n * s.d * sizeof *c.x);
    scratch_path path = scratch_file(state, "points.npy");
    assert_int_equal(imp_npy_save(path.text, &array, NULL), IMP_OK);
    imp_npy_shards file;
    assert_int_equal(imp_npy_shards_open(path.text, &file, NULL), IMP_OK);
    imp_clusters from_file = {0}, from_memory = {0};
    copy_clusters(&c.clusters, &from_file);
    copy_clusters(&c.clusters, &from_memory);
    imp_point_source source = imp_source_of_shards(&file);
    assert_int_equal(imp_refine(&from_file, &source, &(imp_crew){.threads = 2}, NULL), IMP_OK);
    source = imp_source_of_rows(c.x, s.n, s.d);
    assert_int_equal(imp_refine(&from_memory, &source, &(imp_crew){.threads = 2}, NULL), IMP_OK);
    assert_int_equal(from_file.count, from_memory.count);
    assert_memory_equal(from_file.mean, from_memory.mean, from_file.count * s.d * sizeof(double));
    imp_npy_shards_close(&file);
    imp_array_clear(&array);
    imp_clusters_release(&from_file);
    imp_clusters_release(&from_memory);
    discard(&c);
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    scene s = {300, 3, 20, 0.3, 0.1, 0.2, 3, 0, 1};
    cloud c;
    make(&s, &c);
    imp_point_source source = imp_source_of_points(&c.points);
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory))
        failing_allocator_expect(&memory,
                                 imp_refine(&c.clusters, &source, &(imp_crew){.threads = 2}, NULL));
    discard(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_the_plain_rule),
        cmocka_unit_test(test_small_weights),
        cmocka_unit_test_setup_teardown(test_file, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests_name("refine", tests, NULL, NULL);
}
