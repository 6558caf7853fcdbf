/*
 * test_usage.c - what --help and --help-all print, and that every command keeps to the rules: a
 * screen of 40 lines and 80 columns, defaults told, two examples that the parser would understand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { MOST_LINES = 40, MOST_COLUMNS = 80, FEWEST_EXAMPLES = 2 };

/* What is printed; free() it. */
static char *print(const imp_usage *usage, imp_detail detail)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    imp_usage_print(usage, detail, stream);
    fclose(stream);
    return text;
}

/* ---- one table ---- */

typedef struct settings {
    int64_t batch, seed, depth, from;
    double sigma, shift;
    const char *output;
    int isa;
    bool json;
} settings;

static const char *const isas[] = {"auto", "avx2", "portable", NULL};

static const imp_option options[] = {
    {IMP_OPTION_HEADING("Work")},
    {IMP_OPTION_INTEGER(settings, batch), .name = "batch", .argument = "N", .integers = {1, 4096},
     .initial = "120", .help = "images per step"},
    {IMP_OPTION_CHOICE(settings, isa), .name = "isa", .argument = "NAME", .choices = isas,
     .initial = "auto", .help = "the instruction set to use"},
    {IMP_OPTION_REST},
    {IMP_OPTION_INTEGER(settings, seed), .name = "seed", .argument = "N",
     .integers = {0, INT64_MAX}, .initial = "1", .help = "of all random numbers"},
    {IMP_OPTION_NUMBER(settings, sigma), .name = "sigma", .argument = "X", .numbers = {0, 10},
     .otherwise = "the method's", .help = "the width of a cluster at the beginning"},
    {IMP_OPTION_NUMBER(settings, shift), .name = "shift", .argument = "X",
     .numbers = {-INFINITY, INFINITY}, .help = "moves every point"},
    {IMP_OPTION_HEADING("For the curious")},
    {IMP_OPTION_REST},
    {IMP_OPTION_INTEGER(settings, depth), .name = "depth", .argument = "N", .integers = {1, 9},
     .initial = "3", .help = "how far to look"},
    {IMP_OPTION_HEADING("Data"), .otherwise = "as trained"},
    {IMP_OPTION_INTEGER(settings, from), .name = "from", .argument = "N",
     .integers = {0, INT64_MAX}, .otherwise = "0", .help = "the first image"},
    {IMP_OPTION_HEADING("Output")},
    {IMP_OPTION_TEXT(settings, output), .name = "output", .letter = 'o', .argument = "FILE",
     .help = "where to write the result, which is said at such length that it takes two lines"},
    {IMP_OPTION_FLAG(settings, json), .name = "json", .help = "write JSON"},
    {IMP_OPTION_END}};

static const char *const examples[] = {"imp fit a.npy b.npy", "imp fit --json a.npy", NULL};

static const imp_usage fit = {.command = "fit",
                              .summary = "Fit a mixture to points",
                              .operands = "FILE...",
                              .fewest = 1,
                              .most = 2,
                              .options = options,
                              .examples = examples};

static void help_leaves_out_the_rest_and_ranges(void **state)
{
    (void)state;
    char *text = print(&fit, IMP_DETAIL_SCREEN);
    assert_string_equal(
        text, "Usage: imp fit [OPTION]... FILE...\n"
              "\n"
              "Fit a mixture to points.\n"
              "\n"
              "Work\n"
              "  --batch N             images per step (default 120)\n"
              "  --isa NAME            the instruction set to use (auto, avx2 or portable;\n"
              "                        default auto)\n"
              "\n"
              "Data (default: as trained)\n"
              "  --from N              the first image\n"
              "\n"
              "Output\n"
              "  -o, --output FILE     where to write the result, which is said at such length\n"
              "                        that it takes two lines\n"
              "  --json                write JSON\n"
              "\n"
              "  -h, --help            this help; --help-all shows all options and values\n"
              "\n"
              "Examples\n"
              "  imp fit a.npy b.npy\n"
              "  imp fit --json a.npy\n");
    free(text);
}

static void help_all_tells_everything(void **state)
{
    (void)state;
    char *text = print(&fit, IMP_DETAIL_ALL);
    assert_non_null(strstr(
        text, "Work\n"
              "  --batch N             images per step (an integer from 1 to 4096; default 120)\n"
              "  --isa NAME            the instruction set to use (auto, avx2 or portable;\n"
              "                        default auto)\n"
              "  --seed N              of all random numbers (an integer of at least 0; default\n"
              "                        1)\n"
              "  --sigma X             the width of a cluster at the beginning (a number from 0\n"
              "                        to 10; default the method's)\n"
              "  --shift X             moves every point (a number)\n"
              "\n"
              "For the curious\n"
              "  --depth N             how far to look (an integer from 1 to 9; default 3)\n"
              "\n"
              "Data (default: as trained)\n"
              "  --from N              the first image (an integer of at least 0)\n"));
    free(text);
}

static void actions_are_listed(void **state)
{
    (void)state;
    static const imp_action actions[] = {
        {"show", "DATA", 1, "what it holds"}, {"pack", "DATA FILE", 2, "write one file"}, {0}};
    imp_usage acting = fit;
    acting.actions = actions;
    acting.operands = NULL;
    char *text = print(&acting, IMP_DETAIL_SCREEN);
    const char *beginning = "Usage: imp fit ACTION [OPTION]...\n"
                            "\n"
                            "Fit a mixture to points.\n"
                            "\n"
                            "Actions\n"
                            "  show DATA             what it holds\n"
                            "  pack DATA FILE        write one file\n"
                            "\n"
                            "Work\n";
    assert_memory_equal(text, beginning, strlen(beginning));
    free(text);
}

