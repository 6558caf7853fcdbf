/*
 * test_trainer.c - what a run tells its model of the data it was trained on, steps that others
 * make, and weights that are averaged.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/memory.h"
#include "model/model.h"
#include "nn/statistics.h"
#include "pictures.h"
#include "scratch.h"
#include "tiny_run.h"
#include "train/run_folder.h"
#include "train/snapshot.h"
#include "train/steps.h"
#include "train/trainer.h"

/* A pack cannot be inverted when it is opened, so that the settings do not know; it does. */
static void a_model_knows_that_its_pack_was_inverted(void **state)
{
    scratch_path path = scratch_file(state, "pack");
    for (int invert = 0; invert <= 1; invert++) {
        imp_settings settings = tiny_settings("imp");
        settings.updates = 1;
        imp_dataset_options options = imp_settings_data(&settings, 1);
        options.ink = invert ? IMP_INK_INVERT : IMP_INK_OWN;
        imp_dataset *dataset;
        assert_int_equal(imp_dataset_open("glyphs", &options, &dataset, NULL), IMP_OK);
        assert_int_equal(imp_dataset_pack(dataset, path.text, NULL), IMP_OK);
        imp_dataset_free(dataset);
        assert_int_equal(imp_dataset_open(path.text, NULL, &dataset, NULL), IMP_OK);

        scratch_path run = scratch_file(state, invert ? "inverted" : "as-is");
        imp_trainer_options training = {.folder = run.text, .threads = 1};
        imp_train_result result;
        imp_error error;
        if (imp_trainer_run(&settings, dataset, &training, &result, &error) != IMP_OK)
            fail_msg("%s", error.message);
        imp_dataset_free(dataset);
        imp_model *model;
        assert_int_equal(
            imp_model_open(imp_training_file(run.text, imp_model_name).text, NULL, &model, NULL),
            IMP_OK);
        assert_int_equal(model->origin.inverted, invert);
        /* glyphs are bright unless inverted, and pictures are to look like them */
        assert_int_equal(imp_model_info_of(model)->inversion,
                         invert ? IMP_INVERT_NONE : IMP_INVERT_LIGHT);
        imp_model_free(model);
    }
}

/* ---- steps from elsewhere ---- */

/* What another process would send: a copy of a step. */
typedef struct parcel {
    imp_step step;
    float *network;
    double *values, *statistics;
} parcel;

enum { EPISODES = 4 };

/* Makes the steps of an update from the last episode to the first, each by a learner of its own on
 * a network of its own, and hands them out in order. */
typedef struct far_steps {
    imp_steps steps;
    const imp_settings *settings;
    const imp_dataset *dataset;
    parcel parcels[EPISODES];
    uint64_t next;
} far_steps;

static void *copied(const void *data, size_t bytes)
{
    void *copy = imp_allocate(bytes ? bytes : 1, 1);
    assert_non_null(copy);
    memcpy(copy, data, bytes);
    return copy;
}

static void release(parcel *sent)
{
    imp_release(sent->network);
    imp_release(sent->values);
    imp_release(sent->statistics);
}

static parcel made_elsewhere(const far_steps *far, const imp_learner *learner, uint64_t index)
{
    imp_network *network;
    imp_network_options options = *imp_network_options_of(learner->network);
    assert_int_equal(
        imp_network_create(imp_network_description(learner->network), &options, &network, NULL),
        IMP_OK);
    size_t parameters = imp_network_parameter_count(network), statistics;
    memcpy(imp_network_parameters(network), imp_network_parameters(learner->network),
           parameters * sizeof(float));
    imp_learner *other;
    assert_int_equal(
        imp_learner_create(learner->kind->info.name, &learner->options, network, 0, &other, NULL),
        IMP_OK);
    imp_learner_set(other, learner->values);

    imp_episode_options task = imp_settings_task(far->settings, IMP_FOR_TRAINING);
    imp_own_steps own;
    double waited;
    parcel sent;
    assert_int_equal(imp_own_steps_open(&own, far->dataset, &task, index, 1, NULL), IMP_OK);
    assert_int_equal(own.steps.next(&own.steps, other, &sent.step, &waited, NULL), IMP_OK);
    (void)imp_network_statistics(network, &statistics);
    sent.network = copied(sent.step.network_gradient, parameters * sizeof(float));
    sent.values = copied(sent.step.value_gradient, other->value_count * sizeof(double));
    sent.statistics = copied(sent.step.statistics, statistics * sizeof(double));
    sent.step.network_gradient = sent.network;
    sent.step.value_gradient = sent.values;
    sent.step.statistics = sent.statistics;
    imp_own_steps_close(&own);
    imp_learner_free(other);
    imp_network_free(network);
    return sent;
}

