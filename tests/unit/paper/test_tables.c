/*
 * test_tables.c - the two tables of data: every name in them means something, and every line is
 * used.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "paper/datasets.h"
#include "paper/runs.h"
#include "paper/tables.h"
#include "paper/words.h"

static bool is_table(const char *name)
{
    for (size_t i = 0; imp_paper_table_at(i).name; i++)
        if (strcmp(imp_paper_table_at(i).name, name) == 0)
            return true;
    return false;
}

static void rows_name_tables_and_runs(void **state)
{
    (void)state;
    size_t i = 0;
    for (; imp_paper_row_at(i).table; i++) {
        imp_paper_row row = imp_paper_row_at(i);
        assert_true(is_table(row.table));
        assert_non_null(imp_paper_run_at(imp_paper_run_find(row.run)).name);
        double most = row.measure == IMP_PAPER_ACCURACY ? 100 : 1;
        assert_true(isnan(row.figure) || (row.figure > 0.4 * most && row.figure <= most));
        assert_true(row.interval >= 0 && row.interval <= 2);
    }
    assert_true(i > 90);
    for (size_t t = 0; imp_paper_table_at(t).name; t++) {
        bool used = false;
        for (size_t r = 0; imp_paper_row_at(r).table; r++)
            used |= strcmp(imp_paper_row_at(r).table, imp_paper_table_at(t).name) == 0;
        assert_true(used);
    }
}

/* Options that are not settings are the few that the evaluation knows by itself. */
static void rows_say_what_eval_takes(void **state)
{
    (void)state;
    for (size_t i = 0; imp_paper_row_at(i).table; i++) {
        imp_paper_row row = imp_paper_row_at(i);
        if (!row.options)
            continue;
        imp_settings settings;
        imp_error error;
        imp_settings_init(&settings);
        imp_words words = imp_words_of(row.options);
        imp_option_words option;
        while (imp_words_next(&words, &option)) {
            if (strcmp(option.name, "unsupervised") == 0 || strcmp(option.name, "pool") == 0 ||
                strcmp(option.name, "lambda-sweep") == 0)
                continue;
            if (imp_settings_set(&settings, option.name, option.value, &error) != IMP_OK)
                fail_msg("%s", error.message);
        }
        assert_string_equal(words.rest, "");
        imp_settings_clear(&settings);
    }
}

static void runs_are_settings(void **state)
{
    (void)state;
    for (size_t r = 0; imp_paper_run_at(r).name; r++) {
        imp_paper_run run = imp_paper_run_at(r);
        imp_settings settings;
        imp_error error;
        if (imp_paper_settings(&run, 2, "somewhere", 0, &settings, &error) != IMP_OK)
            fail_msg("%s: %s", run.name, error.message);
        assert_int_equal(imp_paper_run_find(run.name), r); /* no name is there twice */
        assert_true(imp_paper_table_needs(NULL, run.name));
        assert_true(run.seeds >= 1 && settings.updates == run.updates && settings.seed == 2);
        assert_true(settings.halve_from < settings.updates);
        assert_string_equal(settings.data, "somewhere");
        assert_true(imp_paper_images(&settings) >= 30);
        imp_settings_clear(&settings);
    }
}

static void settings_follow_the_table(void **state)
{
    (void)state;
    imp_paper_run run = imp_paper_run_at(imp_paper_run_find("ablation-em-no-prior"));
    imp_settings settings;
    assert_int_equal(imp_paper_settings(&run, 1, "x", 1000, &settings, NULL), IMP_OK);
    assert_string_equal(settings.method, "em");
    assert_string_equal(settings.own[0].name, "no-prior");
    assert_true(settings.own[0].value == 1);
    assert_int_equal(settings.updates, 1000);
    assert_int_equal(settings.halve_from, 200);
    assert_int_equal(settings.halve_every, 100);
    /* 5 classes with 1 + 5 + 5 images and 5 distractors with 5, eight times */
    assert_true(imp_paper_images(&settings) == 8 * (5 * 11 + 5 * 5));
    char command[400];
    imp_paper_train_command(&run, &settings, command, sizeof command);
    assert_string_equal(command,
                        "imp train --recipe omniglot-semi-5way-1shot --data DATA --method em "
                        "--no-prior --updates 1000 --halve-from 200 --halve-every 100 --seed 1 "
                        "--out ablation-em-no-prior-seed1");

    imp_settings other = settings;
    other.data = "elsewhere";
    other.log_every = 7;
    assert_null(imp_paper_disagreement(&other, &settings));
    other.rule.alpha = 0.2;
    assert_string_equal(imp_paper_disagreement(&other, &settings), "alpha");
    other.rule.alpha = 0.1; /* the method's own */
    settings.rule.alpha = IMP_AUTO;
    assert_null(imp_paper_disagreement(&other, &settings));
    other.own[0] = (imp_named_value){0};
    assert_string_equal(imp_paper_disagreement(&other, &settings), "no-prior");
    imp_settings_clear(&settings);
}

