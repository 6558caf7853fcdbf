/* test_learner.c - what learners say of themselves, and what is asked of them wrongly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "learners/learner.h"
#include "methods/method.h"
#include "settings/settings.h"

static void learners_describe_themselves(void **state)
{
    (void)state;
    assert_string_equal(imp_learner_at(0)->name, "metric");
    for (size_t k = 0; imp_learner_at(k); k++) {
        const imp_learner_info *info = imp_learner_at(k);
        assert_ptr_equal(imp_learner_find(info->name), info);
        assert_true(strlen(info->summary) > 10);
        assert_true(info->option_count <= IMP_MOST_OWN_OPTIONS);
        for (size_t i = 0; i < info->option_count; i++) {
            const imp_option_info *option = &info->options[i];
            assert_true(strlen(option->help) > 5);
            assert_ptr_equal(imp_learner_option(info, option->name), option);
            /* one name, one meaning: settings and the command line have one list of them */
            assert_null(imp_own_option(option->name));
            for (size_t s = 0; imp_setting_at(s); s++)
                assert_string_not_equal(imp_setting_at(s)->name, option->name);
        }
    }
    assert_null(imp_learner_find("none"));
}

static void assert_refused(const char *name, const imp_learner_options *options,
                           const char *sentence)
{
    imp_error error;
    imp_learner *learner = (imp_learner *)&error;
    assert_int_equal(imp_learner_create(name, options, NULL, 4, &learner, &error), IMP_EINVAL);
    assert_null(learner);
    if (!strstr(error.message, sentence))
        fail_msg("'%s' does not say '%s'", error.message, sentence);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    imp_learner_options options = imp_learner_defaults();
    assert_refused("metrix", &options, "'metrix' is not a learner; did you mean 'metric'?");
    assert_refused("nothing-like-it", &options, "there are: metric");
    options.own[0] = (imp_named_value){"speed", 1};
    assert_refused("metric", &options, "the learner 'metric' has no option 'speed'");
    options = imp_learner_defaults();
    options.method = "impp";
    assert_refused("metric", &options, "did you mean 'imp'?");
}

/* Methods' parameters are the learner's, and values that are written reach the method. */
static void metric_learns_what_its_method_learns(void **state)
{
    (void)state;
    imp_learner_options options = imp_learner_defaults();
    options.method_options.rule.sigma_l = 2;
    options.method_options.rule.sigma_u = 3;
    imp_learner *learner;
    assert_int_equal(imp_learner_create("metric", &options, NULL, 4, &learner, NULL), IMP_OK);
    assert_int_equal(learner->value_count, 2);
    assert_int_equal(imp_learner_parameter_of(learner, "log_sigma_u")->offset, 1);
    assert_null(imp_learner_parameter_of(learner, "weight"));
    assert_true(fabs(imp_learner_rule(learner).sigma_l - 2) < 1e-12);
    imp_learner_set(learner, (double[]){0, 1});
    assert_true(imp_learner_rule(learner).sigma_l == 1);
    assert_true(fabs(imp_learner_rule(learner).sigma_u - exp(1)) < 1e-12);
    imp_learner_free(learner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learners_describe_themselves),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(metric_learns_what_its_method_learns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
