/* test_settings.c - settings as text, JSON and recipes; the learning rate's schedule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "comma_locale.h"
#include "failing_allocator.h"
#include "scratch.h"
#include "settings/recipe.h"

static void test_defaults(void **state)
{
    (void)state;
    imp_settings settings;
    imp_settings_init(&settings);
    assert_string_equal(settings.method, "imp");
    assert_string_equal(settings.network, "conv4");
    assert_int_equal(settings.updates, 20000);
    assert_true(settings.rate == 1e-3 && settings.clip == 1000 && isnan(settings.rule.lambda));
    assert_int_equal(settings.learn_sigma_u, 1);

    /* what the layers below are told */
    imp_method_options method = imp_settings_method(&settings);
    assert_true(isnan(method.rule.sigma_l) && isnan(method.rule.lambda) && !method.own[0].name);
    imp_rule rule = imp_settings_rule(&settings);
    assert_true(rule.sigma_l == 5 && rule.sigma_u == 5 && rule.alpha == 0.1 && rule.steps == 1);
    assert_true(isnan(rule.lambda));
    imp_episode_options task = imp_settings_task(&settings, IMP_FOR_VALIDATION);
    assert_int_equal(task.kind, IMP_EPISODE_CLASSES);
    assert_int_equal(task.purpose, IMP_FOR_VALIDATION);
    settings.method = "soft-kmeans-cluster";
    assert_true(imp_settings_rule(&settings).sigma_u == 100);
    imp_settings_clear(&settings);
}

