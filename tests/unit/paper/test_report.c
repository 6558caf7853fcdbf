/*
 * test_report.c - result files are written, read back and checked, and the report's figures follow
 * from them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "paper/datasets.h"
#include "paper/ledger.h"
#include "paper/report.h"
#include "scratch.h"

static imp_paper_run run_of(const char *name)
{
    return imp_paper_run_at(imp_paper_run_find(name));
}

static imp_paper_row row_of(const char *table, const char *method)
{
    size_t i = 0;
    while (strcmp(imp_paper_row_at(i).table, table) != 0 ||
           strcmp(imp_paper_row_at(i).method, method) != 0)
        i++;
    return imp_paper_row_at(i);
}

/* A result whose evaluation with `options` found the figure, and the open accuracy if that is a
 * number. */
static void write_both(const char *folder, const char *name, int seed, const char *options,
                       const char *measure, double mean, double interval, double open)
{
    imp_paper_run run = run_of(name);
    imp_training_record record = {.fingerprint = "f00d",
                                  .model = "cafe",
                                  .best_update = 9,
                                  .validation = NAN,
                                  .seconds = 60 * seed,
                                  .images_per_second = 1000};
    imp_result result = {0};
    imp_error error;
    imp_status status = imp_paper_settings(&run, seed, "/home/somebody/omniglot", 1000 * seed,
                                           &record.settings, &error);
    if (!status)
        status = imp_result_begin(&result, &run, seed, &record, &error);
    json_t *evaluation = json_pack("{s:s, s:i, s:{s:f, s:f}}", "options", options, "episodes", 10,
                                   measure, "mean", mean, "interval", interval);
    if (!isnan(open))
        json_object_set_new(evaluation, "open_accuracy",
                            json_pack("{s:f, s:f}", "mean", open, "interval", interval));
    if (!status)
        status = imp_result_add(&result, evaluation, &error);
    if (!status)
        status = imp_result_save(&result, folder, &run, seed, &error);
    if (status)
        fail_msg("%s", error.message);
    imp_result_clear(&result);
    imp_settings_clear(&record.settings);
}

static void write_result(const char *folder, const char *name, int seed, const char *options,
                         const char *measure, double mean, double interval)
{
    write_both(folder, name, seed, options, measure, mean, interval, NAN);
}

static char *read_text(void **state, const char *name)
{
    unsigned char *text;
    size_t size;
    assert_int_equal(imp_file_read(scratch_file(state, name).text, 1 << 20, &text, &size, NULL),
                     IMP_OK);
    return (char *)text;
}

static void expect_lines(const char *report, const char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strstr(report, lines[i]))
            fail_msg("the report lacks: %s\n%s", lines[i], report);
}

static void results_come_back(void **state)
{
    const char *folder = *state;
    imp_paper_run run = run_of("alphabets-imp");
    imp_result result;
    assert_int_equal(imp_result_load(folder, &run, 1, &result, NULL), IMP_OK);
    assert_null(result.file);
    assert_null(imp_result_evaluation(&result, ""));

    write_result(folder, "alphabets-imp", 1, "", "accuracy", 0.93, 0.002);
    assert_int_equal(imp_result_load(folder, &run, 1, &result, NULL), IMP_OK);
    assert_string_equal(result.model, "cafe");
    assert_int_equal(result.updates, 1000);
    assert_true(result.seconds == 60 && result.images_per_second == 1000);
    imp_interval figure;
    assert_true(imp_result_figure(imp_result_evaluation(&result, ""), "accuracy", &figure));
    assert_true(figure.mean == 0.93 && figure.half_width == 0.002);
    assert_false(imp_result_figure(imp_result_evaluation(&result, ""), "ami", &figure));
    assert_null(imp_result_evaluation(&result, "--way 20"));

    /* the same evaluation again replaces the first */
    assert_int_equal(imp_result_add(&result,
                                    json_pack("{s:s, s:i, s:{s:f}}", "options", "", "episodes", 5,
                                              "accuracy", "mean", 0.5),
                                    NULL),
                     IMP_OK);
    assert_int_equal(json_array_size(json_object_get(result.file, "evaluations")), 1);
    assert_true(imp_result_figure(imp_result_evaluation(&result, ""), "accuracy", &figure));
    assert_true(figure.mean == 0.5 && isnan(figure.half_width));
    imp_result_clear(&result);

    /* where the data lay is nobody's business */
    char *text = read_text(state, "alphabets-imp-seed1.json");
    assert_null(strstr(text, "somebody"));
    imp_release(text);
}

