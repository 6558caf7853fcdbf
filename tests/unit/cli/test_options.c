/* test_options.c - the option parser: what it takes, what it refuses and in which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"

typedef struct settings {
    int64_t batch, seed;
    double sigma, shift;
    const char *output, *points;
    int isa;
    bool json;
} settings;

static const char *const isas[] = {"auto", "avx2", "portable", NULL};

static const imp_option options[] = {
    {IMP_OPTION_HEADING("Work")},
    {IMP_OPTION_INTEGER(settings, batch), .name = "batch", .argument = "N", .integers = {1, 4096},
     .initial = "120", .help = "images per step"},
    {IMP_OPTION_INTEGER(settings, seed), .name = "seed", .argument = "N",
     .integers = {0, INT64_MAX}, .initial = "1", .help = "of all random numbers"},
    {IMP_OPTION_NUMBER(settings, sigma), .name = "sigma", .argument = "X", .numbers = {0, 10},
     .initial = "0.5", .help = "the width of a cluster at the beginning"},
    {IMP_OPTION_NUMBER(settings, shift), .name = "shift", .argument = "X",
     .numbers = {-INFINITY, INFINITY}, .help = "moves every point"},
    {IMP_OPTION_CHOICE(settings, isa), .name = "isa", .argument = "NAME", .choices = isas,
     .initial = "auto", .help = "the instruction set to use"},
    {IMP_OPTION_TEXT(settings, points), .name = "points", .argument = "FILE", .once = true,
     .help = "more of them"},
    {IMP_OPTION_HEADING("Output")},
    {IMP_OPTION_TEXT(settings, output), .name = "output", .letter = 'o', .argument = "FILE",
     .help = "where to write the result, which is said at such length that it takes two lines"},
    {IMP_OPTION_FLAG(settings, json), .name = "json", .help = "write JSON"},
    {IMP_OPTION_END}};

static const char *const examples[] = {"imp fit a.npy b.npy", "imp fit --json a.npy", NULL};

static const imp_usage usage = {.command = "fit",
                                .summary = "Fit a mixture to points",
                                .operands = "FILE...",
                                .fewest = 1,
                                .most = 2,
                                .options = options,
                                .examples = examples};

/* ---- what a parse left behind ---- */

enum { MOST_WORDS = 12 };

typedef struct outcome {
    int status;
    settings settings;
    int operands;
    char *argv[MOST_WORDS];
    char message[500]; /* what went to stderr */
} outcome;

/* Parses the words of `line`, which are separated by single spaces and cut apart in place. */
static outcome parse_by(const imp_usage *by, char *line)
{
    outcome result = {.argv = {"fit"}};
    int argc = 1;
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
        assert_true(argc < MOST_WORDS);
        result.argv[argc++] = word;
    }

    fflush(stderr);
    int saved = dup(STDERR_FILENO);
    FILE *capture = tmpfile();
    assert_non_null(capture);
    dup2(fileno(capture), STDERR_FILENO);
    result.status = imp_parse(by, argc, result.argv, &result.settings, &result.operands);
    dup2(saved, STDERR_FILENO);
    close(saved);

    rewind(capture);
    size_t length = fread(result.message, 1, sizeof result.message - 1, capture);
    result.message[length] = '\0';
    fclose(capture);
    return result;
}

static outcome parse(char *line)
{
    return parse_by(&usage, line);
}

static void assert_refused(const char *line, const char *sentence)
{
    char words[200];
    snprintf(words, sizeof words, "%s", line);
    outcome result = parse(words);
    assert_int_equal(result.status, IMP_EXIT_USAGE);
    assert_string_equal(result.message, sentence);
}

/* ---- tests ---- */

static void defaults_come_from_the_table(void **state)
{
    (void)state;
    char line[] = "a.npy";
    outcome result = parse(line);
    assert_int_equal(result.status, IMP_GO_ON);
    assert_string_equal(result.message, "");
    assert_int_equal(result.settings.batch, 120);
    assert_int_equal(result.settings.seed, 1);
    assert_true(result.settings.sigma == 0.5);
    assert_true(result.settings.shift == 0);
    assert_int_equal(result.settings.isa, 0);
    assert_null(result.settings.output);
    assert_false(result.settings.json);
}

static void both_ways_to_give_a_value(void **state)
{
    (void)state;
    char line[] = "--batch 7 --seed=9223372036854775807 --sigma=1e-3 --shift -2.5 --isa portable "
                  "--output=x=y --json a.npy";
    outcome result = parse(line);
    assert_int_equal(result.status, IMP_GO_ON);
    assert_int_equal(result.settings.batch, 7);
    assert_true(result.settings.seed == INT64_MAX);
    assert_true(result.settings.sigma == 1e-3);
    assert_true(result.settings.shift == -2.5);
    assert_int_equal(result.settings.isa, 2);
    assert_string_equal(result.settings.output, "x=y");
    assert_true(result.settings.json);
}

