/*
 * test_vectors.c - learning on top of vectors: the gradient by finite differences, the scale of the
 * data, and that a network learns what the vectors alone do not tell.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/npy.h"
#include "base/random.h"
#include "data/dataset.h"
#include "learners/learner.h"
#include "scratch.h"
#include "settings/choices.h"
#include "train/standardize.h"
#include "train/trainer.h"

enum { POINTS = 240, D = 6, CLASSES = 4 };

/* Two features tell the class; the others are larger, of another unit, and say nothing. */
static imp_dataset *make_set(void **state, const char *name, double scale)
{
    scratch_path points = scratch_file(state, name), labels = scratch_file(state, "y.npy");
    static float x[POINTS][D];
    static int32_t y[POINTS];
    imp_random random = imp_random_start(3, 0, 0);
    for (size_t i = 0; i < POINTS; i++) {
        y[i] = (int32_t)(i % CLASSES);
        for (size_t j = 0; j < D; j++)
            x[i][j] = (float)(scale * 50 * (imp_random_uniform(&random) - 0.5));
        for (size_t j = 0; j < 2; j++)
            x[i][j] = (float)(scale * ((y[i] >> j) % 2 + 0.2 * imp_random_uniform(&random)));
    }
    imp_array a = {IMP_FLOAT32, 2, {POINTS, D}, POINTS * D, x},
              b = {IMP_INT32, 1, {POINTS}, POINTS, y};
    assert_int_equal(imp_npy_save(points.text, &a, NULL), IMP_OK);
    assert_int_equal(imp_npy_save(labels.text, &b, NULL), IMP_OK);
    char data[1200];
    snprintf(data, sizeof data, "vectors:%s,%s", points.text, labels.text);
    imp_dataset *dataset;
    imp_error error;
    if (imp_dataset_open(data, NULL, &dataset, &error))
        fail_msg("%s", error.message);
    return dataset;
}

static double loss_of(imp_learner *learner, const imp_task *task, imp_step *step)
{
    imp_error error;
    if (imp_learner_step(learner, task, step, &error))
        fail_msg("%s", error.message);
    return step->outcome.loss;
}

static void gradients_are_those_of_finite_differences(void **state)
{
    imp_dataset *dataset = make_set(state, "x.npy", 1);
    imp_network_options options = imp_network_defaults();
    options.channels = D;
    options.height = options.width = 1;
    options.threads = 1;
    imp_network *network;
    imp_learner *learner;
    imp_error error;
    assert_int_equal(
        imp_network_create("standard,linear:7,relu,linear:5", &options, &network, &error), IMP_OK);
    assert_int_equal(imp_standardize(network, dataset, &error), IMP_OK);
    imp_learner_options wanted = imp_learner_defaults();
    wanted.method = "prototypes"; /* whose clusters are decided by labels alone */
    assert_int_equal(imp_learner_create("metric", &wanted, network, 0, &learner, &error), IMP_OK);
    imp_episode_options episode = imp_episode_defaults();
    episode.way = CLASSES;
    episode.shot = 3;
    episode.queries = 5;
    imp_feed *feed;
    const imp_task *task;
    assert_int_equal(imp_feed_open(dataset, &episode, 0, 1, &feed, &error), IMP_OK);
    assert_int_equal(imp_feed_next(feed, &task, &error), IMP_OK);

    imp_step step;
    size_t count = imp_network_parameter_count(network);
    float *gradient = malloc(count * sizeof *gradient), *theta = imp_network_parameters(network);
    loss_of(learner, task, &step);
    memcpy(gradient, step.network_gradient, count * sizeof *gradient);
    double norm = 0;
    for (size_t i = 0; i < count; i++)
        norm += (double)gradient[i] * gradient[i];
    assert_true(norm > 1e-4);
    for (size_t i = 0; i < count; i++) {
        const float kept = theta[i], by = 2e-3f;
        theta[i] = kept + by;
        double above = loss_of(learner, task, &step);
        theta[i] = kept - by;
        double below = loss_of(learner, task, &step);
        theta[i] = kept;
        double slope = (above - below) / (2 * by);
        if (fabs(slope - gradient[i]) > 0.02 * sqrt(norm))
            fail_msg("parameter %zu: %g is not %g", i, (double)gradient[i], slope);
    }
    free(gradient);
    imp_feed_close(feed);
    imp_learner_free(learner);
    imp_network_free(network);
    imp_dataset_free(dataset);
}

/* Trains without a folder; returns the best accuracy in validation. */
static double train(const imp_dataset *dataset, const char *network)
{
    imp_settings settings;
    imp_settings_init(&settings);
    settings.network = network;
    settings.way = CLASSES;
    settings.shot = 2;
    settings.updates = 300;
    settings.halve_every = 0;
    settings.validate_every = 100;
    settings.rate = 0.01;
    imp_error error;
    assert_int_equal(imp_choices_network(&settings, dataset, &error), IMP_OK);
    imp_trainer_options options = {.threads = 1};
    imp_train_result result;
    if (imp_trainer_run(&settings, dataset, &options, &result, &error))
        fail_msg("%s", error.message);
    imp_settings_clear(&settings);
    return result.best;
}

static void a_network_learns_whatever_the_scale(void **state)
{
    imp_dataset *small = make_set(state, "small.npy", 0.001),
                *large = make_set(state, "large.npy", 100);
    double raw = train(small, "standard"), learned = train(small, "linear:3");
    assert_true(raw < 0.75 && learned > 0.95);
    assert_true(fabs(train(large, "linear:3") - learned) < 0.02);
    imp_dataset_free(small);
    imp_dataset_free(large);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(gradients_are_those_of_finite_differences),
        WITH_FOLDER(a_network_learns_whatever_the_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
