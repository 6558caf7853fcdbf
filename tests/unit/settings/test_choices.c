/*
 * test_choices.c - settings read off a folder's survey; what was given stays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "settings/choices.h"

static imp_settings open_settings(void)
{
    imp_settings settings;
    imp_settings_init(&settings);
    imp_choices_open(&settings);
    return settings;
}

static void what_is_open_closes_to_the_defaults(void **state)
{
    (void)state;
    imp_settings settings = open_settings(), defaults;
    imp_settings_init(&defaults);
    settings.way = 7;
    imp_choices_default(&settings);
    assert_int_equal(settings.way, 7);
    settings.way = defaults.way;
    assert_null(imp_settings_difference(&settings, &defaults, (const char *[]){NULL}));
    imp_settings_clear(&settings);
    imp_settings_clear(&defaults);
}

static void a_survey_decides_pictures_split_shot_and_updates(void **state)
{
    (void)state;
    static const struct {
        imp_survey survey;
        int64_t size, shot, updates;
        const char *split, *colour, *ink;
    } cases[] = {
        {{.classes = 3, .pictures = 9, .smallest = 2, .on_light = true},
         28,
         1,
         500,
         "classes:1/0/0",
         "gray",
         "invert"},
        {{.classes = 8, .pictures = 80, .smallest = 7},
         28,
         3,
         1600,
         "classes:0.75/0.25/0",
         "gray",
         "as-is"},
        {{.classes = 20, .pictures = 4000, .smallest = 100, .coloured = true, .on_light = true},
         84,
         5,
         20000,
         "classes:0.64/0.16/0.2",
         "rgb",
         "as-is"},
        {{.classes = 3, .pictures = 9, .smallest = 2, .coloured = true, .side = 60},
         60,
         1,
         500,
         "classes:1/0/0",
         "rgb",
         "as-is"},
        {{.classes = 3, .pictures = 9, .smallest = 2, .side = 7},
         16,
         1,
         500,
         "classes:1/0/0",
         "gray",
         "as-is"},
        {{.classes = 3, .pictures = 9, .smallest = 2, .coloured = true, .side = 4000},
         84,
         1,
         500,
         "classes:1/0/0",
         "rgb",
         "as-is"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        imp_settings settings = open_settings();
        assert_int_equal(imp_choices_before(&settings, &cases[i].survey, "d", NULL), IMP_OK);
        assert_int_equal(settings.size, cases[i].size);
        assert_int_equal(settings.shot, cases[i].shot);
        assert_int_equal(settings.updates, cases[i].updates);
        assert_int_equal(settings.halve_from, cases[i].updates / 5);
        assert_string_equal(settings.split, cases[i].split);
        assert_string_equal(imp_colour_names[settings.colour], cases[i].colour);
        assert_string_equal(imp_ink_names[settings.ink], cases[i].ink);
        assert_int_equal(settings.rule.sigma_l == 15, cases[i].survey.coloured);
        imp_settings_clear(&settings);
    }
}

static void what_was_given_stays(void **state)
{
    (void)state;
    imp_settings settings = open_settings();
    settings.size = 40;
    settings.shot = 2;
    settings.updates = 10;
    settings.split = "own";
    settings.ink = 0;
    imp_survey survey = {.classes = 1, .pictures = 1, .smallest = 1, .on_light = true};
    assert_int_equal(imp_choices_before(&settings, &survey, "d", NULL), IMP_OK);
    assert_int_equal(settings.size, 40);
    assert_int_equal(settings.shot, 2);
    assert_int_equal(settings.updates, 10);
    assert_int_equal(settings.ink, 0);
    assert_string_equal(settings.split, "own");
    imp_settings_clear(&settings);
}

static void too_little_is_a_sentence(void **state)
{
    (void)state;
    imp_error error;
    imp_settings settings = open_settings();
    imp_survey one = {.classes = 1, .pictures = 5, .smallest = 5, .smallest_class = "cats"};
    assert_int_equal(imp_choices_before(&settings, &one, "d", &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "'d' has only one class, 'cats'"));
    imp_survey few = {.classes = 2, .pictures = 3, .smallest = 1, .smallest_class = "dogs"};
    assert_int_equal(imp_choices_before(&settings, &few, "d", &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "the class 'dogs' of 'd' has one picture"));
    imp_settings_clear(&settings);
}

/* Invented alphabets stand for a folder. */
static imp_dataset *open_glyphs(const char *split)
{
    imp_dataset_options options = imp_dataset_defaults();
    options.size = 8;
    options.split = split;
    options.glyphs = (imp_glyph_options){
        .alphabets = 2, .fewest_characters = 4, .most_characters = 4, .drawings = 2};
    imp_dataset *dataset;
    imp_error error;
    if (imp_dataset_open("glyphs", &options, &dataset, &error) != IMP_OK)
        fail_msg("%s", error.message);
    return dataset;
}

static void the_split_decides_way_and_validation(void **state)
{
    (void)state;
    static const struct {
        const char *split;
        int task;
        int64_t way, validation_way;
    } cases[] = {
        {"classes:1/0/0", 0, 5, 0},
        {"classes:0.75/0.25/0", 0, 5, 2},
        {"classes:0.25/0.75/0", 0, 2, 2},
        {"super-classes:1/0/0", 1, 2, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        imp_settings settings = open_settings();
        imp_dataset *dataset = open_glyphs(cases[i].split);
        settings.task = cases[i].task;
        settings.updates = 500;
        imp_choices_after(&settings, dataset);
        assert_int_equal(settings.way, cases[i].way);
        assert_int_equal(settings.validation_way, cases[i].validation_way);
        assert_int_equal(settings.validate_every, cases[i].validation_way > 0 ? 50 : 0);
        assert_true(settings.size >= 0); /* nothing is open */
        imp_dataset_free(dataset);
        imp_settings_clear(&settings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_open_closes_to_the_defaults),
        cmocka_unit_test(a_survey_decides_pictures_split_shot_and_updates),
        cmocka_unit_test(what_was_given_stays),
        cmocka_unit_test(too_little_is_a_sentence),
        cmocka_unit_test(the_split_decides_way_and_validation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