static void damage_is_a_sentence(void **state)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"", "line 1, column 0: "},
        {"{\"run\": \"alphabets-imp\"", "line 1, column 23: "},
        {"[]", "it should hold a JSON object"},
        {"{\"run\": 5}", "'run' is missing or not a string"},
        {"{\"run\": \"alphabets-imp\", \"seed\": 1, \"settings\": {}, \"updates\": \"many\"}",
         "'updates' is missing or not a number"},
        {"{\"run\": \"modes-imp\", \"seed\": 1, \"settings\": {}, \"updates\": 1, \"seconds\": 1, "
         "\"images_per_second\": 1, \"fingerprint\": \"\", \"model\": \"\", \"evaluations\": []}",
         "it is the result of 'modes-imp', seed 1"},
        {"{\"run\": \"alphabets-imp\", \"seed\": 1, \"settings\": {}, \"updates\": 1, "
         "\"seconds\": 1, \"images_per_second\": 1, \"fingerprint\": \"\", \"model\": \"\", "
         "\"evaluations\": [{\"options\": \"\"}]}",
         "evaluation 0: 'episodes' is missing or not a number"},
    };
    imp_paper_run run = run_of("alphabets-imp");
    scratch_path path = scratch_file(state, "alphabets-imp-seed1.json");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        imp_result result;
        imp_error error;
        scratch_write(path.text, cases[i].text, strlen(cases[i].text));
        assert_int_equal(imp_result_load(*state, &run, 1, &result, &error), IMP_EFORMAT);
        assert_null(result.file);
        assert_memory_equal(error.message, path.text, strlen(path.text));
        assert_non_null(strstr(error.message, cases[i].sentence));
        assert_int_equal(imp_paper_report(*state, 0, &error), IMP_EFORMAT);
    }
}

static void findings_are_means_over_seeds(void **state)
{
    imp_paper_row row = row_of("alphabets", "IMP");
    imp_paper_finding found;
    assert_int_equal(imp_paper_find(&row, *state, &found, NULL), IMP_OK);
    assert_int_equal(found.seeds, 0);
    write_result(*state, "alphabets-imp", 1, "", "accuracy", 0.92, 0.002);
    write_result(*state, "alphabets-imp", 3, "", "accuracy", 0.95, 0.004);
    assert_int_equal(imp_paper_find(&row, *state, &found, NULL), IMP_OK);
    assert_int_equal(found.seeds, 2);
    assert_true(fabs(found.figure.mean - 93.5) < 1e-9);
    assert_true(fabs(found.figure.half_width - 0.3) < 1e-9);
    assert_true(fabs(found.least - 92) < 1e-9 && fabs(found.most - 95) < 1e-9);
    assert_true(found.fewest_updates == 1000 && found.most_updates == 3000);
    assert_true(found.seconds == 120);
}

/* Where clusters without a label may come about, the open accuracy decides. A result from before
 * it was recorded is read, and shows the closed one alone. */
