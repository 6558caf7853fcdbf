/*
 * test_pace.c - how long a run takes, counted by hand; and runs fitted into a time.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "train/pace.h"

static imp_settings settings_of(int64_t updates, int64_t validate_every)
{
    imp_settings settings;
    imp_settings_init(&settings);
    settings.updates = updates;
    settings.halve_from = updates / 5;
    settings.halve_every = updates / 10;
    settings.validate_every = validate_every;
    settings.validation_episodes = 100;
    return settings;
}

/* The first update is slow, and counts only while it is the only one. */
static imp_pace pace_of(double update, double validation)
{
    imp_pace pace = {0};
    imp_pace_add_update(&pace, 5, 50);
    imp_pace_add_update(&pace, update, 50);
    imp_pace_add_update(&pace, update, 50);
    if (validation > 0)
        imp_pace_add_validation(&pace, validation);
    return pace;
}

static void what_is_left_counts_validations(void **state)
{
    (void)state;
    imp_pace none = {0};
    imp_settings settings = settings_of(100, 30); /* validated at 30, 60, 90 and 100 */
    assert_true(isnan(imp_pace_left(&none, &settings, 0)));
    imp_pace pace = pace_of(2, 10);
    static const struct {
        uint64_t update;
        double left;
    } cases[] = {{0, 240}, {1, 238}, {29, 182}, {30, 170}, {90, 30}, {99, 12}, {100, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(fabs(imp_pace_left(&pace, &settings, cases[i].update) - cases[i].left) < 1e-9);
    settings.validate_every = 50; /* at 50, and the end is one of them */
    assert_true(fabs(imp_pace_left(&pace, &settings, 0) - 220) < 1e-9);
    settings.validate_every = 0;
    assert_true(fabs(imp_pace_left(&pace, &settings, 0) - 200) < 1e-9);
    imp_settings_clear(&settings);
}

static void a_validation_that_was_not_made_is_guessed_by_its_images(void **state)
{
    (void)state;
    imp_pace pace = pace_of(3, 0);
    pace.validation_images = 25;
    /* 0.06 s an image in training, a third of it in validation */
    assert_true(fabs(imp_pace_validation(&pace, 4, 4) - 0.02 * 25 * 4) < 1e-9);
}

static void a_run_fits_and_keeps_its_proportions(void **state)
{
    (void)state;
    imp_settings settings = settings_of(20000, 2000);
    imp_pace pace = pace_of(0.1, 0.4); /* by 4 episodes */
    imp_pace_fit(&pace, 1000, 4, &settings);
    assert_int_equal(settings.validation_episodes, 100); /* ten of 10 s are a tenth of the time */
    assert_int_equal(settings.updates, 9000);
    assert_int_equal(settings.halve_from, 1800);
    assert_int_equal(settings.halve_every, 900);
    assert_int_equal(settings.validate_every, 900);
    assert_int_equal(settings.fade_until, 0);
    imp_settings_clear(&settings);

    settings = settings_of(20000, 2000);
    settings.fade_until = 20000;
    imp_pace_fit(&pace, 60, 4, &settings); /* 12 s for validation: 10 of 12 episodes */
    assert_int_equal(settings.validation_episodes, 12);
    assert_int_equal(settings.updates, 480);
    assert_int_equal(settings.validate_every, 48);
    assert_int_equal(settings.fade_until, 480);
    assert_int_equal(settings.log_every, 24);
    imp_settings_clear(&settings);

    settings = settings_of(20000, 2000); /* hardly any time: still a run */
    imp_pace_fit(&pace, 0.5, 4, &settings);
    assert_int_equal(settings.updates, 10);
    assert_int_equal(settings.validation_episodes, 10);
    assert_int_equal(settings.validate_every, 5);
    assert_true(settings.halve_from >= 1 && settings.halve_every >= 1);
    imp_settings_clear(&settings);

    settings = settings_of(500, 0); /* without validation */
    imp_pace_fit(&pace, 100, 4, &settings);
    assert_int_equal(settings.updates, 1000);
    assert_int_equal(settings.validate_every, 0);
    imp_settings_clear(&settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_counts_validations),
        cmocka_unit_test(a_validation_that_was_not_made_is_guessed_by_its_images),
        cmocka_unit_test(a_run_fits_and_keeps_its_proportions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
