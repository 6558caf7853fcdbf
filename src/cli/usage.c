/*
 * usage.c - prints a command's usage from its table of options, wrapped to a terminal's width.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "cli/options.h"

enum {
    WIDTH = 80,
    HELP_COLUMN = 24 /* where the explanations begin */
};

/* Appends to the text in a buffer of `size` bytes; what does not fit is cut. */
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
        if (isinf(option->numbers.least) && isinf(option->numbers.most))
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
        append(text, size, "a text");
        break;
    case IMP_KIND_FLAG:
    case IMP_KIND_HEADING:
    case IMP_KIND_END:
        break;
    }
}

/* Prints `text` from HELP_COLUMN on, as many lines as it takes. The cursor is at `column`. */
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

static void print_option(const imp_option *option, FILE *stream)
{
    char left[100] = "", right[600] = "", values[300];
    if (option->letter)
        append(left, sizeof left, "  -%c, --%s", option->letter, option->name);
    else
        append(left, sizeof left, "  --%s", option->name);
    if (option->argument)
        append(left, sizeof left, " %s", option->argument);

    append(right, sizeof right, "%s", option->help);
    imp_option_describe(option, values, sizeof values);
    /* That a file name is a text goes without saying. */
    bool worth_saying = values[0] != '\0' && option->kind != IMP_KIND_TEXT;
    if (worth_saying && option->initial)
        append(right, sizeof right, " (%s; default %s)", values, option->initial);
    else if (worth_saying)
        append(right, sizeof right, " (%s)", values);
    else if (option->initial)
        append(right, sizeof right, " (default %s)", option->initial);

    fputs(left, stream);
    print_wrapped(right, strlen(left), stream);
}

void imp_usage_print(const imp_usage *usage, FILE *stream)
{
    fprintf(stream, "Usage: imp %s [OPTION]...%s%s\n\n%s.\n", usage->command,
            usage->operands ? " " : "", usage->operands ? usage->operands : "", usage->summary);

    if (usage->options[0].kind != IMP_KIND_HEADING)
        fputs("\nOptions\n", stream);
    for (const imp_option *option = usage->options; option->kind != IMP_KIND_END; option++) {
        if (option->kind == IMP_KIND_HEADING)
            fprintf(stream, "\n%s\n", option->help);
        else
            print_option(option, stream);
    }
    const char *help = "  -h, --help";
    fputs(help, stream);
    print_wrapped("show this help and exit", strlen(help), stream);

    fputs("\nExamples\n", stream);
    for (size_t i = 0; usage->examples[i]; i++)
        fprintf(stream, "  %s\n", usage->examples[i]);
}