static void a_short_form(void **state)
{
    (void)state;
    char line[] = "-o out.npy a.npy";
    outcome result = parse(line);
    assert_int_equal(result.status, IMP_GO_ON);
    assert_string_equal(result.settings.output, "out.npy");
    assert_int_equal(result.operands, 1);
    char joined[] = "-o=x=y a.npy";
    result = parse(joined);
    assert_int_equal(result.status, IMP_GO_ON);
    assert_string_equal(result.settings.output, "x=y");
    assert_refused("a.npy -o", "imp fit: option '--output' needs a value: FILE\n");
    assert_refused("a.npy -p x",
                   "imp fit: unknown option '-p'; 'imp fit --help' lists the options\n");
}

static void the_last_word_counts(void **state)
{
    (void)state;
    char line[] = "--batch 7 a.npy --batch=8";
    outcome result = parse(line);
    assert_int_equal(result.status, IMP_GO_ON);
    assert_int_equal(result.settings.batch, 8);
}

/* An option that may be given several times keeps all that it was given. */
static void all_words_count(void **state)
{
    (void)state;
    typedef struct several {
        imp_texts data;
        bool list;
    } several;
    const imp_option rows[] = {{IMP_OPTION_TEXTS(several, data), .name = "data", .argument = "DATA",
                                .help = "where they lie"},
                               {IMP_OPTION_FLAG(several, list), .name = "list", .help = "list"},
                               {IMP_OPTION_END}};
    const imp_usage of_several = {.command = "fit", .options = rows, .examples = examples};
    several given = {0};
    int operands;
    char *argv[] = {"fit", "--data", "a", "--list", "--data=b"};
    assert_int_equal(imp_parse(&of_several, 5, argv, &given, &operands), IMP_GO_ON);
    assert_int_equal(given.data.count, 2);
    assert_string_equal(given.data.items[0], "a");
    assert_string_equal(given.data.items[1], "b");
    assert_true(given.list);

    char *many[] = {"fit",      "--data=1", "--data=2", "--data=3", "--data=4",
                    "--data=5", "--data=6", "--data=7", "--data=8", "--data=9"};
    given = (several){0};
    assert_int_equal(imp_parse(&of_several, 10, many, &given, &operands), IMP_EXIT_USAGE);
    assert_int_equal(given.data.count, 8);
}

static void operands_are_collected(void **state)
{
    (void)state;
    char line[] = "- --json -- --batch";
    outcome result = parse(line);
    assert_int_equal(result.status, IMP_GO_ON);
    assert_int_equal(result.operands, 2);
    assert_string_equal(result.argv[1], "-");
    assert_string_equal(result.argv[2], "--batch");
    assert_true(result.settings.json);
}

static void numbers_are_strict(void **state)
{
    (void)state;
    static const char *const integers[] = {"0",   "4097", "-1",  "12x",
                                           "1.5", "0x10", "1e3", "+",
                                           "--2", "x",    "1-2", "99999999999999999999"};
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        char line[100], sentence[200];
        snprintf(line, sizeof line, "a --batch %s", integers[i]);
        snprintf(sentence, sizeof sentence,
                 "imp fit: option '--batch' needs an integer from 1 to 4096, not '%s'\n",
                 integers[i]);
        assert_refused(line, sentence);
    }
    static const char *const numbers[] = {"10.1", "-0.1", "nan", "inf", "0x1p3", "1e999",
                                          "1,5",  "1e",   ".",   "e5",  "1.2.3", "--1"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char line[100], sentence[200];
        snprintf(line, sizeof line, "a --sigma=%s", numbers[i]);
        snprintf(sentence, sizeof sentence,
                 "imp fit: option '--sigma' needs a number from 0 to 10, not '%s'\n", numbers[i]);
        assert_refused(line, sentence);
    }
    assert_refused("a --batch=",
                   "imp fit: option '--batch' needs an integer from 1 to 4096, not ''\n");
    assert_refused("a --sigma=", "imp fit: option '--sigma' needs a number from 0 to 10, not ''\n");
    assert_refused("a --seed=-1",
                   "imp fit: option '--seed' needs an integer of at least 0, not '-1'\n");
    assert_refused("a --shift=x", "imp fit: option '--shift' needs a number, not 'x'\n");
}

static void spaces_are_not_part_of_a_number(void **state)
{
    (void)state;
    settings values = {0};
    int operands;
    char *argv[] = {"fit", "--batch", " 7", "a"};
    assert_int_equal(imp_parse(&usage, 4, argv, &values, &operands), IMP_EXIT_USAGE);
}

