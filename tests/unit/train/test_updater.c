/* test_updater.c - what an update makes of its episodes' gradients: mean, clipping, fixed values.
 *
 * SGD at rate 1 moves by the very gradient, where RMSProp would hide a wrong scale. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tiny_run.h"
#include "train/checkpoint.h"
#include "train/updater.h"

typedef struct step {
    float *moved; /* (count): parameters before the update minus those after it */
    size_t count;
    double norm;    /* as imp_updater_update() tells it */
    double sigma_u; /* after the update */
} step;

static imp_settings sgd_settings(void)
{
    imp_settings settings = tiny_settings("imp");
    settings.unlabeled = 2;
    settings.rule.sigma_u = 3;
    settings.rule.lambda = 1; /* so that unlabelled clusters arise */
    assert_int_equal(imp_settings_set(&settings, "optimizer", "sgd", NULL), IMP_OK);
    assert_int_equal(imp_settings_set(&settings, "learn-sigma-u", "yes", NULL), IMP_OK);
    return settings;
}

static void add_episode(imp_updater *updater, const imp_settings *settings,
                        const imp_dataset *dataset, uint64_t index)
{
    imp_episode_options options = imp_settings_task(settings, IMP_FOR_TRAINING);
    imp_feed *feed;
    const imp_task *task;
    imp_step made;
    assert_int_equal(imp_feed_open(dataset, &options, index, 1, &feed, NULL), IMP_OK);
    assert_int_equal(imp_feed_next(feed, &task, NULL), IMP_OK);
    assert_int_equal(imp_learner_step(updater->learner, task, &made, NULL), IMP_OK);
    imp_updater_add(updater, &made);
    imp_feed_close(feed);
}

/* The first update of a new updater, on `episodes` episodes from `first` on. */
static step update(const imp_settings *settings, uint64_t first, uint64_t episodes, double clip)
{
    imp_dataset *dataset = tiny_dataset(settings);
    imp_updater updater;
    assert_int_equal(imp_updater_from_settings(&updater, settings, imp_dataset_channels(dataset),
                                               imp_dataset_size(dataset), 1, NULL),
                     IMP_OK);
    size_t parameters = imp_network_parameter_count(updater.network);
    step found = {.count = parameters + updater.value_count};
    found.moved = imp_allocate(found.count, sizeof *found.moved);
    assert_non_null(found.moved);
    memcpy(found.moved, imp_network_parameters(updater.network), parameters * sizeof(float));
    memcpy(found.moved + parameters, updater.values, updater.value_count * sizeof(float));

    for (uint64_t i = 0; i < episodes; i++)
        add_episode(&updater, settings, dataset, first + i);
    assert_int_equal(imp_updater_update(&updater, 1, clip, &found.norm, NULL), IMP_OK);

    for (size_t i = 0; i < parameters; i++)
        found.moved[i] -= imp_network_parameters(updater.network)[i];
    for (size_t i = 0; i < updater.value_count; i++)
        found.moved[parameters + i] -= updater.values[i];
    found.sigma_u = imp_updater_sigma(&updater, "log_sigma_u");
    imp_updater_clear(&updater);
    imp_dataset_free(dataset);
    return found;
}

static double length(const step *taken)
{
    double sum = 0;
    for (size_t i = 0; i < taken->count; i++)
        sum += (double)taken->moved[i] * taken->moved[i];
    return sqrt(sum);
}

/* Up to the rounding of the parameters. */
static void assert_moved(const step *taken, size_t i, double expected)
{
    if (!(fabs(taken->moved[i] - expected) <= 2e-6 * (1 + fabs(expected))))
        fail_msg("parameter %zu moved by %g, not by %g", i, taken->moved[i], expected);
}

static void an_update_takes_the_mean_of_its_episodes(void **state)
{
    (void)state;
    imp_settings settings = sgd_settings();
    step one = update(&settings, 0, 1, 0), other = update(&settings, 1, 1, 0);
    step both = update(&settings, 0, 2, 0);
    assert_true(length(&one) > 0.01 && length(&other) > 0.01);
    for (size_t i = 0; i < both.count; i++)
        assert_moved(&both, i, 0.5 * ((double)one.moved[i] + other.moved[i]));
    assert_true(fabs(both.norm - length(&both)) < 1e-4 * both.norm);
    imp_release(one.moved);
    imp_release(other.moved);
    imp_release(both.moved);
}

static void a_long_gradient_is_shortened_and_a_short_one_is_not(void **state)
{
    (void)state;
    imp_settings settings = sgd_settings();
    step whole = update(&settings, 0, 2, 0);
    step clipped = update(&settings, 0, 2, whole.norm / 4), same = update(&settings, 0, 2, 1000);
    assert_true(clipped.norm == whole.norm && same.norm == whole.norm);
    for (size_t i = 0; i < whole.count; i++) {
        assert_moved(&clipped, i, 0.25 * whole.moved[i]);
        assert_moved(&same, i, whole.moved[i]);
    }
    assert_true(fabs(length(&clipped) - whole.norm / 4) < 1e-3 * whole.norm);
    imp_release(whole.moved);
    imp_release(clipped.moved);
    imp_release(same.moved);
}

static void a_fixed_variance_stays_while_the_rest_learns(void **state)
{
    (void)state;
    imp_settings settings = sgd_settings();
    step learned = update(&settings, 0, 1, 0);
    assert_int_equal(imp_settings_set(&settings, "learn-sigma-u", "no", NULL), IMP_OK);
    step fixed = update(&settings, 0, 1, 0);
    assert_true(fabs(fixed.sigma_u - settings.rule.sigma_u) < 1e-5);
    assert_true(fabs(learned.sigma_u - settings.rule.sigma_u) > 1e-4);
    assert_true(fixed.norm < learned.norm); /* and counts for nothing when it is clipped */
    imp_release(learned.moved);
    imp_release(fixed.moved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_update_takes_the_mean_of_its_episodes),
        cmocka_unit_test(a_long_gradient_is_shortened_and_a_short_one_is_not),
        cmocka_unit_test(a_fixed_variance_stays_while_the_rest_learns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