static void the_open_accuracy_decides(void **state)
{
    imp_paper_row row = row_of("semi", "IMP");
    imp_paper_finding found;
    assert_true(imp_paper_row_is_open(&row));
    write_result(*state, "semi-5way-1shot-imp", 1, "", "accuracy", 0.99, 0.002);
    write_result(*state, "semi-5way-1shot-prototypes", 1, "", "accuracy", 0.981, 0.002);
    assert_int_equal(imp_paper_find(&row, *state, &found, NULL), IMP_OK);
    assert_true(found.seeds == 0 && found.closed_seeds == 1);
    write_both(*state, "semi-5way-1shot-imp", 2, "", "accuracy", 0.98, 0.002, 0.97);
    write_both(*state, "ablation-imp-tied", 1, "", "accuracy", 0.986, 0.002, 0.93);
    write_result(*state, "ablation-imp", 1, "", "accuracy", 0.985, 0.002);
    assert_int_equal(imp_paper_find(&row, *state, &found, NULL), IMP_OK);
    assert_true(found.seeds == 1 && found.closed_seeds == 2);
    assert_true(fabs(found.figure.mean - 97) < 1e-9 && fabs(found.closed.mean - 98.5) < 1e-9);

    imp_error error;
    if (imp_paper_report(*state, 0, &error) != IMP_OK)
        fail_msg("%s", error.message);
    char *text = read_text(state, "README.md");
    static const char *const lines[] = {
        "| setting | method | paper | ours | closed | difference |",
        "| 5-way 1-shot | IMP | 98.9 ± 0.1 | 97.0 ± 0.2 | 98.5 ± 0.2 | -1.9 | no | 1 |",
        "| 5-way 1-shot | prototypes | 97.8 ± 0.1 | 98.1 ± 0.2 |  | +0.3 |",
        "| one variance | IMP, tied | 93.5 ± 0.3 | 93.0 ± 0.2 | 98.6 ± 0.2 | -0.5 |",
        "| two variances | IMP | 98.9 ± 0.1 | to be measured again | 98.5 ± 0.2 | | | | | |\n",
    };
    expect_lines(text, lines, sizeof lines / sizeof *lines);
    imp_release(text);

    row = row_of("semi", "prototypes");
    assert_false(imp_paper_row_is_open(&row));
    row = row_of("alphabets", "IMP");
    assert_false(imp_paper_row_is_open(&row));
    row = row_of("lambda", "DP-means on prototypes' embedding");
    assert_true(imp_paper_row_is_open(&row));
}

static void a_row_is_met_or_not(void **state)
{
    (void)state;
    imp_paper_row row = {.measure = IMP_PAPER_ACCURACY, .figure = 92, .interval = 0.1};
    assert_true(imp_paper_is_met(&row, 99));
    assert_true(imp_paper_is_met(&row, 91.86));
    assert_false(imp_paper_is_met(&row, 91.84));
    row = (imp_paper_row){.measure = IMP_PAPER_AMI, .figure = 0.81};
    assert_true(imp_paper_is_met(&row, 0.8051));
    assert_false(imp_paper_is_met(&row, 0.8049));

    row = row_of("semi", "IMP");
    assert_true(imp_paper_is_goal(&row));
    row = row_of("semi", "prototypes");
    assert_false(imp_paper_is_goal(&row));
    row = row_of("tied", "IMP"); /* an ablation */
    assert_false(imp_paper_is_goal(&row));
}

/* That the loss ended a run is a result. */
static void an_unstable_run_is_told(void **state)
{
    imp_paper_run run = run_of("mini-ablation-map-dp"), imp = run_of("mini-5way-5shot-imp");
    const imp_paper_run *ended[] = {&run, &imp};
    for (size_t i = 0; i < 2; i++) {
        imp_training_record record = {.fingerprint = "f00d", .validation = NAN};
        imp_result result = {0};
        assert_int_equal(imp_paper_settings(ended[i], 1, "x", 0, &record.settings, NULL), IMP_OK);
        assert_int_equal(imp_result_begin(&result, ended[i], 1, &record, NULL), IMP_OK);
        assert_int_equal(result.unstable_at, 0);
        assert_int_equal(imp_result_end_unstable(&result, 1234, NULL), IMP_OK);
        assert_int_equal(imp_result_save(&result, *state, ended[i], 1, NULL), IMP_OK);
        imp_result_clear(&result);
        imp_settings_clear(&record.settings);
        assert_int_equal(imp_result_load(*state, ended[i], 1, &result, NULL), IMP_OK);
        assert_int_equal(result.unstable_at, 1234);
        imp_result_clear(&result);
    }
    imp_error error;
    if (imp_paper_report(*state, imp_paper_dataset_of("mini-imagenet"), &error) != IMP_OK)
        fail_msg("%s", error.message);
    char *text = read_text(state, "README.md");
    static const char *const lines[] = {
        "| semi-supervised 5-way 1-shot | MAP-DP |  | unstable |  | |  | 1 | ends at 1,234 | |\n",
        "| 5-way 5-shot | IMP | 68.1 ± 0.8 | unstable | | no | 1 | ends at 1,234 | |\n",
        "\nMet: 0 of IMP's figures; not met: 1; ",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(text, lines[i]))
            fail_msg("the report lacks: %s\n%s", lines[i], text);
    imp_release(text);
}

