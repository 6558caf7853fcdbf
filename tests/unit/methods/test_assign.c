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
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/random.h"
#include "failing_allocator.h"
#include "kernels/kernels.h"
#include "methods/assign.h"
#include "methods/imp.h"

enum { MOST_PASSES = 20 };

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

/* The same points clustered twice: by an assigner, and one by one. */
typedef struct run {
    imp_points points;
    imp_clusters fast, slow;
    int32_t *mine, *expected;
    imp_assigner *assigner;
} run;

static void begin(run *r, const float *x, size_t n, size_t d, const uint32_t *order)
{
    *r = (run){.points = {.dimensions = d,
                          .first = x,
                          .first_count = n,
                          .order = order,
                          .unlabeled_count = n},
               .mine = malloc(n * sizeof *r->mine),
               .expected = malloc(n * sizeof *r->expected)};
    imp_clusters_restart(&r->fast, d);
    imp_clusters_restart(&r->slow, d);
    memset(r->mine, -1, n * sizeof *r->mine);
    memset(r->expected, -1, n * sizeof *r->expected);
    assert_int_equal(imp_assigner_create(&r->points, 0, &r->assigner, NULL), IMP_OK);
}

static void end(run *r)
{
    imp_assigner_free(r->assigner);
    imp_clusters_release(&r->fast);
    imp_clusters_release(&r->slow);
    free(r->mine);
    free(r->expected);
}

static void renumber(const imp_clusters *clusters, int32_t *assignment, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assignment[i] = (int32_t)clusters->moved[assignment[i]];
}

/* One pass and new means, of both. Returns how many points changed and adds the clusters that were
 * left empty. */
static size_t pass(run *r, double lambda, size_t *dropped)
{
    size_t n = r->points.first_count, d = r->points.dimensions, changed;
    assert_int_equal(imp_assigner_pass(r->assigner, &r->fast, lambda, 1, r->mine, &changed, NULL),
                     IMP_OK);
    assert_int_equal(changed, one_by_one(&r->slow, &r->points, lambda, r->expected));
    assert_int_equal(r->fast.count, r->slow.count);
    assert_memory_equal(r->mine, r->expected, n * sizeof *r->mine);
    imp_means_begin(&r->fast);
    imp_means_begin(&r->slow);
    imp_assigner_sums(r->assigner, r->mine, &r->fast);
    sum_one_by_one(&r->slow, &r->points, r->expected);
    size_t before = r->fast.count;
    imp_means_finish(&r->fast, NULL);
    imp_means_finish(&r->slow, NULL);
    assert_memory_equal(r->fast.mean, r->slow.mean, r->fast.count * d * sizeof(double));
    if (r->fast.count < before) {
        renumber(&r->fast, r->mine, n);
        renumber(&r->slow, r->expected, n);
        imp_assigner_renumber(r->assigner, r->fast.moved);
    }
    *dropped += before - r->fast.count;
    return changed;
}

/* A cluster goes where no point is: the next pass leaves it empty, and starts others where it was.
 */
static void send_away(run *r, size_t cluster, double far)
{
    for (size_t j = 0; j < r->points.dimensions; j++) {
        imp_clusters_mean(&r->fast, cluster)[j] += far;
        imp_clusters_mean(&r->slow, cluster)[j] += far;
    }
}

/* The number of threads that an assigner made from now on uses. */
static void use_threads(int threads)
{
#ifdef _OPENMP
    omp_set_num_threads(threads);
#else
    (void)threads;
#endif
}

/* Returns how many clusters were dropped. */
static size_t compare(const cloud *c, bool reversed, int threads)
{
    float *x = draw(c);
    uint32_t *order = malloc(c->n * sizeof *order);
    for (size_t i = 0; i < c->n; i++)
        order[i] = (uint32_t)(c->n - 1 - i);
    use_threads(threads);
    run r;
    begin(&r, x, c->n, c->d, reversed ? order : NULL);
    size_t changed = 1, dropped = 0;
    for (size_t i = 0; i < MOST_PASSES && changed > 0; i++) {
        changed = pass(&r, c->lambda * c->scale * c->scale, &dropped);
        if (i % 3 == 1 && i < 12) {
            send_away(&r, r.fast.count * i / 12, 100 * c->scale);
            changed = 1;
        }
    }
    end(&r);
    free(order);
    free(x);
    return dropped;
}

