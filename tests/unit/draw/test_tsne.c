/*
 * test_tsne.c - affinities against their definition, the gradient against finite differences, and
 * what comes out of few, equal, aligned and well separated points.
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
#include "draw/tsne.h"
#include "draw/tsne_gradient.h"
#include "failing_allocator.h"

static void assert_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.15g instead of %.15g", found, expected);
}

/* `groups` round clouds of deviation 1, whose centres are 20 apart along one axis each. */
static float *draw(size_t count, size_t d, size_t groups)
{
    float *points = malloc(count * d * sizeof *points);
    imp_random random = imp_random_start(7, 0, count);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < d; j++)
            points[i * d + j] =
                (float)(imp_random_normal(&random) + (i % groups == j ? 20 / sqrt(2) : 0));
    return points;
}

static double squared_distance(const float *a, const float *b, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++)
        sum += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    return sum;
}

/* ---- affinities ---- */

static double perplexity_of(const double *row, size_t count)
{
    double entropy = 0;
    for (size_t j = 0; j < count; j++)
        if (row[j] > 0)
            entropy -= row[j] * log(row[j]);
    return exp(entropy);
}

/* A row is a Gaussian of its distances, sums to one and has the wanted perplexity, whatever the
 * distances' scale. */
static void test_row(void **state)
{
    (void)state;
    enum { COUNT = 200, D = 5 };
    static const double wanted[] = {1.5, 5, 30, 99.5, 190};
    static const double scales[] = {1e-20, 1, 1e20};
    float *points = draw(COUNT, D, 3);
    for (size_t c = 0; c < 15; c++) {
        size_t self = 13 * c;
        double distance[COUNT], row[COUNT], sum = 0;
        for (size_t j = 0; j < COUNT; j++)
            distance[j] = row[j] =
                scales[c % 3] * squared_distance(points + self * D, points + j * D, D);
        imp_affinity_row(row, COUNT, self, wanted[c / 3]);
        assert_true(row[self] == 0);
        for (size_t j = 0; j < COUNT; j++)
            sum += row[j];
        assert_near(sum, 1, 1e-12);
        assert_near(perplexity_of(row, COUNT) / wanted[c / 3], 1, 1e-6);

        /* logarithms fall along a straight line over the distances */
        size_t near = self != 0 ? 0 : 1;
        for (size_t j = 0; j < COUNT; j++)
            if (j != self && distance[j] < distance[near])
                near = j;
        size_t far = near;
        for (size_t j = 0; j < COUNT; j++)
            if (j != self && row[j] > 1e-200 && distance[j] > distance[far])
                far = j;
        double slope = log(row[far] / row[near]) / (distance[far] - distance[near]);
        for (size_t j = 0; j < COUNT; j++)
            if (j != self && row[j] > 1e-200) {
                double fall = slope * (distance[j] - distance[near]);
                assert_near(log(row[j] / row[near]), fall, 1e-9 * (1 + fabs(fall)));
            }
    }
    free(points);
}

/* Perplexities that no width of the Gaussian gives. */
static void test_row_without_solution(void **state)
{
    (void)state;
    double equal[] = {0, 4, 4, 4, 4};
    imp_affinity_row(equal, 5, 0, 2);
    for (size_t j = 1; j < 5; j++)
        assert_near(equal[j], 0.25, 1e-12);
    double tied[] = {9, 1, 0, 1, 9}; /* two share the first place */
    imp_affinity_row(tied, 5, 2, 1);
    assert_near(tied[1], 0.5, 1e-9);
    assert_near(tied[3], 0.5, 1e-9);
    assert_near(tied[0], 0, 1e-9);
    double only[] = {3, 0};
    imp_affinity_row(only, 2, 1, 1);
    assert_near(only[0], 1, 0);
    double many[] = {0, 1, 2, 3};
    imp_affinity_row(many, 4, 0, 10);
    for (size_t j = 1; j < 4; j++)
        assert_near(many[j], 1.0 / 3, 1e-9);
}

