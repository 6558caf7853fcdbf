/*
 * test_compare.c - clusters in line, and groups of points compared with a part of the line, against
 * comparing one by one in double precision.
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
#include "methods/compare.h"

/* Where points and means lie. */
typedef struct region {
    double scale, offset; /* of everything; of all from zero, before that */
    double grid;          /* coordinates are multiples of it, which makes ties; 0: none */
    double outlier;       /* how far away a few of them are; 0: none */
} region;

static double draw(imp_random *random, const region *p)
{
    double v = imp_random_normal(random);
    if (p->grid > 0)
        v = p->grid * round(v / p->grid);
    return (p->offset + v) * p->scale;
}

static void draw_row(imp_random *random, const region *p, size_t d, double *row)
{
    bool out = p->outlier > 0 && imp_random_below(random, 50) == 0;
    for (size_t j = 0; j < d; j++)
        row[j] = draw(random, p) * (out ? p->outlier : 1);
}

static void add_clusters(imp_clusters *clusters, size_t count, imp_random *random, const region *p)
{
    for (size_t c = 0; c < count; c++) {
        assert_int_equal(imp_clusters_add(clusters, IMP_UNLABELED, 1, NULL, NULL), IMP_OK);
        double *mean = imp_clusters_mean(clusters, clusters->count - 1);
        draw_row(random, p, clusters->dimensions, mean);
        if (imp_random_below(random, 10) == 0) /* the same as another */
            memcpy(mean, imp_clusters_mean(clusters, imp_random_below(random, (uint32_t)(c + 1))),
                   clusters->dimensions * sizeof *mean);
    }
}

/* What comparing one by one finds for point r, and the second-smallest distance. */
static int32_t one_by_one(const imp_lineup *line, const imp_clusters *clusters, size_t begin,
                          const imp_group *group, size_t r, double *distance, double *second)
{
    int32_t nearest = -1;
    *distance = *second = INFINITY;
    for (size_t c = 0; c < clusters->count; c++) {
        if (line->place[c] < begin && (int32_t)c != group->own[r])
            continue;
        double to_c = imp_clusters_distance(clusters, c, group->points.point[r]);
        *second = fmin(*second, fmax(to_c, *distance));
        if (to_c < *distance) {
            *distance = to_c;
            nearest = (int32_t)c;
        }
    }
    return nearest;
}

static void compare_randomly(imp_random *random, const region *p)
{
    size_t d = 1 + imp_random_below(random, 40), k = 1 + imp_random_below(random, 200);
    imp_clusters clusters = {0};
    imp_clusters_restart(&clusters, d);
    float *x = malloc(IMP_NEAREST_POINTS * d * sizeof *x), *origin = malloc(d * sizeof *origin);
    double *row = malloc(d * sizeof *row);
    for (size_t j = 0; j < d; j++)
        origin[j] = (float)(p->offset * p->scale);
    imp_lineup line;
    /* so that some are outside, or none */
    double radius = imp_random_below(random, 2) ? 1.2 * sqrt((double)d) * p->scale : INFINITY;
    assert_int_equal(imp_lineup_create(&line, d, origin, radius, NULL), IMP_OK);
    add_clusters(&clusters, k, random, p);
    assert_int_equal(imp_lineup_begin(&line, &clusters, NULL), IMP_OK);
    add_clusters(&clusters, imp_random_below(random, 20), random, p);
    assert_int_equal(imp_lineup_extend(&line, &clusters, NULL), IMP_OK);

    imp_group group = {
        .points = {.count = 1 + imp_random_below(random, IMP_NEAREST_POINTS),
                   .rows = calloc(IMP_NEAREST_POINTS * imp_row_halves(d), sizeof(int16_t))}};
    size_t width = line.frame.kernels->nearest_width;
    size_t begin = imp_random_below(random, (uint32_t)line.count) / width * width;
    for (size_t r = 0; r < group.points.count; r++) {
        size_t other = imp_random_below(random, (uint32_t)line.count);
        draw_row(random, p, d, row);
        for (size_t j = 0; j < d; j++) /* anywhere, or as near to a mean as float can be */
            x[r * d + j] = (float)(r % 4 ? row[j] : imp_clusters_mean(&clusters, other)[j]);
        group.points.point[r] = x + r * d;
        group.own[r] = (int32_t)imp_random_below(random, (uint32_t)line.count + 1) - 1;
        if (group.own[r] >= 0)
            group.own_distance[r] =
                imp_clusters_distance(&clusters, (size_t)group.own[r], group.points.point[r]);
    }
    imp_compare(&line, &clusters, begin, &group);
    for (size_t r = 0; r < group.points.count; r++) {
        double distance, second;
        int32_t nearest = one_by_one(&line, &clusters, begin, &group, r, &distance, &second);
        assert_int_equal(group.nearest[r], nearest);
        assert_true(group.most[r] >= distance);
        assert_true(group.least[r] <= second);
    }
    imp_lineup_release(&line);
    imp_clusters_release(&clusters);
    free(group.points.rows);
    free(origin);
    free(row);
    free(x);
}

static void test_same_as_one_by_one(void **state)
{
    (void)state;
    static const region regions[] = {
        {1, 0, 0, 0},     {1, 1e4, 0, 0},   {1, 0, 0.5, 0},  {1, -100, 1, 0}, {1, 0, 0, 30},
        {1, 0, 0.5, 1e6}, {1, 0, 0, 1e25},  {1e-5, 0, 0, 0}, {1e9, 0, 0, 0},  {1e-14, 0, 0, 0},
        {1e-22, 0, 0, 0}, {1e-40, 0, 0, 0}, {1e18, 0, 0, 0}, {1e37, 0, 0, 0},
    };
    imp_random random = imp_random_start(7, 0, 0);
    for (size_t i = 0; i < sizeof regions / sizeof *regions; i++)
        for (int round = 0; round < 60; round++)
            compare_randomly(&random, &regions[i]);
}

