/*
 * test_checkpoint.c - checkpoints and models as files: what comes back, what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/safetensors.h"
#include "comma_locale.h"
#include "failing_allocator.h"
#include "scratch.h"
#include "train/checkpoint.h"
#include "train/model.h"

static imp_settings tiny_settings(void)
{
    imp_settings settings;
    imp_settings_init(&settings);
    settings.network = "conv3x3:4,bn,relu,pool";
    settings.seed = 9;
    return settings;
}

/* A learner in whose arrays no number is like another. */
static imp_learner make_learner(const imp_settings *settings)
{
    imp_learner learner;
    assert_int_equal(imp_learner_from_settings(&learner, settings, 1, 8, 1, NULL), IMP_OK);
    for (size_t i = 0; i < imp_network_tensor_count(learner.network); i++) {
        imp_network_tensor tensor = imp_network_tensor_at(learner.network, i);
        for (size_t v = 0; v < tensor.count; v++)
            tensor.values[v] = (float)(i + 1) + (float)v / 1000.0f;
    }
    size_t count;
    float *state = imp_optimizer_state(learner.network_optimizer, &count);
    for (size_t i = 0; i < count; i++)
        state[i] = 1e-3f * (float)i;
    state = imp_optimizer_state(learner.method_optimizer, &count);
    for (size_t i = 0; i < count; i++)
        state[i] = 5.0f + (float)i;
    imp_optimizer_set_steps(learner.network_optimizer, 77);
    learner.values[0] = 1.25f;
    imp_learner_publish(&learner);
    return learner;
}

static imp_checkpoint make_checkpoint(const imp_settings *settings, const imp_learner *learner)
{
    imp_checkpoint checkpoint = {
        .settings = *settings,
        .progress = {.update = 77,
                     .window = {.episodes = 3, .loss = 0.1 + 0.2},
                     .seconds = 12.5,
                     .best = 0.875,
                     .best_update = 50},
        .json_bytes = 123,
        .csv_bytes = 45,
        .data = {.fingerprint = "0123456789abcdef", .split = "fedcba"},
    };
    assert_int_equal(imp_snapshot_make(&checkpoint.best, learner, NULL), IMP_OK);
    imp_snapshot_take(&checkpoint.best, learner);
    return checkpoint;
}

static void test_round_trip(void **state)
{
    scratch_path path = scratch_file(state, "checkpoint");
    imp_settings settings = tiny_settings();
    imp_learner learner = make_learner(&settings), again;
    imp_checkpoint checkpoint = make_checkpoint(&settings, &learner), read;
    assert_int_equal(imp_checkpoint_save(path.text, &learner, &checkpoint, NULL), IMP_OK);
    assert_int_equal(imp_checkpoint_load(path.text, 2, &again, &read, NULL), IMP_OK);

    assert_memory_equal(&read.progress, &checkpoint.progress, sizeof read.progress);
    assert_int_equal(read.json_bytes, 123);
    assert_int_equal(read.csv_bytes, 45);
    assert_string_equal(read.data.fingerprint, checkpoint.data.fingerprint);
    assert_string_equal(read.data.split, checkpoint.data.split);
    for (size_t i = 0; imp_setting_at(i); i++)
        assert_true(imp_setting_equal(imp_setting_at(i), &read.settings, &settings));
    for (size_t i = 0; i < imp_network_tensor_count(learner.network); i++) {
        imp_network_tensor a = imp_network_tensor_at(learner.network, i);
        imp_network_tensor b = imp_network_tensor_at(again.network, i);
        assert_memory_equal(a.values, b.values, a.count * sizeof(float));
    }
    size_t count;
    const float *left = imp_optimizer_state(learner.network_optimizer, &count);
    assert_memory_equal(left, imp_optimizer_state(again.network_optimizer, NULL),
                        count * sizeof(float));
    assert_int_equal(imp_optimizer_steps(again.network_optimizer), 77);
    assert_true(again.values[0] == 1.25f && imp_method_values(again.method, NULL)[0] == 1.25);
    assert_true(read.best.taken && read.best.count == checkpoint.best.count);
    assert_memory_equal(read.best.values, checkpoint.best.values, read.best.count * sizeof(float));

    imp_learner_clear(&again);
    imp_checkpoint_clear(&read);
    imp_snapshot_clear(&checkpoint.best);
    imp_learner_clear(&learner);
}

/* Cut at any place, a checkpoint is refused with its name. */
static void test_torn(void **state)
{
    scratch_path path = scratch_file(state, "checkpoint"), torn = scratch_file(state, "torn");
    imp_settings settings = tiny_settings();
    imp_learner learner = make_learner(&settings);
    imp_checkpoint checkpoint = make_checkpoint(&settings, &learner);
    assert_int_equal(imp_checkpoint_save(path.text, &learner, &checkpoint, NULL), IMP_OK);
    static unsigned char bytes[1 << 16];
    FILE *file = fopen(path.text, "rb");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t length = 0; length < size; length += 97) {
        scratch_write(torn.text, bytes, length);
        imp_learner again;
        imp_checkpoint read;
        imp_error error;
        assert_int_equal(imp_checkpoint_load(torn.text, 1, &again, &read, &error), IMP_EFORMAT);
        assert_non_null(strstr(error.message, torn.text));
        assert_null(again.network);
    }
    imp_snapshot_clear(&checkpoint.best);
    imp_learner_clear(&learner);
}

