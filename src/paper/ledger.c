/* ledger.c - reads, checks and writes result files. */
#include "paper/ledger.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <imp/version.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

imp_result_path imp_result_file(const char *folder, const imp_paper_run *run, int seed)
{
    imp_result_path path;
    int length = snprintf(path.text, sizeof path.text, "%s/%s.json", folder,
                          imp_paper_run_name(run, seed).text);
    if (length < 0 || (size_t)length >= sizeof path.text)
        path.text[0] = '\0'; /* opening it then fails without touching anything else */
    return path;
}

void imp_result_clear(imp_result *result)
{
    json_decref(result->file);
    *result = (imp_result){0};
}

/* ---- looking things up ---- */

json_t *imp_result_evaluation(const imp_result *result, const char *options)
{
    size_t index;
    json_t *evaluation;
    json_array_foreach(json_object_get(result->file, "evaluations"), index, evaluation)
    {
        if (strcmp(json_string_value(json_object_get(evaluation, "options")), options) == 0)
            return evaluation;
    }
    return NULL;
}

bool imp_result_figure(const json_t *evaluation, const char *measure, imp_interval *figure)
{
    const json_t *found = json_object_get(evaluation, measure);
    const json_t *mean = json_object_get(found, "mean");
    const json_t *interval = json_object_get(found, "interval");
    if (!json_is_number(mean))
        return false;
    *figure =
        (imp_interval){.mean = json_number_value(mean),
                       .half_width = json_is_number(interval) ? json_number_value(interval) : NAN};
    return true;
}

bool imp_result_is_open(const json_t *evaluation)
{
    const json_t *sweep = json_object_get(evaluation, "sweep");
    bool open = sweep || json_object_get(evaluation, "open_accuracy");
    for (size_t i = 0; i < json_array_size(sweep); i++)
        open = open && json_object_get(json_array_get(sweep, i), "open_accuracy");
    return open;
}

/* ---- reading ---- */

typedef enum kind { TEXT, NUMBER, OBJECT, LIST } kind;

typedef struct expectation {
    const char *name;
    kind kind;
} expectation;

static bool is_of(const json_t *value, kind wanted)
{
    switch (wanted) {
    case TEXT:
        return json_is_string(value);
    case NUMBER:
        return json_is_number(value);
    case OBJECT:
        return json_is_object(value);
    case LIST:
        return json_is_array(value);
    }
    return false;
}

static imp_status check_members(const json_t *object, const expectation *members, size_t count,
                                imp_error *error)
{
    static const char *const kinds[] = {"a string", "a number", "an object", "a list"};
    if (!json_is_object(object))
        return imp_fail(error, IMP_EFORMAT, "it should hold a JSON object");
    for (size_t i = 0; i < count; i++)
        if (!is_of(json_object_get(object, members[i].name), members[i].kind))
            return imp_fail(error, IMP_EFORMAT, "'%s' is missing or not %s", members[i].name,
                            kinds[members[i].kind]);
    return IMP_OK;
}

static imp_status check(const json_t *file, const imp_paper_run *run, int seed, imp_error *error)
{
    static const expectation members[] = {
        {"run", TEXT},         {"seed", NUMBER},    {"settings", OBJECT},
        {"updates", NUMBER},   {"seconds", NUMBER}, {"images_per_second", NUMBER},
        {"fingerprint", TEXT}, {"model", TEXT},     {"evaluations", LIST}};
    static const expectation of_evaluations[] = {{"options", TEXT}, {"episodes", NUMBER}};
    imp_status status = check_members(file, members, sizeof members / sizeof *members, error);
    if (status)
        return status;
    const char *name = json_string_value(json_object_get(file, "run"));
    if (strcmp(name, run->name) != 0 || json_number_value(json_object_get(file, "seed")) != seed)
        return imp_fail(error, IMP_EFORMAT, "it is the result of '%s', seed %g", name,
                        json_number_value(json_object_get(file, "seed")));
    size_t index;
    json_t *evaluation;
    json_array_foreach(json_object_get(file, "evaluations"), index, evaluation)
    {
        status = check_members(evaluation, of_evaluations,
                               sizeof of_evaluations / sizeof *of_evaluations, error);
        if (status) {
            char place[40];
            snprintf(place, sizeof place, "evaluation %zu", index);
            imp_error_prefix(error, place);
            return status;
        }
    }
    return IMP_OK;
}

