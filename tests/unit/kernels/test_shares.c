/*
 * test_shares.c - distances, shares, weighted sums and whole-number scores of every variant against
 * plain loops in double precision.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "kernels/kernels.h"
#include "methods/gaussian.h"

#ifdef __x86_64__
extern const imp_kernels imp_kernels_wide;
#endif

enum { VARIANTS = 4 };

static const imp_kernels *variant(size_t v)
{
    static const char *const names[] = {"portable", "avx2", "avx512"};
#ifdef __x86_64__
    if (v == VARIANTS - 1)
        return imp_kernels_find("avx2") ? &imp_kernels_wide : NULL;
#elif defined(__aarch64__)
    if (v == VARIANTS - 1)
        return imp_kernels_find("neon");
#endif
    return v < VARIANTS - 1 ? imp_kernels_find(names[v]) : NULL;
}

static double *draw(imp_random *random, size_t count, double scale)
{
    double *values = malloc(count * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = scale * imp_random_normal(random);
    return values;
}

/* To the bit: decisions hang on them. */
static void test_distances(void **state)
{
    (void)state;
    imp_random random = imp_random_start(1, 0, 0);
    for (size_t d = 1; d < 70; d++) {
        enum { MEANS = 9 };
        double *means = draw(&random, MEANS * d, 3), distances[MEANS];
        float *x = malloc(d * sizeof *x);
        for (size_t j = 0; j < d; j++)
            x[j] = (float)imp_random_normal(&random);
        static const uint32_t which[MEANS] = {8, 0, 3, 3, 1, 7, 2, 5, 4};
        for (size_t v = 0; v < VARIANTS; v++) {
            if (!variant(v))
                continue;
            variant(v)->distances(d, x, means, which, MEANS, distances);
            for (size_t i = 0; i < MEANS; i++)
                assert_true(distances[i] == imp_squared_distance(x, means + which[i] * d, d));
            uint32_t here = 0; /* x as the only row of points */
            variant(v)->distances_from(d, means + d, x, &here, 1, distances);
            assert_true(distances[0] == imp_squared_distance(x, means + d, d));
        }
        free(means);
        free(x);
    }
}

enum { ROOM = 16 }; /* kernels store and load whole vectors */

static void check_shares(const imp_kernels *kernels, const double *score, size_t count, double most)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += exp(score[i] - most);
    float *probability = imp_allocate(count + ROOM, sizeof *probability);
    double *padded = imp_allocate(count + ROOM, sizeof *padded);
    memcpy(padded, score, count * sizeof *padded);
    double *share = malloc(count * sizeof *share);
    memcpy(share, score, count * sizeof *share);
    kernels->shares(count, padded, most, probability);
    for (size_t i = 0; i < count; i++)
        assert_true(fabs(probability[i] - exp(score[i] - most)) <
                    1e-5 * exp(score[i] - most) + 2e-38);
    size_t chosen = count / 2, enough = 0;
    size_t found = kernels->scale_shares(count, probability, chosen, probability);
    for (size_t i = 0; i < count; i++)
        enough += probability[i] >= probability[chosen];
    assert_int_equal(found, enough);
    kernels->normalize(count, most, share);
    double *exponential = malloc(count * sizeof *exponential);
    for (size_t i = 0; i < count; i++)
        exponential[i] = score[i] - most;
    kernels->exponentials(count, exponential);
    for (size_t i = 0; i < count; i++) {
        assert_true(fabs(exponential[i] - exp(score[i] - most)) <=
                    1e-14 * exp(score[i] - most) + 1e-307);
        double expected = exp(score[i] - most) / sum;
        /* floats end where they would lose digits, doubles much later; a score that is rounded to
         * float is off in proportion to it */
        double relative = 1e-6 + FLT_EPSILON * fmin(most - score[i], 100);
        assert_true(fabs(probability[i] - expected) < relative * expected + 2e-38);
        assert_true(fabs(share[i] - expected) <= 1e-14 * expected + 1e-307);
    }
    imp_release(probability);
    imp_release(padded);
    free(share);
    free(exponential);
}

