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
#include "model/model.h"
#include "scratch.h"
#include "train/checkpoint.h"

static imp_settings tiny_settings(void)
{
    imp_settings settings;
    imp_settings_init(&settings);
    settings.network = "conv3x3:4,bn,relu,pool";
    settings.seed = 9;
    return settings;
}

/* An updater in whose arrays no number is like another. */
static imp_updater make_updater(const imp_settings *settings)
{
    imp_updater updater;
    assert_int_equal(imp_updater_from_settings(&updater, settings, 1, 8, 1, NULL), IMP_OK);
    for (size_t i = 0; i < imp_network_tensor_count(updater.network); i++) {
        imp_network_tensor tensor = imp_network_tensor_at(updater.network, i);
        for (size_t v = 0; v < tensor.count; v++)
            tensor.values[v] = (float)(i + 1) + (float)v / 1000.0f;
    }
    size_t count;
    float *state = imp_optimizer_state(updater.network_optimizer, &count);
    for (size_t i = 0; i < count; i++)
        state[i] = 1e-3f * (float)i;
    state = imp_optimizer_state(updater.value_optimizer, &count);
    for (size_t i = 0; i < count; i++)
        state[i] = 5.0f + (float)i;
    imp_optimizer_set_steps(updater.network_optimizer, 77);
    updater.values[0] = 1.25f;
    imp_updater_publish(&updater);
    return updater;
}

static imp_checkpoint make_checkpoint(const imp_settings *settings, const imp_updater *updater)
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
    assert_int_equal(imp_snapshot_make(&checkpoint.best, updater, NULL), IMP_OK);
    imp_snapshot_take(&checkpoint.best, updater);
    return checkpoint;
}

static void assert_same(const imp_updater *updater, const imp_checkpoint *checkpoint,
                        const imp_updater *again, const imp_checkpoint *read)
{
    assert_memory_equal(&read->progress, &checkpoint->progress, sizeof read->progress);
    assert_int_equal(read->json_bytes, 123);
    assert_int_equal(read->csv_bytes, 45);
    assert_string_equal(read->data.fingerprint, checkpoint->data.fingerprint);
    assert_string_equal(read->data.split, checkpoint->data.split);
    static const char *const none[] = {NULL};
    assert_null(imp_settings_difference(&read->settings, &checkpoint->settings, none));
    for (size_t i = 0; i < imp_network_tensor_count(updater->network); i++) {
        imp_network_tensor a = imp_network_tensor_at(updater->network, i);
        imp_network_tensor b = imp_network_tensor_at(again->network, i);
        assert_memory_equal(a.values, b.values, a.count * sizeof(float));
    }
    imp_optimizer *const pairs[][2] = {{updater->network_optimizer, again->network_optimizer},
                                       {updater->value_optimizer, again->value_optimizer}};
    for (size_t i = 0; i < 2; i++) {
        size_t count;
        const float *state = imp_optimizer_state(pairs[i][0], &count);
        assert_memory_equal(state, imp_optimizer_state(pairs[i][1], NULL), count * sizeof(float));
        assert_int_equal(imp_optimizer_steps(pairs[i][1]), 77);
    }
    assert_true(again->values[0] == 1.25f && again->learner->values[0] == 1.25);
    assert_true(read->best.taken && read->best.count == checkpoint->best.count);
    assert_memory_equal(read->best.values, checkpoint->best.values,
                        read->best.count * sizeof(float));
}

static void test_round_trip(void **state)
{
    scratch_path path = scratch_file(state, "checkpoint");
    imp_settings settings = tiny_settings();
    imp_updater updater = make_updater(&settings), again;
    imp_checkpoint checkpoint = make_checkpoint(&settings, &updater), read;
    assert_int_equal(imp_checkpoint_save(path.text, NULL, &updater, &checkpoint, NULL), IMP_OK);
    assert_int_equal(imp_checkpoint_load(path.text, 2, &again, &read, NULL), IMP_OK);
    assert_same(&updater, &checkpoint, &again, &read);
    imp_updater_clear(&again);
    imp_checkpoint_clear(&read);
    imp_snapshot_clear(&checkpoint.best);
    imp_updater_clear(&updater);
}

