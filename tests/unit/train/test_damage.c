/*
 * test_damage.c - checkpoints that were damaged on the disk: noticed, never called good, and passed
 * over in favour of the one before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "pictures.h"
#include "scratch.h"
#include "tiny_run.h"
#include "train/run_folder.h"
#include "train/trainer.h"

typedef struct run {
    imp_settings settings;
    imp_dataset *dataset;
    imp_trainer_options options;
    char notice[1000]; /* the last, empty if there was none */
    uint64_t stop;     /* after this update; 0: never */
    imp_error error;
} run;

static bool proceed(const imp_train_report *report, void *context)
{
    const run *work = context;
    return report->update != work->stop;
}

static void take_notice(const char *sentence, void *context)
{
    run *work = context;
    snprintf(work->notice, sizeof work->notice, "%s", sentence);
}

static void begin(run *work, const char *folder)
{
    *work = (run){.settings = tiny_settings("imp"),
                  .options = {.folder = folder,
                              .threads = 1,
                              .proceed = proceed,
                              .notice = take_notice,
                              .context = work}};
    work->settings.updates = 9;
    work->settings.checkpoint_every = 2;
    work->dataset = tiny_dataset(&work->settings);
}

static imp_status train(run *work, uint64_t stop)
{
    imp_train_result result;
    work->stop = stop;
    return imp_trainer_run(&work->settings, work->dataset, &work->options, &result, &work->error);
}

static imp_status resume(run *work, uint64_t stop)
{
    imp_train_result result;
    work->stop = stop;
    work->notice[0] = '\0';
    return imp_trainer_resume(&work->settings, work->dataset, &work->options, &result,
                              &work->error);
}

/* Flips a bit of the last tensor of a file. */
static void damage(const char *folder, const char *name)
{
    imp_training_path path = imp_training_file(folder, name);
    unsigned char *bytes;
    size_t size;
    assert_int_equal(imp_file_read(path.text, 1 << 24, &bytes, &size, NULL), IMP_OK);
    bytes[size - 5] ^= 16;
    scratch_write(path.text, bytes, size);
    imp_release(bytes);
}

static uint64_t update_of(const char *folder, const char *name)
{
    imp_settings settings;
    uint64_t update = 0;
    imp_error error;
    if (imp_checkpoint_glance(imp_training_file(folder, name).text, &settings, &update, &error))
        fail_msg("%s", error.message);
    imp_settings_clear(&settings);
    return update;
}

static void the_checkpoint_before_the_last_is_kept(void **state)
{
    scratch_path folder = scratch_file(state, "run");
    run work;
    begin(&work, folder.text);
    assert_int_equal(train(&work, 5), IMP_OK);
    assert_int_equal(update_of(folder.text, imp_checkpoint_name), 5);
    assert_int_equal(update_of(folder.text, imp_kept_checkpoint_name), 4);
    imp_dataset_free(work.dataset);
}

static void a_run_goes_on_from_the_one_before(void **state)
{
    scratch_path whole = scratch_file(state, "whole"), folder = scratch_file(state, "run");
    run work;
    begin(&work, whole.text);
    assert_int_equal(train(&work, 0), IMP_OK);
    imp_dataset_free(work.dataset);

    begin(&work, folder.text);
    assert_int_equal(train(&work, 5), IMP_OK);
    damage(folder.text, imp_checkpoint_name);
    assert_int_equal(resume(&work, 6), IMP_OK);
    assert_non_null(strstr(work.notice, "/checkpoint.safetensors: it is damaged: the SHA-256 of "));
    assert_non_null(strstr(work.notice, "; the run continues from the previous checkpoint, of "
                                        "update 4, '"));
    /* The damaged one did not take its place. */
    assert_int_equal(update_of(folder.text, imp_checkpoint_name), 6);
    assert_int_equal(update_of(folder.text, imp_kept_checkpoint_name), 4);
    assert_int_equal(resume(&work, 0), IMP_OK);
    assert_string_equal(work.notice, "");
    imp_dataset_free(work.dataset);

    unsigned char *expected;
    size_t size;
    assert_int_equal(imp_file_read(imp_training_file(whole.text, imp_model_name).text, 1 << 24,
                                   &expected, &size, NULL),
                     IMP_OK);
    assert_true(scratch_holds(imp_training_file(folder.text, imp_model_name).text, expected, size));
    imp_release(expected);
}

static void a_checkpoint_that_is_gone_is_like_a_damaged_one(void **state)
{
    scratch_path folder = scratch_file(state, "run");
    run work;
    begin(&work, folder.text);
    assert_int_equal(train(&work, 5), IMP_OK);
    assert_int_equal(remove(imp_training_file(folder.text, imp_checkpoint_name).text), 0);
    assert_int_equal(resume(&work, 6), IMP_OK);
    assert_non_null(strstr(work.notice, "No such file"));
    assert_non_null(strstr(work.notice, "of update 4"));
    imp_dataset_free(work.dataset);
}

static void a_run_of_damaged_checkpoints_is_refused(void **state)
{
    scratch_path folder = scratch_file(state, "run");
    run work;
    begin(&work, folder.text);
    assert_int_equal(train(&work, 5), IMP_OK);
    damage(folder.text, imp_checkpoint_name);
    damage(folder.text, imp_kept_checkpoint_name);
    assert_int_equal(resume(&work, 0), IMP_EFORMAT);
    assert_non_null(strstr(work.error.message, "/checkpoint.safetensors: it is damaged"));
    assert_string_equal(work.notice, "");
    uint64_t update;
    assert_null(imp_training_whole_checkpoint(folder.text, &update));
    imp_dataset_free(work.dataset);
}

static void a_damaged_checkpoint_is_never_called_good(void **state)
{
    scratch_path folder = scratch_file(state, "run");
    run work;
    begin(&work, folder.text);
    assert_int_equal(train(&work, 5), IMP_OK);
    work.settings.loss_limit = 1e-9;
    assert_int_equal(resume(&work, 0), IMP_EINVAL);
    assert_non_null(strstr(work.error.message, "; the last intact checkpoint, of update 5, is '"));
    damage(folder.text, imp_checkpoint_name);
    assert_int_equal(resume(&work, 0), IMP_EINVAL);
    assert_non_null(strstr(work.error.message, "; the last intact checkpoint, of update 4, is '"));
    assert_non_null(strstr(work.error.message, imp_kept_checkpoint_name));
    imp_dataset_free(work.dataset);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_setup, tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(the_checkpoint_before_the_last_is_kept),
        IN_FOLDER(a_run_goes_on_from_the_one_before),
        IN_FOLDER(a_checkpoint_that_is_gone_is_like_a_damaged_one),
        IN_FOLDER(a_run_of_damaged_checkpoints_is_refused),
        IN_FOLDER(a_damaged_checkpoint_is_never_called_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
