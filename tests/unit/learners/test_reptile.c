/*
 * test_reptile.c - Reptile against a plain version of itself in double precision: where Adam on the
 * supports leads, predictions with the supports and among the queries; batches; threads; memory.
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

enum { ALL = 1000 }; /* more than there are supports: every batch is all of them */

static const imp_learner_options *reptile(double rate, double steps, double batch,
                                          double transductive)
{
    static imp_learner_options options;
    options = imp_learner_defaults();
    options.way = ADAPTING_WAY;
    options.own[0] = (imp_named_value){"inner-rate", rate};
    options.own[1] = (imp_named_value){"inner-steps", steps};
    options.own[2] = (imp_named_value){"inner-batch", batch};
    options.own[3] = (imp_named_value){"test-steps", steps};
    options.own[4] = (imp_named_value){"test-batch", batch};
    options.own[5] = (imp_named_value){"transductive", transductive};
    return &options;
}

/* Steps of Adam without momentum on all supports; Kingma & Ba's formulas. */
static double *plain_training(adapting *a, double rate, size_t steps)
{
    double *theta = malloc(a->count * sizeof *theta), *g = malloc(a->count * sizeof *g);
    double *square = calloc(a->count, sizeof *square);
    memcpy(theta, a->theta, a->count * sizeof *theta);
    for (size_t k = 1; k <= steps; k++) {
        adapting_loss(a, theta, a->supports, a->support_count, g, NULL);
        for (size_t i = 0; i < a->count; i++) {
            square[i] = 0.999 * square[i] + 0.001 * g[i] * g[i];
            theta[i] -= rate * g[i] / (sqrt(square[i] / (1 - pow(0.999, (double)k))) + 1e-8);
        }
    }
    free(g);
    free(square);
    return theta;
}

/* A step by Adam has the size of the rate whatever the gradient's: where that is rounding alone, as
 * of a bias before a norm, the direction says nothing. */
static bool is_idle(const adapting *a, size_t i)
{
    imp_network_tensor t;
    for (size_t n = 0, first = 0; n < imp_network_tensor_count(a->whole); n++, first += t.count) {
        t = imp_network_tensor_at(a->whole, n);
        if (!t.gradients)
            t.count = 0;
        else if (i >= first && i < first + t.count)
            return strstr(t.name, "conv.bias") != NULL;
    }
    return false;
}

static void test_a_step_leads_back_from_where_training_led(void **state)
{
    (void)state;
    const double rate = 0.01;
    for (size_t steps = 1; steps <= 4; steps += 3) {
        adapting a = adapting_begin("reptile", reptile(rate, (double)steps, ALL, 0), 2);
        imp_step found;
        imp_error error;
        if (imp_learner_step(a.learner, &a.task, &found, &error))
            fail_msg("%s", error.message);
        double *back = adapting_join(&a, &found), *theta = plain_training(&a, rate, steps);
        for (size_t i = 0; i < a.count; i++)
            if (!is_idle(&a, i) && fabs(back[i] - (a.theta[i] - theta[i])) > 2e-2 * rate)
                fail_msg("%zu steps, parameter %zu: back by %g, not %g", steps, i, back[i],
                         a.theta[i] - theta[i]);
        free(back);
        free(theta);
        adapting_end(&a);
    }
}

static void test_transductive_predictions(void **state)
{
    (void)state;
    adapting a = adapting_begin("reptile", reptile(0.01, 5, ALL, 1), 2);
    imp_solution answer;
    assert_int_equal(imp_learner_predict(a.learner, &a.task, NULL, &answer, NULL), IMP_OK);
    double *theta = plain_training(&a, 0.01, 5), *g = malloc(a.count * sizeof *g);
    double loss = adapting_loss(&a, theta, a.queries, a.query_count, g, a.predictions);
    assert_true(fabs(answer.loss - loss) < 1e-2);
    assert_memory_equal(answer.predictions, a.predictions, a.query_count * sizeof *a.predictions);
    free(theta);
    free(g);
    adapting_end(&a);
}

/* Without the flag a query is seen with the supports alone: what the other queries are does not
 * matter. */
static void test_queries_do_not_know_of_each_other(void **state)
{
    (void)state;
    int32_t first[2], second[2];
    double losses[2][2];
    for (int transductive = 0; transductive < 2; transductive++) {
        adapting a = adapting_begin("reptile", reptile(0.01, 3, ALL, transductive), 1);
        imp_solution answer;
        a.task.episode.queries = 2;
        assert_int_equal(imp_learner_predict(a.learner, &a.task, NULL, &answer, NULL), IMP_OK);
        memcpy(first, answer.predictions, sizeof first);
        losses[transductive][0] = answer.loss;
        /* the second query twice as bright, and its loss apart: the sum of one-query tasks */
        double sum = 0;
        for (size_t q = 0; q < 2; q++) {
            adapting b = adapting_begin("reptile", reptile(0.01, 3, ALL, transductive), 1);
            size_t image = 36, at = b.support_count;
            memmove(b.task.pixels + at * image, b.task.pixels + (at + q) * image,
                    image * sizeof(float));
            b.task.episode.labels[at] = b.task.episode.labels[at + q];
            b.task.episode.queries = 1;
            assert_int_equal(imp_learner_predict(b.learner, &b.task, NULL, &answer, NULL), IMP_OK);
            second[q] = answer.predictions[0];
            sum += answer.loss / 2;
            adapting_end(&b);
        }
        losses[transductive][1] = sum;
        if (!transductive)
            assert_memory_equal(first, second, sizeof first);
        adapting_end(&a);
    }
    assert_true(fabs(losses[0][0] - losses[0][1]) < 1e-6);
    assert_true(fabs(losses[1][0] - losses[1][1]) > 1e-6);
}

/* However far apart the logits are, the loss is a number. */
static void test_logits_far_apart(void **state)
{
    (void)state;
    adapting a = adapting_begin("reptile", reptile(0, 1, ALL, 0), 1);
    for (size_t i = 0; i < a.learner->value_count; i++)
        a.learner->values[i] *= 1e5;
    imp_solution answer;
    assert_int_equal(imp_learner_predict(a.learner, &a.task, NULL, &answer, NULL), IMP_OK);
    assert_true(isfinite(answer.loss) && answer.loss > 700);
    adapting_end(&a);
}

static void test_same_bits_on_any_number_of_threads(void **state)
{
    (void)state;
    adapting_same_bits("reptile", reptile(0.01, 4, 5, 0), true); /* other batches */
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    adapting_memory("reptile", reptile(0.01, 2, 4, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_step_leads_back_from_where_training_led),
        cmocka_unit_test(test_transductive_predictions),
        cmocka_unit_test(test_queries_do_not_know_of_each_other),
        cmocka_unit_test(test_logits_far_apart),
        cmocka_unit_test(test_same_bits_on_any_number_of_threads),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests_name("reptile", tests, NULL, NULL);
}