static void test_shares(void **state)
{
    (void)state;
    imp_random random = imp_random_start(2, 0, 0);
    static const double scales[] = {1e-9, 1, 20, 300, 1e6};
    for (size_t count = 1; count < 80; count++)
        for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
            double *score = draw(&random, count, scales[s]), most = -INFINITY;
            if (count % 5 == 1)
                score[count / 2] = -INFINITY;
            if (count > 1 && count % 5 == 2)
                score[count / 3] = -DBL_MAX;
            for (size_t i = 0; i < count; i++)
                most = fmax(most, score[i]);
            for (size_t v = 0; v < VARIANTS && most > -DBL_MAX; v++)
                if (variant(v))
                    check_shares(variant(v), score, count, most);
            free(score);
        }
}

static void test_weighted_sum(void **state)
{
    (void)state;
    enum { ROWS = 30, SHARES = 17 };
    imp_random random = imp_random_start(3, 0, 0);
    for (size_t d = 1; d < 80; d += 3) {
        double *z = draw(&random, SHARES, 1), *before = draw(&random, d, 1);
        double *sum = malloc(d * sizeof *sum);
        float *rows = malloc(ROWS * d * sizeof *rows);
        uint32_t which[SHARES];
        for (size_t i = 0; i < ROWS * d; i++)
            rows[i] = (float)imp_random_normal(&random);
        for (size_t i = 0; i < SHARES; i++)
            which[i] = imp_random_below(&random, ROWS);
        for (size_t v = 0; v < VARIANTS; v++) {
            if (!variant(v))
                continue;
            memcpy(sum, before, d * sizeof *sum);
            variant(v)->weighted_sum(d, rows, which, z, SHARES, sum);
            for (size_t j = 0; j < d; j++) {
                double expected = before[j];
                for (size_t i = 0; i < SHARES; i++)
                    expected += z[i] * rows[which[i] * d + j];
                assert_true(fabs(sum[j] - expected) < 1e-12);
            }
        }
        free(z);
        free(before);
        free(sum);
        free(rows);
    }
}

/* To the bit, and only the dimensions that were asked for. */
static void test_add_rows(void **state)
{
    (void)state;
    enum { ROWS = 40, SUMS = 3 };
    imp_random random = imp_random_start(5, 0, 0);
    for (size_t d = 1; d < 80; d += 3) {
        double *before = draw(&random, SUMS * d, 1), *expected = malloc(SUMS * d * sizeof *before);
        double *sums = malloc(SUMS * d * sizeof *sums);
        float *rows = malloc(ROWS * d * sizeof *rows);
        int32_t cluster[ROWS];
        size_t begin = imp_random_below(&random, (uint32_t)d);
        size_t end = begin + 1 + imp_random_below(&random, (uint32_t)(d - begin));
        for (size_t i = 0; i < ROWS * d; i++)
            rows[i] = (float)imp_random_normal(&random);
        memcpy(expected, before, SUMS * d * sizeof *before);
        for (size_t i = 0; i < ROWS; i++) {
            cluster[i] = (int32_t)imp_random_below(&random, SUMS);
            for (size_t j = begin; j < end; j++)
                expected[(size_t)cluster[i] * d + j] += rows[i * d + j];
        }
        for (size_t v = 0; v < VARIANTS; v++) {
            if (!variant(v))
                continue;
            memcpy(sums, before, SUMS * d * sizeof *sums);
            variant(v)->add_rows(d, begin, end, rows, cluster, ROWS, sums);
            assert_memory_equal(sums, expected, SUMS * d * sizeof *sums);
        }
        free(before);
        free(expected);
        free(sums);
        free(rows);
    }
}

/* Rows of whole numbers up to `most`, as int16_t and float. */
static void draw_whole(imp_random *random, size_t count, int most, int16_t *rows, float *floats)
{
    for (size_t i = 0; i < count; i++) {
        int value = (int)imp_random_below(random, (uint32_t)(2 * most + 1)) - most;
        if (rows)
            rows[i] = (int16_t)value;
        if (floats)
            floats[i] = (float)value;
    }
}

