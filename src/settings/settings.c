/*
 * settings.c - the table of settings, and reading and writing them by it.
 *
 * What the settings mean to the other layers is in settings_meaning.c.
 */
#include "settings/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/old_words.h"
#include "base/suggest.h"
#include "base/value.h"
#include "methods/method.h"
#include "methods/rule.h"

const char *const imp_colour_names[] = {"own", "gray", "rgb", NULL};
const char *const imp_ink_names[] = {"own", "as-is", "invert", NULL};
const char *const imp_task_names[] = {"classes", "super-classes", NULL};
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

static const imp_setting table[] = {
    ROWS(IMP_DATA_SETTINGS) ROWS(IMP_TASK_SETTINGS) TEXT_ROW(learner, "learner", , "metric", )
        TEXT_ROW(method, "method", , "imp", ) ROWS(IMP_METHOD_SETTINGS) ROWS(IMP_TRAINING_SETTINGS)
            ROWS(IMP_AUGMENT_SETTINGS)};

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
    if (text[0] == '\0' || text[strspn(text, "+-.0123456789eE")] != '\0')
        return false;
    char *end;
    errno = 0;
    double parsed = imp_number_read(text, &end);
    if (errno || *end || !(parsed >= setting->least && parsed <= setting->most))
        return false;
    *value = parsed;
    return true;
}

/* The index of `text`, or of its current name if it is an old one, among the choices, or -1. */
static int choice_of(const imp_setting *setting, const char *text)
{
    for (int i = 0; setting->choices[i]; i++)
        if (strcmp(setting->choices[i], text) == 0)
            return i;
    const char *now = imp_choice_now(text);
    return now ? choice_of(setting, now) : -1;
}