static void test_affinity(void **state)
{
    (void)state;
    enum { COUNT = 61, D = 19 };
    float *points = draw(COUNT, D, 4);
    imp_affinity affinity;
    assert_int_equal(imp_affinity_create(&affinity, points, COUNT, D, 8, 1, NULL), IMP_OK);
    double rows[COUNT][COUNT], sum = 0;
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t j = 0; j < COUNT; j++)
            rows[i][j] = squared_distance(points + i * D, points + j * D, D);
        imp_affinity_row(rows[i], COUNT, i, 8);
    }
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < affinity.stride; j++) {
            double p = affinity.pairs[i * affinity.stride + j];
            assert_near(p, j < COUNT ? (rows[i][j] + rows[j][i]) / (2 * COUNT) : 0, 1e-14);
            sum += p;
        }
    assert_near(sum, 1, 1e-12);
    imp_affinity_clear(&affinity);
    free(points);
}

/* ---- the gradient ---- */

static void test_gradient(void **state)
{
    (void)state;
    enum { COUNT = 37, D = 6 };
    float *points = draw(COUNT, D, 3);
    imp_affinity affinity;
    imp_tsne_field field;
    assert_int_equal(imp_affinity_create(&affinity, points, COUNT, D, 7, 1, NULL), IMP_OK);
    assert_int_equal(imp_tsne_field_create(&field, &affinity, NULL), IMP_OK);
    imp_random random = imp_random_start(3, 0, 0);
    for (size_t i = 0; i < 2 * COUNT; i++)
        field.place[i % 2][i / 2] = 2 * imp_random_normal(&random);
    imp_tsne_gradient(&field, &affinity, 1, 1);
    for (size_t i = 0; i < 2 * COUNT; i++) {
        const double h = 1e-5;
        double *place = &field.place[i % 2][i / 2], at = *place;
        *place = at + h;
        double above = imp_tsne_divergence(&field, &affinity);
        *place = at - h;
        double below = imp_tsne_divergence(&field, &affinity);
        *place = at;
        assert_near(field.gradient[i % 2][i / 2], (above - below) / (2 * h), 1e-9);
    }
    imp_tsne_field_clear(&field);
    imp_affinity_clear(&affinity);
    free(points);
}

/* Exaggeration multiplies the attraction alone: the gradient is linear in it. */
static void test_exaggeration(void **state)
{
    (void)state;
    enum { COUNT = 20, D = 3 };
    float *points = draw(COUNT, D, 2);
    imp_affinity affinity;
    imp_tsne_field field;
    assert_int_equal(imp_affinity_create(&affinity, points, COUNT, D, 5, 1, NULL), IMP_OK);
    assert_int_equal(imp_tsne_field_create(&field, &affinity, NULL), IMP_OK);
    for (size_t i = 0; i < COUNT; i++) {
        field.place[0][i] = points[i * D];
        field.place[1][i] = points[i * D + 1];
    }
    double x[3][COUNT];
    for (size_t e = 0; e < 3; e++) {
        imp_tsne_gradient(&field, &affinity, (double[]){0, 1, 12}[e], 1);
        memcpy(x[e], field.gradient[0], sizeof x[e]);
    }
    for (size_t i = 0; i < COUNT; i++)
        assert_near(x[2][i] - x[0][i], 12 * (x[1][i] - x[0][i]), 1e-12);
    imp_tsne_field_clear(&field);
    imp_affinity_clear(&affinity);
    free(points);
}

/* ---- whole planes ---- */

static double plane_distance(const double *plane, size_t i, size_t j)
{
    return hypot(plane[2 * i] - plane[2 * j], plane[2 * i + 1] - plane[2 * j + 1]);
}

