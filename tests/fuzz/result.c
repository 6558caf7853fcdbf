/*
 * result.c - any text at all as a result file of `imp paper`: figures, or a sentence.
 */
#define _GNU_SOURCE /* memfd_create */

#include "fuzz.h"

#include <sys/stat.h>

#include "paper/ledger.h"

/* A folder in memory, and the file in it that the run's result is read from. */
static const char *some_folder(const imp_paper_run *run, char path[4096])
{
    static char folder[60];
    if (folder[0] == '\0') {
        snprintf(folder, sizeof folder, "/dev/shm/imp-fuzz-result-%d", (int)getpid());
        if (mkdir(folder, 0700) != 0)
            abort();
    }
    snprintf(path, 4096, "%s", imp_result_file(folder, run, 1).text);
    return folder;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    imp_paper_run run = imp_paper_run_at(imp_paper_run_find("alphabets-imp"));
    char path[4096];
    const char *folder = some_folder(&run, path);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
    imp_result result;
    imp_error error = {0};
    imp_status status = imp_result_load(folder, &run, 1, &result, &error);
    fuzz_check(status, &error);
    if (!status) {
        imp_settings wanted;
        imp_settings_init(&wanted);
        fuzz_check(imp_result_check(&result, &wanted, path, &error), &error);
        imp_settings_clear(&wanted);
        size_t i;
        json_t *evaluation;
        json_array_foreach(json_object_get(result.file, "evaluations"), i, evaluation)
        {
            imp_interval figure;
            (void)imp_result_figure(evaluation, "accuracy", &figure);
            const char *options = json_string_value(json_object_get(evaluation, "options"));
            (void)imp_result_evaluation(&result, options ? options : "");
        }
    }
    imp_result_clear(&result);
    unlink(path);
    rmdir(folder);
    if (mkdir(folder, 0700) != 0)
        abort();
    return 0;
}