static imp_status next_far(imp_steps *steps, imp_learner *learner, imp_step *step, double *waited,
                           imp_error *error)
{
    (void)error;
    far_steps *far = (far_steps *)steps;
    size_t at = far->next % EPISODES;
    for (size_t e = EPISODES; at == 0 && e-- > 0;) {
        release(&far->parcels[e]);
        far->parcels[e] = made_elsewhere(far, learner, far->next + e);
    }
    far->next++;
    *waited = 0;
    *step = far->parcels[at].step;
    return IMP_OK;
}

/* All that training has changed, in one array. */
static float *trained(const imp_settings *settings, const imp_dataset *dataset, imp_steps *steps,
                      size_t *count)
{
    imp_updater updater;
    imp_trainer_options training = {.updater = &updater, .steps = steps, .threads = 1};
    imp_train_result result;
    imp_error error;
    if (imp_trainer_run(settings, dataset, &training, &result, &error) != IMP_OK)
        fail_msg("%s", error.message);
    imp_snapshot all;
    assert_int_equal(imp_snapshot_make(&all, &updater, NULL), IMP_OK);
    imp_snapshot_take(&all, &updater);
    imp_updater_clear(&updater);
    *count = all.count;
    return all.values;
}

static void steps_from_elsewhere_give_the_same_bits(void **state)
{
    (void)state;
    imp_settings settings = tiny_settings("imp");
    settings.accumulate = EPISODES;
    settings.updates = 5;
    imp_dataset *dataset = tiny_dataset(&settings);
    far_steps far = {.steps = {.next = next_far}, .settings = &settings, .dataset = dataset};
    size_t count, far_count;
    float *here = trained(&settings, dataset, NULL, &count);
    float *there = trained(&settings, dataset, &far.steps, &far_count);
    assert_int_equal(far.next, 5 * EPISODES);
    assert_int_equal(count, far_count);
    assert_memory_equal(here, there, count * sizeof *here);
    for (size_t e = 0; e < EPISODES; e++)
        release(&far.parcels[e]);
    imp_release(here);
    imp_release(there);
    imp_dataset_free(dataset);
    imp_settings_clear(&settings);
}

/* ---- a run that ends early ---- */

static bool twice(const imp_train_report *report, void *context)
{
    (void)context;
    return report->update < 2;
}

/* Whoever stops a run before anything was validated has a model all the same, and the run goes on
 * to what it would have been. */
static void a_run_that_is_stopped_leaves_a_model(void **state)
{
    imp_settings settings = tiny_settings("imp");
    settings.updates = 4;
    settings.validate_every = 3;
    settings.validation_episodes = 2;
    imp_dataset *dataset = tiny_dataset(&settings);
    scratch_path run = scratch_file(state, "stopped");
    imp_train_options options = imp_train_defaults();
    options.folder = run.text;
    options.threads = 1;
    options.proceed = twice;
    imp_train_result result;
    assert_int_equal(imp_train(&settings, dataset, &options, &result, NULL), IMP_OK);
    assert_int_equal(result.update, 2);
    assert_false(result.finished);
    imp_model *model;
    const char *path = imp_training_file(run.text, imp_model_name).text;
    assert_int_equal(imp_model_open(path, NULL, &model, NULL), IMP_OK);
    assert_int_equal(model->origin.update, 2);
    imp_model_free(model);
    options.proceed = NULL;
    assert_int_equal(imp_train_resume(NULL, dataset, &options, &result, NULL), IMP_OK);
    assert_true(result.finished);
    assert_int_equal(imp_model_open(path, NULL, &model, NULL), IMP_OK);
    assert_int_equal(model->origin.update, result.best_update);
    imp_model_free(model);
    imp_dataset_free(dataset);
    imp_settings_clear(&settings);
}

static void take(const char *sentence, void *context)
{
    snprintf(context, 200, "%s", sentence);
}

static void minutes_decide_the_updates(void **state)
{
    imp_settings settings = tiny_settings("imp");
    settings.updates = 1000000000;
    imp_dataset *dataset = tiny_dataset(&settings);
    scratch_path run = scratch_file(state, "short");
    char said[200] = "";
    imp_train_options options = imp_train_defaults();
    options.folder = run.text;
    options.threads = 1;
    options.minutes = 0.005;
    options.notice = take;
    options.context = said;
    imp_train_result result;
    assert_int_equal(imp_train(&settings, dataset, &options, &result, NULL), IMP_OK);
    assert_true(result.update >= 1 && result.update < 1000000);
    assert_non_null(strstr(said, "updates fit into 0.005 minutes"));
    assert_true(imp_training_has(run.text, imp_model_name));
    options.minutes = -1;
    assert_int_equal(imp_train(&settings, dataset, &options, &result, NULL), IMP_EINVAL);
    imp_dataset_free(dataset);
    imp_settings_clear(&settings);
}