static void test_same_as_one_by_one(void **state)
{
    (void)state;
    static const cloud clouds[] = {
        {1, 1, 1, 1, 0, 0, 1, 1},
        {3000, 1, 5, 0.2, 0, 0, 0.5, 1},
        {3000, 2, 40, 0.05, 0, 0, 0.1, 1},
        {2500, 7, 300, 0.3, 0, 0, 2, 1}, /* many clusters */
        {2000, 64, 50, 0.3, 0, 0, 20, 1},
        {2000, 64, 50, 0.3, 1e4, 0, 20, 1},  /* float has three digits left of the differences */
        {1500, 33, 10, 1, 0, 0, 60, 1},      /* hardly any structure */
        {3000, 2, 20, 0.3, 0, 0.25, 0.3, 1}, /* equal distances everywhere */
        {1000, 3, 4, 0, 0, 0, 0, 1},         /* four points, many times, and no room between */
        {700, 130, 9, 0.5, -50, 0, 100, 1},
        {4000, 6, 150, 0.4, 0, 0, 4, 1}, /* many passes in which less and less moves */
        {6000, 3, 100, 0.2, 0, 0, 0.4, 1},
        {20000, 3, 60, 0.1, 0, 0, 0.3, 1},     /* blocks that grow, and shrink again */
        {250000, 1, 3, 0.1, 0, 0, 1, 1},       /* the largest blocks */
        {3000, 4, 40, 0.3, 0, 0.5, 1e9, 1},    /* one cluster for all */
        {700, 3, 100, 0.3, 0, 0, 1e-9, 1},     /* one for each */
        {2000, 2, 30, 0.3, 0, 0, 0.05, 1e-21}, /* squares that float cannot hold: too small, */
        {2000, 2, 30, 0.3, 0, 0, 0.05, 1e20},  /* too large */
    };
    size_t dropped = 0;
    for (size_t i = 0; i < sizeof clouds / sizeof *clouds; i++) {
        dropped += compare(&clouds[i], false, 1 + (int)(i % 3));
        dropped += compare(&clouds[i], true, 2);
    }
    assert_true(dropped > 0);
}

/* A point moves to a cluster that was made a moment ago, whose mean then leaves it behind: it must
 * come back to its old one, although that hardly moved. */
