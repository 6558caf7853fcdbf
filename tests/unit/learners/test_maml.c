/*
 * test_maml.c - MAML against a plain version of itself in double precision: the loss of the queries
 * after steps on the supports, whose finite differences are the gradient; predictions; threads; and
 * what is asked of it wrongly.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "adapting.h"
#include "failing_allocator.h"

static const imp_learner_options *maml(double rate, double steps, double test_steps,
                                       double first_order)
{
    static imp_learner_options options;
    options = imp_learner_defaults();
    options.way = ADAPTING_WAY;
    options.own[0] = (imp_named_value){"inner-rate", rate};
    options.own[1] = (imp_named_value){"inner-steps", steps};
    options.own[2] = (imp_named_value){"test-steps", test_steps};
    options.own[3] = (imp_named_value){"first-order", first_order};
    return &options;
}

/* The queries' loss after gradient steps on the supports, and its gradient there if wanted. */
static double plain_loss(adapting *a, const double *theta, double rate, size_t steps,
                         double *gradient)
{
    double *moving = malloc(a->count * sizeof *moving), *g = malloc(a->count * sizeof *g);
    memcpy(moving, theta, a->count * sizeof *moving);
    for (size_t k = 0; k < steps; k++) {
        adapting_loss(a, moving, a->supports, a->support_count, g, NULL);
        for (size_t i = 0; i < a->count; i++)
            moving[i] -= rate * g[i];
    }
    double loss = adapting_loss(a, moving, a->queries, a->query_count, g, a->predictions);
    if (gradient)
        memcpy(gradient, g, a->count * sizeof *g);
    free(moving);
    free(g);
    return loss;
}

static void test_gradient_is_the_derivative_of_the_queries_loss(void **state)
{
    (void)state;
    enum { DIRECTIONS = 6 };
    const double rate = 0.2, step = 1e-5;
    for (size_t steps = 1; steps <= 3; steps++) {
        adapting a = adapting_begin("maml", maml(rate, (double)steps, 1, 0), 2);
        imp_step found;
        imp_error error;
        if (imp_learner_step(a.learner, &a.task, &found, &error))
            fail_msg("%s", error.message);
        assert_true(fabs(found.outcome.loss - plain_loss(&a, a.theta, rate, steps, NULL)) < 1e-4);
        double *gradient = adapting_join(&a, &found), *moved = malloc(a.count * sizeof *moved);
        double length = 0;
        for (size_t i = 0; i < a.count; i++)
            length += gradient[i] * gradient[i];
        imp_random random = imp_random_start(17, 0, steps);
        for (size_t d = 0; d < DIRECTIONS; d++) {
            double *direction = malloc(a.count * sizeof *direction), slope = 0, size = 0;
            for (size_t i = 0; i < a.count; i++) {
                /* the gradient itself first, then random ones, then single parameters */
                direction[i] = d == 0  ? gradient[i]
                               : d < 4 ? imp_random_normal(&random)
                                       : (double)(i == a.count * (d - 3) / 3);
                size += direction[i] * direction[i];
            }
            for (size_t i = 0; i < a.count; i++) {
                direction[i] /= sqrt(size);
                slope += direction[i] * gradient[i];
            }
            for (size_t i = 0; i < a.count; i++)
                moved[i] = a.theta[i] + step * direction[i];
            double above = plain_loss(&a, moved, rate, steps, NULL);
            for (size_t i = 0; i < a.count; i++)
                moved[i] = a.theta[i] - step * direction[i];
            double below = plain_loss(&a, moved, rate, steps, NULL);
            double expected = (above - below) / (2 * step);
            if (!(fabs(slope - expected) <= 2e-3 * sqrt(length)))
                fail_msg("%zu steps, direction %zu: the loss rises by %g, the step says %g", steps,
                         d, expected, slope);
            free(direction);
        }
        free(gradient);
        free(moved);
        adapting_end(&a);
    }
}

