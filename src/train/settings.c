/*
 * settings.c - the table of settings, and reading and writing them by it.
 *
 * What the settings mean to the other layers is in settings_meaning.c.
 */
#include "train/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/suggest.h"

const char *const imp_colour_names[] = {"own", "gray", "rgb", NULL};
const char *const imp_ink_names[] = {"own", "as-is", "invert", NULL};
const char *const imp_task_names[] = {"characters", "alphabets", "classes", "super-classes", NULL};
const char *const imp_no_yes_names[] = {"no", "yes", NULL};
const char *const imp_optimizer_names[] = {"rmsprop", "sgd", "adam", NULL};
const char *const imp_pool_names[] = {"own", "train", "val", "test", "all", NULL};

/* ---- the table ---- */

#define OFFSET(member) .offset = offsetof(imp_settings, member)
#define INTEGER_ROW(member, text, from, to, first, help) \
    {.name = text,                                       \
     .kind = IMP_SETTING_INTEGER,                        \
     OFFSET(member),                                     \
     .least = (double)(from),                            \
     .most = (double)(to),                               \
     .initial = first},
#define NUMBER_ROW(member, text, from, to, first, help) \
    {.name = text,                                      \
     .kind = IMP_SETTING_NUMBER,                        \
     OFFSET(member),                                    \
     .least = (from),                                   \
     .most = (to),                                      \
     .initial = first},
#define TEXT_ROW(member, text, argument, first, help) \
    {.name = text, .kind = IMP_SETTING_TEXT, OFFSET(member), .initial = first},
#define CHOICE_ROW(member, text, names, first, help) \
    {.name = text, .kind = IMP_SETTING_CHOICE, OFFSET(member), .choices = names, .initial = first},
#define FLAG_ROW(member, text, help) \
    {.name = text,                   \
     .kind = IMP_SETTING_FLAG,       \
     OFFSET(member),                 \
     .choices = imp_no_yes_names,    \
     .initial = "no"},

#define NO_ROW()
#define ROWS(list) list(INTEGER_ROW, NUMBER_ROW, TEXT_ROW, CHOICE_ROW, FLAG_ROW, NO_ROW)

static const imp_setting table[] = {ROWS(IMP_DATA_SETTINGS) ROWS(IMP_TASK_SETTINGS)
                                        ROWS(IMP_METHOD_SETTINGS) ROWS(IMP_TRAINING_SETTINGS)};

enum { SETTINGS = sizeof table / sizeof *table };

const imp_setting *imp_setting_at(size_t index)
{
    return index < SETTINGS ? &table[index] : NULL;
}