/* Writes the checkpoint `from` to `to` as it was before its tensors were called what they hold. */
static void write_with_old_names(const char *from, const char *to)
{
    enum { MOST = 32 };
    imp_safetensors *file;
    assert_int_equal(imp_safetensors_load(from, &file, NULL), IMP_OK);
    static const char *const names[][2] = {
        {"training.optimizer.network", "training.optimizer"},
        {"training.optimizer.method", "training.method_optimizer"},
        {"training.best.weights", "training.best"}};
    double clock[10];
    const imp_tensor *window = imp_safetensors_find(file, "training.window");
    assert_int_equal(window->count, 8);
    memcpy(clock, window->data, 8 * sizeof *clock);
    clock[8] = *(const double *)imp_safetensors_find(file, "training.seconds")->data;
    clock[9] = *(const double *)imp_safetensors_find(file, "training.best.accuracy")->data;

    imp_tensor tensors[MOST];
    size_t count = 0;
    for (size_t i = 0; i < imp_safetensors_count(file); i++) {
        imp_tensor tensor = *imp_safetensors_at(file, i);
        bool is_double = tensor.dtype == IMP_FLOAT64;
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            if (strcmp(tensor.name, names[n][0]) == 0)
                tensor.name = names[n][1];
        if (!is_double)
            tensors[count++] = tensor;
    }
    tensors[count++] = (imp_tensor){.name = "training.clock",
                                    .dtype = IMP_FLOAT64,
                                    .rank = 1,
                                    .shape = {10},
                                    .count = 10,
                                    .data = clock};
    static const char *const keys[] = {
        "format", "network", "input",       "version",         "settings",        "data",
        "split",  "update",  "best_update", "optimizer_steps", "log_jsonl_bytes", "log_csv_bytes"};
    imp_metadata metadata[sizeof keys / sizeof *keys];
    size_t known = 0;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const char *value = imp_safetensors_metadata(file, keys[k]);
        if (value)
            metadata[known++] = (imp_metadata){keys[k], value};
    }
    assert_int_equal(imp_safetensors_save(to, tensors, count, metadata, known, NULL), IMP_OK);
    imp_safetensors_free(file);
}

static void test_old_names(void **state)
{
    scratch_path path = scratch_file(state, "checkpoint"), old = scratch_file(state, "old");
    imp_settings settings = tiny_settings();
    imp_updater updater = make_updater(&settings), again;
    imp_checkpoint checkpoint = make_checkpoint(&settings, &updater), read;
    assert_int_equal(imp_checkpoint_save(path.text, NULL, &updater, &checkpoint, NULL), IMP_OK);
    write_with_old_names(path.text, old.text);
    imp_error error;
    if (imp_checkpoint_load(old.text, 1, &again, &read, &error))
        fail_msg("%s", error.message);
    assert_same(&updater, &checkpoint, &again, &read);
    imp_updater_clear(&again);
    imp_checkpoint_clear(&read);
    imp_snapshot_clear(&checkpoint.best);
    imp_updater_clear(&updater);
}

/* A checkpoint's file, with a 0 behind its end; good until the next call. */
static unsigned char *bytes_of_checkpoint(void **state, size_t *size)
{
    static unsigned char bytes[1 << 16];
    scratch_path path = scratch_file(state, "checkpoint");
    imp_settings settings = tiny_settings();
    imp_updater updater = make_updater(&settings);
    imp_checkpoint checkpoint = make_checkpoint(&settings, &updater);
    assert_int_equal(imp_checkpoint_save(path.text, NULL, &updater, &checkpoint, NULL), IMP_OK);
    FILE *file = fopen(path.text, "rb");
    *size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(*size < sizeof bytes);
    bytes[*size] = 0;
    imp_snapshot_clear(&checkpoint.best);
    imp_updater_clear(&updater);
    return bytes;
}

/* Cut at any place, a checkpoint is refused with its name. */
static void test_torn(void **state)
{
    scratch_path torn = scratch_file(state, "torn");
    size_t size;
    const unsigned char *bytes = bytes_of_checkpoint(state, &size);
    for (size_t length = 0; length < size; length += 97) {
        scratch_write(torn.text, bytes, length);
        imp_updater again;
        imp_checkpoint read;
        imp_error error;
        assert_int_equal(imp_checkpoint_load(torn.text, 1, &again, &read, &error), IMP_EFORMAT);
        assert_non_null(strstr(error.message, torn.text));
        assert_null(again.network);
    }
}

/* Whatever bit of it is flipped, a checkpoint is refused. */
static void test_flipped(void **state)
{
    scratch_path other = scratch_file(state, "flipped");
    size_t size;
    unsigned char *bytes = bytes_of_checkpoint(state, &size);
    /* Under another name the checksum is none, and what it was taken of is whole. */
    size_t key = 8 + (size_t)(strstr((char *)bytes + 8, "sha256") - ((char *)bytes + 8));
    for (size_t bit = 0; bit < 8 * size; bit += 53) {
        if (bit / 8 >= key && bit / 8 < key + 6)
            continue;
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        scratch_write(other.text, bytes, size);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        imp_updater again;
        imp_checkpoint read;
        assert_int_equal(imp_checkpoint_load(other.text, 1, &again, &read, NULL), IMP_EFORMAT);
    }
}