/* Of whole numbers scores are exact up to what |c|^2 / 2 loses. */
static void check_scores(imp_random *random, const imp_kernels *kernels)
{
    size_t d = 2 * (1 + imp_random_below(random, 30)), width = kernels->nearest_width;
    size_t panels = 1 + imp_random_below(random, 4), count = panels * width;
    size_t points = 1 + imp_random_below(random, IMP_NEAREST_POINTS);
    int16_t *rows = calloc(IMP_NEAREST_POINTS * d, sizeof *rows);
    float *centers = malloc(count * d * sizeof *centers);
    int32_t *packed = imp_allocate(panels * kernels->nearest_panel(d), sizeof *packed);
    int32_t *scores = imp_allocate(IMP_NEAREST_POINTS * count, sizeof *scores);
    bool there[4 * IMP_MOST_NEAREST_WIDTH];
    draw_whole(random, points * d, 50, rows, NULL);
    draw_whole(random, count * d, 50, NULL, centers);
    for (size_t c = 0; c < count; c++)
        there[c] = imp_random_below(random, 4) > 0;
    for (size_t p = 0; p < panels; p++)
        assert_true(kernels->nearest_pack(width, d, centers + p * width * d, there + p * width,
                                          packed + p * kernels->nearest_panel(d)) == 0);
    kernels->nearest_scores(points, d, rows, 1, 0, count, packed, scores, count);
    for (size_t i = 0; i < points; i++) {
        for (size_t c = 0; c < count; c++) {
            double product = 0, square = 0;
            for (size_t j = 0; j < d; j++) {
                product += rows[i * d + j] * (double)centers[c * d + j];
                square += (double)centers[c * d + j] * centers[c * d + j];
            }
            if (there[c])
                assert_true(fabs(scores[i * count + c] - (product - square / 2)) <= 1);
            else
                assert_true(scores[i * count + c] < IMP_LEAST_SCORE);
        }
        uint32_t which[4 * IMP_MOST_NEAREST_WIDTH];
        int32_t least = scores[i * count + count / 2];
        size_t found = kernels->nearest_over(count, scores + i * count, least, which), over = 0;
        for (size_t c = 0; c < count; c++)
            if (scores[i * count + c] >= least)
                assert_int_equal(which[over++], c);
        assert_int_equal(found, over);
    }
    free(rows);
    free(centers);
    imp_release(packed);
    imp_release(scores);
}

