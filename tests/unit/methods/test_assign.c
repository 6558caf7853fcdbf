/*
 * test_assign.c - the blocked, bounded, threaded pass of DP-means against taking the points one by
 * one in double precision: the same clusters and the same assignment of every point, pass after
 * pass.
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
#include "kernels/kernels.h"
#include "methods/assign.h"
#include "methods/imp.h"

typedef struct cloud {
    size_t n, d, centers;
    double spread, offset; /* of points about their center; of all from the origin */
    double grid;           /* coordinates are multiples of it, which makes ties; 0: none */
    double lambda;
    double scale; /* of everything */
} cloud;

static float *draw(const cloud *c)
{
    float *x = malloc(c->n * c->d * sizeof *x);
    double *center = malloc(c->centers * c->d * sizeof *center);
    imp_random random = imp_random_start(c->n, 0, c->d);
    for (size_t i = 0; i < c->centers * c->d; i++)
        center[i] = imp_random_normal(&random);
    for (size_t i = 0; i < c->n; i++) {
        size_t of = imp_random_below(&random, (uint32_t)c->centers);
        for (size_t j = 0; j < c->d; j++) {
            double v = center[of * c->d + j] + c->spread * imp_random_normal(&random);
            if (c->grid > 0)
                v = c->grid * round(v / c->grid);
            x[i * c->d + j] = (float)((c->offset + v) * c->scale);
        }
    }
    free(center);
    return x;
}

/* The rule, word for word. */
static size_t one_by_one(imp_clusters *clusters, const imp_points *points, double lambda,
                         int32_t *assignment)
{
    size_t changed = 0;
    for (size_t position = 0; position < imp_points_count(points); position++) {
        size_t i = imp_points_at(points, position);
        const float *x = imp_points_row(points, i);
        double distance;
        size_t nearest = imp_nearest_cluster(clusters, x, IMP_UNLABELED, &distance);
        if (distance > lambda) {
            assert_int_equal(imp_clusters_add(clusters, IMP_UNLABELED, 1, x, NULL), IMP_OK);
            nearest = clusters->count - 1;
        }
        changed += assignment[i] != (int32_t)nearest;
        assignment[i] = (int32_t)nearest;
    }
    return changed;
}

static void sum_one_by_one(imp_clusters *clusters, const imp_points *points,
                           const int32_t *assignment)
{
    for (size_t i = 0; i < imp_points_count(points); i++) {
        clusters->weight[assignment[i]]++;
        for (size_t j = 0; j < points->dimensions; j++)
            imp_clusters_sum(clusters, (size_t)assignment[i])[j] += imp_points_row(points, i)[j];
    }
}

static void renumber(const imp_clusters *clusters, int32_t *assignment, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assignment[i] = (int32_t)clusters->moved[assignment[i]];
}

static void compare(const cloud *c, bool reversed)
{
    float *x = draw(c);
    double lambda = c->lambda * c->scale * c->scale;
    uint32_t *order = malloc(c->n * sizeof *order);
    for (size_t i = 0; i < c->n; i++)
        order[i] = (uint32_t)(c->n - 1 - i);
    imp_points points = {.dimensions = c->d,
                         .first = x,
                         .first_count = c->n,
                         .order = reversed ? order : NULL,
                         .unlabeled_count = c->n};
    imp_clusters fast = {0}, slow = {0};
    imp_clusters_restart(&fast, c->d);
    imp_clusters_restart(&slow, c->d);
    int32_t *mine = malloc(c->n * sizeof *mine), *expected = malloc(c->n * sizeof *expected);
    for (size_t i = 0; i < c->n; i++)
        mine[i] = expected[i] = -1;
    imp_assigner *assigner;
    assert_int_equal(imp_assigner_create(&points, &assigner, NULL), IMP_OK);
    for (int pass = 0; pass < 6; pass++) {
        size_t changed;
        assert_int_equal(imp_assigner_pass(assigner, &fast, lambda, 1, mine, &changed, NULL),
                         IMP_OK);
        assert_int_equal(changed, one_by_one(&slow, &points, lambda, expected));
        assert_int_equal(fast.count, slow.count);
        assert_memory_equal(mine, expected, c->n * sizeof *mine);
        imp_means_begin(&fast);
        imp_means_begin(&slow);
        imp_assigner_sums(assigner, mine, &fast);
        sum_one_by_one(&slow, &points, expected);
        size_t before = fast.count;
        imp_means_finish(&fast, NULL);
        imp_means_finish(&slow, NULL);
        assert_memory_equal(fast.mean, slow.mean, fast.count * c->d * sizeof(double));
        if (fast.count < before) {
            renumber(&fast, mine, c->n);
            renumber(&slow, expected, c->n);
            imp_assigner_forget(assigner);
        }
    }
    imp_assigner_free(assigner);
    imp_clusters_release(&fast);
    imp_clusters_release(&slow);
    free(mine);
    free(expected);
    free(order);
    free(x);
}