static const imp_setting *find(const char *name)
{
    for (size_t i = 0; i < SETTINGS; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

static void *member_of(imp_settings *settings, const imp_setting *setting)
{
    return (char *)settings + setting->offset;
}

static const void *value_of(const imp_settings *settings, const imp_setting *setting)
{
    return (const char *)settings + setting->offset;
}

/* ---- texts ---- */

typedef struct text_node {
    struct text_node *next;
    char text[];
} text_node;

/* A copy that lives as long as the settings, or NULL. */
static const char *keep(imp_settings *settings, const char *text)
{
    size_t size = strlen(text) + 1;
    text_node *node = imp_allocate(sizeof *node + size, 1);
    if (!node)
        return NULL;
    node->next = settings->texts;
    memcpy(node->text, text, size);
    settings->texts = node;
    return node->text;
}

void imp_settings_clear(imp_settings *settings)
{
    for (text_node *node = settings->texts, *next; node; node = next) {
        next = node->next;
        imp_release(node);
    }
    *settings = (imp_settings){0};
}

/* ---- values ---- */

static bool parse_integer(const imp_setting *setting, const char *text, int64_t *value)
{
    if (text[0] == '\0' || text[strspn(text, "+-0123456789")] != '\0')
        return false;
    char *end;
    errno = 0;
    intmax_t parsed = strtoimax(text, &end, 10);
    if (errno || *end || (double)parsed < setting->least || (double)parsed > setting->most)
        return false;
    *value = (int64_t)parsed;
    return true;
}

static bool parse_number(const imp_setting *setting, const char *text, double *value)
{
    if (setting->least < 0 && strcmp(text, "auto") == 0) {
        *value = setting->least;
        return true;
    }
    if (text[0] == '\0' || text[strspn(text, "+-.0123456789eE")] != '\0')
        return false;
    char *end;
    errno = 0;
    double parsed = imp_number_read(text, &end);
    if (errno || *end || !(parsed >= setting->least && parsed <= setting->most))
        return false;
    if (parsed < 0 && parsed != setting->least)
        return false; /* between what stands for auto and 0 */
    *value = parsed;
    return true;
}

/* The number of `text` among the choices, or -1. */
static int choice_of(const imp_setting *setting, const char *text)
{
    for (int i = 0; setting->choices[i]; i++)
        if (strcmp(setting->choices[i], text) == 0)
            return i;
    return -1;
}

static imp_status refuse(const imp_setting *setting, const char *value, imp_error *error)
{
    char wanted[200] = "";
    if (setting->kind == IMP_SETTING_INTEGER || setting->kind == IMP_SETTING_NUMBER) {
        const char *what = setting->kind == IMP_SETTING_INTEGER ? "an integer" : "a number";
        if (setting->kind == IMP_SETTING_NUMBER && setting->least < 0)
            snprintf(wanted, sizeof wanted, "%s of at least 0, or auto", what);
        else if (setting->most >= (double)INT64_MAX)
            snprintf(wanted, sizeof wanted, "%s of at least %g", what, setting->least);
        else
            snprintf(wanted, sizeof wanted, "%s from %g to %g", what, setting->least,
                     setting->most);
    } else {
        for (size_t i = 0; setting->choices[i]; i++) {
            size_t used = strlen(wanted);
            snprintf(wanted + used, sizeof wanted - used, "%s%s", i > 0 ? " or " : "",
                     setting->choices[i]);
        }
    }
    return imp_fail(error, IMP_EINVAL, "'%s' needs %s, not '%.100s'", setting->name, wanted, value);
}

static imp_status assign(imp_settings *settings, const imp_setting *setting, const char *value,
                         imp_error *error)
{
    void *member = member_of(settings, setting);
    int choice;
    switch (setting->kind) {
    case IMP_SETTING_INTEGER:
        return parse_integer(setting, value, member) ? IMP_OK : refuse(setting, value, error);
    case IMP_SETTING_NUMBER:
        return parse_number(setting, value, member) ? IMP_OK : refuse(setting, value, error);
    case IMP_SETTING_TEXT: {
        const char *text = keep(settings, value);
        if (!text)
            return imp_fail_memory(error, "the settings");
        *(const char **)member = text;
        return IMP_OK;
    }
    case IMP_SETTING_CHOICE:
    case IMP_SETTING_FLAG:
        choice = choice_of(setting, value);
        if (choice < 0)
            return refuse(setting, value, error);
        if (setting->kind == IMP_SETTING_FLAG)
            *(bool *)member = choice == 1;
        else
            *(int *)member = choice;
        return IMP_OK;
    }
    return IMP_EINVAL;
}

void imp_settings_init(imp_settings *settings)
{
    *settings = (imp_settings){0};
    for (size_t i = 0; i < SETTINGS; i++) {
        if (table[i].kind == IMP_SETTING_TEXT)
            *(const char **)member_of(settings, &table[i]) = table[i].initial;
        else
            (void)assign(settings, &table[i], table[i].initial, NULL);
    }
}

static imp_status refuse_name(const char *name, imp_error *error)
{
    imp_suggestion suggestion = imp_suggestion_start(name);
    for (size_t i = 0; i < SETTINGS; i++)
        imp_suggestion_offer(&suggestion, table[i].name);
    if (suggestion.nearest)
        return imp_fail(error, IMP_EINVAL, "'%.100s' is not a setting; did you mean '%s'?", name,
                        suggestion.nearest);
    return imp_fail(error, IMP_EINVAL, "'%.100s' is not a setting", name);
}

imp_status imp_settings_set(imp_settings *settings, const char *name, const char *value,
                            imp_error *error)
{
    const imp_setting *setting = find(name);
    if (!setting)
        return refuse_name(name, error);
    return assign(settings, setting, value, error);
}

/* ---- JSON ---- */

static json_t *to_json(const imp_settings *settings, const imp_setting *setting)
{
    const void *value = value_of(settings, setting);
    switch (setting->kind) {
    case IMP_SETTING_INTEGER:
        return json_integer(*(const int64_t *)value);
    case IMP_SETTING_NUMBER:
        return json_real(*(const double *)value);
    case IMP_SETTING_TEXT:
        return imp_json_any_text(*(const char *const *)value);
    case IMP_SETTING_CHOICE:
        return json_string(setting->choices[*(const int *)value]);
    case IMP_SETTING_FLAG:
        return json_boolean(*(const bool *)value);
    }
    return NULL;
}

json_t *imp_settings_to_json(const imp_settings *settings)
{
    json_t *object = json_object();
    for (size_t i = 0; object && i < SETTINGS; i++)
        if (json_object_set_new(object, table[i].name, to_json(settings, &table[i])) != 0) {
            json_decref(object);
            return NULL;
        }
    return object;
}

/* A JSON value as the text that imp_settings_set() takes, in `room` if it is no text itself. */
static const char *text_of(const json_t *value, char *room, size_t size)
{
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_boolean(value))
        return json_is_true(value) ? "yes" : "no";
    if (json_is_integer(value))
        snprintf(room, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        imp_number_write(json_real_value(value), 17, room, size);
    else
        snprintf(room, size, "%s", json_is_null(value) ? "null" : "a list or an object");
    return room;
}

imp_status imp_settings_from_json(imp_settings *settings, const json_t *object, imp_error *error)
{
    if (!json_is_object(object))
        return imp_fail(error, IMP_EFORMAT, "the settings are not a JSON object");
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value)
    {
        char room[64];
        imp_status status =
            imp_settings_set(settings, name, text_of(value, room, sizeof room), error);
        if (status)
            return status;
    }
    return IMP_OK;
}

imp_status imp_settings_parse(imp_settings *settings, const char *text, imp_error *error)
{
    json_t *object;
    imp_status status = imp_json_parse(text, strlen(text), &object, error);
    if (status)
        return status;
    status = imp_settings_from_json(settings, object, error);
    json_decref(object);
    return status;
}

bool imp_setting_equal(const imp_setting *setting, const imp_settings *a, const imp_settings *b)
{
    const void *left = value_of(a, setting), *right = value_of(b, setting);
    switch (setting->kind) {
    case IMP_SETTING_INTEGER:
        return *(const int64_t *)left == *(const int64_t *)right;
    case IMP_SETTING_NUMBER:
        return *(const double *)left == *(const double *)right;
    case IMP_SETTING_TEXT:
        return strcmp(*(const char *const *)left, *(const char *const *)right) == 0;
    case IMP_SETTING_CHOICE:
        return *(const int *)left == *(const int *)right;
    case IMP_SETTING_FLAG:
        return *(const bool *)left == *(const bool *)right;
    }
    return false;
}
