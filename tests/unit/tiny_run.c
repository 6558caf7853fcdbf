/* tiny_run.c - tiny runs, and the resident memory of the process that makes them. */
#include "tiny_run.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "train/trainer.h"

imp_settings tiny_settings(const char *method)
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

imp_dataset *tiny_dataset(const imp_settings *settings)
{
    imp_dataset *dataset;
    imp_dataset_options options = imp_settings_data(settings, 1);
    assert_int_equal(imp_dataset_open("glyphs", &options, &dataset, NULL), IMP_OK);
    return dataset;
}

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define HOLDS_BACK_MEMORY
#endif
#endif

static size_t resident_bytes(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*s %zu", &pages), 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

typedef struct watch {
    size_t settled, last; /* resident bytes after a tenth of the updates and after all */
} watch;

static bool look(const imp_train_report *report, void *context)
{
    watch *seen = context;
    if (report->update == report->updates / 10)
        seen->settled = resident_bytes();
    if (report->update == report->updates)
        seen->last = resident_bytes();
    return true;
}

void assert_flat_memory(const char *folder, int64_t updates)
{
#ifdef HOLDS_BACK_MEMORY
    skip();
#endif
    enum { BLUR = 1 << 20 }; /* what the C library and the kernel may do behind our back */
    imp_settings settings = tiny_settings("imp");
    settings.updates = updates;
    settings.validate_every = updates / 50;
    settings.validation_episodes = 2;
    settings.checkpoint_every = updates / 50;
    imp_dataset *dataset = tiny_dataset(&settings);
    watch seen = {0};
    imp_trainer_options options = {
        .folder = folder, .threads = 1, .proceed = look, .context = &seen};
    imp_train_result result;
    imp_error error;
    if (imp_trainer_run(&settings, dataset, &options, &result, &error) != IMP_OK)
        fail_msg("%s", error.message);
    imp_dataset_free(dataset);
    assert_true(seen.settled > 0 && seen.last > 0);
    if (seen.last > seen.settled + BLUR)
        fail_msg("resident memory grew from %zu to %zu KB in %lld updates", seen.settled / 1024,
                 seen.last / 1024, (long long)(updates - updates / 10));
}