static void test_first_order_takes_the_gradient_where_the_steps_end(void **state)
{
    (void)state;
    const double rate = 0.2;
    double *gradients[2];
    for (int first_order = 0; first_order < 2; first_order++) {
        adapting a = adapting_begin("maml", maml(rate, 2, 1, first_order), 1);
        imp_step found;
        assert_int_equal(imp_learner_step(a.learner, &a.task, &found, NULL), IMP_OK);
        gradients[first_order] = adapting_join(&a, &found);
        if (first_order) {
            double *expected = malloc(a.count * sizeof *expected), most = 0, apart = 0, other = 0;
            plain_loss(&a, a.theta, rate, 2, expected);
            for (size_t i = 0; i < a.count; i++) {
                most = fmax(most, fabs(expected[i]));
                apart = fmax(apart, fabs(expected[i] - gradients[1][i]));
                other = fmax(other, fabs(expected[i] - gradients[0][i]));
            }
            assert_true(apart < 1e-4 * most);
            assert_true(other > 0.05 * most); /* second derivatives matter here */
            free(expected);
        }
        adapting_end(&a);
    }
    free(gradients[0]);
    free(gradients[1]);
}

static void test_predictions_are_those_of_the_adapted_network(void **state)
{
    (void)state;
    for (size_t steps = 0; steps < 8; steps += 3) {
        adapting a = adapting_begin("maml", maml(0.1, 1, (double)steps, 0), 2);
        imp_solution answer;
        assert_int_equal(imp_learner_predict(a.learner, &a.task, NULL, &answer, NULL), IMP_OK);
        double loss = plain_loss(&a, a.theta, 0.1, steps, NULL);
        assert_true(fabs(answer.loss - loss) < 1e-4);
        assert_memory_equal(answer.predictions, a.predictions,
                            a.query_count * sizeof *a.predictions);
        adapting_end(&a);
    }
}

static void test_same_bits_on_any_number_of_threads(void **state)
{
    (void)state;
    adapting_same_bits("maml", maml(0.2, 2, 1, 0), false);
}

static void test_mistakes_are_told(void **state)
{
    (void)state;
    adapting a = adapting_begin("maml", maml(0.2, 1, 1, 0), 1);
    imp_error error;
    imp_step found;
    imp_solution answer;
    a.task.episode.way = ADAPTING_WAY + 1;
    assert_int_equal(imp_learner_predict(a.learner, &a.task, NULL, &answer, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "tells 3 classes apart"));
    a.task.episode.way = ADAPTING_WAY;
    a.task.pixels[0] = NAN;
    assert_int_equal(imp_learner_step(a.learner, &a.task, &found, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "the loss is"));
    adapting_end(&a);
    imp_learner *none;
    imp_learner_options options = imp_learner_defaults();
    assert_int_equal(imp_learner_create("maml", &options, NULL, 4, &none, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "needs a network"));
}

/* Fewer classes than the head has: the others take no part. */
static void test_fewer_classes_than_in_training(void **state)
{
    (void)state;
    adapting a = adapting_begin("maml", maml(0.2, 1, 3, 0), 1);
    a.task.episode.way = 2;
    for (size_t i = 0; i < a.support_count + a.query_count; i++)
        a.task.episode.labels[i] %= 2;
    imp_solution answer;
    assert_int_equal(imp_learner_predict(a.learner, &a.task, NULL, &answer, NULL), IMP_OK);
    for (size_t i = 0; i < a.query_count; i++)
        assert_in_range(answer.predictions[i], 0, 1);
    adapting_end(&a);
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    adapting_memory("maml", maml(0.2, 2, 1, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_is_the_derivative_of_the_queries_loss),
        cmocka_unit_test(test_first_order_takes_the_gradient_where_the_steps_end),
        cmocka_unit_test(test_predictions_are_those_of_the_adapted_network),
        cmocka_unit_test(test_same_bits_on_any_number_of_threads),
        cmocka_unit_test(test_mistakes_are_told),
        cmocka_unit_test(test_fewer_classes_than_in_training),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests_name("maml", tests, NULL, NULL);
}