static void test_set(void **state)
{
    (void)state;
    imp_settings settings;
    imp_error error;
    imp_settings_init(&settings);
    assert_int_equal(imp_settings_set(&settings, "task", "super-classes", &error), IMP_OK);
    assert_int_equal(imp_settings_task(&settings, IMP_FOR_TRAINING).kind,
                     IMP_EPISODE_SUPER_CLASSES);
    assert_int_equal(imp_settings_set(&settings, "task", "classes", &error), IMP_OK);
    assert_int_equal(imp_settings_set(&settings, "task", "alphabets", &error), IMP_OK);
    assert_string_equal(imp_task_names[settings.task], "super-classes"); /* its old word */
    assert_int_equal(imp_settings_set(&settings, "alpha", "1e-5", &error), IMP_OK);
    assert_int_equal(imp_settings_set(&settings, "unbalanced", "yes", &error), IMP_OK);
    assert_true(settings.rule.alpha == 1e-5 && settings.unbalanced);

    static const char *const wrong[][3] = {
        {"colour", "blue", "'colour' needs own or gray or rgb, not 'blue'"},
        {"rotations", "5", "'rotations' needs an integer from 1 to 4, not '5'"},
        {"rotations", "2.5", "'rotations' needs"},
        {"rotations", "", "'rotations' needs"},
        {"rate", "-1", "'rate' needs a number of at least 0, not '-1'"},
        {"rate", "nan", "'rate' needs"},
        {"lambda", "-0.5", "'lambda' needs a number of at least 0, or auto, not '-0.5'"},
        {"labeled-fraction", "1.5", "a number from 0.001 to 1"},
        {"labeled-fraction", "0", "a number from 0.001 to 1"},
        {"learn-sigma", "maybe", "'learn-sigma' needs yes or no, not 'maybe'"},
        {"sigma-l", "-1", "'sigma-l' needs a number from 1e-30 to 1e+30, or auto, not '-1'"},
        {"cluster-steps", "1.5", "an integer from 1 to 1000000, or auto"},
        {"no-priro", "yes", "'no-priro' is not a setting; did you mean 'no-prior'?"},
        {"wey", "5", "'wey' is not a setting; did you mean 'way'?"},
        {"wardrobe", "5", "'wardrobe' is not a setting"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        imp_settings before = settings;
        assert_int_equal(imp_settings_set(&settings, wrong[i][0], wrong[i][1], &error), IMP_EINVAL);
        assert_non_null(strstr(error.message, wrong[i][2]));
        assert_memory_equal(&before, &settings, sizeof settings);
    }
    imp_settings_clear(&settings);
}

/* Every setting survives being written and read, also under another value than its default. */
static void test_json(void **state)
{
    (void)state;
    imp_settings settings, again;
    imp_settings_init(&settings);
    imp_settings_init(&again);
    settings.rate = 0.1 + 0.2; /* not a short decimal */
    settings.network = "conv3x3:4,\"bn\"";
    settings.seed = INT64_C(123456789012345678);
    settings.unbalanced = true;
    settings.task = 1;
    settings.rule.lambda = 1.0 / 3;
    settings.rule.steps = 3;
    settings.own[0] = (imp_named_value){"no-prior", 1};
    json_t *object = imp_settings_to_json(&settings);
    assert_non_null(object);
    assert_int_equal(imp_settings_from_json(&again, object, NULL), IMP_OK);
    json_decref(object);
    static const char *const none[] = {NULL}, *const rate[] = {"rate", NULL};
    assert_null(imp_settings_difference(&settings, &again, none));
    again.rate = 0.3;
    assert_string_equal(imp_settings_difference(&settings, &again, none), "rate");
    assert_null(imp_settings_difference(&settings, &again, rate));
    again.rule.steps = 4;
    assert_string_equal(imp_settings_difference(&settings, &again, rate), "cluster-steps");
    again.rule.steps = 3;
    again.own[0].name = NULL;
    assert_string_equal(imp_settings_difference(&settings, &again, rate), "no-prior");

    imp_error error;
    assert_int_equal(imp_settings_parse(&again, "{\"way\": 5, \"way\": 6}", &error), IMP_EFORMAT);
    assert_int_equal(imp_settings_parse(&again, "[]", &error), IMP_EFORMAT);
    assert_int_equal(imp_settings_parse(&again, "{\"way\": [5]}", &error), IMP_EINVAL);
    assert_int_equal(imp_settings_parse(&again, "{\"way\": null}", &error), IMP_EINVAL);
    imp_settings_clear(&settings);
    imp_settings_clear(&again);
}

/* Numbers have points in settings, whatever they have in the program's locale. */
static void test_locale(void **state)
{
    comma_locale_enter(state);
    imp_settings settings, again;
    imp_error error;
    imp_settings_init(&settings);
    imp_settings_init(&again);
    assert_true(settings.rate == 1e-3);
    assert_int_equal(imp_settings_set(&settings, "alpha", "0.25", &error), IMP_OK);
    assert_true(settings.rule.alpha == 0.25);
    assert_int_equal(imp_settings_set(&settings, "alpha", "0,25", &error), IMP_EINVAL);
    json_t *object = imp_settings_to_json(&settings);
    char *text = imp_json_text(object);
    json_decref(object);
    assert_non_null(strstr(text, "\"alpha\":0.25"));
    if (imp_settings_parse(&again, text, &error) != IMP_OK)
        fail_msg("%s", error.message);
    assert_true(again.rule.alpha == 0.25);
    imp_release(text);
    imp_settings_clear(&settings);
    imp_settings_clear(&again);
    comma_locale_leave();
}

static void test_recipes(void **state)
{
    (void)state;
    size_t count = 0;
    for (; imp_recipe_at(count).name; count++) {
        imp_settings settings;
        imp_error error;
        imp_settings_init(&settings);
        if (imp_recipe_apply(&settings, imp_recipe_at(count).name, &error) != IMP_OK)
            fail_msg("%s", error.message);
        char summary[200];
        imp_recipe_summary(imp_recipe_at(count).text, summary, sizeof summary);
        assert_true(strlen(summary) > 10 && summary[0] != '#');

        /* each method of the recipe exists */
        imp_method *method;
        imp_method_options options = imp_settings_method(&settings);
        assert_int_equal(imp_method_create(settings.method, &options, &method, NULL), IMP_OK);
        imp_method_free(method);
        imp_settings_clear(&settings);
    }
    assert_true(count >= 10);

    imp_settings settings;
    imp_error error;
    imp_settings_init(&settings);
    assert_int_equal(imp_recipe_parse(&settings,
                                      "# one\n\n  way=7 # seven\r\nsplit = modes:0.4/0/0.6", "x",
                                      &error),
                     IMP_OK);
    assert_int_equal(settings.way, 7);
    assert_string_equal(settings.split, "modes:0.4/0/0.6");
    assert_int_equal(imp_recipe_parse(&settings, "lambda = 9\nlambda = auto", "x", &error), IMP_OK);
    assert_true(isnan(settings.rule.lambda));
    /* what files of version 0.1 say for auto, and for options of other methods */
    assert_int_equal(imp_recipe_parse(&settings,
                                      "lambda = 3\nsigma-l = 2\nsigma-u = 2\nlambda = -1\n"
                                      "sigma-l = 0\nsigma-u = 0.0\nno-prior = no",
                                      "x", &error),
                     IMP_OK);
    assert_true(isnan(settings.rule.lambda) && isnan(settings.rule.sigma_l) &&
                isnan(settings.rule.sigma_u) && !settings.own[0].name);
    assert_int_equal(imp_recipe_parse(&settings, "rate = auto", "x", &error), IMP_EFORMAT);
    assert_int_equal(imp_recipe_parse(&settings, "way 7", "x", &error), IMP_EFORMAT);
    assert_string_equal(error.message, "x, line 1: 'way 7' should be NAME = VALUE");
    assert_int_equal(imp_recipe_parse(&settings, "\nwardrobe = 7\n", "x", &error), IMP_EFORMAT);
    assert_string_equal(error.message, "x, line 2: 'wardrobe' is not a setting");
    assert_int_equal(imp_recipe_apply(&settings, "./absent.recipe", &error), IMP_EIO);
    assert_int_equal(imp_recipe_apply(&settings, "omniglot-alphabet", &error), IMP_EINVAL);
    assert_string_equal(error.message, "there is no recipe 'omniglot-alphabet'; did you mean "
                                       "'omniglot-alphabets'?");
    imp_settings_clear(&settings);
}

/* method.md: 1e-3, halved every 2,000 updates from update 4,000 on. */
static void test_schedule(void **state)
{
    (void)state;
    imp_settings settings;
    imp_settings_init(&settings);
    assert_true(imp_settings_rate(&settings, 0) == 1e-3);
    assert_true(imp_settings_rate(&settings, 3999) == 1e-3);
    assert_true(imp_settings_rate(&settings, 4000) == 0.5e-3);
    assert_true(imp_settings_rate(&settings, 5999) == 0.5e-3);
    assert_true(imp_settings_rate(&settings, 6000) == 0.25e-3);
    assert_true(imp_settings_rate(&settings, 19999) == 1e-3 / 256);
    assert_true(imp_settings_rate(&settings, UINT64_MAX) >= 0);
    settings.halve_every = 0;
    assert_true(imp_settings_rate(&settings, 19999) == 1e-3);
    settings.fade_until = 20000;
    assert_true(imp_settings_rate(&settings, 0) == 1e-3);
    assert_true(imp_settings_rate(&settings, 5000) == 0.75e-3);
    assert_true(imp_settings_rate(&settings, 20000) == 0);
    assert_true(imp_settings_rate(&settings, 30000) == 0);
    imp_settings_clear(&settings);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_settings settings, again;
        imp_settings_init(&settings);
        imp_settings_init(&again);
        imp_error error;
        imp_status status = imp_recipe_apply(&settings, "omniglot-alphabets", &error);
        json_t *object = imp_settings_to_json(&settings);
        if (status == IMP_OK)
            status = object ? imp_settings_from_json(&again, object, &error) : IMP_ENOMEM;
        json_decref(object);
        imp_settings_clear(&settings);
        imp_settings_clear(&again);
        failing_allocator_expect(&memory, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_recipes),
        cmocka_unit_test(test_schedule),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test_setup_teardown(test_locale, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