/* The same with rows of bytes, which the kernels round themselves. */
static void check_bytes(imp_random *random, const imp_kernels *kernels)
{
    size_t d = 1 + imp_random_below(random, 70), width = kernels->nearest_width;
    size_t points = 1 + imp_random_below(random, IMP_NEAREST_POINTS), bytes = imp_row_bytes(d);
    uint8_t *rows = calloc(IMP_NEAREST_POINTS, bytes);
    float *x = malloc(points * d * sizeof *x), *origin = malloc(d * sizeof *origin);
    float *centers = malloc(width * d * sizeof *centers);
    int32_t *packed = imp_allocate(kernels->nearest_panel_bytes(d), sizeof *packed);
    int32_t *scores = imp_allocate(IMP_NEAREST_POINTS * width, sizeof *scores);
    draw_whole(random, d, 9, NULL, origin);
    draw_whole(random, width * d, 127, NULL, centers);
    for (size_t i = 0; i < width * d; i++)
        centers[i] *= 0.999F;
    double lost = 0, per_step = 127 / 30.0;
    for (size_t i = 0; i < points * d; i++)
        x[i] = origin[i % d] + (float)(imp_random_uniform(random) * 60 - 30);
    bool there[IMP_MOST_NEAREST_WIDTH];
    for (size_t c = 0; c < width; c++)
        there[c] = imp_random_below(random, 4) > 0;
    double most_lost = kernels->nearest_pack_bytes(width, d, centers, there, packed);
    for (size_t i = 0; i < points; i++) {
        double expected = 0, most = 0;
        double found =
            kernels->nearest_round_bytes(d, x + i * d, origin, (float)per_step, rows + i * bytes);
        for (size_t j = 0; j < d; j++) {
            double exact = ((double)x[i * d + j] - origin[j]) * per_step;
            double whole = rows[i * bytes + j] - 128.0;
            assert_true(fabs(exact - whole) < 0.5 + IMP_BYTE_ROUNDING);
            expected += (exact - whole) * (exact - whole);
            most = fmax(most, fabs((double)x[i * d + j] - origin[j]));
        }
        assert_true(fabs(found - expected) < 1e-3);
        assert_true(fabs(kernels->nearest_extent(d, x + i * d, origin) - most) < 1e-5);
    }
    kernels->nearest_scores_bytes(points, d, rows, 0.75F, 0, width, packed, scores, width);
    for (size_t i = 0; i < points; i++)
        for (size_t c = 0; c < width; c++) {
            double product = 0, square = 0, gone = 0;
            for (size_t j = 0; j < d; j++) {
                double exact = centers[c * d + j], whole = rint(exact);
                product += (rows[i * bytes + j] - 128.0) * whole;
                square += exact * exact;
                gone += (exact - whole) * (exact - whole);
            }
            lost = there[c] ? fmax(lost, gone) : lost;
            if (there[c])
                assert_true(fabs(scores[i * width + c] - (product - 0.75 * square / 2)) <= 1);
            else
                assert_true(scores[i * width + c] < IMP_LEAST_SCORE);
        }
    assert_true(fabs(lost - most_lost) < 1e-9);
    free(rows);
    free(x);
    free(origin);
    free(centers);
    imp_release(packed);
    imp_release(scores);
}

static void check_slot_shares(imp_random *random, const imp_kernels *kernels)
{
    enum { COUNT = 64 };
    _Alignas(64) int32_t scores[COUNT];
    _Alignas(64) float share[COUNT];
    float tail[IMP_TAIL_STEPS] = {0}, offset = -0.5F;
    double limit = pow(10, -1 - 8 * imp_random_uniform(random)), sum[IMP_TAIL_STEPS] = {0};
    int32_t largest = (int32_t)((int64_t)imp_random_below(random, 3U << 30) - (1 << 30));
    float slope = (float)(83 / ((double)largest - INT32_MIN));
    for (size_t i = 0; i < COUNT; i++)
        scores[i] = (int32_t)(largest - (int64_t)((double)((int64_t)largest - INT32_MIN) *
                                                  imp_random_uniform(random) * 0.99));
    scores[COUNT / 3] = INT32_MIN;
    size_t half = COUNT / 2, above = 0; /* a multiple of all lanes */
    float most = (float)limit;
    kernels->nearest_shares(half, scores, largest, slope, offset, (float)limit, most, share, tail);
    size_t found = kernels->nearest_shares(COUNT - half, scores + half, largest, slope, offset,
                                           (float)limit, most, share + half, tail);
    for (size_t i = 0; i < COUNT; i++) {
        double exact = exp(offset + (double)slope * ((double)scores[i] - largest));
        if (i == COUNT / 3)
            assert_true(share[i] == 0);
        else
            assert_true(fabs(share[i] - exact) < IMP_SHARE_ERROR * exact);
        for (unsigned s = 0; s < IMP_TAIL_STEPS; s++)
            sum[s] += (double)share[i] <= limit / (1U << s) ? (double)share[i] : 0;
    }
    for (unsigned s = 0; s < IMP_TAIL_STEPS; s++) {
        assert_true(fabs(tail[s] - sum[s]) < 1e-5 * sum[s] + 1e-30);
        above += !(tail[s] <= most);
    }
    assert_int_equal(found, above);
}

