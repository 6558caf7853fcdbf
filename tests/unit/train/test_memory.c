/*
 * test_memory.c - training takes memory in its first updates and never again, and gives all of it
 * back; running out of memory anywhere is an error and not a leak.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "failing_allocator.h"
#include "scratch.h"
#include "tiny_run.h"
#include "train/trainer.h"

/* How many allocations had been made when each update ended. */
typedef struct count {
    failing_allocator *allocator;
    size_t after_warm_up, at_end;
    bool has_model; /* which is written when somebody has waited for it, on a busy machine */
} count;

static bool note(const imp_train_report *report, void *context)
{
    enum { WARM_UP = 1 };
    count *seen = context;
    if (report->update == WARM_UP || report->has_model != seen->has_model)
        seen->after_warm_up = seen->allocator->calls;
    seen->has_model = report->has_model;
    seen->at_end = seen->allocator->calls;
    return true;
}

/* Episodes, network, method, optimizer and log; validations, checkpoints and models do take memory.
 */
static void test_allocations(void **state)
{
    static const char *const methods[] = {"imp", "prototypes", "neighbors"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        failing_allocator memory = {0};
        failing_allocator_install(&memory, 0);
        imp_settings settings = tiny_settings(methods[m]);
        settings.updates = settings.checkpoint_every = 3000;
        imp_dataset *dataset = tiny_dataset(&settings);
        count seen = {.allocator = &memory};
        scratch_path folder = scratch_file(state, methods[m]);
        imp_trainer_options options = {
            .folder = folder.text, .threads = 1, .proceed = note, .context = &seen};
        imp_train_result result;
        imp_status status = imp_trainer_run(&settings, dataset, &options, &result, NULL);
        imp_dataset_free(dataset);
        failing_allocator_end(&memory);
        assert_int_equal(status, IMP_OK);
        assert_true(result.finished);
        assert_int_equal(seen.at_end, seen.after_warm_up);
    }
}

static void test_resident(void **state)
{
    assert_flat_memory(scratch_file(state, "run").text, 3000);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_settings settings = tiny_settings("imp");
        settings.updates = 2;
        settings.validate_every = 1;
        settings.validation_episodes = 2;
        imp_dataset *dataset = NULL;
        imp_dataset_options data = imp_settings_data(&settings, 1);
        imp_trainer_options options = {.threads = 1};
        imp_train_result result;
        imp_error error;
        imp_status status = imp_dataset_open("glyphs", &data, &dataset, &error);
        if (status == IMP_OK)
            status = imp_trainer_run(&settings, dataset, &options, &result, &error);
        imp_dataset_free(dataset);
        failing_allocator_expect(&memory, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_allocations, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_resident, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