static void take_members(imp_result *result)
{
    const json_t *file = result->file;
    result->model = json_string_value(json_object_get(file, "model"));
    result->updates = (int64_t)json_number_value(json_object_get(file, "updates"));
    result->seconds = json_number_value(json_object_get(file, "seconds"));
    result->images_per_second = json_number_value(json_object_get(file, "images_per_second"));
    result->unstable_at = (int64_t)json_number_value(json_object_get(file, "unstable_at"));
}

imp_status imp_result_load(const char *folder, const imp_paper_run *run, int seed,
                           imp_result *result, imp_error *error)
{
    enum { LIMIT = 16 << 20 };
    *result = (imp_result){0};
    imp_result_path path = imp_result_file(folder, run, seed);
    if (access(path.text, F_OK) != 0)
        return IMP_OK;
    unsigned char *text;
    size_t size;
    imp_status status = imp_file_read(path.text, LIMIT, &text, &size, error);
    if (status)
        return status;
    status = imp_json_parse((const char *)text, size, &result->file, error);
    if (!status)
        status = check(result->file, run, seed, error);
    imp_release(text);
    if (status) {
        imp_result_clear(result);
        imp_error_prefix(error, path.text);
        return status;
    }
    take_members(result);
    return IMP_OK;
}

imp_status imp_result_check(const imp_result *result, const imp_settings *wanted, const char *path,
                            imp_error *error)
{
    if (!result->file)
        return IMP_OK;
    imp_settings there;
    imp_settings_init(&there);
    imp_status status =
        imp_settings_from_json(&there, json_object_get(result->file, "settings"), error);
    if (status)
        imp_error_prefix(error, path);
    const char *name = status ? NULL : imp_paper_disagreement(&there, wanted);
    if (name)
        status = imp_fail(error, IMP_EINVAL,
                          "'%s' is the result of a run with a different '%s' than the table needs; "
                          "give another folder with --out",
                          path, name);
    imp_settings_clear(&there);
    return status;
}

/* ---- writing ---- */

imp_status imp_result_begin(imp_result *result, const imp_paper_run *run, int seed,
                            const imp_training_record *record, imp_error *error)
{
    imp_result_clear(result);
    char command[400];
    imp_paper_train_command(run, &record->settings, command, sizeof command);
    imp_settings settings = record->settings;
    settings.data = "DATA";
    result->file = json_pack(
        "{s:s, s:s, s:i, s:s, s:o, s:s, s:I, s:I, s:o, s:f, s:f, s:s, s:[]}", "version",
        imp_version(), "run", run->name, "seed", seed, "command", command, "settings",
        imp_settings_to_json(&settings), "fingerprint", record->fingerprint, "updates",
        (json_int_t)settings.updates, "best_update", (json_int_t)record->best_update, "validation",
        imp_json_number(record->validation), "seconds", record->seconds, "images_per_second",
        record->images_per_second, "model", record->model, "evaluations");
    if (!result->file)
        return imp_fail_memory(error, "a result");
    take_members(result);
    return IMP_OK;
}

imp_status imp_result_end_unstable(imp_result *result, int64_t update, imp_error *error)
{
    if (json_object_set_new(result->file, "unstable_at", json_integer(update)) != 0)
        return imp_fail_memory(error, "a result");
    take_members(result);
    return IMP_OK;
}

imp_status imp_result_add(imp_result *result, json_t *evaluation, imp_error *error)
{
    json_t *list = json_object_get(result->file, "evaluations");
    const char *options = json_string_value(json_object_get(evaluation, "options"));
    for (size_t i = 0; options && i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(list, i), "options")),
                   options) == 0)
            return json_array_set_new(list, i, evaluation) == 0
                       ? IMP_OK
                       : imp_fail_memory(error, "a result");
    return json_array_append_new(list, evaluation) == 0 ? IMP_OK
                                                        : imp_fail_memory(error, "a result");
}

imp_status imp_result_save(const imp_result *result, const char *folder, const imp_paper_run *run,
                           int seed, imp_error *error)
{
    return imp_json_save(imp_result_file(folder, run, seed).text, result->file, error);
}