/* A report tells of its own dataset alone. */
static void each_dataset_has_a_report(void **state)
{
    size_t mini = imp_paper_dataset_of("mini-imagenet-5way-5shot");
    write_result(*state, "mini-5way-5shot-imp", 1, "", "accuracy", 0.6731, 0.007);
    imp_error error;
    if (imp_paper_report(*state, mini, &error) != IMP_OK)
        fail_msg("%s", error.message);
    char *text = read_text(state, "README.md");
    static const char *const lines[] = {
        "# The paper's mini-ImageNet tables\n",
        "100,000 updates",
        "\nMet: 1 of IMP's figures; not met: 0; not run, or to be measured again: 3, and ",
        "| 5-way 5-shot | IMP | 68.1 ± 0.8 | 67.3 ± 0.7 | -0.8 | yes | 1 | 1,000 | 1 min |\n",
        "| learned variance, several modes | IMP | 68.1 ± 0.8 | 67.3 ± 0.7 |",
        "| semi-supervised 5-way 1-shot | EM | 41.0 ± 0.6 | not run |  | | | | | |\n",
    };
    expect_lines(text, lines, sizeof lines / sizeof *lines);
    assert_null(strstr(text, "lphabets"));
    assert_null(strstr(text, "lambda"));
    imp_release(text);
    assert_int_equal(imp_paper_report(*state, 0, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "is not a report of the paper's tables"));
}

static void the_report_shows_differences(void **state)
{
    write_result(*state, "alphabets-imp", 1, "", "accuracy", 0.9302, 0.002);
    write_result(*state, "alphabets-imp", 2, "", "accuracy", 0.9096, 0.002);
    write_result(*state, "alphabets-prototypes", 1, "", "accuracy", 0.6149, 0.004);
    write_result(*state, "alphabets-prototypes", 2,
                 "--unsupervised --method dp-means --way 100 --shot 5", "ami", 0.5712, 0.01);
    static const char notes[] = "## Notes\n\nWhy.\n";
    scratch_write(scratch_file(state, "notes.md").text, notes, strlen(notes));
    imp_error error;
    if (imp_paper_report(*state, 0, &error) != IMP_OK)
        fail_msg("%s", error.message);
    char *text = read_text(state, "README.md");
    static const char *const lines[] = {
        "| alphabets → alphabets, 10-way 10-shot | IMP | 92.0 ± 0.1 | 92.0 ± 0.2 | +0.0 | yes | 2: "
        "91.0 to 93.0 | 1,000 to 2,000 | 2 min |\n",
        "| alphabets → alphabets, 10-way 10-shot | prototypes | 65.6 ± 0.4 | 61.5 ± 0.4 | -4.1 | "
        " | 1 | 1,000 | 1 min |\n",
        "| alphabets → alphabets, 10-way 10-shot | neighbors | 92.4 ± 0.2 | not run | | | | | |\n",
        "| AMI, 100-way | DP-means | 0.58 | 0.571 ± 0.010 | -0.009 |  | 1 | 2,000 | 2 min |\n",
        /* the table "sigma" shows the first again */
        "\nMet: 1 of IMP's figures; not met: 0; ",
    };
    expect_lines(text, lines, sizeof lines / sizeof *lines);
    assert_string_equal(text + strlen(text) - strlen(notes), notes);
    imp_release(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(results_come_back, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(damage_is_a_sentence, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(findings_are_means_over_seeds, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(the_open_accuracy_decides, scratch_setup, scratch_teardown),
        cmocka_unit_test(a_row_is_met_or_not),
        cmocka_unit_test_setup_teardown(an_unstable_run_is_told, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(each_dataset_has_a_report, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(the_report_shows_differences, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
