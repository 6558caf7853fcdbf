/* log_read.c - parses log.jsonl. */
#include "train/log_read.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "train/run_folder.h"

static const char name[] = "log.jsonl";

/* NAN if it is null, or missing, as in logs of earlier versions. */
static double number(const json_t *line, const char *key)
{
    const json_t *value = json_object_get(line, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static imp_status parse(const char *text, size_t size, imp_train_line *line, imp_error *error)
{
    json_t *object;
    imp_status status = imp_json_parse(text, size, &object, error);
    if (status)
        return status;
    const json_t *update = json_object_get(object, "update");
    if (json_is_integer(update) && json_integer_value(update) >= 0)
        *line = (imp_train_line){.update = (uint64_t)json_integer_value(update),
                                 .loss = number(object, "loss"),
                                 .accuracy = number(object, "accuracy"),
                                 .clusters = number(object, "clusters"),
                                 .sigma_l = number(object, "sigma_l"),
                                 .sigma_u = number(object, "sigma_u"),
                                 .rate = number(object, "rate"),
                                 .norm = number(object, "gradient_norm"),
                                 .validation = number(object, "validation"),
                                 .images_per_second = number(object, "images_per_second"),
                                 .seconds = number(object, "seconds"),
                                 .validation_open = number(object, "validation_open")};
    else
        status = imp_fail(error, IMP_EFORMAT, "there is no 'update'");
    json_decref(object);
    return status;
}

static imp_status parse_all(const char *text, const char *path, imp_train_line *lines,
                            size_t *count, imp_error *error)
{
    /* a line without a newline is still being written */
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        imp_status status = parse(text, (size_t)(end - text), &lines[*count], error);
        if (status) {
            char place[4200];
            snprintf(place, sizeof place, "%s: line %zu", path, *count + 1);
            imp_error_prefix(error, place);
            return status == IMP_ENOMEM ? status : imp_as_format(status, error);
        }
        ++*count;
    }
    return IMP_OK;
}

imp_status imp_log_read(const char *folder, imp_train_line **lines, size_t *count, imp_error *error)
{
    enum { LIMIT = 1 << 28 };
    unsigned char *text;
    size_t size, most = 0;
    *lines = NULL;
    *count = 0;
    imp_training_path path = imp_training_file(folder, name);
    imp_status status = imp_file_read(path.text, LIMIT, &text, &size, error);
    if (status)
        return status;
    for (size_t i = 0; i < size; i++)
        most += text[i] == '\n';
    *lines = imp_allocate(most ? most : 1, sizeof **lines);
    status = *lines ? parse_all((const char *)text, path.text, *lines, count, error)
                    : imp_fail_memory(error, "a log");
    imp_release(text);
    if (status) {
        imp_release(*lines);
        *lines = NULL;
    }
    return status;
}

bool imp_log_is_written(const char *folder)
{
    int descriptor = open(imp_training_file(folder, name).text, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    bool locked = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(descriptor);
    return locked;
}
