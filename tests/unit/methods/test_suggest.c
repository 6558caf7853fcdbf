/*
 * test_suggest.c - which point to label next: what answers make of neighbours, against a search of
 * all pairs; answers that are taken back; groups first, then the least sure; bad input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <imp/suggest.h>

#include "base/random.h"
#include "failing_allocator.h"

enum { POINTS = 300, DIMENSIONS = 5, CLASSES = 4 };

typedef struct data {
    float x[POINTS * DIMENSIONS];
    int32_t y[POINTS];
} data;

static void draw(data *of, uint64_t seed)
{
    imp_random random = imp_random_start(seed, IMP_STREAM_DEMO, 0);
    for (size_t i = 0; i < POINTS; i++) {
        of->y[i] = (int32_t)(imp_random_below(&random, CLASSES));
        for (size_t j = 0; j < DIMENSIONS; j++)
            of->x[i * DIMENSIONS + j] =
                (float)(3 * (of->y[i] >> (j % 2) & 1) + imp_random_normal(&random));
    }
}

static imp_suggester *create(const data *of, const int32_t *group)
{
    imp_suggester_options options = imp_suggester_defaults();
    options.group = group;
    options.metric = IMP_METRIC_AS_IS;
    imp_suggester *suggester;
    imp_error error;
    if (imp_suggester_create(of->x, POINTS, DIMENSIONS, &options, &suggester, &error))
        fail_msg("%s", error.message);
    return suggester;
}

static void answer(imp_suggester *suggester, size_t point, int32_t label)
{
    imp_error error;
    if (imp_suggester_answer(suggester, point, label, &error))
        fail_msg("%s", error.message);
}

static size_t next(const imp_suggester *suggester, size_t count, imp_suggestion *suggestions)
{
    size_t found;
    imp_error error;
    if (imp_suggester_next(suggester, count, suggestions, &found, &error))
        fail_msg("%s", error.message);
    return found;
}

static double distance(const data *of, size_t a, size_t b)
{
    double sum = 0;
    for (size_t j = 0; j < DIMENSIONS; j++)
        sum += pow((double)of->x[a * DIMENSIONS + j] - of->x[b * DIMENSIONS + j], 2);
    return sum;
}

/* The nearest answered point of another number decides. */
static void assert_guesses(const imp_suggester *suggester, const data *of, const int32_t *told)
{
    int32_t label[POINTS];
    float sure[POINTS];
    imp_suggester_guess(suggester, label, sure);
    for (size_t i = 0; i < POINTS; i++) {
        int32_t expected = told[i] >= 0 ? told[i] : IMP_UNLABELED;
        double nearest = INFINITY;
        for (size_t k = 0; k < POINTS && told[i] < 0; k++)
            if (told[k] >= 0 && k != i && distance(of, i, k) < nearest) {
                nearest = distance(of, i, k);
                expected = told[k];
            }
        assert_int_equal(label[i], expected);
        assert_true(told[i] >= 0 ? sure[i] == 1 : sure[i] >= 0.5 || label[i] < 0);
    }
}

static void answers_come_and_go(void **state)
{
    (void)state;
    data of;
    draw(&of, 1);
    int32_t told[POINTS], everyone[POINTS];
    for (size_t i = 0; i < POINTS; i++) {
        told[i] = IMP_UNLABELED;
        everyone[i] = -1;
    }
    imp_suggester *suggester = create(&of, everyone);
    assert_guesses(suggester, &of, told);
    imp_random random = imp_random_start(2, IMP_STREAM_DEMO, 0);
    for (size_t step = 0; step < 200; step++) {
        size_t point = imp_random_below(&random, POINTS / 4); /* often the same */
        int32_t label = (int32_t)imp_random_below(&random, CLASSES + 2) - 2;
        answer(suggester, point, label);
        told[point] = label;
        if (step % 10 == 0)
            assert_guesses(suggester, &of, told);
    }
    assert_guesses(suggester, &of, told);

    /* The same answers told at once: the same suggestions, however they came about. */
    imp_suggester *other = create(&of, everyone);
    for (size_t i = 0; i < POINTS; i++)
        if (told[i] != IMP_UNLABELED)
            answer(other, i, told[i]);
    imp_suggestion a[20], b[20];
    assert_int_equal(next(suggester, 20, a), 20);
    assert_int_equal(next(other, 20, b), 20);
    for (size_t k = 0; k < 20; k++) {
        assert_int_equal(a[k].point, b[k].point);
        assert_int_equal(a[k].reason, IMP_SUGGEST_UNSURE);
        assert_true(told[a[k].point] == IMP_UNLABELED);
        for (size_t l = 0; l < k; l++)
            assert_true(a[k].point != a[l].point);
    }
    imp_suggester_free(suggester);
    imp_suggester_free(other);
}