static void test_groups_stay_apart(void **state)
{
    (void)state;
    enum { COUNT = 150, D = 10, GROUPS = 3 };
    float *points = draw(COUNT, D, GROUPS);
    double plane[2 * COUNT], divergence, within = 0, between = INFINITY;
    imp_tsne_options options = {.perplexity = 15, .threads = 1, .divergence = &divergence};
    assert_int_equal(imp_tsne(points, COUNT, D, &options, plane, NULL), IMP_OK);
    for (size_t i = 0; i < COUNT; i++) {
        double nearest[GROUPS] = {INFINITY, INFINITY, INFINITY};
        for (size_t j = 0; j < COUNT; j++)
            if (i != j)
                nearest[j % GROUPS] = fmin(nearest[j % GROUPS], plane_distance(plane, i, j));
        within = fmax(within, nearest[i % GROUPS]);
        between = fmin(between, fmin(nearest[(i + 1) % GROUPS], nearest[(i + 2) % GROUPS]));
    }
    assert_true(within < 0.5 * between);
    assert_true(divergence > 0 && divergence < 1);
    free(points);
}

static void test_threads(void **state)
{
    (void)state;
    enum { COUNT = 203, D = 12 };
    float *points = draw(COUNT, D, 5);
    double one[2 * COUNT], two[2 * COUNT];
    imp_tsne_options options = {.iterations = 300, .threads = 1};
    assert_int_equal(imp_tsne(points, COUNT, D, &options, one, NULL), IMP_OK);
    options.threads = 2;
    assert_int_equal(imp_tsne(points, COUNT, D, &options, two, NULL), IMP_OK);
    assert_memory_equal(one, two, sizeof one);
    free(points);
}

/* One to five points, with a perplexity larger than there are others. */
static void test_few_points(void **state)
{
    (void)state;
    enum { MOST = 5, D = 2 };
    float *points = draw(MOST, D, 1);
    for (size_t count = 1; count <= MOST; count++) {
        double plane[2 * MOST], divergence = NAN;
        imp_tsne_options options = {.perplexity = 1e6, .threads = 1, .divergence = &divergence};
        assert_int_equal(imp_tsne(points, count, D, &options, plane, NULL), IMP_OK);
        assert_true(isfinite(divergence));
        for (size_t i = 0; i < count; i++) {
            assert_true(isfinite(plane[2 * i]) && isfinite(plane[2 * i + 1]));
            for (size_t j = 0; j < i; j++)
                assert_true(plane_distance(plane, i, j) > 0);
        }
        if (count == 1)
            assert_true(plane[0] == 0 && plane[1] == 0 && divergence == 0);
    }
    free(points);
}

/* A perplexity above the limit is lowered to it. */
static void test_perplexity_is_lowered(void **state)
{
    (void)state;
    enum { COUNT = 21, D = 3 };
    float *points = draw(COUNT, D, 2);
    double most[2 * COUNT], more[2 * COUNT];
    imp_tsne_options options = {.perplexity = 10, .iterations = 100, .threads = 1};
    assert_int_equal(imp_tsne(points, COUNT, D, &options, most, NULL), IMP_OK);
    options.perplexity = 11;
    assert_int_equal(imp_tsne(points, COUNT, D, &options, more, NULL), IMP_OK);
    assert_memory_equal(most, more, sizeof most);
    free(points);
}

static double deviation(const double *plane, size_t count, size_t axis)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += plane[2 * i + axis];
        squares += plane[2 * i + axis] * plane[2 * i + axis];
    }
    assert_near(sum / (double)count, 0, 1e-9); /* about the origin */
    return sqrt(squares / (double)count);
}

static void test_equal_points(void **state)
{
    (void)state;
    enum { COUNT = 40, D = 3 };
    float points[COUNT * D];
    double plane[2 * COUNT];
    for (size_t i = 0; i < COUNT * D; i++)
        points[i] = 3;
    imp_tsne_options options = {.threads = 1};
    assert_int_equal(imp_tsne(points, COUNT, D, &options, plane, NULL), IMP_OK);
    assert_true(isfinite(deviation(plane, COUNT, 0)) && isfinite(deviation(plane, COUNT, 1)));
}