static void test_same_as_one_by_one(void **state)
{
    (void)state;
    static const cloud clouds[] = {
        {1, 1, 1, 1, 0, 0, 1, 1},
        {3000, 1, 5, 0.2, 0, 0, 0.5, 1},
        {3000, 2, 40, 0.05, 0, 0, 0.1, 1},
        {2500, 7, 300, 0.3, 0, 0, 2, 1}, /* many clusters, some lost on the way */
        {2000, 64, 50, 0.3, 0, 0, 20, 1},
        {2000, 64, 50, 0.3, 1e4, 0, 20, 1},  /* float has three digits left of the differences */
        {1500, 33, 10, 1, 0, 0, 60, 1},      /* hardly any structure */
        {3000, 2, 20, 0.3, 0, 0.25, 0.3, 1}, /* equal distances everywhere */
        {1000, 3, 4, 0, 0, 0, 0, 1},         /* four points, many times, and no room between */
        {700, 130, 9, 0.5, -50, 0, 100, 1},
        {40000, 3, 60, 0.1, 0, 0, 0.3, 1},     /* the largest blocks, and smaller again */
        {2000, 2, 30, 0.3, 0, 0, 0.05, 1e-21}, /* squares that float cannot hold: too small, */
        {2000, 2, 30, 0.3, 0, 0, 0.05, 1e20},  /* too large */
    };
    for (size_t i = 0; i < sizeof clouds / sizeof *clouds; i++) {
        compare(&clouds[i], false);
        compare(&clouds[i], true);
    }
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    cloud c = {300, 3, 100, 0.01, 0, 0, 0.01, 1};
    float *x = draw(&c);
    imp_points points = {.dimensions = c.d, .first = x, .first_count = c.n, .unlabeled_count = c.n};
    int32_t assignment[300];
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        memset(assignment, -1, sizeof assignment);
        failing_allocator allocator;
        failing_allocator_install(&allocator, n);
        imp_clusters clusters = {0};
        imp_clusters_restart(&clusters, c.d);
        imp_assigner *assigner;
        size_t changed;
        imp_status status = imp_assigner_create(&points, &assigner, NULL);
        if (!status)
            status =
                imp_assigner_pass(assigner, &clusters, c.lambda, 1, assignment, &changed, NULL);
        imp_assigner_free(assigner);
        imp_clusters_release(&clusters);
        failed = failing_allocator_remove(&allocator);
        assert_int_equal(status, failed ? IMP_ENOMEM : IMP_OK);
        assert_int_equal(allocator.live, 0);
    }
    free(x);
}

#ifdef __x86_64__
extern const imp_kernels imp_kernels_wide;
#endif

/* Every variant of the kernel, over numbers of points, centers and dimensions that fill no block.
 */
static void test_kernel(void **state)
{
    (void)state;
    const imp_kernels *variants[4] = {imp_kernels_find("portable"), imp_kernels_find("avx2"),
                                      imp_kernels_find("avx512")};
#ifdef __x86_64__
    variants[3] = variants[1] ? &imp_kernels_wide : NULL;
#endif
    imp_random random = imp_random_start(4, 0, 0);
    for (size_t round = 0; round < 200; round++) {
        size_t n = 1 + imp_random_below(&random, 130), k = 1 + imp_random_below(&random, 150);
        size_t d = 1 + imp_random_below(&random, 70);
        float *x = malloc(n * d * sizeof *x), *centers = malloc(k * d * sizeof *centers);
        for (size_t i = 0; i < n * d; i++)
            x[i] = (float)imp_random_normal(&random);
        for (size_t i = 0; i < k * d; i++)
            centers[i] = (float)imp_random_normal(&random);
        for (size_t v = 0; v < 4; v++) {
            if (!variants[v])
                continue;
            float *packed = malloc(variants[v]->nearest_packed(k, d) * sizeof *packed);
            int32_t center[130];
            float best[130], second[130];
            variants[v]->nearest_pack(k, d, centers, packed);
            variants[v]->nearest(n, d, x, k, packed, center, best, second);
            for (size_t i = 0; i < n; i++) {
                double first = -INFINITY, next = -INFINITY, given = 0;
                for (size_t c = 0; c < k; c++) {
                    double score = 0;
                    for (size_t j = 0; j < d; j++)
                        score +=
                            ((double)x[i * d + j] - 0.5 * centers[c * d + j]) * centers[c * d + j];
                    if (c == (size_t)center[i])
                        given = score;
                    next = fmax(next, fmin(score, first));
                    first = fmax(first, score);
                }
                assert_true(fabs(given - first) < 1e-4);
                assert_true(fabs(best[i] - first) < 1e-4);
                assert_true(k == 1 ? second[i] < -1e38f : fabs(second[i] - next) < 1e-4);
            }
            free(packed);
        }
        free(x);
        free(centers);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel),
        cmocka_unit_test(test_same_as_one_by_one),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests_name("assign", tests, NULL, NULL);
}
