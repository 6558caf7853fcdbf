/* test_optimizer.c - the three optimizers against their formulas in double, and their refusals. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <imp/optimizer.h>

#include "base/random.h"

enum { COUNT = 50, STEPS = 30 };

/* One parameter's life under each formula. */
typedef struct life {
    double x, mean, square;
} life;

static double stepped(imp_optimizer_kind kind, life *l, double g, double rate, int t)
{
    switch (kind) {
    case IMP_RMSPROP:
        l->square = 0.9 * l->square + 0.1 * g * g;
        return l->x -= rate * g / (sqrt(l->square) + 1e-10);
    case IMP_SGD:
        return l->x -= rate * g;
    case IMP_ADAM:
        l->mean = 0.9 * l->mean + 0.1 * g;
        l->square = 0.999 * l->square + 0.001 * g * g;
        return l->x -= rate * (l->mean / (1 - pow(0.9, t))) /
                       (sqrt(l->square / (1 - pow(0.999, t))) + 1e-8);
    }
    return NAN;
}

static void test_formulas(void **state)
{
    (void)state;
    for (imp_optimizer_kind kind = IMP_RMSPROP; kind <= IMP_ADAM; kind++) {
        imp_optimizer_options options = imp_optimizer_defaults(kind);
        imp_optimizer *optimizer;
        assert_int_equal(imp_optimizer_create(COUNT, &options, &optimizer, NULL), IMP_OK);
        float x[COUNT] = {0}, g[COUNT];
        life lives[COUNT] = {0};
        imp_random random = imp_random_start(2, 0, 0);
        for (int t = 1; t <= STEPS; t++) {
            double rate = 1e-2 / t;
            for (size_t i = 0; i < COUNT; i++) {
                g[i] = i == 0 ? 0 : (float)imp_random_normal(&random);
                stepped(kind, &lives[i], g[i], rate, t);
            }
            imp_optimizer_step(optimizer, x, g, rate);
            assert_int_equal(imp_optimizer_steps(optimizer), t);
        }
        for (size_t i = 0; i < COUNT; i++)
            if (!(fabs(x[i] - lives[i].x) <= 2e-6 * fabs(lives[i].x) + 1e-12))
                fail_msg("kind %d: %g is not %g", (int)kind, x[i], lives[i].x);
        imp_optimizer_free(optimizer);
    }
}

/* Five steps of PyTorch 2's AdamW in double precision, lr 0.1 and weight_decay 0.05. Without a
 * gradient, every optimizer's decay is the same. */
static void test_weight_decay(void **state)
{
    (void)state;
    static const double torch[3] = {0.495027074, -1.455472576, 0.763943105};
    imp_optimizer_options options = imp_optimizer_defaults(IMP_ADAM);
    options.weight_decay = 0.05;
    imp_optimizer *optimizer;
    assert_int_equal(imp_optimizer_create(3, &options, &optimizer, NULL), IMP_OK);
    float x[3] = {1, -2, 0.5F};
    for (int t = 1; t <= 5; t++) {
        const float g[3] = {0.3F * (float)t, -0.7F, 0.1F * (float)(t - 3)};
        imp_optimizer_step(optimizer, x, g, 0.1);
    }
    imp_optimizer_free(optimizer);
    for (size_t i = 0; i < 3; i++)
        if (!(fabs(x[i] - torch[i]) <= 1e-6))
            fail_msg("AdamW: %.9g is not %.9g", x[i], torch[i]);

    for (imp_optimizer_kind kind = IMP_RMSPROP; kind <= IMP_ADAM; kind++) {
        options.kind = kind;
        const float none = 0;
        float y = 3;
        assert_int_equal(imp_optimizer_create(1, &options, &optimizer, NULL), IMP_OK);
        imp_optimizer_step(optimizer, &y, &none, 0.1);
        imp_optimizer_free(optimizer);
        assert_true(y == 3 * (float)(1 - 0.1 * 0.05));
    }
}

/* What a checkpoint keeps is enough to go on to the same bits. */
static void test_resume(void **state)
{
    (void)state;
    for (imp_optimizer_kind kind = IMP_RMSPROP; kind <= IMP_ADAM; kind++) {
        imp_optimizer_options options = imp_optimizer_defaults(kind);
        imp_optimizer *whole, *resumed;
        float x[2] = {1, 2}, y[2], g[2] = {0.3f, -0.7f};
        assert_int_equal(imp_optimizer_create(2, &options, &whole, NULL), IMP_OK);
        assert_int_equal(imp_optimizer_create(2, &options, &resumed, NULL), IMP_OK);
        imp_optimizer_step(whole, x, g, 0.1);
        size_t count, same;
        memcpy(y, x, sizeof x);
        const float *from = imp_optimizer_state(whole, &count);
        float *to = imp_optimizer_state(resumed, &same);
        assert_int_equal(count, same);
        memcpy(to, from, count * sizeof *to);
        imp_optimizer_set_steps(resumed, imp_optimizer_steps(whole));
        imp_optimizer_step(whole, x, g, 0.1);
        imp_optimizer_step(resumed, y, g, 0.1);
        assert_memory_equal(x, y, sizeof x);
        imp_optimizer_free(whole);
        imp_optimizer_free(resumed);
    }
}

static void refused(imp_optimizer_options options, const char *sentence)
{
    imp_optimizer *optimizer;
    imp_error error;
    assert_int_equal(imp_optimizer_create(3, &options, &optimizer, &error), IMP_EINVAL);
    assert_null(optimizer);
    assert_non_null(strstr(error.message, sentence));
}

static void test_refusals(void **state)
{
    (void)state;
    imp_optimizer_options o = imp_optimizer_defaults(IMP_RMSPROP);
    o.decay = 1;
    refused(o, "decay is 1");
    o = imp_optimizer_defaults(IMP_ADAM);
    o.beta2 = -0.1;
    refused(o, "beta2 is -0.1");
    o = imp_optimizer_defaults(IMP_SGD);
    o.eps = 0;
    refused(o, "eps is 0");
    o = imp_optimizer_defaults(IMP_SGD);
    o.decay = NAN;
    refused(o, "decay is nan");
    o = imp_optimizer_defaults((imp_optimizer_kind)9);
    refused(o, "no optimizer of kind 9");
    o = imp_optimizer_defaults(IMP_RMSPROP);
    o.eps = 1e-50; /* nothing at all in float */
    refused(o, "eps is 1e-50");
    o = imp_optimizer_defaults(IMP_ADAM);
    o.weight_decay = -0.1;
    refused(o, "weight_decay is -0.1");
    o = imp_optimizer_defaults(IMP_SGD);
    o.size = 1;
    refused(o, "sizeof(imp_optimizer_options)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_weight_decay),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("optimizer", tests, NULL, NULL);
}
