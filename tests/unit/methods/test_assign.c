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
#include <unistd.h>

#include <cmocka.h>

#include "base/random.h"
#include "failing_allocator.h"
#include "kernels/kernels.h"
#include "methods/assign.h"
#include "methods/imp.h"
#include "scratch.h"

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
    imp_point_source source;
    imp_clusters fast, slow;
    int32_t *mine, *expected;
    imp_assigner *assigner;
} run;

static void begin(run *r, const float *x, size_t n, size_t d, const uint32_t *order, int threads)
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
    r->source = imp_source_of_rows(x, n, d);
    assert_int_equal(
        imp_assigner_create(&r->source, order, &(imp_crew){.threads = threads}, &r->assigner, NULL),
        IMP_OK);
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
    imp_means_begin(&r->slow);
    sum_one_by_one(&r->slow, &r->points, r->expected);
    size_t before = r->fast.count;
    imp_means_finish(&r->fast, NULL);
    imp_means_finish(&r->slow, NULL);
    assert_memory_equal(r->fast.mean, r->slow.mean, r->fast.count * d * sizeof(double));
    if (r->fast.count < before) {
        imp_assigner_renumber(r->assigner, r->fast.moved, r->mine);
        renumber(&r->slow, r->expected, n);
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

/* Returns how many clusters were dropped. */
static size_t compare(const cloud *c, bool reversed, int threads)
{
    float *x = draw(c);
    uint32_t *order = malloc(c->n * sizeof *order);
    for (size_t i = 0; i < c->n; i++)
        order[i] = (uint32_t)(c->n - 1 - i);
    run r;
    begin(&r, x, c->n, c->d, reversed ? order : NULL, threads);
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

/* ---- growing ---- */

/* Step 3 of Algorithm 1, word for word. */
static void grow_one_by_one(imp_clusters *clusters, const imp_points *points, double lambda,
                            double sigma_l, double sigma_u)
{
    for (size_t position = 0; position < imp_points_count(points); position++) {
        size_t i = imp_points_at(points, position);
        const float *x = imp_points_row(points, i);
        int32_t label = imp_points_label(points, i);
        double distance;
        imp_nearest_cluster(clusters, x, label, &distance);
        if (distance > lambda)
            assert_int_equal(
                imp_clusters_add(clusters, label, label < 0 ? sigma_u : sigma_l, x, NULL), IMP_OK);
    }
}

/* Both lists' means move, all by a little and a few far away. */
static void shake(imp_random *random, imp_clusters *a, imp_clusters *b, double little, double far)
{
    for (size_t c = 0; c < a->count; c++) {
        double by = imp_random_below(random, 20) == 0 ? far : little;
        for (size_t j = 0; j < a->dimensions; j++)
            imp_clusters_mean(b, c)[j] = imp_clusters_mean(a, c)[j] +=
                by * imp_random_normal(random);
    }
}

static void compare_growth(const cloud *c, size_t way, size_t second, int threads)
{
    float *x = draw(c);
    int32_t *label = malloc(c->n * sizeof *label), *assignment = malloc(c->n * sizeof *assignment);
    uint32_t *order = malloc(c->n * sizeof *order);
    imp_random random = imp_random_start(12, 0, c->n);
    size_t first = c->n - second, unlabeled = second;
    for (size_t i = 0; i < c->n; i++)
        assignment[i] = -1;
    for (size_t i = 0; i < first; i++) {
        label[i] = imp_random_below(&random, 3) ? -1 : (int32_t)imp_random_below(&random, way);
        unlabeled += label[i] < 0;
    }
    imp_order_labeled_first(label, first, second, order);
    imp_points points = {.dimensions = c->d,
                         .first = x,
                         .label = label,
                         .first_count = first,
                         .second = x + first * c->d,
                         .second_count = second,
                         .order = order,
                         .unlabeled_count = unlabeled};
    imp_point_source source = imp_source_of_points(&points);
    imp_clusters fast = {0}, slow = {0};
    imp_clusters_restart(&fast, c->d);
    imp_clusters_restart(&slow, c->d);
    imp_assigner *assigner;
    assert_int_equal(
        imp_assigner_create(&source, order, &(imp_crew){.threads = threads}, &assigner, NULL),
        IMP_OK);
    for (int round = 0; round < 6; round++) {
        assert_int_equal(imp_assigner_grow(assigner, &fast, c->lambda, 2, 3, assignment, NULL),
                         IMP_OK);
        grow_one_by_one(&slow, &points, c->lambda, 2, 3);
        assert_int_equal(fast.count, slow.count);
        assert_memory_equal(fast.label, slow.label, fast.count * sizeof *fast.label);
        assert_memory_equal(fast.sigma, slow.sigma, fast.count * sizeof *fast.sigma);
        assert_memory_equal(fast.mean, slow.mean, fast.count * c->d * sizeof *fast.mean);
        for (size_t i = 0; i < c->n; i++)
            assert_int_equal(assignment[i] >= 0, imp_points_label(&points, i) < 0);
        shake(&random, &fast, &slow, 0.02, 3);
    }
    /* what the passes kept of the distances is still true */
    size_t changed;
    assert_int_equal(imp_assigner_pass(assigner, &fast, INFINITY, 1, assignment, &changed, NULL),
                     IMP_OK);
    for (size_t i = 0; i < c->n; i++) {
        double distance;
        assert_int_equal(assignment[i], imp_nearest_cluster(&slow, imp_points_row(&points, i),
                                                            IMP_UNLABELED, &distance));
    }
    imp_assigner_free(assigner);
    imp_clusters_release(&fast);
    imp_clusters_release(&slow);
    free(order);
    free(assignment);
    free(label);
    free(x);
}

static void test_growing(void **state)
{
    (void)state;
    static const cloud clouds[] = {
        {3000, 2, 40, 0.05, 0, 0, 0.1, 1}, {2500, 7, 300, 0.3, 0, 0, 2, 1},
        {2000, 64, 50, 0.3, 0, 0, 20, 1},  {3000, 2, 20, 0.3, 0, 0.25, 0.3, 1},
        {20000, 3, 60, 0.1, 0, 0, 0.3, 1},
    };
    for (size_t i = 0; i < sizeof clouds / sizeof *clouds; i++)
        for (int threads = 1; threads <= 3; threads += 2)
            compare_growth(&clouds[i], 7, threads == 1 ? 0 : clouds[i].n / 3, threads);
}

/* ---- sources ---- */

/* The same points from a file, of a type that has to be converted, and from memory. */
static void test_file(void **state)
{
    cloud c = {5000, 5, 40, 0.2, 0, 0.125, 1, 1};
    float *x = draw(&c);
    imp_array array;
    size_t shape[2] = {c.n, c.d};
    assert_int_equal(imp_array_create(&array, IMP_FLOAT64, 2, shape, NULL), IMP_OK);
    for (size_t i = 0; i < array.count; i++)
        ((double *)array.data)[i] = x[i];
    scratch_path path = scratch_file(state, "points.npy");
    assert_int_equal(imp_npy_save(path.text, &array, NULL), IMP_OK);
    imp_npy_shards file;
    assert_int_equal(imp_npy_shards_open(path.text, &file, NULL), IMP_OK);

    uint32_t *order = malloc(c.n * sizeof *order);
    for (size_t i = 0; i < c.n; i++)
        order[i] = (uint32_t)((i * 1237) % c.n);
    for (int ordered = 0; ordered < 2; ordered++) {
        run r;
        begin(&r, x, c.n, c.d, ordered ? order : NULL, 0);
        imp_assigner_free(r.assigner);
        r.source = imp_source_of_shards(&file);
        assert_int_equal(imp_assigner_create(&r.source, r.points.order, &(imp_crew){.threads = 0},
                                             &r.assigner, NULL),
                         IMP_OK);
        size_t dropped = 0;
        for (int i = 0; i < 3; i++)
            pass(&r, c.lambda, &dropped);
        end(&r);
    }

    /* a file that is cut short is told of when its end is reached */
    imp_error error;
    imp_clusters clusters = {0};
    imp_clusters_restart(&clusters, c.d);
    int32_t *assignment = malloc(c.n * sizeof *assignment);
    memset(assignment, -1, c.n * sizeof *assignment);
    size_t changed;
    imp_point_source source = imp_source_of_shards(&file);
    imp_assigner *assigner;
    assert_int_equal(imp_assigner_create(&source, NULL, &(imp_crew){.threads = 0}, &assigner, NULL),
                     IMP_OK);
    assert_int_equal(truncate(path.text, 9000), 0);
    assert_int_equal(
        imp_assigner_pass(assigner, &clusters, c.lambda, 1, assignment, &changed, &error), IMP_EIO);
    assert_non_null(strstr(error.message, "points.npy': it was cut short"));
    imp_assigner_free(assigner);
    imp_clusters_release(&clusters);
    free(assignment);
    imp_npy_shards_close(&file);
    imp_array_clear(&array);
    free(order);
    free(x);
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
    begin(&r, x, COUNT, 1, NULL, 2);
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
    imp_point_source points = imp_source_of_rows(x, c.n, c.d);
    int32_t assignment[300];
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        memset(assignment, -1, sizeof assignment);
        imp_clusters clusters = {0};
        imp_clusters_restart(&clusters, c.d);
        imp_assigner *assigner;
        size_t changed;
        imp_status status =
            imp_assigner_create(&points, NULL, &(imp_crew){.threads = 0}, &assigner, NULL);
        if (!status)
            status =
                imp_assigner_pass(assigner, &clusters, c.lambda, 1, assignment, &changed, NULL);
        imp_assigner_free(assigner);
        imp_clusters_release(&clusters);
        failing_allocator_expect(&memory, status);
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

/* The largest sum over a center's coordinates of their squared distance to whole numbers. */
static double most_lost(const float *centers, size_t count, size_t d)
{
    double most = 0;
    for (size_t c = 0; c < count; c++) {
        double sum = 0;
        for (size_t j = 0; j < d; j++) {
            double exact = centers[c * d + j];
            sum += (exact - rint(exact)) * (exact - rint(exact));
        }
        most = fmax(most, sum);
    }
    return most;
}

static void check_variant(const imp_kernels *kernels, const crowd *given)
{
    crowd w = *given;
    size_t d = w.d, width = kernels->nearest_width, size = kernels->nearest_panel(d);
    w.begin = w.begin / width * width;
    int32_t *packed = malloc((w.k / width + 1) * size * sizeof *packed);
    int16_t *rows = calloc(IMP_NEAREST_POINTS * imp_row_halves(d), sizeof *rows);
    for (size_t c = 0; c < w.k; c += width) {
        size_t there = w.k - c < width ? w.k - c : width;
        double lost =
            kernels->nearest_pack(there, d, w.centers + c * d, NULL, packed + c / width * size);
        assert_true(fabs(lost - most_lost(w.centers + c * d, there, d)) < 1e-9);
    }
    for (size_t i = 0; i < w.n; i++) {
        float there[70];
        double square = 0;
        int16_t *row = rows + i * imp_row_halves(d);
        for (size_t j = 0; j < d; j++) {
            there[j] = w.x[i * d + j] + w.origin[j];
            square += (double)w.x[i * d + j] * w.x[i * d + j];
        }
        assert_true(fabs(kernels->nearest_square(d, there, w.origin) - square) < 1e-5 * square);
        double lost = kernels->nearest_round(d, there, w.origin, 64, row), expected = 0;
        for (size_t j = 0; j < d; j++) {
            double exact = 64 * ((double)there[j] - w.origin[j]);
            assert_true(fabs(row[j] - 64 * (double)w.x[i * d + j]) < IMP_MOST_ROUNDING);
            expected += (row[j] - exact) * (row[j] - exact);
        }
        assert_true(fabs(sqrt(lost) - sqrt(expected)) < IMP_ROW_ROUNDING);
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
#elif defined(__aarch64__)
    variants[3] = imp_kernels_find("neon");
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
        cmocka_unit_test(test_growing),
        cmocka_unit_test_setup_teardown(test_file, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests_name("assign", tests, NULL, NULL);
}
