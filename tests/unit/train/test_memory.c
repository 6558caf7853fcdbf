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
#include "train/trainer.h"

static imp_settings tiny_settings(const char *method)
{
    imp_settings settings;
    imp_settings_init(&settings);
    settings.size = 8;
    settings.alphabets = 10;
    settings.fewest_characters = settings.most_characters = 6;
    settings.drawings = 6;
    settings.task = 1;
    settings.way = 2;
    settings.modes = 3;
    settings.queries = 2;
    settings.network = "conv3x3:4,bn,relu,pool";
    settings.method = method;
    settings.validate_every = 0;
    settings.log_every = 1;
    settings.accumulate = 2;
    return settings;
}

static imp_dataset *open_data(const imp_settings *settings)
{
    imp_dataset *dataset;
    imp_dataset_options options = imp_settings_data(settings, 1);
    assert_int_equal(imp_dataset_open("glyphs", &options, &dataset, NULL), IMP_OK);
    return dataset;
}

/* How many allocations had been made when each update ended. */
typedef struct count {
    failing_allocator *allocator;
    size_t after_warm_up, at_end;
} count;

static bool note(const imp_train_report *report, void *context)
{
    enum { WARM_UP = 1 };
    count *seen = context;
    if (report->update == WARM_UP)
        seen->after_warm_up = seen->allocator->calls;
    seen->at_end = seen->allocator->calls;
    return true;
}

static void test_flat(void **state)
{
    (void)state;
    static const char *const methods[] = {"imp", "prototypes", "neighbors"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        failing_allocator allocator;
        failing_allocator_install(&allocator, 0);
        imp_settings settings = tiny_settings(methods[m]);
        settings.updates = 3000;
        imp_dataset *dataset = open_data(&settings);
        count seen = {.allocator = &allocator};
        imp_train_options options = {.threads = 1, .proceed = note, .context = &seen};
        imp_train_result result;
        assert_int_equal(imp_train(&settings, dataset, &options, &result, NULL), IMP_OK);
        assert_true(result.finished);
        assert_int_equal(seen.at_end, seen.after_warm_up);
        imp_dataset_free(dataset);
        assert_int_equal(allocator.live, 0);
        failing_allocator_remove(&allocator);
    }
}

static void test_out_of_memory(void **state)
{
    (void)state;
    bool failed = true;
    for (size_t fail_at = 1; failed; fail_at++) {
        failing_allocator allocator;
        imp_settings settings = tiny_settings("imp");
        settings.updates = 2;
        settings.validate_every = 1;
        settings.validation_episodes = 2;
        failing_allocator_install(&allocator, fail_at);
        imp_dataset *dataset = NULL;
        imp_dataset_options data = imp_settings_data(&settings, 1);
        imp_train_options options = {.threads = 1};
        imp_train_result result;
        imp_error error;
        imp_status status = imp_dataset_open("glyphs", &data, &dataset, &error);
        if (status == IMP_OK)
            status = imp_train(&settings, dataset, &options, &result, &error);
        imp_dataset_free(dataset);
        assert_int_equal(allocator.live, 0);
        failed = failing_allocator_remove(&allocator);
        assert_int_equal(status, failed ? IMP_ENOMEM : IMP_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