/* ---- all commands ---- */

/* Fails with a sentence that names the command. */
#define EXPECT(condition, usage, ...)                  \
    do {                                               \
        if (!(condition)) {                            \
            print_error("imp %s: ", (usage)->command); \
            print_error(__VA_ARGS__);                  \
            print_error("\n");                         \
            fail();                                    \
        }                                              \
    } while (0)

static void check_width(const imp_usage *usage, const char *text, size_t *lines)
{
    for (*lines = 0; *text; ++*lines) {
        size_t length = strcspn(text, "\n");
        EXPECT(length <= MOST_COLUMNS, usage, "a line of the help has more than %d columns: %.*s",
               MOST_COLUMNS, (int)length, text);
        text += length + (text[length] == '\n');
    }
}

static void every_help_fits_a_screen(void **state)
{
    (void)state;
    for (const imp_command *command = imp_commands; command->usage; command++) {
        size_t lines;
        char *text = print(command->usage, IMP_DETAIL_ALL);
        check_width(command->usage, text, &lines);
        free(text);
        text = print(command->usage, IMP_DETAIL_SCREEN);
        check_width(command->usage, text, &lines);
        free(text);
        EXPECT(lines <= MOST_LINES, command->usage,
               "--help has %zu lines; a screen has %d, so put IMP_OPTION_REST above the options "
               "that few people need",
               lines, MOST_LINES);
    }
}

static void every_default_is_told(void **state)
{
    (void)state;
    for (const imp_command *command = imp_commands; command->usage; command++) {
        const imp_option *heading = NULL;
        imp_option_walk walk = {.usage = command->usage};
        for (const imp_option *o; (o = imp_option_next(&walk));) {
            if (o->kind == IMP_KIND_HEADING)
                heading = o;
            bool has_value = o->kind == IMP_KIND_INTEGER || o->kind == IMP_KIND_NUMBER ||
                             o->kind == IMP_KIND_CHOICE;
            if (!has_value || (heading && heading->otherwise))
                continue;
            char text[600];
            imp_option_explain(o, heading, IMP_DETAIL_SCREEN, text, sizeof text);
            EXPECT(strstr(text, "default ") || strstr(text, "if not given"), command->usage,
                   "the help does not tell the default of --%s; give it .initial or .otherwise",
                   o->name);
        }
    }
}

static bool has_option(const imp_usage *usage, const char *word, size_t length)
{
    imp_option_walk walk = {.usage = usage};
    for (const imp_option *o; (o = imp_option_next(&walk));)
        if (o->name && strlen(o->name) == length && memcmp(o->name, word, length) == 0)
            return true;
    return false;
}

/* That an example is a command line of this command, made of options that it has. */
static void check_example(const imp_usage *usage, const char *example)
{
    char beginning[40];
    int length = snprintf(beginning, sizeof beginning, "imp %s", usage->command);
    EXPECT(strncmp(example, beginning, (size_t)length) == 0, usage,
           "the example '%s' is of something else", example);
    for (const char *word = strstr(example, " --"); word; word = strstr(word, " --")) {
        word += strlen(" --");
        size_t end = strcspn(word, " =\n");
        EXPECT(has_option(usage, word, end), usage, "the example '%s' uses --%.*s, which is none",
               example, (int)end, word);
    }
}

static bool shown_in_an_example(const imp_usage *usage, const imp_action *action)
{
    char words[80];
    snprintf(words, sizeof words, "imp %s %s ", usage->command, action->name);
    for (size_t i = 0; usage->examples[i]; i++)
        if (strncmp(usage->examples[i], words, strlen(words)) == 0)
            return true;
    return false;
}

static void every_command_has_details_and_examples(void **state)
{
    (void)state;
    for (const imp_command *command = imp_commands; command->usage; command++) {
        const imp_usage *usage = command->usage;
        EXPECT(usage->details, usage, "no .details for its man page");
        size_t count = 0;
        for (; usage->examples[count]; count++)
            check_example(usage, usage->examples[count]);
        EXPECT(count >= FEWEST_EXAMPLES, usage, "%zu examples; at least %d are wanted", count,
               FEWEST_EXAMPLES);
        for (const imp_action *action = usage->actions; action && action->name; action++)
            EXPECT(shown_in_an_example(usage, action), usage, "no example of '%s'", action->name);
    }
}

/* More than a handful of options need headings to be found by. */
static void every_long_list_has_groups(void **state)
{
    (void)state;
    enum { HANDFUL = 6 };
    for (const imp_command *command = imp_commands; command->usage; command++) {
        size_t rows = 0, headings = 0;
        imp_option_walk walk = {.usage = command->usage};
        for (const imp_option *o; (o = imp_option_next(&walk));) {
            rows += o->name != NULL;
            headings += o->kind == IMP_KIND_HEADING;
        }
        EXPECT(rows <= HANDFUL || headings >= 2, command->usage,
               "%zu options without groups; give them headings", rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_leaves_out_the_rest_and_ranges),
        cmocka_unit_test(help_all_tells_everything),
        cmocka_unit_test(actions_are_listed),
        cmocka_unit_test(every_help_fits_a_screen),
        cmocka_unit_test(every_default_is_told),
        cmocka_unit_test(every_command_has_details_and_examples),
        cmocka_unit_test(every_long_list_has_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