/* Points on a line, of one dimension even, leave it: else they could not pass each other. */
static void test_points_on_a_line(void **state)
{
    (void)state;
    enum { COUNT = 60 };
    float points[COUNT];
    double plane[2 * COUNT];
    imp_random random = imp_random_start(5, 0, 0);
    for (size_t i = 0; i < COUNT; i++)
        points[i] = (float)imp_random_normal(&random);
    imp_tsne_options options = {.perplexity = 5, .threads = 1};
    assert_int_equal(imp_tsne(points, COUNT, 1, &options, plane, NULL), IMP_OK);
    double x = deviation(plane, COUNT, 0), y = deviation(plane, COUNT, 1), product = 0;
    for (size_t i = 0; i < COUNT; i++)
        product += plane[2 * i] * plane[2 * i + 1] / COUNT;
    assert_true(fabs(product) < 0.99 * x * y);
}

/* ---- stopping and failing ---- */

static bool stop_at_seven(size_t done, size_t total, void *context)
{
    assert_int_equal(total, 50);
    *(size_t *)context = done;
    return done < 7;
}

static void test_stopping(void **state)
{
    (void)state;
    enum { COUNT = 30, D = 4 };
    float *points = draw(COUNT, D, 2);
    double stopped[2 * COUNT], short_one[2 * COUNT];
    size_t done = 0;
    imp_tsne_options options = {
        .iterations = 50, .threads = 1, .proceed = stop_at_seven, .context = &done};
    assert_int_equal(imp_tsne(points, COUNT, D, &options, stopped, NULL), IMP_OK);
    assert_int_equal(done, 7);
    options = (imp_tsne_options){.iterations = 7, .threads = 1};
    assert_int_equal(imp_tsne(points, COUNT, D, &options, short_one, NULL), IMP_OK);
    assert_memory_equal(stopped, short_one, sizeof stopped);
    free(points);
}

static void assert_refused(const float *points, size_t count, size_t d,
                           const imp_tsne_options *options, imp_status status, const char *word)
{
    double plane[8];
    imp_error error;
    assert_int_equal(imp_tsne(points, count, d, options, plane, &error), status);
    assert_non_null(strstr(error.message, word));
}

static void test_refusals(void **state)
{
    (void)state;
    float points[] = {1, 2, 3, 4, 5, NAN};
    assert_refused(points, 0, 2, NULL, IMP_EINVAL, "at least one");
    assert_refused(points, 2, 0, NULL, IMP_EINVAL, "at least one");
    assert_refused(points, 3, 2, NULL, IMP_EINVAL, "row 2, column 1");
    assert_refused(points, IMP_TSNE_MOST_POINTS + 1, 1, NULL, IMP_EUNSUPPORTED, "20001");
    assert_refused(points, 2, 2, &(imp_tsne_options){.perplexity = 0.5}, IMP_EINVAL, "0.5");
    assert_refused(points, 2, 2, &(imp_tsne_options){.perplexity = NAN}, IMP_EINVAL, "nan");
    assert_refused(points, 2, 2, &(imp_tsne_options){.learning_rate = -1}, IMP_EINVAL, "-1");
}

static void test_running_out_of_memory(void **state)
{
    (void)state;
    float points[] = {1, 2, 3, 4, 6, 6};
    double plane[6];
    imp_tsne_options options = {.iterations = 2, .threads = 1};
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_status status = imp_tsne(points, 3, 2, &options, plane, NULL);
        failing_allocator_expect(&memory, status);
    }
    assert_true(memory.rounds > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_row),
        cmocka_unit_test(test_row_without_solution),
        cmocka_unit_test(test_affinity),
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_exaggeration),
        cmocka_unit_test(test_groups_stay_apart),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_few_points),
        cmocka_unit_test(test_perplexity_is_lowered),
        cmocka_unit_test(test_equal_points),
        cmocka_unit_test(test_points_on_a_line),
        cmocka_unit_test(test_stopping),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