/* Also of slots whose scores are as far apart as can be. */
static void check_leaders(imp_random *random, const imp_kernels *kernels, size_t count,
                          const imp_slots *slots)
{
    enum { MOST = 80 };
    _Alignas(64) int32_t class[MOST];
    uint32_t leader[MOST], leader_class[MOST];
    slots->best[count / 2] = INT32_MAX;
    slots->second[count / 2] = INT32_MIN;
    slots->best[count / 3] = slots->second[count / 3] = INT32_MIN;
    for (size_t i = 0; i < count; i++)
        class[i] = (int32_t)imp_random_below(random, 1000);
    int32_t least = (int32_t)imp_random_below(random, 30) - 15;
    int32_t apart = (int32_t)imp_random_below(random, 20);
    size_t found, listed = 0;
    bool alone =
        kernels->nearest_leaders(count, slots, class, least, apart, leader, leader_class, &found);
    int64_t closest = INT64_MAX;
    for (size_t i = 0; i < count; i++)
        if (slots->best[i] >= least) {
            assert_int_equal(leader[listed], slots->leader[i]);
            assert_int_equal(leader_class[listed++], class[i]);
            int64_t gap = (int64_t)slots->best[i] - slots->second[i];
            closest = gap < closest ? gap : closest;
        }
    _Alignas(64) float share[MOST], exact[MOST + ROOM];
    for (size_t i = 0; i < count; i++) {
        share[i] = -1 - (float)i;
        exact[i] = (float)i;
    }
    kernels->replace_shares(count, slots->best, least, exact, share);
    for (size_t i = 0, next = 0; i < count; i++)
        assert_true(share[i] == (slots->best[i] >= least ? exact[next++] : -1 - (float)i));
    assert_int_equal(found, listed);
    assert_true(alone ? closest > apart : closest <= apart + 4);
}

static void check_maxima(imp_random *random, const imp_kernels *kernels)
{
    enum { GROUPS = 5, DEEPEST = 16, LANES = 16 };
    size_t lanes = kernels->lanes, rows = 0;
    imp_slot_group group[GROUPS];
    for (size_t g = 0; g < GROUPS; g++) {
        group[g].width = (uint32_t)lanes >> (g % 2 ? imp_random_below(random, 3) : 0);
        rows += group[g].depth = 1 + imp_random_below(random, DEEPEST);
    }
    int32_t *scores = imp_allocate(rows * lanes, sizeof *scores), *at = scores;
    int32_t *number = imp_allocate(rows * lanes, sizeof *number);
    _Alignas(64) int32_t best[GROUPS * LANES], second[GROUPS * LANES], leader[GROUPS * LANES];
    const imp_slots slots = {best, second, leader};
    for (size_t i = 0; i < rows * lanes; i++) {
        scores[i] = (int32_t)imp_random_below(random, 30) - 15;
        number[i] = 7 * (int32_t)i;
    }
    int32_t all = INT32_MIN,
            largest = kernels->nearest_maxima(GROUPS, group, scores, number, &slots);
    for (size_t g = 0; g < GROUPS; at += group[g++].depth * lanes)
        for (size_t l = 0; l < lanes; l++) {
            int32_t first = INT32_MIN, next = INT32_MIN;
            for (size_t i = l; l < group[g].width && i < group[g].depth * lanes;
                 i += group[g].width) {
                int32_t score = at[i], loser = score < first ? score : first;
                next = loser > next ? loser : next;
                first = score > first ? score : first;
            }
            assert_int_equal(best[g * lanes + l], first);
            if (l >= group[g].width)
                continue;
            all = first > all ? first : all;
            assert_int_equal(second[g * lanes + l], next);
            size_t won = (size_t)leader[g * lanes + l] / 7;
            assert_int_equal(scores[won], first);
            assert_true(won % group[g].width == l && scores + won >= at);
        }
    assert_int_equal(largest, all);
    check_leaders(random, kernels, GROUPS * lanes, &slots);
    imp_release(scores);
    imp_release(number);
}

