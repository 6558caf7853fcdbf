/*
 * test_glyphs.c - the generator: any drawing alone, the same on any number of threads, characters
 * that differ from each other more than the drawings of one do.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "data/dataset.h"
#include "data/glyph.h"
#include "failing_allocator.h"

static imp_dataset_options small(void)
{
    imp_dataset_options options = imp_dataset_defaults();
    options.glyphs = (imp_glyph_options){
        .seed = 5, .alphabets = 6, .fewest_characters = 3, .most_characters = 7, .drawings = 4};
    return options;
}

static imp_dataset *open_glyphs(const imp_dataset_options *options)
{
    imp_dataset *dataset;
    imp_error error;
    if (imp_dataset_open("glyphs", options, &dataset, &error) != IMP_OK)
        fail_msg("%s", error.message);
    return dataset;
}

/* One drawing by its indices, without drawing the others. */
static void draw(const imp_glyph_options *options, uint32_t alphabet, uint32_t character,
                 uint32_t drawing, uint32_t size, uint8_t *pixels)
{
    imp_style style = imp_style_of(options, alphabet);
    imp_glyph glyph = imp_glyph_of(options, &style, alphabet, character);
    glyph = imp_glyph_write(options, &glyph, alphabet, character, drawing);
    imp_glyph_raster(&glyph, size, pixels);
}

static void a_drawing_alone_is_the_same(void **state)
{
    (void)state;
    imp_dataset_options options = small();
    options.size = 35;
    imp_dataset *dataset = open_glyphs(&options);
    uint8_t expected[35 * 35], alone[35 * 35];
    for (size_t c = 0; c < imp_dataset_classes(dataset); c++) {
        imp_class_info about = imp_dataset_class(dataset, c);
        unsigned alphabet, character;
        assert_int_equal(sscanf(about.name, "alphabet%u/character%u", &alphabet, &character), 2);
        imp_dataset_image(dataset, about.first_image + 3, expected);
        draw(&options.glyphs, alphabet - 1, character - 1, 3, 35, alone);
        assert_memory_equal(alone, expected, sizeof alone);
    }
    imp_dataset_free(dataset);
}

static void threads_and_sizes_do_not_matter(void **state)
{
    (void)state;
    imp_dataset_options options = small();
    options.threads = 1;
    imp_dataset *one = open_glyphs(&options);
    options.threads = 3;
    imp_dataset *three = open_glyphs(&options);
    assert_string_equal(imp_dataset_fingerprint(one), imp_dataset_fingerprint(three));
    assert_int_equal(imp_dataset_super_classes(one), 6);
    /* More drawings and more alphabets leave those there were as they were. */
    options.glyphs.drawings = 5;
    options.glyphs.alphabets = 8;
    imp_dataset *more = open_glyphs(&options);
    uint8_t a[28 * 28], b[28 * 28];
    for (size_t c = 0; c < imp_dataset_classes(one); c++) {
        assert_string_equal(imp_dataset_class(one, c).name, imp_dataset_class(more, c).name);
        imp_dataset_image(one, imp_dataset_class(one, c).first_image + 2, a);
        imp_dataset_image(more, imp_dataset_class(more, c).first_image + 2, b);
        assert_memory_equal(a, b, sizeof a);
    }
    imp_dataset_free(one);
    imp_dataset_free(three);
    imp_dataset_free(more);
}

static void another_seed_gives_other_alphabets(void **state)
{
    (void)state;
    imp_dataset_options options = small();
    imp_dataset *one = open_glyphs(&options);
    options.glyphs.seed = 6;
    imp_dataset *other = open_glyphs(&options);
    assert_string_not_equal(imp_dataset_fingerprint(one), imp_dataset_fingerprint(other));
    imp_dataset_free(one);
    imp_dataset_free(other);
}

static double distance(const uint8_t *a, const uint8_t *b, size_t size)
{
    double sum = 0.0;
    for (size_t i = 0; i < size; i++)
        sum += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    return sqrt(sum / (double)size);
}

/* The defaults: every drawing has ink in a sensible amount, away from the border for the most
 * part, and on average a character's drawings are closer to each other than to other characters. */
static void the_defaults_look_like_writing(void **state)
{
    (void)state;
    imp_dataset *dataset = open_glyphs(NULL);
    assert_int_equal(imp_dataset_super_classes(dataset), 50);
    enum { PIXELS = 28 * 28 };
    double same = 0.0, other = 0.0, border = 0.0, all = 0.0;
    size_t pairs = 0, classes = imp_dataset_classes(dataset);
    for (size_t c = 0; c + 1 < classes; c++) {
        imp_class_info about = imp_dataset_class(dataset, c);
        imp_class_info next = imp_dataset_class(dataset, c + 1);
        assert_int_equal(about.images, 20);
        uint8_t first[PIXELS], second[PIXELS], third[PIXELS];
        imp_dataset_image(dataset, about.first_image, first);
        imp_dataset_image(dataset, about.first_image + 1, second);
        imp_dataset_image(dataset, next.first_image, third);
        same += distance(first, second, PIXELS);
        other += distance(first, third, PIXELS);
        pairs++;
        double ink = 0.0;
        for (size_t p = 0; p < PIXELS; p++) {
            ink += first[p] / 255.0;
            bool edge = p < 28 || p >= PIXELS - 28 || p % 28 == 0 || p % 28 == 27;
            border += edge ? first[p] : 0.0;
            all += first[p];
        }
        assert_true(ink > 10.0 && ink < 0.4 * PIXELS);
    }
    assert_true(same < 0.95 * other);
    assert_true(border < 0.02 * all);
    imp_dataset_free(dataset);
}

static void impossible_requests_are_refused(void **state)
{
    (void)state;
    imp_dataset_options options = small();
    options.glyphs.fewest_characters = 8;
    imp_dataset *dataset;
    imp_error error;
    assert_int_equal(imp_dataset_open("glyphs", &options, &dataset, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "at least 8 and at most 7"));
    assert_null(dataset);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    imp_dataset_options options = small();
    options.glyphs.alphabets = 2;
    options.glyphs.most_characters = 3;
    options.glyphs.drawings = 2;
    options.rotations = 4;
    options.split = "modes:0.4/0.3/0.3";
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_dataset *dataset;
        imp_status status = imp_dataset_open("glyphs", &options, &dataset, NULL);
        imp_dataset_free(dataset);
        failing_allocator_expect(&memory, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drawing_alone_is_the_same),
        cmocka_unit_test(threads_and_sizes_do_not_matter),
        cmocka_unit_test(another_seed_gives_other_alphabets),
        cmocka_unit_test(the_defaults_look_like_writing),
        cmocka_unit_test(impossible_requests_are_refused),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
