/*
 * test_system_calls.c - every call to the system that can fail fails in turn, under training,
 * evaluation, clustering and packing: each ends well or with a sentence, what was there before is
 * there or what replaces it is, and nothing is left open.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <imp/cluster.h>
#include <imp/mixture.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/npy.h"
#include "data/dataset.h"
#include "evaluate/contestant.h"
#include "evaluate/evaluate.h"
#include "model/model.h"
#include "pictures.h"
#include "scratch.h"
#include "system_calls.h"
#include "tiny_run.h"
#include "train/run_folder.h"
#include "train/trainer.h"

static size_t entries(const char *path)
{
    size_t count = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static size_t open_descriptors(void)
{
    return entries("/proc/self/fd");
}

/* Something to try while a call fails. */
typedef struct attempt {
    void (*prepare)(void *context); /* makes things as they were; may be NULL */
    imp_status (*act)(void *context, imp_error *error);
    void (*check)(void *context, imp_status status, const char *failed);
    void *context;
} attempt;

/* Lets call 1 fail, then call 2, ... until there are not so many. Returns how many there are. */
static size_t try_all(const attempt *what)
{
    for (size_t n = 1;; n++) {
        imp_error error = {0};
        if (what->prepare)
            what->prepare(what->context);
        size_t before = open_descriptors();
        system_calls_fail(n);
        imp_status status = what->act(what->context, &error);
        const char *failed = system_calls_end();
        assert_int_equal(open_descriptors(), before);
        if (!failed && status)
            fail_msg("%s", error.message);
        if (status && !error.message[0])
            fail_msg("call %zu, %s, failed without a sentence", n, failed);
        what->check(what->context, status, failed);
        if (!failed)
            return n - 1;
        assert_true(n < 5000);
    }
}

/* ---- files that are replaced ---- */

typedef struct replacing {
    scratch_path path;
    void **state;
    const imp_dataset *dataset;
    const imp_mixture *mixture;
} replacing;

static void put_old(void *context)
{
    const replacing *work = context;
    scratch_write(work->path.text, "old", 3);
}

static imp_status save_mixture(void *context, imp_error *error)
{
    const replacing *work = context;
    return imp_mixture_save(work->mixture, work->path.text, error);
}

static imp_status save_pack(void *context, imp_error *error)
{
    const replacing *work = context;
    return imp_dataset_pack(work->dataset, work->path.text, error);
}

/* After a failure the old file is there; of a temporary one there is no trace, unless it could not
 * be removed. */
static void is_whole(void *context, imp_status status, const char *failed)
{
    const replacing *work = context;
    bool old = scratch_holds(work->path.text, "old", 3);
    if (status != IMP_OK)
        assert_true(old);
    else if (old)
        fail_msg("all went well, but the old file is there (%s failed)", failed ? failed : "none");
    if (!failed || strcmp(failed, "unlink") != 0)
        assert_int_equal(scratch_entries(work->state), 1);
}

static void replacing_a_file(void **state)
{
    float x[] = {0, 1, 2, 3, 4, 5};
    int32_t y[] = {0, 1, 0};
    imp_mixture *mixture;
    imp_settings settings = tiny_settings("imp");
    imp_dataset *dataset = tiny_dataset(&settings);
    assert_int_equal(imp_mixture_fit(x, y, 3, 2, NULL, &mixture, NULL), IMP_OK);
    replacing work = {scratch_file(state, "file"), state, dataset, mixture};
    assert_true(try_all(&(attempt){put_old, save_mixture, is_whole, &work}) > 8);
    assert_true(try_all(&(attempt){put_old, save_pack, is_whole, &work}) > 8);
    imp_mixture_free(mixture);
    imp_dataset_free(dataset);
}

/* ---- reading ---- */

static void ends(void *context, imp_status status, const char *failed)
{
    (void)context, (void)status, (void)failed;
}

static imp_status evaluate(void *context, imp_error *error)
{
    const replacing *work = context;
    imp_dataset *dataset = NULL;
    imp_model *model = NULL;
    imp_status status = imp_model_open(
        imp_training_file(*work->state, "run/model.safetensors").text, NULL, &model, error);
    if (!status)
        status = imp_dataset_open(work->path.text, NULL, &dataset, error);
    if (!status) {
        imp_evaluate_options options = {.task =
                                            imp_settings_task(&model->settings, IMP_FOR_VALIDATION),
                                        .episodes = 2,
                                        .threads = 1};
        imp_contestant self = imp_contestant_of(model, &model->settings);
        imp_evaluation found;
        status = imp_evaluate(imp_model_encoder(model), dataset, &self, 1, &options, &found, error);
    }
    imp_dataset_free(dataset);
    imp_model_free(model);
    return status;
}