static void test_out_of_memory(void **state)
{
    scratch_path path = scratch_file(state, "checkpoint");
    imp_settings settings = tiny_settings();
    imp_updater updater = make_updater(&settings);
    imp_checkpoint checkpoint = make_checkpoint(&settings, &updater);
    assert_int_equal(imp_checkpoint_save(path.text, NULL, &updater, &checkpoint, NULL), IMP_OK);
    imp_snapshot_clear(&checkpoint.best);
    imp_updater_clear(&updater);

    /* jansson aborts when memory ends within a string */
    failing_allocator memory = {.spare_jansson = true};
    while (failing_allocator_next(&memory)) {
        imp_checkpoint read;
        imp_error error;
        imp_status status = imp_checkpoint_load(path.text, 1, &updater, &read, &error);
        if (status == IMP_OK)
            status = imp_checkpoint_save(path.text, NULL, &updater, &read, &error);
        imp_updater_clear(&updater);
        imp_checkpoint_clear(&read);
        failing_allocator_expect(&memory, status);
        assert_int_equal(scratch_entries(state), 1);
    }
}

static imp_status save_model(const imp_updater *updater, const imp_settings *settings,
                             const imp_model_origin *origin, const char *path)
{
    return imp_model_save(updater->learner, updater->values, settings, origin, path, NULL);
}

static void test_model(void **state)
{
    scratch_path path = scratch_file(state, "model"), copy = scratch_file(state, "copy");
    imp_settings settings = tiny_settings();
    imp_updater updater = make_updater(&settings);
    imp_model_origin origin = {.data = {"glyphs", "abc", "def"}, .update = 5, .validation = 0.5};
    assert_int_equal(save_model(&updater, &settings, &origin, path.text), IMP_OK);
    imp_model *model;
    assert_int_equal(imp_model_open(path.text, NULL, &model, NULL), IMP_OK);
    assert_string_equal(model->settings.method, "imp");
    assert_string_equal(model->origin.data.kind, "glyphs");
    assert_string_equal(model->origin.data.fingerprint, "abc");
    assert_string_equal(model->origin.data.split, "def");
    assert_int_equal(model->origin.update, 5);
    assert_true(model->origin.validation == 0.5 && model->values[0] == 1.25);
    assert_true(fabs(model->settings.rule.sigma_l - exp(1.25)) < 1e-12);
    assert_int_equal(imp_network_options_of(model->network)->width, 8);

    /* the network alone comes out of it, too */
    imp_network *network;
    assert_int_equal(imp_network_load(path.text, NULL, NULL, &network, NULL), IMP_OK);
    imp_network_free(network);

    assert_int_equal(imp_model_write(model, copy.text, NULL), IMP_OK);
    imp_model *again;
    assert_int_equal(imp_model_open(copy.text, NULL, &again, NULL), IMP_OK);
    assert_true(again->values[0] == 1.25);
    imp_model_free(again);
    imp_model_free(model);

    imp_error error;
    imp_settings found;
    uint64_t update;
    assert_int_equal(imp_checkpoint_glance(path.text, &found, &update, &error), IMP_OK);
    assert_int_equal(update, 5);
    imp_settings_clear(&found);
    imp_updater none;
    imp_checkpoint read;
    assert_int_equal(imp_checkpoint_load(path.text, 1, &none, &read, &error), IMP_EFORMAT);
    imp_updater_clear(&updater);
}

/* A model goes from a program of one locale to one of another. */
static void test_model_between_locales(void **state)
{
    scratch_path there = scratch_file(state, "there"), back = scratch_file(state, "back");
    comma_locale_enter(state);
    imp_settings settings = tiny_settings();
    imp_updater updater = make_updater(&settings);
    imp_model_origin origin = {.update = 5, .validation = 0.625};
    imp_model *model;
    assert_int_equal(save_model(&updater, &settings, &origin, there.text), IMP_OK);
    comma_locale_leave();

    assert_int_equal(imp_model_open(there.text, NULL, &model, NULL), IMP_OK);
    assert_true(model->origin.validation == 0.625 && model->settings.rate == settings.rate);
    assert_int_equal(imp_model_write(model, back.text, NULL), IMP_OK);
    imp_model_free(model);

    comma_locale_enter(state);
    assert_int_equal(imp_model_open(back.text, NULL, &model, NULL), IMP_OK);
    assert_true(model->origin.validation == 0.625 && model->settings.rate == settings.rate);
    imp_model_free(model);
    comma_locale_leave();
    imp_updater_clear(&updater);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_old_names, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_torn, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_flipped, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_out_of_memory, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_model, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_model_between_locales, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