/* To the bit, of any number of points' fours, and with dimensions that fill no vector. */
static void test_distances_in_fours(void **state)
{
    (void)state;
    enum { MOST = 9, POINTS = 5, D = 37 };
    imp_random random = imp_random_start(6, 0, 0);
    for (size_t fours = 0; fours <= MOST; fours++)
        for (size_t d = 1; d <= D; d += fours % 2 ? 7 : 5) {
            double *means = draw(&random, (size_t)MOST * d, 3), distance[4 * MOST + ROOM];
            float rows[POINTS * D];
            uint32_t row[MOST], which[4 * MOST];
            for (size_t j = 0; j < POINTS * d; j++)
                rows[j] = (float)imp_random_normal(&random);
            for (size_t i = 0; i < 4 * fours; i++) {
                row[i / 4] = imp_random_below(&random, POINTS);
                which[i] = imp_random_below(&random, MOST);
            }
            for (size_t v = 0; v < VARIANTS; v++) {
                if (!variant(v))
                    continue;
                variant(v)->distances_in_fours(d, rows, row, means, which, fours, distance);
                for (size_t i = 0; i < 4 * fours; i++)
                    assert_true(distance[i] == imp_squared_distance(rows + row[i / 4] * d,
                                                                    means + which[i] * d, d));
            }
            free(means);
        }
}

/* To the bit, with clusters as far away as can be, of which none may be the nearest. */
static void test_densities(void **state)
{
    (void)state;
    enum { MOST = 70 };
    imp_random random = imp_random_start(5, 0, 0);
    for (size_t count = 0; count < MOST; count++) {
        double offset = -3.7, divisor = 1.3, most = -INFINITY;
        _Alignas(64) double distance[MOST + ROOM] = {0}, density[MOST + 2 * ROOM];
        size_t ties = 0, last = 0, first;
        for (size_t i = 0; i < count; i++)
            distance[i] = i % 7 == 5 || count % 5 == 4 ? INFINITY : imp_random_below(&random, 20);
        for (size_t v = 0; v < VARIANTS; v++) {
            if (!variant(v))
                continue;
            variant(v)->densities(count, distance, offset, divisor, density);
            for (size_t i = 0; i < count; i++) {
                assert_true(density[i] ==
                            (distance[i] < INFINITY ? offset - distance[i] / divisor : -DBL_MAX));
                most = density[i] > most ? density[i] : most;
            }
            ties = 0;
            for (size_t i = count; i-- > 0;)
                if (density[i] == most) {
                    last = i;
                    ties++;
                }
            for (size_t i = count; i < MOST + 2 * ROOM; i++) /* is not looked at */
                density[i] = most + 1;
            assert_int_equal(variant(v)->largest(count, density, &first), ties);
            assert_true(count == 0 || first == last);
        }
    }
}

/* Whatever the alignment and number of floats; no others are touched. */
static void test_write_apart(void **state)
{
    (void)state;
    enum { MOST = 100 };
    _Alignas(64) float from[MOST], to[MOST + 2];
    for (size_t i = 0; i < MOST; i++)
        from[i] = (float)i;
    for (size_t v = 0; v < VARIANTS; v++)
        for (size_t begin = 1; variant(v) && begin < 20; begin++)
            for (size_t count = 0; begin + count <= MOST; count++) {
                for (size_t i = 0; i < MOST + 2; i++)
                    to[i] = -1;
                variant(v)->write_apart(count, from, to + begin);
                for (size_t i = 0; i < MOST + 2; i++)
                    assert_true(to[i] ==
                                (i >= begin && i < begin + count ? (float)(i - begin) : -1));
            }
}

static void test_scores(void **state)
{
    (void)state;
    imp_random random = imp_random_start(4, 0, 0);
    for (int round = 0; round < 40; round++)
        for (size_t v = 0; v < VARIANTS; v++)
            if (variant(v)) {
                check_scores(&random, variant(v));
                check_bytes(&random, variant(v));
                check_slot_shares(&random, variant(v));
                check_maxima(&random, variant(v));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distances),    cmocka_unit_test(test_shares),
        cmocka_unit_test(test_weighted_sum), cmocka_unit_test(test_add_rows),
        cmocka_unit_test(test_scores),       cmocka_unit_test(test_distances_in_fours),
        cmocka_unit_test(test_densities),    cmocka_unit_test(test_write_apart),
    };
    return cmocka_run_group_tests_name("shares", tests, NULL, NULL);
}