static imp_status cluster(void *context, imp_error *error)
{
    const replacing *work = context;
    imp_array points;
    imp_status status = imp_npy_load(work->path.text, &points, error);
    if (status)
        return status;
    imp_cluster_options options = imp_cluster_defaults();
    options.threads = 1;
    imp_clustering *found = NULL;
    status = imp_cluster(points.data, points.shape[0], points.shape[1], &options, &found, error);
    imp_clustering_free(found);
    imp_array_clear(&points);
    return status;
}

/* ---- a run ---- */

typedef struct run {
    imp_settings settings;
    imp_dataset *dataset;
    scratch_path folder;
    unsigned char *model; /* of a run that nothing disturbed */
    size_t size;
    unsigned round;
} run;

static void use_new_folder(void *context)
{
    run *work = context;
    char *end = strrchr(work->folder.text, '/');
    snprintf(end, 20, "/run%u", work->round++);
}

static imp_status train(void *context, imp_error *error)
{
    run *work = context;
    imp_trainer_options options = {.folder = work->folder.text, .threads = 1};
    imp_train_result result;
    return imp_trainer_run(&work->settings, work->dataset, &options, &result, error);
}

/* A run that failed goes on, or begins again where it had not begun, to the same bits. */
static void goes_on(void *context, imp_status status, const char *failed)
{
    run *work = context;
    imp_trainer_options options = {.folder = work->folder.text, .threads = 1};
    imp_train_result result;
    imp_error error;
    bool begun = imp_training_has(work->folder.text, imp_settings_name);
    if (status &&
        (begun ? imp_trainer_resume(&work->settings, work->dataset, &options, &result, &error)
               : imp_trainer_run(&work->settings, work->dataset, &options, &result, &error)))
        fail_msg("after %s failed: %s", failed, error.message);
    imp_training_path model = imp_training_file(work->folder.text, imp_model_name);
    if (!work->model)
        assert_int_equal(imp_file_read(model.text, 1 << 24, &work->model, &work->size, NULL),
                         IMP_OK);
    assert_true(scratch_holds(model.text, work->model, work->size));
}

static void training(void **state)
{
    run work = {.settings = tiny_settings("imp"), .folder = scratch_file(state, "reference")};
    work.settings.updates = 3;
    work.settings.checkpoint_every = 2;
    work.dataset = tiny_dataset(&work.settings);
    assert_int_equal(train(&work, NULL), IMP_OK);
    goes_on(&work, IMP_OK, NULL);
    assert_true(try_all(&(attempt){use_new_folder, train, goes_on, &work}) > 50);
    imp_release(work.model);
    imp_dataset_free(work.dataset);
}

static void evaluation_and_clustering(void **state)
{
    run work = {.settings = tiny_settings("imp"), .folder = scratch_file(state, "run")};
    work.settings.updates = 1;
    work.settings.validation_way = 2;
    work.dataset = tiny_dataset(&work.settings);
    assert_int_equal(train(&work, NULL), IMP_OK);
    replacing pack = {.path = scratch_file(state, "pack"), .state = state};
    assert_int_equal(imp_dataset_pack(work.dataset, pack.path.text, NULL), IMP_OK);
    assert_true(try_all(&(attempt){NULL, evaluate, ends, &pack}) > 5);

    replacing points = {.path = scratch_file(state, "x.npy"), .state = state};
    float x[] = {0, 0, 1, 1, 9, 9, 8, 8};
    imp_array array = {.dtype = IMP_FLOAT32, .rank = 2, .shape = {4, 2}, .count = 8, .data = x};
    assert_int_equal(imp_npy_save(points.path.text, &array, NULL), IMP_OK);
    assert_true(try_all(&(attempt){NULL, cluster, ends, &points}) > 3);
    imp_dataset_free(work.dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(replacing_a_file, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(training, scratch_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(evaluation_and_clustering, scratch_setup, tree_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