static void test_out_of_memory(void **state)
{
    scratch_path path = scratch_file(state, "checkpoint");
    bool failed = true;
    for (size_t fail_at = 1; failed; fail_at++) {
        failing_allocator allocator;
        imp_settings settings = tiny_settings();
        imp_learner learner = make_learner(&settings);
        imp_checkpoint checkpoint = make_checkpoint(&settings, &learner);
        assert_int_equal(imp_checkpoint_save(path.text, &learner, &checkpoint, NULL), IMP_OK);
        imp_snapshot_clear(&checkpoint.best);
        imp_learner_clear(&learner);

        failing_allocator_install(&allocator, fail_at);
        json_set_alloc_funcs(malloc, free); /* jansson aborts when memory ends within a string */
        imp_checkpoint read;
        imp_error error;
        imp_status status = imp_checkpoint_load(path.text, 1, &learner, &read, &error);
        if (status == IMP_OK)
            status = imp_checkpoint_save(path.text, &learner, &read, &error);
        imp_learner_clear(&learner);
        imp_checkpoint_clear(&read);
        assert_int_equal(allocator.live, 0);
        failed = failing_allocator_remove(&allocator);
        assert_int_equal(status, failed ? IMP_ENOMEM : IMP_OK);
        assert_int_equal(scratch_entries(state), 1);
    }
}

static void test_model(void **state)
{
    scratch_path path = scratch_file(state, "model"), copy = scratch_file(state, "copy");
    imp_settings settings = tiny_settings();
    imp_learner learner = make_learner(&settings);
    imp_model_origin origin = {.data = {"glyphs", "abc", "def"}, .update = 5, .validation = 0.5};
    assert_int_equal(imp_model_save(&learner, &settings, &origin, path.text, NULL), IMP_OK);
    imp_model model;
    assert_int_equal(imp_model_load(path.text, 1, &model, NULL), IMP_OK);
    assert_string_equal(model.settings.method, "imp");
    assert_string_equal(model.origin.data.kind, "glyphs");
    assert_string_equal(model.origin.data.fingerprint, "abc");
    assert_string_equal(model.origin.data.split, "def");
    assert_int_equal(model.origin.update, 5);
    assert_true(model.origin.validation == 0.5 && model.values[0] == 1.25);
    assert_true(fabs(model.settings.sigma_l - exp(1.25)) < 1e-12);
    assert_int_equal(imp_network_options_of(model.network)->width, 8);

    /* the network alone comes out of it, too */
    imp_network *network;
    assert_int_equal(imp_network_load(path.text, NULL, NULL, &network, NULL), IMP_OK);
    imp_network_free(network);

    assert_int_equal(imp_model_write(&model, copy.text, NULL), IMP_OK);
    imp_model again;
    assert_int_equal(imp_model_load(copy.text, 1, &again, NULL), IMP_OK);
    assert_true(again.values[0] == 1.25);
    imp_model_clear(&again);
    imp_model_clear(&model);

    imp_error error;
    uint64_t update;
    assert_int_equal(imp_checkpoint_glance(path.text, &model.settings, &update, &error), IMP_OK);
    assert_int_equal(update, 5);
    imp_settings_clear(&model.settings);
    imp_learner none;
    imp_checkpoint read;
    assert_int_equal(imp_checkpoint_load(path.text, 1, &none, &read, &error), IMP_EFORMAT);
    imp_learner_clear(&learner);
}

/* A model goes from a program of one locale to one of another. */
static void test_model_between_locales(void **state)
{
    scratch_path there = scratch_file(state, "there"), back = scratch_file(state, "back");
    comma_locale_enter(state);
    imp_settings settings = tiny_settings();
    imp_learner learner = make_learner(&settings);
    imp_model_origin origin = {.update = 5, .validation = 0.625};
    imp_model model;
    assert_int_equal(imp_model_save(&learner, &settings, &origin, there.text, NULL), IMP_OK);
    comma_locale_leave();

    assert_int_equal(imp_model_load(there.text, 1, &model, NULL), IMP_OK);
    assert_true(model.origin.validation == 0.625 && model.settings.rate == settings.rate);
    assert_int_equal(imp_model_write(&model, back.text, NULL), IMP_OK);
    imp_model_clear(&model);

    comma_locale_enter(state);
    assert_int_equal(imp_model_load(back.text, 1, &model, NULL), IMP_OK);
    assert_true(model.origin.validation == 0.625 && model.settings.rate == settings.rate);
    imp_model_clear(&model);
    comma_locale_leave();
    imp_learner_clear(&learner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_torn, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_out_of_memory, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_model, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_model_between_locales, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
