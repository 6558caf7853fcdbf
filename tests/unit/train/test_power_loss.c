/*
 * test_power_loss.c - the power goes off after each change of a file that is replaced, or of a run:
 * what is found then is the old file or the new one, and a run goes on to the same bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <imp/mixture.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/dataset.h"
#include "pictures.h"
#include "power_loss.h"
#include "scratch.h"
#include "tiny_run.h"
#include "train/run_folder.h"
#include "train/trainer.h"

typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

static bytes read_bytes(const char *folder, const char *name)
{
    bytes all;
    imp_error error;
    if (imp_file_read(imp_training_file(folder, name).text, 1 << 24, &all.data, &all.size, &error))
        fail_msg("%s", error.message);
    return all;
}

static bool holds(const char *folder, const char *name, const bytes *expected)
{
    return scratch_holds(imp_training_file(folder, name).text, expected->data, expected->size);
}

/* ---- files that are replaced ---- */

typedef struct versions {
    const char *name;
    bytes old, new; /* no old one: there is nothing */
    size_t old_seen, new_seen;
} versions;

static void is_old_or_new(const char *folder, void *context)
{
    versions *known = context;
    bool there = imp_training_has(folder, known->name);
    if (there && holds(folder, known->name, &known->new))
        known->new_seen++;
    else if (known->old.data ? holds(folder, known->name, &known->old) : !there)
        known->old_seen++;
    else
        fail_msg("%s is neither the old file nor the new one", known->name);
}

static void is_new(const char *folder, void *context)
{
    const versions *known = context;
    assert_true(holds(folder, known->name, &known->new));
}

static void replay(void **state, versions *known)
{
    scratch_path after = scratch_file(state, "after");
    size_t states = power_loss_replay(after.text, is_old_or_new, is_new, known);
    assert_true(states > 5 && known->old_seen > 0 && known->new_seen > 0);
    imp_release(known->old.data);
    imp_release(known->new.data);
}

static imp_mixture *some_mixture(float at)
{
    imp_mixture *mixture;
    float x[] = {at, 1, 2, 3, 4, 5};
    int32_t y[] = {0, 1, 0};
    assert_int_equal(imp_mixture_fit(x, y, 3, 2, NULL, &mixture, NULL), IMP_OK);
    return mixture;
}

static void a_mixture(void **state)
{
    for (int replaces = 0; replaces <= 1; replaces++) {
        scratch_path folder = scratch_file(state, replaces ? "replaced" : "fresh");
        versions known = {.name = "mixture"};
        make_folders(folder.text);
        imp_training_path path = imp_training_file(folder.text, known.name);
        imp_mixture *before = some_mixture(0), *after = some_mixture(9);
        if (replaces) {
            assert_int_equal(imp_mixture_save(before, path.text, NULL), IMP_OK);
            known.old = read_bytes(folder.text, known.name);
        }
        power_loss_watch(folder.text);
        assert_int_equal(imp_mixture_save(after, path.text, NULL), IMP_OK);
        known.new = read_bytes(folder.text, known.name);
        replay(state, &known);
        imp_mixture_free(before);
        imp_mixture_free(after);
    }
}

static void a_pack(void **state)
{
    scratch_path folder = scratch_file(state, "packs");
    versions known = {.name = "pack"};
    make_folders(folder.text);
    imp_training_path path = imp_training_file(folder.text, known.name);
    imp_settings settings = tiny_settings("imp");
    imp_dataset *dataset = tiny_dataset(&settings);
    scratch_write(path.text, "what was there", 14);
    known.old = read_bytes(folder.text, known.name);
    power_loss_watch(folder.text);
    assert_int_equal(imp_dataset_pack(dataset, path.text, NULL), IMP_OK);
    known.new = read_bytes(folder.text, known.name);
    replay(state, &known);
    imp_dataset_free(dataset);
}

/* ---- a run ---- */

typedef struct run {
    imp_settings settings;
    imp_dataset *dataset;
    bytes model;
    size_t begun, resumed;
} run;

static size_t lines_of(const char *folder, const char *name)
{
    bytes text = read_bytes(folder, name);
    size_t lines = 0;
    for (size_t i = 0; i < text.size; i++)
        lines += text.data[i] == '\n';
    imp_release(text.data);
    return lines;
}

static void goes_on(const char *folder, void *context)
{
    run *work = context;
    imp_training_path path = imp_training_file(folder, "run");
    bool begun =
        imp_training_has(path.text, imp_settings_name) || imp_training_has_checkpoint(path.text);
    imp_trainer_options options = {.folder = path.text, .threads = 1};
    imp_train_result result;
    imp_error error;
    imp_status status =
        begun ? imp_trainer_resume(&work->settings, work->dataset, &options, &result, &error)
              : imp_trainer_run(&work->settings, work->dataset, &options, &result, &error);
    if (status)
        fail_msg("%s", error.message);
    assert_true(holds(path.text, imp_model_name, &work->model));
    assert_int_equal(lines_of(path.text, "log.jsonl"), work->settings.updates);
    assert_int_equal(lines_of(path.text, "log.csv"), work->settings.updates + 1);
    begun ? work->resumed++ : work->begun++;
}

static void is_finished(const char *folder, void *context)
{
    run *work = context;
    imp_training_path path = imp_training_file(folder, "run");
    imp_settings settings;
    uint64_t update = 0;
    imp_error error;
    if (imp_training_glance(path.text, &settings, &update, &error))
        fail_msg("%s", error.message);
    imp_settings_clear(&settings);
    assert_int_equal(update, work->settings.updates);
    assert_true(holds(path.text, imp_model_name, &work->model));
    assert_int_equal(lines_of(path.text, "log.jsonl"), work->settings.updates);
}

static void a_run(void **state)
{
    scratch_path folder = scratch_file(state, "runs"), after = scratch_file(state, "after");
    run work = {.settings = tiny_settings("imp")};
    work.settings.updates = 5;
    work.settings.checkpoint_every = 2;
    work.settings.validate_every = 3;
    work.settings.validation_episodes = 1;
    work.settings.validation_way = 2;
    work.dataset = tiny_dataset(&work.settings);
    make_folders(folder.text);
    imp_training_path path = imp_training_file(folder.text, "run");
    imp_trainer_options options = {.folder = path.text, .threads = 1};
    imp_train_result result;
    imp_error error;
    power_loss_watch(folder.text);
    if (imp_trainer_run(&work.settings, work.dataset, &options, &result, &error))
        fail_msg("%s", error.message);
    work.model = read_bytes(path.text, imp_model_name);
    size_t states = power_loss_replay(after.text, goes_on, is_finished, &work);
    assert_true(states > 30 && work.begun > 0 && work.resumed > 20);
    imp_release(work.model.data);
    imp_dataset_free(work.dataset);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_setup, tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_mixture),
        IN_FOLDER(a_pack),
        IN_FOLDER(a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
