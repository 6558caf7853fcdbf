/*
 * json.c - JSON text in and out, through jansson.
 *
 * jansson does the work; this file selects its strict mode, turns its messages into this library's
 * errors and writes files atomically.
 */
#include "base/json.h"

#include <math.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/utf8.h"

static json_t *load(const char *text, size_t size, json_error_t *fault)
{
    return json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, fault);
}

imp_status imp_json_parse(const char *text, size_t size, json_t **out, imp_error *error)
{
    json_error_t fault;
    *out = load(text, size, &fault);
    /* jansson has a sentence for every fault of the text, and none when its own memory ran out. */
    if (*out == NULL && fault.text[0] != '\0')
        return imp_fail(error, IMP_EFORMAT, "line %d, column %d: %s", fault.line, fault.column,
                        fault.text);

    /* When memory fails while jansson (2.14) collects a long string or number, it drops a character
     * and reports success. Texts are short here and the values matter, so each is read twice: if
     * both agree, nothing was lost. */
    json_t *again = load(text, size, &fault);
    bool agree = *out != NULL && again != NULL && json_equal(*out, again);
    json_decref(again);
    if (agree)
        return IMP_OK;
    json_decref(*out);
    *out = NULL;
    return imp_fail_memory(error, "JSON");
}

json_t *imp_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *imp_json_interval(double mean, double half_width)
{
    return json_pack("{s:o, s:o}", "mean", imp_json_number(mean), "interval",
                     imp_json_number(half_width));
}

json_t *imp_json_any_text(const char *text)
{
    char *repaired = imp_utf8_repair(text);
    json_t *value = repaired != NULL ? json_string(repaired) : NULL;
    imp_release(repaired);
    return value;
}

char *imp_json_text(const json_t *value)
{
    const size_t flags = JSON_COMPACT | JSON_ENCODE_ANY;
    /* Not json_dumps(): its text comes from jansson's allocator, which the application may have
     * replaced.
     */
    size_t size = value != NULL ? json_dumpb(value, NULL, 0, flags) : 0;
    char *text = size > 0 ? imp_allocate(size + 1, 1) : NULL;
    if (text == NULL || json_dumpb(value, text, size, flags) != size) {
        imp_release(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}

static imp_status save(const char *path, const json_t *value,
                       imp_status (*commit)(imp_writer *, imp_error *), imp_error *error)
{
    const size_t flags = JSON_INDENT(2) | JSON_ENCODE_ANY;

    if (value == NULL)
        return imp_fail(error, IMP_EINVAL, "cannot write '%s': there is no JSON value", path);
    size_t size = json_dumpb(value, NULL, 0, flags), room;
    char *text = NULL;
    if (size > 0 && imp_add(size, 1, &room))
        text = imp_allocate(room, 1);
    if (text == NULL || json_dumpb(value, text, size, flags) != size) {
        imp_release(text);
        return imp_fail(error, IMP_ENOMEM, "out of memory for the JSON of '%s'", path);
    }
    text[size] = '\n';

    imp_writer writer;
    imp_status status = imp_writer_open(&writer, path, error);
    if (!status)
        status = imp_writer_write(&writer, text, room, error);
    if (!status)
        status = commit(&writer, error);
    imp_release(text);
    return status;
}

imp_status imp_json_save(const char *path, const json_t *value, imp_error *error)
{
    return save(path, value, imp_writer_commit, error);
}

imp_status imp_json_save_new(const char *path, const json_t *value, imp_error *error)
{
    return save(path, value, imp_writer_commit_new, error);
}