static void wrong_options_are_refused_in_one_sentence(void **state)
{
    (void)state;
    assert_refused("a --isa sse",
                   "imp fit: option '--isa' needs auto, avx2 or portable, not 'sse'\n");
    assert_refused("a --isa autp", "imp fit: option '--isa' needs auto, avx2 or portable, not "
                                   "'autp'; did you mean 'auto'?\n");
    assert_refused("a --help-al", "imp fit: unknown option '--help-al'; did you mean "
                                  "'--help-all'?\n");
    assert_refused("a --batch", "imp fit: option '--batch' needs a value: N\n");
    assert_refused("a --points=b --points c", "imp fit: option '--points' is given twice\n");
    assert_refused("a --json=yes", "imp fit: option '--json' takes no value\n");
    assert_refused("a --bach=3", "imp fit: unknown option '--bach'; did you mean '--batch'?\n");
    assert_refused("a -batch", "imp fit: unknown option '-batch'; did you mean '--batch'?\n");
    assert_refused("a --wardrobe",
                   "imp fit: unknown option '--wardrobe'; 'imp fit --help' lists the options\n");
    assert_refused("a --Work",
                   "imp fit: unknown option '--Work'; 'imp fit --help' lists the options\n");
    assert_refused("--json", "imp fit: needs FILE...; got 0 arguments\n");
    assert_refused("a b c", "imp fit: unexpected argument 'c'\n");
}

/* ---- words ---- */

static void words_can_be_pasted(void **state)
{
    (void)state;
    static const struct {
        const char *word, *printed;
    } cases[] = {{"run/1_a-b.c", "run/1_a-b.c"}, {"", "''"},
                 {"my run", "'my run'"},         {"it's", "'it'\\''s'"},
                 {"$HOME", "'$HOME'"},           {"~", "'~'"},
                 {"caf\u00e9", "'caf\u00e9'"},   {"a\x1b[31m\nb", "'a?[31m?b'"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char printed[100] = "";
        FILE *stream = fmemopen(printed, sizeof printed, "w");
        assert_non_null(stream);
        imp_print_word(cases[i].word, stream);
        fclose(stream);
        assert_string_equal(printed, cases[i].printed);
    }
}

/* ---- actions ---- */

static const imp_action actions[] = {{"show", "DATA", 1, "what it holds"},
                                     {"pack", "DATA FILE", 2, "write one file"},
                                     {"sink", "DATA", 1, "forget it"},
                                     {0}};

static const imp_usage acting = {.command = "data",
                                 .summary = "Do something with data",
                                 .actions = actions,
                                 .options = options,
                                 .examples = examples};

static void an_action_and_its_operands(void **state)
{
    (void)state;
    char line[] = "--batch 3 pack there --json here";
    outcome result = parse_by(&acting, line);
    assert_int_equal(result.status, IMP_GO_ON);
    assert_int_equal(result.operands, 3);
    assert_int_equal(imp_action_find(&acting, result.argv[1]), 1);
    assert_string_equal(result.argv[3], "here");
    assert_int_equal(imp_action_find(&acting, "pick"), -1);
}

static void assert_action_refused(const char *line, const char *sentence)
{
    char words[200];
    snprintf(words, sizeof words, "%s", line);
    outcome result = parse_by(&acting, words);
    assert_int_equal(result.status, IMP_EXIT_USAGE);
    assert_string_equal(result.message, sentence);
}

static void a_wrong_action_is_refused_in_one_sentence(void **state)
{
    (void)state;
    assert_action_refused("", "imp data: needs an action; 'imp data --help' lists them\n");
    assert_action_refused("shwo x", "imp data: unknown action 'shwo'; did you mean 'show'?\n");
    assert_action_refused("wardrobe x",
                          "imp data: unknown action 'wardrobe'; there are show, pack and sink\n");
    assert_action_refused("pack x", "imp data: 'pack' needs DATA FILE; got 1 argument\n");
    assert_action_refused("show", "imp data: 'show' needs DATA; got 0 arguments\n");
    assert_action_refused("show x y", "imp data: unexpected argument 'y'\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_come_from_the_table),
        cmocka_unit_test(both_ways_to_give_a_value),
        cmocka_unit_test(a_short_form),
        cmocka_unit_test(the_last_word_counts),
        cmocka_unit_test(all_words_count),
        cmocka_unit_test(operands_are_collected),
        cmocka_unit_test(numbers_are_strict),
        cmocka_unit_test(spaces_are_not_part_of_a_number),
        cmocka_unit_test(wrong_options_are_refused_in_one_sentence),
        cmocka_unit_test(words_can_be_pasted),
        cmocka_unit_test(an_action_and_its_operands),
        cmocka_unit_test(a_wrong_action_is_refused_in_one_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