static void groups_come_first(void **state)
{
    (void)state;
    data of;
    draw(&of, 3);
    int32_t group[POINTS];
    for (size_t i = 0; i < POINTS; i++)
        group[i] = i < 150 ? 7 : i < 290 ? 1000000 : i == 299 ? 5 : -1; /* 150, 140 and one point */
    imp_suggester *suggester = create(&of, group);
    imp_suggestion found[4];
    assert_int_equal(next(suggester, 4, found), 4);
    assert_true(found[0].point < 150 && found[1].point >= 150 && found[1].point < 290);
    assert_int_equal(found[0].reason, IMP_SUGGEST_TYPICAL);
    assert_int_equal(found[1].reason, IMP_SUGGEST_TYPICAL);
    assert_int_equal(found[2].reason, IMP_SUGGEST_UNSURE);
    assert_int_equal(found[0].guess, IMP_UNLABELED);

    /* The most typical is the one nearest to the mean. */
    double mean[DIMENSIONS] = {0}, least = INFINITY;
    size_t typical = 0;
    for (size_t i = 0; i < 150; i++)
        for (size_t j = 0; j < DIMENSIONS; j++)
            mean[j] += of.x[i * DIMENSIONS + j] / 150.0;
    for (size_t i = 0; i < 150; i++) {
        double sum = 0;
        for (size_t j = 0; j < DIMENSIONS; j++)
            sum += pow(of.x[i * DIMENSIONS + j] - mean[j], 2);
        if (sum < least) {
            least = sum;
            typical = i;
        }
    }
    assert_int_equal(found[0].point, typical);

    /* A skipped point does not speak for its group: the next typical one is asked about. */
    answer(suggester, typical, IMP_SKIPPED);
    next(suggester, 1, found);
    assert_int_equal(found[0].reason, IMP_SUGGEST_TYPICAL);
    assert_true(found[0].point != typical && found[0].point < 150);
    /* An answer does, until it is taken back. */
    answer(suggester, typical, 3);
    next(suggester, 1, found);
    assert_true(found[0].point >= 150);
    answer(suggester, typical, IMP_UNLABELED);
    next(suggester, 1, found);
    assert_int_equal(found[0].point, typical);
    imp_suggester_summary summary = imp_suggester_summarize(suggester);
    assert_int_equal(summary.groups, 2);
    assert_int_equal(summary.groups_asked, 0);
    assert_int_equal(summary.skipped, 0);
    assert_true(isnan(summary.expected));
    imp_suggester_free(suggester);
}

/* Of two clouds that meet, the least sure points are where they do. */
static void the_least_sure_lie_between(void **state)
{
    (void)state;
    enum { LINE = 41 };
    float x[LINE];
    int32_t group[LINE];
    for (size_t i = 0; i < LINE; i++) {
        x[i] = (float)i;
        group[i] = -1;
    }
    imp_suggester_options options = imp_suggester_defaults();
    options.group = group;
    imp_suggester *suggester;
    imp_error error;
    assert_int_equal(imp_suggester_create(x, LINE, 1, &options, &suggester, &error), IMP_OK);
    answer(suggester, 0, 0);
    answer(suggester, 40, 1);
    imp_suggestion found[LINE];
    next(suggester, 1, found);
    assert_int_equal(found[0].point, 20);
    assert_true(found[0].sure < 0.51);
    answer(suggester, 20, 1);
    next(suggester, 1, found);
    assert_int_equal(found[0].point, 10);
    /* Everything that is left, and nothing twice. */
    assert_int_equal(next(suggester, LINE, found), LINE - 3);
    imp_suggester_free(suggester);
}