static void test_back_from_a_new_cluster(void **state)
{
    (void)state;
    enum { RESTING = 200, AT_0 = 20, NEAR = 7, COUNT = RESTING + AT_0 + NEAR };
    static const float near[NEAR] = {7, 11, 11, 11, 12, 12, 4};
    float x[COUNT] = {0};
    for (size_t i = 0; i < RESTING; i++)
        x[i] = 1000 + 100 * (float)i;
    memcpy(x + RESTING + AT_0, near, sizeof near);
    run r;
    begin(&r, x, COUNT, 1, NULL);
    size_t dropped = 0;
    const size_t old = RESTING, other = RESTING + 1;
    pass(&r, 25, &dropped);
    pass(&r, 25, &dropped);
    assert_int_equal(r.mine[COUNT - 1], old);
    send_away(&r, other, 1e5);
    pass(&r, 25, &dropped); /* 7 makes a cluster, which 4 finds nearer than that at 0.2 */
    assert_int_equal(dropped, 1);
    assert_int_equal(r.mine[COUNT - 1], other); /* which has the dropped one's number */
    send_away(&r, other, -1.2);
    for (size_t c = 0; c < RESTING / 2;
         c++) /* so that the old one is not among the most restless */
        send_away(&r, c, 0.3);
    pass(&r, 25, &dropped); /* to 8.5 it is farther than to 0 */
    assert_int_equal(r.mine[COUNT - 1], old);
    end(&r);
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
        imp_status status = imp_assigner_create(&points, 0, &assigner, NULL);
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

/* Rows of floats in all directions, none longer than `longest`. */
static float *draw_rows(imp_random *random, size_t count, size_t d, double longest)
{
    float *x = malloc(count * d * sizeof *x);
    for (size_t i = 0; i < count; i++) {
        float *row = x + i * d;
        double square = 1e-9, scale = longest * imp_random_uniform(random);
        for (size_t j = 0; j < d; j++) {
            row[j] = (float)imp_random_normal(random);
            square += (double)row[j] * row[j];
        }
        for (size_t j = 0; j < d; j++)
            row[j] = (float)(row[j] * scale / sqrt(square));
    }
    return x;
}

/* A case for the kernels: points a step of 2^-6 from an origin that floats add without rounding. */
typedef struct crowd {
    size_t n, k, d, begin;
    float ratio;
    float *x, *origin, *centers; /* x counted from the origin; centers in steps */
} crowd;

/* What center c scores with point i, without any rounding; `most_off` is what kernels.h allows. */
static double score(const crowd *w, size_t i, size_t c, double *most_off)
{
    double product = 0, square = 0, row = 0, lost = IMP_MOST_ROUNDING * sqrt((double)w->d);
    for (size_t j = 0; j < w->d; j++) {
        double x = 64 * (double)w->x[i * w->d + j], y = w->centers[c * w->d + j];
        product += x * y;
        square += y * y;
        row += x * x;
    }
    *most_off = lost * (sqrt(row) + lost + IMP_LONGEST_ROW) + IMP_HALF_SQUARE_ERROR;
    return product - square / 2 * w->ratio;
}

/* Whether all that score at least `least` with point i are in a list of `count`, and none that
 * cannot. */
static bool complete(const crowd *w, size_t i, double least, const int32_t *list, size_t count)
{
    size_t certain = 0, listed = 0;
    double most_off = 0;
    for (size_t c = w->begin; c < w->k; c++) {
        double expected = score(w, i, c, &most_off);
        size_t times = 0;
        for (size_t l = 0; l < count; l++)
            times += list[l] == (int32_t)c;
        if (times > 1 || (times == 1 && expected < least - most_off))
            return false;
        certain += expected > least + most_off;
        listed += times == 1 && expected > least + most_off;
    }
    return listed == certain;
}

static void check_point(const imp_kernels *kernels, const crowd *w, const int32_t *packed,
                        const int16_t *row, const int32_t *leaders, size_t i, int32_t center,
                        int32_t best, int32_t second)
{
    double first = -INFINITY, next = -INFINITY, most_off = 0;
    assert_in_range(center, w->begin, w->k - 1);
    for (size_t c = w->begin; c < w->k; c++) {
        double expected = score(w, i, c, &most_off);
        next = fmax(next, fmin(expected, first));
        first = fmax(first, expected);
    }
    assert_true(fabs(best - first) <= most_off);
    assert_true(fabs(best - score(w, i, (size_t)center, &most_off)) <= most_off);
    if (w->begin + 1 == w->k)
        assert_true(second < IMP_LEAST_SCORE);
    else
        assert_true(fabs(second - next) <= most_off);

    int32_t list[300 + IMP_MOST_NEAREST_WIDTH];
    size_t begin = w->begin, count = 0;
    while (begin < w->k)
        count +=
            kernels->nearest_above(w->d, row, w->ratio, &begin, w->k, packed, second, list + count);
    assert_true(complete(w, i, second, list, count));
    assert_true(count >= (w->begin + 1 < w->k ? 2 : 1));
    assert_true(kernels->nearest_close(leaders, i, best, list, &count)); /* no lane has two such */
    assert_true(complete(w, i, best, list, count) && count >= 1);
    if (kernels->nearest_close(leaders, i, second, list, &count))
        assert_true(complete(w, i, second, list, count));
    assert_true(w->begin + 40 > w->k || /* too many for the lanes to know */
                !kernels->nearest_close(leaders, i, IMP_LEAST_SCORE, list, &count));
}

static void check_variant(const imp_kernels *kernels, const crowd *given)
{
    crowd w = *given;
    size_t d = w.d, width = kernels->nearest_width, size = kernels->nearest_panel(d);
    w.begin = w.begin / width * width;
    int32_t *packed = malloc((w.k / width + 1) * size * sizeof *packed);
    int16_t *rows = calloc(IMP_NEAREST_POINTS * imp_row_halves(d), sizeof *rows);
    for (size_t c = 0; c < w.k; c += width)
        kernels->nearest_pack(w.k - c < width ? w.k - c : width, d, w.centers + c * d,
                              packed + c / width * size);
    for (size_t i = 0; i < w.n; i++) {
        float there[70];
        double square = 0;
        int16_t *row = rows + i * imp_row_halves(d);
        for (size_t j = 0; j < d; j++) {
            there[j] = w.x[i * d + j] + w.origin[j];
            square += (double)w.x[i * d + j] * w.x[i * d + j];
        }
        assert_true(fabs(kernels->nearest_square(d, there, w.origin) - square) < 1e-5 * square);
        kernels->nearest_round(d, there, w.origin, 64, row);
        for (size_t j = 0; j < d; j++)
            assert_true(fabs(row[j] - 64 * (double)w.x[i * d + j]) < IMP_MOST_ROUNDING);
    }
    int32_t center[IMP_NEAREST_POINTS], best[IMP_NEAREST_POINTS], second[IMP_NEAREST_POINTS];
    _Alignas(64) int32_t leaders[IMP_LEADERS];
    kernels->nearest(w.n, d, rows, w.ratio, w.begin, w.k, packed, leaders, center, best, second);
    for (size_t i = 0; i < w.n; i++)
        check_point(kernels, &w, packed, rows + i * imp_row_halves(d), leaders, i, center[i],
                    best[i], second[i]);
    free(packed);
    free(rows);
}

/* Every variant of the kernels, over numbers of points, centers and dimensions that fill no block.
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
        crowd w = {.n = 1 + imp_random_below(&random, IMP_NEAREST_POINTS),
                   .k = 1 + imp_random_below(&random, 300),
                   .d = 1 + imp_random_below(&random, 70),
                   .ratio = (float)(2 * imp_random_uniform(&random))};
        w.begin = imp_random_below(&random, (uint32_t)w.k);
        w.x = draw_rows(&random, w.n, w.d, IMP_LONGEST_ROW / 64.0);
        w.centers = draw_rows(&random, w.k, w.d, IMP_LONGEST_ROW);
        w.origin = malloc(w.d * sizeof *w.origin);
        for (size_t j = 0; j < w.d; j++) {
            w.origin[j] = (float)imp_random_below(&random, 100);
            for (size_t i = 0; i < w.n; i++) /* a sum with the origin that is exact */
                w.x[i * w.d + j] = roundf(w.x[i * w.d + j] * 4096) / 4096;
        }
        for (size_t v = 0; v < 4; v++)
            if (variants[v])
                check_variant(variants[v], &w);
        free(w.x);
        free(w.centers);
        free(w.origin);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel),
        cmocka_unit_test(test_same_as_one_by_one),
        cmocka_unit_test(test_back_from_a_new_cluster),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests_name("assign", tests, NULL, NULL);
}
