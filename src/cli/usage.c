/*
 * usage.c - prints a command's usage from its table of options, wrapped to a terminal's width.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/value.h"
#include "cli/options.h"

enum {
    WIDTH = 80,
    HELP_COLUMN = 24 /* column of the explanations */
};

/* Appends to the string in a buffer of `size` bytes; truncates what does not fit. */
__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size,
                                                         const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

void imp_option_describe(const imp_option *option, char *text, size_t size)
{
    text[0] = '\0';
    switch (option->kind) {
    case IMP_KIND_INTEGER:
        if (option->integers.most == INT64_MAX)
            append(text, size, "an integer of at least %" PRId64, option->integers.least);
        else
            append(text, size, "an integer from %" PRId64 " to %" PRId64, option->integers.least,
                   option->integers.most);
        break;
    case IMP_KIND_NUMBER:
        if (option->info)
            imp_value_describe(option->info, text, size);
        else if (isinf(option->numbers.least) && isinf(option->numbers.most))
            append(text, size, "a number");
        else if (isinf(option->numbers.most))
            append(text, size, "a number of at least %g", option->numbers.least);
        else if (isinf(option->numbers.least))
            append(text, size, "a number of at most %g", option->numbers.most);
        else
            append(text, size, "a number from %g to %g", option->numbers.least,
                   option->numbers.most);
        break;
    case IMP_KIND_CHOICE:
        for (size_t i = 0; option->choices[i]; i++) {
            const char *before = i == 0 ? "" : option->choices[i + 1] ? ", " : " or ";
            append(text, size, "%s%s", before, option->choices[i]);
        }
        break;
    case IMP_KIND_TEXT:
        append(text, size, "a string");
        break;
    case IMP_KIND_TEXTS:
        append(text, size, "a string, up to 8 times");
        break;
    case IMP_KIND_OWN:
        imp_value_describe(option->info, text, size);
        break;
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
}

/* Prints `text` from HELP_COLUMN on, wrapped. The cursor is at `column`. */
static void print_wrapped(const char *text, size_t column, FILE *stream)
{
    if (column + 2 > HELP_COLUMN) {
        fputc('\n', stream);
        column = 0;
    }
    fprintf(stream, "%*s", (int)(HELP_COLUMN - column), "");
    column = HELP_COLUMN;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column > HELP_COLUMN && column + 1 + length > WIDTH) {
            fprintf(stream, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        } else if (column > HELP_COLUMN) {
            fputc(' ', stream);
            column++;
        }
        fprintf(stream, "%.*s", (int)length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', stream);
}

/* ---- rows ---- */

void imp_option_explain(const imp_option *option, const imp_option *heading, imp_detail detail,
                        char *text, size_t size)
{
    char values[300] = "";
    bool number = option->kind == IMP_KIND_INTEGER || option->kind == IMP_KIND_NUMBER ||
                  (option->kind == IMP_KIND_OWN && option->argument);
    /* It goes without saying that a file name is a string. */
    if (option->kind == IMP_KIND_CHOICE || (number && detail == IMP_DETAIL_ALL))
        imp_option_describe(option, values, sizeof values);
    const char *initial = option->initial ? option->initial : option->otherwise;
    if (heading && heading->otherwise)
        initial = NULL;

    text[0] = '\0';
    append(text, size, "%s", option->help);
    if (values[0] != '\0' && initial)
        append(text, size, " (%s; default %s)", values, initial);
    else if (values[0] != '\0')
        append(text, size, " (%s)", values);
    else if (initial)
        append(text, size, " (default %s)", initial);
}

static void print_option(const imp_option *option, const imp_option *heading, imp_detail detail,
                         FILE *stream)
{
    char left[100] = "", right[1200];
    if (option->letter)
        append(left, sizeof left, "  -%c, --%s", option->letter, option->name);
    else
        append(left, sizeof left, "  --%s", option->name);
    if (option->argument)
        append(left, sizeof left, " %s", option->argument);
    imp_option_explain(option, heading, detail, right, sizeof right);
    fputs(left, stream);
    print_wrapped(right, strlen(left), stream);
}

static void print_heading(const imp_option *heading, FILE *stream)
{
    fprintf(stream, "\n%s", heading->help);
    if (heading->otherwise)
        fprintf(stream, " (default: %s)", heading->otherwise);
    fputc('\n', stream);
}

static void print_actions(const imp_usage *usage, FILE *stream)
{
    fputs("\nActions\n", stream);
    for (const imp_action *action = usage->actions; action->name; action++) {
        char left[100];
        snprintf(left, sizeof left, "  %s %s", action->name, action->operands);
        fputs(left, stream);
        print_wrapped(action->summary, strlen(left), stream);
    }
}

/* ---- the whole ---- */

void imp_usage_print(const imp_usage *usage, imp_detail detail, FILE *stream)
{
    fprintf(stream, "Usage: imp %s %s[OPTION]...%s%s\n\n%s.\n", usage->command,
            usage->actions ? "ACTION " : "", usage->operands ? " " : "",
            usage->operands ? usage->operands : "", usage->summary);
    if (usage->actions)
        print_actions(usage, stream);

    /* A heading is printed only if an option below it is shown. */
    static const imp_option unnamed = {IMP_OPTION_HEADING("Options")};
    const imp_option *heading = &unnamed, *waiting = &unnamed;
    bool rest = false;
    imp_option_walk walk = {.usage = usage};
    for (const imp_option *option; (option = imp_option_next(&walk));) {
        if (option->kind == IMP_KIND_HEADING) {
            heading = waiting = option;
            rest = false;
        } else if (option->kind == IMP_KIND_REST) {
            rest = true;
        } else if (!rest || detail == IMP_DETAIL_ALL) {
            if (waiting)
                print_heading(waiting, stream);
            waiting = NULL;
            print_option(option, heading, detail, stream);
        }
    }
    const char *help = "\n  -h, --help";
    fputs(help, stream);
    print_wrapped("this help; --help-all shows all options and values", strlen(help) - 1, stream);

    fputs("\nExamples\n", stream);
    for (size_t i = 0; usage->examples[i]; i++)
        fprintf(stream, "  %s\n", usage->examples[i]);
}