static void threads_and_scale_change_nothing(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    float *x = malloc(2 * MANY * sizeof *x), *large = malloc(2 * MANY * sizeof *large);
    imp_random random = imp_random_start(5, IMP_STREAM_DEMO, 0);
    for (size_t i = 0; i < 2 * MANY; i++) {
        x[i] = (float)imp_random_normal(&random);
        large[i] = 128 * x[i]; /* a power of two rounds nothing */
    }
    int32_t *group = calloc(MANY, sizeof *group);
    imp_suggestion found[2][3];
    for (int t = 0; t < 2; t++) {
        imp_suggester_options options = imp_suggester_defaults();
        options.group = group;
        options.threads = t == 0 ? 1 : 3;
        imp_suggester *suggester;
        imp_error error;
        assert_int_equal(
            imp_suggester_create(t == 0 ? x : large, MANY, 2, &options, &suggester, &error),
            IMP_OK);
        for (size_t i = 0; i < 60; i++)
            answer(suggester, 7 * i, (int32_t)(i % 3));
        next(suggester, 3, found[t]);
        imp_suggester_free(suggester);
    }
    for (size_t k = 0; k < 3; k++)
        assert_int_equal(found[0][k].point, found[1][k].point);
    free(x);
    free(large);
    free(group);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    data of;
    draw(&of, 6);
    imp_suggester *suggester;
    imp_error error;
    assert_int_equal(imp_suggester_create(of.x, 0, 5, NULL, &suggester, &error), IMP_EINVAL);
    assert_null(suggester);
    of.x[7] = NAN;
    assert_int_equal(imp_suggester_create(of.x, POINTS, DIMENSIONS, NULL, &suggester, &error),
                     IMP_EINVAL);
    assert_non_null(strstr(error.message, "point"));
    draw(&of, 6);
    int32_t group[POINTS] = {[3] = -2};
    imp_suggester_options options = imp_suggester_defaults();
    options.group = group;
    assert_int_equal(imp_suggester_create(of.x, POINTS, DIMENSIONS, &options, &suggester, &error),
                     IMP_EINVAL);
    assert_non_null(strstr(error.message, "point 3"));
    group[3] = 0;
    suggester = create(&of, group);
    assert_int_equal(imp_suggester_answer(suggester, POINTS, 0, &error), IMP_EINVAL);
    assert_int_equal(imp_suggester_answer(suggester, 0, -3, &error), IMP_EINVAL);
    imp_suggester_free(suggester);
    imp_suggester_free(NULL);
}

static imp_status suggest_once(const data *of)
{
    static const int32_t group[POINTS];
    imp_suggester_options options = imp_suggester_defaults();
    options.group = group;
    options.threads = 1;
    imp_suggester *suggester;
    imp_suggestion found;
    size_t count;
    imp_error error;
    imp_status status =
        imp_suggester_create(of->x, POINTS, DIMENSIONS, &options, &suggester, &error);
    for (size_t i = 0; i < 3 && !status; i++)
        status = imp_suggester_answer(suggester, i, of->y[i], &error);
    if (!status)
        status = imp_suggester_answer(suggester, 1, IMP_UNLABELED, &error);
    if (!status)
        status = imp_suggester_next(suggester, 1, &found, &count, &error);
    imp_suggester_free(suggester);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    data of;
    draw(&of, 8);
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory))
        failing_allocator_expect(&memory, suggest_once(&of));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_come_and_go),
        cmocka_unit_test(groups_come_first),
        cmocka_unit_test(the_least_sure_lie_between),
        cmocka_unit_test(threads_and_scale_change_nothing),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
