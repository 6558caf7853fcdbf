/*
 * options.c - parses a command line according to a table of options.
 *
 * Strict on purpose: no abbreviations, no trailing characters after numbers, nothing out of range.
 * A typo must never start a day of training with the wrong settings.
 */
#include "cli/options.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/old_words.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "base/value.h"
#include "methods/method.h"

void imp_print_text(const char *text, FILE *stream)
{
    while (*text) {
        size_t control = imp_utf8_control(text);
        fputc(control > 0 ? '?' : *text, stream);
        text += control > 0 ? control : 1;
    }
}

void imp_print_word(const char *word, FILE *stream)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_";
    if (*word && word[strspn(word, plain)] == '\0') {
        fputs(word, stream);
        return;
    }
    fputc('\'', stream);
    while (*word) {
        size_t control = imp_utf8_control(word);
        if (*word == '\'')
            fputs("'\\'", stream); /* outside the quotes, which then reopen */
        fputc(control > 0 ? '?' : *word, stream);
        word += control > 0 ? control : 1;
    }
    fputc('\'', stream);
}

int imp_complain(int status, const char *command, const char *format, ...)
{
    char sentence[2 * PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (command)
        fprintf(stderr, "imp %s: ", command);
    else
        fputs("imp: ", stderr);
    imp_print_text(sentence, stderr);
    fputc('\n', stderr);
    return status;
}

/* ---- values ---- */

static bool parse_integer(const imp_option *option, const char *text, int64_t *value)
{
    /* strtoimax() would skip spaces and accept an empty string as zero. */
    if (text[0] == '\0' || text[strspn(text, "+-0123456789")] != '\0')
        return false;
    char *end;
    errno = 0;
    intmax_t parsed = strtoimax(text, &end, 10);
    if (errno != 0 || *end != '\0')
        return false;
    if (parsed < option->integers.least || parsed > option->integers.most)
        return false;
    *value = (int64_t)parsed;
    return true;
}

static bool parse_number(const imp_option *option, const char *text, double *value)
{
    if (option->info)
        return imp_value_parse(option->info, text, value);
    /* Decimal only: strtod() also accepts spaces, hexadecimal, infinity and NaN. */
    if (text[0] == '\0' || text[strspn(text, "+-.0123456789eE")] != '\0')
        return false;
    char *end;
    errno = 0;
    double parsed = strtod(text, &end);
    if (errno != 0 || *end != '\0')
        return false;
    if (parsed < option->numbers.least || parsed > option->numbers.most)
        return false;
    *value = parsed;
    return true;
}

static bool parse_own(const imp_option *option, const char *text, imp_named_value *own)
{
    double value;
    return imp_value_parse(option->info, text, &value) &&
           imp_own_set(own, option->info, value, NULL) == IMP_OK;
}

static bool parse_choice(const imp_option *option, const char *text, int *value)
{
    for (int i = 0; option->choices[i]; i++)
        if (strcmp(option->choices[i], text) == 0) {
            *value = i;
            return true;
        }
    const char *now = imp_choice_now(text);
    return now && parse_choice(option, now, value);
}

static bool add_text(imp_texts *texts, const char *text)
{
    if (texts->count == sizeof texts->items / sizeof *texts->items)
        return false;
    texts->items[texts->count++] = text;
    return true;
}

/* Sets the option's member from `text`; false, with nothing set, if it is invalid. */
static bool set_value(const imp_option *option, const char *text, void *settings)
{
    void *member = (char *)settings + option->offset;
    switch (option->kind) {
    case IMP_KIND_INTEGER:
        return parse_integer(option, text, member);
    case IMP_KIND_NUMBER:
        return parse_number(option, text, member);
    case IMP_KIND_CHOICE:
        return parse_choice(option, text, member);
    case IMP_KIND_TEXT:
        *(const char **)member = text;
        return true;
    case IMP_KIND_TEXTS:
        return add_text(member, text);
    case IMP_KIND_OWN:
        return parse_own(option, text, member);
    case IMP_KIND_METHOD:
    case IMP_KIND_LEARNER:
    case IMP_KIND_LEARNER_OWN:
    case IMP_KIND_RULE:
    case IMP_KIND_FLAG:
    case IMP_KIND_HEADING:
    case IMP_KIND_REST:
    case IMP_KIND_END:
        break;
    }
    return false;
}

static int complain_value(const imp_usage *usage, const imp_option *option, const char *text)
{
    char values[300];
    imp_option_describe(option, values, sizeof values);
    imp_suggestion suggestion = imp_suggestion_start(text);
    for (size_t i = 0; option->kind == IMP_KIND_CHOICE && option->choices[i]; i++)
        imp_suggestion_offer(&suggestion, option->choices[i]);
    if (suggestion.nearest)
        return imp_complain(IMP_EXIT_USAGE, usage->command,
                            "option '--%s' needs %s, not '%s'; did you mean '%s'?", option->name,
                            values, text, suggestion.nearest);
    return imp_complain(IMP_EXIT_USAGE, usage->command, "option '--%s' needs %s, not '%s'",
                        option->name, values, text);
}

/* ---- options ---- */

/* Whether the first `length` characters of `word` name the option: --name, or -n for short. */
static bool is_called(const imp_option *option, const char *word, size_t length)
{
    if (!option->name)
        return false;
    if (strncmp(word, "--", 2) != 0)
        return length == 2 && option->letter == word[1];
    char name[100];
    snprintf(name, sizeof name, "%.*s", (int)length - 2, word + 2);
    const char *now = imp_option_now(name);
    return strcmp(option->name, name) == 0 || (now && strcmp(option->name, now) == 0);
}

/* `word` is the option as typed, `length` says where its name ends. */
static int complain_unknown(const imp_usage *usage, const char *word, size_t length)
{
    char name[100];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    imp_suggestion suggestion = imp_suggestion_start(name + strspn(name, "-"));
    imp_suggestion_offer(&suggestion, "help");
    imp_suggestion_offer(&suggestion, "help-all");
    imp_option_walk walk = {.usage = usage};
    for (const imp_option *option; (option = imp_option_next(&walk));)
        if (option->name)
            imp_suggestion_offer(&suggestion, option->name);
    if (suggestion.nearest)
        return imp_complain(IMP_EXIT_USAGE, usage->command,
                            "unknown option '%s'; did you mean '--%s'?", name, suggestion.nearest);
    return imp_complain(IMP_EXIT_USAGE, usage->command,
                        "unknown option '%s'; 'imp %s --help' lists the options", name,
                        usage->command);
}

/* Handles the option at argv[*index] and moves *index to the last word it used. */
static int parse_option(const imp_usage *usage, int argc, char **argv, int *index, void *settings)
{
    const char *word = argv[*index];
    size_t length = strcspn(word, "=");
    const char *value = word[length] == '=' ? word + length + 1 : NULL;

    imp_option_walk walk = {.usage = usage};
    const imp_option *option = imp_option_next(&walk);
    while (option && !is_called(option, word, length))
        option = imp_option_next(&walk);
    if (!option)
        return complain_unknown(usage, word, length);

    if (!option->argument && value)
        return imp_complain(IMP_EXIT_USAGE, usage->command, "option '--%s' takes no value",
                            option->name);
    if (option->kind == IMP_KIND_FLAG) {
        *(bool *)((char *)settings + option->offset) = true;
        return IMP_GO_ON;
    }
    if (!option->argument)
        value = "yes";
    if (!value) {
        if (*index + 1 == argc)
            return imp_complain(IMP_EXIT_USAGE, usage->command, "option '--%s' needs a value: %s",
                                option->name, option->argument);
        value = argv[++*index];
    }
    if (option->once && *(const char **)((char *)settings + option->offset))
        return imp_complain(IMP_EXIT_USAGE, usage->command, "option '--%s' is given twice",
                            option->name);
    /* An unset variable in a script leaves an empty value, which as a path would mean the root. */
    if ((option->kind == IMP_KIND_TEXT || option->kind == IMP_KIND_TEXTS) && value[0] == '\0')
        return imp_complain(IMP_EXIT_USAGE, usage->command,
                            "option '--%s' needs %s, not an empty value", option->name,
                            option->argument);
    if (!set_value(option, value, settings))
        return complain_value(usage, option, value);
    return IMP_GO_ON;
}

/* ---- operands ---- */

int imp_action_find(const imp_usage *usage, const char *name)
{
    for (int i = 0; usage->actions[i].name; i++)
        if (strcmp(usage->actions[i].name, name) == 0)
            return i;
    return -1;
}

static int complain_action(const imp_usage *usage, const char *word)
{
    char names[200] = "";
    imp_suggestion suggestion = imp_suggestion_start(word);
    for (size_t i = 0; usage->actions[i].name; i++) {
        const char *name = usage->actions[i].name;
        const char *before = i == 0 ? "" : usage->actions[i + 1].name ? ", " : " and ";
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", before, name);
        imp_suggestion_offer(&suggestion, name);
    }
    if (suggestion.nearest)
        return imp_complain(IMP_EXIT_USAGE, usage->command,
                            "unknown action '%s'; did you mean '%s'?", word, suggestion.nearest);
    return imp_complain(IMP_EXIT_USAGE, usage->command, "unknown action '%s'; there %s %s", word,
                        usage->actions[1].name ? "are" : "is only", names);
}

static int check_action(const imp_usage *usage, char **argv, int count)
{
    if (count == 0)
        return imp_complain(IMP_EXIT_USAGE, usage->command,
                            "needs an action; 'imp %s --help' lists them", usage->command);
    int index = imp_action_find(usage, argv[1]);
    if (index < 0)
        return complain_action(usage, argv[1]);
    const imp_action *action = &usage->actions[index];
    if (count - 1 > action->count)
        return imp_complain(IMP_EXIT_USAGE, usage->command, "unexpected argument '%s'",
                            argv[action->count + 2]);
    if (count - 1 < action->count)
        return imp_complain(IMP_EXIT_USAGE, usage->command, "'%s' needs %s; got %d argument%s",
                            action->name, action->operands, count - 1, count == 2 ? "" : "s");
    return IMP_GO_ON;
}

static int check_operands(const imp_usage *usage, char **argv, int count)
{
    if (usage->actions)
        return check_action(usage, argv, count);
    if (count > usage->most)
        return imp_complain(IMP_EXIT_USAGE, usage->command, "unexpected argument '%s'",
                            argv[usage->most + 1]);
    if (count < usage->fewest)
        return imp_complain(IMP_EXIT_USAGE, usage->command, "needs %s; got %d argument%s",
                            usage->operands, count, count == 1 ? "" : "s");
    return IMP_GO_ON;
}

/* ---- the whole line ---- */

int imp_parse(const imp_usage *usage, int argc, char **argv, void *settings, int *operands)
{
    imp_option_walk walk = {.usage = usage};
    for (const imp_option *option; (option = imp_option_next(&walk));)
        if (option->initial && !set_value(option, option->initial, settings))
            return complain_value(usage, option, option->initial);

    int count = 0;
    bool only_operands = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        bool is_operand = word[0] != '-' || word[1] == '\0'; /* "-" is standard input or output */
        if (word[0] == '\0')
            return imp_complain(IMP_EXIT_USAGE, usage->command, "argument %d is empty", i);
        if (only_operands || is_operand) {
            argv[++count] = argv[i];
        } else if (strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            imp_usage_print(usage, IMP_DETAIL_SCREEN, stdout);
            return EXIT_SUCCESS;
        } else if (strcmp(word, "--help-all") == 0) {
            imp_usage_print(usage, IMP_DETAIL_ALL, stdout);
            return EXIT_SUCCESS;
        } else {
            int status = parse_option(usage, argc, argv, &i, settings);
            if (status != IMP_GO_ON)
                return status;
        }
    }
    *operands = count;
    return check_operands(usage, argv, count);
}
