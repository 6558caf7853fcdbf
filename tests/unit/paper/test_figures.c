/*
 * test_figures.c - the figures in small: what is in their files, and that nothing is drawn of
 * nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "paper/figures.h"
#include "paper/ledger.h"
#include "paper/tables.h"
#include "scratch.h"

static char *read_text(void **state, const char *name)
{
    unsigned char *text;
    size_t size;
    assert_int_equal(imp_file_read(scratch_file(state, name).text, 1 << 20, &text, &size, NULL),
                     IMP_OK);
    return (char *)text;
}

static size_t lines_of(const char *text)
{
    size_t lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* ---- lambda ---- */

/* The sweep of a seed of the first row, whose accuracies are `base` and a hundredth more. */
static void write_sweep(void **state, int seed, const char *measure, double base)
{
    size_t i = 0;
    while (strcmp(imp_paper_row_at(i).table, "lambda") != 0)
        i++;
    imp_paper_row row = imp_paper_row_at(i);
    imp_paper_run run = imp_paper_run_at(imp_paper_run_find(row.run));
    imp_training_record record = {.fingerprint = "f00d", .model = "cafe", .validation = NAN};
    imp_result result = {0};
    assert_int_equal(imp_paper_settings(&run, seed, "x", 0, &record.settings, NULL), IMP_OK);
    assert_int_equal(imp_result_begin(&result, &run, seed, &record, NULL), IMP_OK);
    json_t *sweep = json_pack("[{s:f, s:{s:f, s:f}}, {s:f, s:{s:f, s:f}}]", "lambda", 5.0, measure,
                              "mean", base, "interval", 0.001, "lambda", 10.0, measure, "mean",
                              base + 0.01, "interval", 0.003);
    assert_int_equal(imp_result_add(&result,
                                    json_pack("{s:s, s:i, s:o}", "options", row.options, "episodes",
                                              10, "sweep", sweep),
                                    NULL),
                     IMP_OK);
    assert_int_equal(imp_result_save(&result, *state, &run, seed, NULL), IMP_OK);
    imp_result_clear(&result);
    imp_settings_clear(&record.settings);
}

static void curves_are_means_over_seeds(void **state)
{
    assert_int_equal(imp_paper_draw_lambda(*state, NULL), IMP_OK);
    assert_int_equal(scratch_entries(state), 0);
    write_sweep(state, 1, "open_accuracy", 0.90);
    write_sweep(state, 2, "open_accuracy", 0.92);
    write_sweep(state, 3, "accuracy", 0.5); /* from before there were two: left out */
    imp_error error;
    if (imp_paper_draw_lambda(*state, &error) != IMP_OK)
        fail_msg("%s", error.message);
    assert_int_equal(scratch_entries(state), 3 + 3);
    char *text = read_text(state, "lambda.csv");
    assert_string_equal(text, "method,seeds,lambda,accuracy,interval\n"
                              "IMP,2,5,91.0000,0.1000\n"
                              "IMP,2,10,92.0000,0.3000\n");
    imp_release(text);
}

/* ---- the embedding ---- */

static imp_dataset *open_data(uint32_t characters)
{
    imp_dataset_options options = imp_dataset_defaults();
    options.size = 8;
    options.rotations = 4;
    options.glyphs = (imp_glyph_options){.alphabets = 10,
                                         .fewest_characters = characters,
                                         .most_characters = characters,
                                         .drawings = 3};
    options.threads = 1;
    imp_dataset *dataset;
    assert_int_equal(imp_dataset_open("glyphs", &options, &dataset, NULL), IMP_OK);
    return dataset;
}

static imp_model *make_model(void **state, uint64_t seed)
{
    imp_network_options options = {
        .size = sizeof options, .channels = 1, .height = 8, .width = 8, .seed = seed, .threads = 1};
    imp_network *network;
    assert_int_equal(imp_network_create("conv3x3:4,bn,relu,pool", &options, &network, NULL),
                     IMP_OK);
    scratch_path path = scratch_file(state, "model");
    imp_model *model;
    assert_int_equal(imp_network_save(network, path.text, NULL), IMP_OK);
    assert_int_equal(imp_model_open(path.text, NULL, &model, NULL), IMP_OK);
    assert_int_equal(remove(path.text), 0);
    imp_network_free(network);
    return model;
}

static void the_embedding_is_laid_out(void **state)
{
    imp_dataset *dataset = open_data(4);
    imp_model *one = make_model(state, 1), *other = make_model(state, 2);
    const imp_paper_panel panels[] = {{"one", one}, {"other", other}};
    imp_error error;
    if (imp_paper_draw_embedding(dataset, panels, 2, 1, *state, &error) != IMP_OK)
        fail_msg("%s", error.message);
    assert_int_equal(scratch_entries(state), 3);
    /* two alphabets are tested on, with four upright characters and three drawings each */
    char *text = read_text(state, "embedding.csv");
    assert_int_equal(lines_of(text), 1 + 2 * 2 * 4 * 3);
    assert_null(strchr(text, '@'));
    assert_non_null(strstr(text, "\none,"));
    assert_non_null(strstr(text, "\nother,"));
    imp_release(text);
    assert_int_equal(imp_paper_draw_embedding(dataset, panels, 0, 1, *state, &error), IMP_EINVAL);
    imp_model_free(one);
    imp_model_free(other);
    imp_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(curves_are_means_over_seeds, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(the_embedding_is_laid_out, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