/* Bounds are worth something: they lie close to what they bound. */
static void test_bounds_are_tight(void **state)
{
    (void)state;
    enum { D = 16, K = 100 };
    imp_random random = imp_random_start(8, 0, 0);
    imp_clusters clusters = {0};
    imp_clusters_restart(&clusters, D);
    add_clusters(&clusters, K, &random, &(region){1, 0, 0, 0});
    float origin[D] = {0}, x[IMP_NEAREST_POINTS * D];
    int16_t rows[IMP_NEAREST_POINTS * D] = {0};
    imp_lineup line;
    assert_int_equal(imp_lineup_create(&line, D, origin, INFINITY, NULL), IMP_OK);
    assert_int_equal(imp_lineup_begin(&line, &clusters, NULL), IMP_OK);
    imp_group group = {.points = {.count = IMP_NEAREST_POINTS, .rows = rows}};
    for (size_t r = 0; r < group.points.count; r++) {
        for (size_t j = 0; j < D; j++)
            x[r * D + j] = (float)imp_random_normal(&random);
        group.points.point[r] = x + r * D;
        group.own[r] = -1;
    }
    imp_compare(&line, &clusters, 0, &group);
    for (size_t r = 0; r < group.points.count; r++) {
        double distance, second;
        one_by_one(&line, &clusters, 0, &group, r, &distance, &second);
        assert_true(group.most[r] < distance + 0.02);
        assert_true(group.least[r] > second - 0.02);
    }
    imp_lineup_release(&line);
    imp_clusters_release(&clusters);
}

/* Every cluster stands in line once, and those behind moved at least as far. */
static void check_order(const imp_lineup *line, const imp_clusters *clusters)
{
    assert_int_equal(line->count, clusters->count);
    for (size_t place = 0; place < line->count; place++) {
        assert_int_equal(line->place[line->standing[place].cluster], place);
        if (place > 0)
            assert_true(line->standing[place - 1].moved <= line->standing[place].moved);
    }
    for (double slack = 0.001; slack < 10; slack *= 1.1) {
        if (imp_lineup_meets_all(line, slack))
            continue;
        size_t first = imp_lineup_first(line, slack);
        assert_true(first == line->count || first % line->frame.kernels->nearest_width == 0);
        for (size_t place = 0; place < first; place++)
            assert_true(line->standing[place].moved < slack / 2);
        size_t next = first + line->frame.kernels->nearest_width;
        if (first < line->count) /* and no more panels than necessary */
            assert_true(imp_lineup_most_moved(line, next < line->count ? next : line->count) >=
                        slack / 2);
    }
}

static void test_order(void **state)
{
    (void)state;
    enum { D = 3, K = 130, NEW = 7 };
    imp_random random = imp_random_start(9, 0, 0);
    const region anywhere = {1, 0, 0, 0};
    imp_clusters clusters = {0};
    imp_clusters_restart(&clusters, D);
    float origin[D] = {0};
    imp_lineup line;
    assert_int_equal(imp_lineup_create(&line, D, origin, INFINITY, NULL), IMP_OK);
    add_clusters(&clusters, K, &random, &anywhere);
    assert_int_equal(imp_lineup_begin(&line, &clusters, NULL), IMP_OK);
    check_order(&line, &clusters);
    assert_true(imp_lineup_moved(&line, 0) == INFINITY); /* nobody knew any of them */

    /* during the pass some are made, one farther out than all before */
    add_clusters(&clusters, NEW, &random, &anywhere);
    imp_clusters_mean(&clusters, K)[0] = 100;
    assert_int_equal(imp_lineup_extend(&line, &clusters, NULL), IMP_OK);
    check_order(&line, &clusters);
    assert_true(line.frame.reach >= 100);

    /* after it the means move, and clusters 0, 50 and K + 1 are dropped */
    uint32_t moved[K + NEW];
    size_t kept = 0;
    for (size_t c = 0; c < K + NEW; c++) {
        bool drop = c == 0 || c == 50 || c == K + 1;
        moved[c] = drop ? UINT32_MAX : (uint32_t)kept;
        if (drop)
            continue;
        memmove(imp_clusters_mean(&clusters, kept), imp_clusters_mean(&clusters, c),
                D * sizeof(double));
        imp_clusters_mean(&clusters, kept)[c % D] += 0.01 * (double)((c * 37) % K);
        kept++;
    }
    clusters.count = kept;
    imp_lineup_renumber(&line, moved);
    assert_int_equal(imp_lineup_begin(&line, &clusters, NULL), IMP_OK);
    check_order(&line, &clusters);
    for (size_t c = 0; c < K + NEW; c++)
        if (moved[c] != UINT32_MAX) {
            double way = imp_lineup_moved(&line, moved[c]);
            if (c < K)
                assert_true(fabs(way - 0.01 * (double)((c * 37) % K)) < 1e-12);
            else
                assert_true(way == INFINITY); /* new in the last pass */
        }
    imp_lineup_release(&line);
    imp_clusters_release(&clusters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_one_by_one),
        cmocka_unit_test(test_bounds_are_tight),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