/* Halvings at the recipe's updates are of its whole schedule, which a run may end early; others are
 * of the run's own. */
static void schedules_are_scaled(void **state)
{
    (void)state;
    static const struct {
        const char *run;
        int64_t updates, from, every;
    } cases[] = {
        {"alphabets-imp", 20000, 4000, 2000},         /* which ends at 12,000 by itself */
        {"alphabets-imp-8-episodes", 4000, 800, 400}, /* at 2,400 */
        {"modes-imp", 500, 100, 50},
        {"5way-1shot-graph", 1000, 100, 100},
        {"mini-5way-1shot-graph", 8000, 1500, 1500},
        {"mini-5way-5shot-graph", 9000, 1500, 1500}, /* longer than its recipe */
        {"mini-5way-5shot-imp", 100000, 20000, 20000},
        {"5way-1shot-maml", 1000, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        imp_paper_run run = imp_paper_run_at(imp_paper_run_find(cases[i].run));
        imp_settings settings;
        assert_int_equal(imp_paper_settings(&run, 1, "x", cases[i].updates, &settings, NULL),
                         IMP_OK);
        assert_int_equal(settings.halve_from, cases[i].from);
        assert_int_equal(settings.halve_every, cases[i].every);
        imp_settings_clear(&settings);
    }
}

/* Every run is of one of the datasets, whose schedule another number of updates scales. */
static void runs_have_a_dataset(void **state)
{
    (void)state;
    size_t runs[IMP_PAPER_DATASETS] = {0};
    for (size_t r = 0; imp_paper_run_at(r).name; r++) {
        const char *recipe = imp_paper_run_at(r).recipe;
        const char *name = imp_paper_dataset_at(imp_paper_dataset_of(recipe))->name;
        assert_memory_equal(recipe, name, strlen(name));
        runs[imp_paper_dataset_of(recipe)]++;
    }
    assert_true(runs[0] > 30 && runs[1] > 15);
    imp_paper_run run = imp_paper_run_at(imp_paper_run_find("mini-5way-5shot-imp"));
    imp_settings settings;
    assert_int_equal(imp_paper_settings(&run, 1, "x", 1000, &settings, NULL), IMP_OK);
    assert_int_equal(settings.halve_from, 200);
    assert_int_equal(settings.halve_every, 200);
    assert_int_equal(settings.queries, 5);
    assert_true(settings.rule.sigma_l == 15 && settings.rule.sigma_u == 15 &&
                settings.rule.alpha == 1e-5);
    imp_settings_clear(&settings);
    assert_true(imp_paper_table_is_about("semi", 0) && imp_paper_table_is_about("semi", 1));
    assert_false(imp_paper_table_is_about("alphabets", 1));
    assert_true(imp_paper_table_is_about(NULL, 1));
}

static void data_tell_their_dataset(void **state)
{
    (void)state;
    size_t mini = imp_paper_dataset_of("mini-imagenet-5way-5shot");
    assert_int_equal(imp_paper_dataset_in("mini-imagenet:/somewhere"), mini);
    assert_int_equal(imp_paper_dataset_in("csv:/somewhere"), mini);
    assert_int_equal(imp_paper_dataset_in("omniglot:/somewhere"), 0);
    assert_int_equal(imp_paper_dataset_in("glyphs"), 0);
    assert_string_equal(imp_paper_results("out", mini).text, "out/mini-imagenet");
}

static void words_are_cut(void **state)
{
    (void)state;
    imp_words words = imp_words_of("--unsupervised --way 10 --no-prior");
    imp_option_words option;
    assert_true(imp_words_next(&words, &option));
    assert_string_equal(option.name, "unsupervised");
    assert_string_equal(option.value, "yes");
    assert_true(imp_words_next(&words, &option));
    assert_string_equal(option.name, "way");
    assert_string_equal(option.value, "10");
    assert_true(imp_words_next(&words, &option));
    assert_string_equal(option.name, "no-prior");
    assert_string_equal(option.value, "yes");
    assert_false(imp_words_next(&words, &option));
    words = imp_words_of("");
    assert_false(imp_words_next(&words, &option));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_name_tables_and_runs), cmocka_unit_test(rows_say_what_eval_takes),
        cmocka_unit_test(runs_are_settings),         cmocka_unit_test(settings_follow_the_table),
        cmocka_unit_test(schedules_are_scaled),      cmocka_unit_test(runs_have_a_dataset),
        cmocka_unit_test(data_tell_their_dataset),   cmocka_unit_test(words_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