/* Whoever trains learns that it was the loss that ended the run, and where. */
static void a_run_that_diverges_says_so(void **state)
{
    (void)state;
    imp_settings settings = tiny_settings("imp");
    settings.updates = 5;
    imp_dataset *dataset = tiny_dataset(&settings);
    for (int limited = 0; limited <= 1; limited++) {
        bool diverged = false;
        imp_updater updater = {0};
        imp_trainer_options training = {.threads = 1, .diverged = &diverged, .updater = &updater};
        imp_train_result result;
        settings.loss_limit = limited ? 1e-9 : 1e6;
        assert_int_equal(imp_trainer_run(&settings, dataset, &training, &result, NULL),
                         limited ? IMP_EINVAL : IMP_OK);
        assert_int_equal(diverged, limited);
        assert_int_equal(result.update, limited ? 0 : 5);
        imp_updater_clear(&updater);
    }
    imp_dataset_free(dataset);
    imp_settings_clear(&settings);
}

/* ---- averages ---- */

/* The decay is 0.5 at most, and (1 + t) / (10 + t) after t updates; the first is a copy. */
static void the_average_of_the_updates_is_what_is_kept(void **state)
{
    (void)state;
    imp_settings settings = tiny_settings("imp");
    imp_dataset *dataset = tiny_dataset(&settings);
    size_t count, updates = 12;
    double *expected = NULL;
    float *last = NULL;
    for (size_t t = 1; t <= updates; t++) {
        settings.updates = (int64_t)t;
        imp_release(last);
        last = trained(&settings, dataset, NULL, &count);
        double decay = t == 1 ? 0 : fmin(0.5, (1 + (double)t) / (10 + (double)t));
        if (!expected)
            expected = imp_allocate_zeroed(count, sizeof *expected);
        for (size_t i = 0; i < count; i++)
            expected[i] = decay * expected[i] + (1 - decay) * last[i];
    }
    settings.average_weights = 0.5;
    float *kept = trained(&settings, dataset, NULL, &count);
    double apart = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(kept[i] - expected[i]) < 1e-6 * (1 + fabs(expected[i]))))
            fail_msg("number %zu: %.9g is kept, not %.9g", i, kept[i], expected[i]);
        apart = fmax(apart, fabs((double)kept[i] - last[i]));
    }
    assert_true(apart > 1e-4);
    imp_release(kept);
    imp_release(last);
    imp_release(expected);
    imp_dataset_free(dataset);
    imp_settings_clear(&settings);
}

/* The first update with weight decay ends rate * weight-decay of every weight below the one
 * without; statistics and sigma do not decay. */
static void weights_decay_by_the_rate(void **state)
{
    (void)state;
    imp_settings settings = tiny_settings("imp");
    imp_dataset *dataset = tiny_dataset(&settings);
    size_t count, decayed_count = 0, steady_count = 0;
    settings.updates = 0;
    float *start = trained(&settings, dataset, NULL, &count);
    settings.updates = 1;
    float *plain = trained(&settings, dataset, NULL, &count);
    settings.weight_decay = 2;
    float *decayed = trained(&settings, dataset, NULL, &count);
    for (size_t i = 0; i < count; i++) {
        double less = (double)plain[i] - decayed[i], all = settings.rate * 2 * start[i];
        if (fabs(less - all) <= 1e-6 * (1 + fabs(start[i])))
            decayed_count += fabs(all) > 1e-5;
        else if (less == 0)
            steady_count++;
        else
            fail_msg("number %zu, %.9g at first, decayed by %.9g, not %.9g", i, start[i], less,
                     all);
    }
    assert_true(decayed_count > count / 2 && steady_count > 0);
    imp_release(start);
    imp_release(plain);
    imp_release(decayed);
    imp_dataset_free(dataset);
    imp_settings_clear(&settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_model_knows_that_its_pack_was_inverted, scratch_setup,
                                        tree_teardown),
        cmocka_unit_test(steps_from_elsewhere_give_the_same_bits),
        cmocka_unit_test_setup_teardown(a_run_that_is_stopped_leaves_a_model, scratch_setup,
                                        tree_teardown),
        cmocka_unit_test_setup_teardown(minutes_decide_the_updates, scratch_setup, tree_teardown),
        cmocka_unit_test(a_run_that_diverges_says_so),
        cmocka_unit_test(the_average_of_the_updates_is_what_is_kept),
        cmocka_unit_test(weights_decay_by_the_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