static imp_status refuse(const imp_setting *setting, const char *value, imp_error *error)
{
    char wanted[200] = "";
    if (setting->kind == IMP_SETTING_INTEGER || setting->kind == IMP_SETTING_NUMBER) {
        const char *what = setting->kind == IMP_SETTING_INTEGER ? "an integer" : "a number";
        if (setting->most >= (double)INT64_MAX)
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
    *settings = (imp_settings){.rule = IMP_RULE_AUTO};
    for (size_t i = 0; i < SETTINGS; i++) {
        if (table[i].kind == IMP_SETTING_TEXT)
            *(const char **)member_of(settings, &table[i]) = table[i].initial;
        else
            (void)assign(settings, &table[i], table[i].initial, NULL);
    }
}

/* ---- what methods and learners describe ---- */

static imp_status refuse_value(const imp_option_info *option, const char *value, imp_error *error)
{
    char wanted[100];
    imp_value_describe(option, wanted, sizeof wanted);
    return imp_fail(error, IMP_EINVAL, "'%s' needs %s, not '%.100s'", option->name, wanted, value);
}

/* What files of version 0.1 say for a parameter of the rule that is open, in the order of the
 * parameters. */
static const double open_before[] = {NAN, 0, 0, -1, NAN};
static const imp_option_info any_number = {
    .kind = IMP_NUMBER, .least = -INFINITY, .most = INFINITY};

static imp_status set_number(imp_settings *settings, size_t index, const char *value,
                             imp_error *error)
{
    double *number = imp_rule_number(&settings->rule, index);
    double said;
    if (imp_value_parse(&any_number, value, &said) && said == open_before[index])
        *number = IMP_AUTO;
    else if (!imp_value_parse(imp_rule_option_at(index), value, number))
        return refuse_value(imp_rule_option_at(index), value, error);
    return IMP_OK;
}

static imp_status set_own(imp_named_value *own, const imp_option_info *option, const char *value,
                          imp_error *error)
{
    double number;
    if (!imp_value_parse(option, value, &number))
        return refuse_value(option, value, error);
    return imp_own_set(own, option, number, error);
}

static imp_status refuse_name(const char *name, imp_error *error)
{
    imp_suggestion suggestion = imp_suggestion_start(name);
    for (size_t i = 0; i < SETTINGS; i++)
        imp_suggestion_offer(&suggestion, table[i].name);
    for (size_t i = 0; imp_rule_option_at(i); i++)
        imp_suggestion_offer(&suggestion, imp_rule_option_at(i)->name);
    for (size_t m = 0; imp_method_at(m); m++)
        for (size_t i = 0; i < imp_method_at(m)->option_count; i++)
            imp_suggestion_offer(&suggestion, imp_method_at(m)->options[i].name);
    for (size_t k = 0; imp_learner_at(k); k++)
        for (size_t i = 0; i < imp_learner_at(k)->option_count; i++)
            imp_suggestion_offer(&suggestion, imp_learner_at(k)->options[i].name);
    if (suggestion.nearest)
        return imp_fail(error, IMP_EINVAL, "'%.100s' is not a setting; did you mean '%s'?", name,
                        suggestion.nearest);
    return imp_fail(error, IMP_EINVAL, "'%.100s' is not a setting", name);
}

imp_status imp_settings_set(imp_settings *settings, const char *name, const char *value,
                            imp_error *error)
{
    const imp_setting *setting = find(name);
    if (setting)
        return assign(settings, setting, value, error);
    for (size_t i = 0; imp_rule_option_at(i); i++)
        if (strcmp(imp_rule_option_at(i)->name, name) == 0)
            return set_number(settings, i, value, error);
    const imp_option_info *option = imp_own_option(name);
    if (option)
        return set_own(settings->own, option, value, error);
    option = imp_any_learner_option(name);
    return option ? set_own(settings->learner_own, option, value, error) : refuse_name(name, error);
}

imp_status imp_settings_copy(imp_settings *settings, const imp_settings *from, imp_error *error)
{
    imp_settings_clear(settings);
    *settings = *from;
    settings->texts = NULL;
    for (size_t i = 0; i < SETTINGS; i++) {
        if (table[i].kind != IMP_SETTING_TEXT)
            continue;
        const char **text = member_of(settings, &table[i]);
        *text = keep(settings, *text);
        if (!*text)
            return imp_fail_memory(error, "the settings");
    }
    return IMP_OK;
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

static json_t *value_to_json(const imp_option_info *option, double value)
{
    if (isnan(value))
        return json_string("auto");
    if (option->kind == IMP_FLAG)
        return json_boolean(value != 0);
    return option->kind == IMP_INTEGER ? json_integer((json_int_t)value) : json_real(value);
}

/* A method's or learner's own options, and others that were given all the same. */
static bool own_to_json(const imp_named_value *own, const imp_option_info *options, size_t count,
                        const imp_option_info *find_option(const char *name), json_t *object)
{
    bool complete = true;
    for (size_t i = 0; i < count; i++) {
        json_t *value = value_to_json(&options[i], imp_own_value(own, &options[i]));
        complete &= json_object_set_new(object, options[i].name, value) == 0;
    }
    for (size_t i = 0; i < IMP_MOST_OWN_OPTIONS && own[i].name; i++) {
        json_t *value = value_to_json(find_option(own[i].name), own[i].value);
        complete &= json_object_set_new(object, own[i].name, value) == 0;
    }
    return complete;
}

/* The rule, and the own options of method and learner. */
static bool method_to_json(const imp_settings *settings, json_t *object)
{
    imp_rule rule = settings->rule;
    const imp_option_info *option;
    bool complete = true;
    for (size_t i = 0; (option = imp_rule_option_at(i)); i++)
        complete &= json_object_set_new(object, option->name,
                                        value_to_json(option, *imp_rule_number(&rule, i))) == 0;
    const imp_method_info *method = imp_method_find(settings->method);
    const imp_learner_info *learner = imp_learner_find(settings->learner);
    complete &= own_to_json(settings->own, method ? method->options : NULL,
                            method ? method->option_count : 0, imp_own_option, object);
    complete &= own_to_json(settings->learner_own, learner ? learner->options : NULL,
                            learner ? learner->option_count : 0, imp_any_learner_option, object);
    return complete;
}

json_t *imp_settings_to_json(const imp_settings *settings)
{
    json_t *object = json_object();
    bool complete = object;
    for (size_t i = 0; complete && i < SETTINGS; i++)
        complete = json_object_set_new(object, table[i].name, to_json(settings, &table[i])) == 0;
    if (complete && method_to_json(settings, object))
        return object;
    json_decref(object);
    return NULL;
}

const char *imp_settings_json_text(const json_t *value, char *room, size_t size)
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
        imp_status status = imp_settings_set(
            settings, name, imp_settings_json_text(value, room, sizeof room), error);
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

static bool is_equal(const imp_setting *setting, const imp_settings *a, const imp_settings *b)
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

/* The name of the first own option that differs, or NULL. */
static const char *own_difference(const imp_named_value *a, const imp_named_value *b)
{
    for (size_t i = 0; i < IMP_MOST_OWN_OPTIONS; i++) {
        const char *name = a[i].name ? a[i].name : b[i].name;
        if (name && !imp_own_equal(a, b))
            return name;
    }
    return NULL;
}

const char *imp_settings_difference(const imp_settings *a, const imp_settings *b,
                                    const char *const *free_names)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        bool may_differ = false;
        for (const char *const *name = free_names; *name; name++)
            may_differ |= strcmp(table[i].name, *name) == 0;
        if (!may_differ && !is_equal(&table[i], a, b))
            return table[i].name;
    }
    imp_rule left = imp_settings_rule(a), right = imp_settings_rule(b);
    for (size_t i = 0; imp_rule_option_at(i); i++)
        if (!imp_same_value(*imp_rule_number(&left, i), *imp_rule_number(&right, i)))
            return imp_rule_option_at(i)->name;
    const char *name = own_difference(a->own, b->own);
    return name ? name : own_difference(a->learner_own, b->learner_own);
}
