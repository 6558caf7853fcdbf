/*
 * test_open_set.c - the promise of the open set: over many draws of few labelled points, about the
 * given share of new points of the same classes is rejected.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include <imp/mixture.h>

#include "base/random.h"

enum { WAY = 2, D = 4, MOST_SHOT = 40, FREE = 60, QUERIES = 100, DRAWS = 100 };

/* What is drawn. */
typedef struct drawn {
    size_t shot;
    double unit;     /* of the last feature; the others have 1 */
    double apart;    /* of the classes */
    size_t strange;  /* unlabelled points of another kind... */
    double beyond;   /* ...which is so far from the classes */
    size_t ordinary; /* unlabelled points of the classes */
} drawn;

static void draw_point(imp_random *random, const drawn *what, size_t class, double beyond, float *x)
{
    for (size_t j = 0; j < D; j++)
        x[j] = (float)imp_random_normal(random);
    x[0] += (float)((double)class * what->apart);
    x[1] += (float)beyond;
    x[D - 1] *= (float)what->unit;
}

/* The share of new points that a mixture of one draw rejects. */
static double rejected(const drawn *what, double rate, uint64_t number, imp_mixture_choice *choice)
{
    static float x[(WAY * MOST_SHOT + 2 * FREE) * D], query[QUERIES * D];
    int32_t y[WAY * MOST_SHOT + 2 * FREE], label[QUERIES];
    imp_random random = imp_random_start(7, IMP_STREAM_TEST, number);
    size_t n = 0, none = 0;
    for (; n < WAY * what->shot; n++) {
        y[n] = (int32_t)(n % WAY);
        draw_point(&random, what, n % WAY, 0, x + n * D);
    }
    for (size_t i = 0; i < what->ordinary + what->strange; i++, n++) {
        y[n] = IMP_UNLABELED;
        draw_point(&random, what, i % WAY, i < what->ordinary ? 0 : what->beyond, x + n * D);
    }
    for (size_t q = 0; q < QUERIES; q++)
        draw_point(&random, what, q % WAY, 0, query + q * D);
    imp_mixture_options options = imp_mixture_defaults();
    options.open_set_rate = rate;
    imp_mixture *mixture;
    assert_int_equal(imp_mixture_fit(x, y, n, D, &options, &mixture, NULL), IMP_OK);
    const imp_mixture_predictions out = {.label = label};
    assert_int_equal(imp_mixture_predict(mixture, query, QUERIES, D, true, &out, NULL), IMP_OK);
    for (size_t q = 0; q < QUERIES; q++)
        none += label[q] < 0;
    imp_mixture_choice_of(mixture, choice, sizeof *choice);
    imp_mixture_free(mixture);
    return (double)none / QUERIES;
}

static void check_rate(const drawn *what, double rate, double least, double most)
{
    double sum = 0;
    imp_mixture_choice choice;
    for (uint64_t number = 0; number < DRAWS; number++)
        sum += rejected(what, rate, number, &choice) / DRAWS;
    assert_int_equal(choice.open_set_points, WAY * what->shot);
    assert_true(choice.open_set_rate == rate);
    if (sum < least || sum > most)
        fail_msg("%.4f of known points were rejected instead of %g, with %zu labels", sum, rate,
                 what->shot);
}

/* Quantiles of few scores are not those of many. */
static void few_labels_keep_the_rate(void **state)
{
    (void)state;
    const drawn some = {.shot = 12, .unit = 1, .apart = 6},
                more = {.shot = 40, .unit = 1, .apart = 6};
    check_rate(&some, 0.05, 0.03, 0.06);
    check_rate(&some, 0.25, 0.21, 0.27);
    check_rate(&more, 0.05, 0.04, 0.06);
    check_rate(&more, 0.5, 0.45, 0.53);
}

/* Below 1 / (n + 1) the threshold is extrapolated. */
static void fewer_labels_than_the_rate_needs_are_extrapolated(void **state)
{
    (void)state;
    const drawn few = {.shot = 4, .unit = 1, .apart = 6};
    check_rate(&few, 0.05, 0.02, 0.07);
    check_rate(&few, 0.01, 0, 0.03);
    check_rate(&few, 0, 0, 0);
    check_rate(&few, 1, 0.99, 1.01);
}

/* Where features have units of their own, the scale of each is found from the points themselves. */
static void units_do_not_raise_the_rate(void **state)
{
    (void)state;
    const drawn units = {.shot = 5, .unit = 1000, .apart = 3};
    check_rate(&units, 0.1, 0.03, 0.11);
}

/* Clusters of unlabelled points, also of such as are near the classes, count within the rate. */
static void clusters_without_a_label_keep_the_rate(void **state)
{
    (void)state;
    const drawn near = {
        .shot = 12, .unit = 1, .apart = 6, .strange = 30, .beyond = 5, .ordinary = 30};
    const drawn far = {
        .shot = 12, .unit = 1, .apart = 6, .strange = 30, .beyond = 20, .ordinary = 30};
    check_rate(&near, 0.05, 0.02, 0.065);
    check_rate(&far, 0.05, 0.02, 0.065);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_labels_keep_the_rate),
        cmocka_unit_test(fewer_labels_than_the_rate_needs_are_extrapolated),
        cmocka_unit_test(units_do_not_raise_the_rate),
        cmocka_unit_test(clusters_without_a_label_keep_the_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
