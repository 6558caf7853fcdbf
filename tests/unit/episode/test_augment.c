/*
 * test_augment.c - changes of pictures at random: exact where they can be, within their bounds
 * where they cannot, and the same again for the same episode.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/dataset.h"
#include "episode/augment.h"

enum { SIDE = 21, MIDDLE = 10, PICTURES = 60, PLANE = SIDE * SIDE };

/* A dataset of PICTURES copies of one picture, and an episode of all of them. */
typedef struct world {
    uint8_t pixels[PICTURES * 3 * PLANE];
    uint32_t images[PICTURES];
    imp_class one;
    imp_dataset dataset;
    imp_episode episode;
    imp_episode_options options;
    float before[PICTURES * 3 * PLANE], after[PICTURES * 3 * PLANE];
} world;

static world *make_world(uint32_t channels, bool drawing, uint8_t value(int channel, int x, int y))
{
    world *w = calloc(1, sizeof *w);
    for (int i = 0; i < PICTURES; i++) {
        w->images[i] = (uint32_t)i;
        for (int c = 0; c < (int)channels; c++)
            for (int y = 0; y < SIDE; y++)
                for (int x = 0; x < SIDE; x++)
                    w->pixels[((i * (int)channels + c) * SIDE + y) * SIDE + x] = value(c, x, y);
    }
    w->one = (imp_class){.name = "one", .count = PICTURES};
    w->dataset = (imp_dataset){.size = SIDE,
                               .channels = channels,
                               .inverted = drawing,
                               .class_count = 1,
                               .picture_count = PICTURES,
                               .image_count = PICTURES,
                               .classes = &w->one,
                               .pixels = w->pixels,
                               .deviation = {1, 1, 1}};
    w->episode = (imp_episode){.index = 7, .supports = PICTURES, .images = w->images};
    w->options = imp_episode_defaults();
    return w;
}

static void augment(world *w)
{
    imp_error error;
    imp_episode_pixels(&w->dataset, &w->episode, w->before);
    if (imp_episode_augmented(&w->dataset, &w->options, &w->episode, w->after, &error) != IMP_OK)
        fail_msg("%s", error.message);
}

static uint8_t slope(int channel, int x, int y)
{
    return (uint8_t)(40 * channel + 5 * x + 3 * y);
}

/* Two bright spots, in the middle and six pixels to its right. */
static uint8_t spots(int channel, int x, int y)
{
    (void)channel;
    bool right = abs(x - MIDDLE - 6) <= 1, centre = abs(x - MIDDLE) <= 1;
    return (right || centre) && abs(y - MIDDLE) <= 1 ? 255 : 0;
}

static uint8_t bar(int channel, int x, int y)
{
    (void)channel;
    return abs(x - MIDDLE) <= 1 && y > 3 && y < 17 ? 255 : 0;
}

/* The centre of what is bright in a picture outside of a circle around a point, and how much. */
static double centre_of(const float *picture, double from_x, double from_y, double beyond,
                        double *x, double *y)
{
    double sum = 0;
    *x = *y = 0;
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++) {
            if (hypot(i - from_x, j - from_y) < beyond)
                continue;
            sum += picture[j * SIDE + i];
            *x += i * picture[j * SIDE + i];
            *y += j * picture[j * SIDE + i];
        }
    *x /= sum;
    *y /= sum;
    return sum;
}

static void nothing_asked_nothing_changed(void **state)
{
    (void)state;
    world *w = make_world(3, false, slope);
    augment(w);
    assert_memory_equal(w->before, w->after, sizeof w->before);
    free(w);
}

static void flips_are_exact(void **state)
{
    (void)state;
    world *w = make_world(3, false, slope);
    w->options.augment.flip = 1;
    augment(w);
    for (int p = 0; p < PICTURES * 3 * SIDE; p++)
        for (int x = 0; x < SIDE; x++)
            assert_true(w->after[p * SIDE + x] == w->before[p * SIDE + SIDE - 1 - x]);
    w->options.augment.flip = 0.5;
    augment(w);
    int flipped = 0;
    for (int i = 0; i < PICTURES; i++)
        flipped += w->after[i * 3 * PLANE] != w->before[i * 3 * PLANE];
    assert_in_range(flipped, 18, 42);
    free(w);
}

/* How far a picture was moved; it fails where no whole number of pixels explains it. */
static void find_shift(const world *w, const float *picture, int *right, int *below)
{
    for (*below = -3; *below <= 3; ++*below)
        for (*right = -3; *right <= 3; ++*right) {
            bool same = true;
            for (int y = 0; y < SIDE && same; y++)
                for (int x = 0; x < SIDE && same; x++) {
                    int i = x - *right, j = y - *below;
                    bool inside = i >= 0 && j >= 0 && i < SIDE && j < SIDE;
                    i = abs(i) < SIDE ? abs(i) : 2 * SIDE - 2 - i;
                    j = abs(j) < SIDE ? abs(j) : 2 * SIDE - 2 - j;
                    float expected = w->dataset.inverted && !inside ? 0 : w->before[j * SIDE + i];
                    same = fabsf(picture[y * SIDE + x] - expected) < 1e-5f;
                }
            if (same)
                return;
        }
    fail_msg("no shift gives this picture");
}

static void shifts_are_whole_pixels(void **state)
{
    (void)state;
    for (int drawing = 0; drawing < 2; drawing++) {
        world *w = make_world(1, drawing, slope);
        w->options.augment.shift = 0.15; /* 3.15 pixels */
        augment(w);
        int seen[7] = {0}, both = 0;
        for (int i = 0; i < PICTURES; i++) {
            int right, below;
            find_shift(w, w->after + i * PLANE, &right, &below);
            seen[right + 3]++;
            both += right != below;
        }
        for (int i = 0; i < 7; i++)
            assert_true(seen[i] > 0);
        assert_true(both > 30);
        free(w);
    }
}

/* Seen from the spot in the middle, the other one goes round, nearer and farther. */
static void turns_and_zooms_keep_their_bounds(void **state)
{
    (void)state;
    for (int zooms = 0; zooms < 2; zooms++) {
        world *w = make_world(1, true, spots);
        w->options.augment.turn = zooms ? 0 : 30;
        w->options.augment.zoom = zooms ? 0.4 : 0;
        augment(w);
        double least = INFINITY, most = -INFINITY;
        for (int i = 0; i < PICTURES; i++) {
            double x, y;
            centre_of(w->after + i * PLANE, MIDDLE, MIDDLE, 2.6, &x, &y);
            double far = hypot(x - MIDDLE, y - MIDDLE);
            double angle = atan2(y - MIDDLE, x - MIDDLE) * 180 / 3.14159265358979;
            double found = zooms ? far / 6 : angle;
            if (zooms)
                assert_true(fabs(angle) < 0.5);
            else
                assert_true(fabs(far - 6) < 0.1);
            least = fmin(least, found);
            most = fmax(most, found);
        }
        /* all of the range and nothing beyond, but for what the circle cuts off */
        double low = zooms ? 1 / 1.4 : -30, high = zooms ? 1.4 : 30, slack = zooms ? 0.06 : 1;
        assert_true(least > low - slack && least < low + 3 * slack);
        assert_true(most < high + slack && most > high - 3 * slack);
        free(w);
    }
}

static void shears_slant(void **state)
{
    (void)state;
    world *w = make_world(1, true, bar);
    w->options.augment.shear = 0.3;
    augment(w);
    double most = 0;
    for (int i = 0; i < PICTURES; i++) {
        /* the bar's middle moves from row to row by the same, up to 0.3 */
        double sums[2] = {0}, places[2] = {0};
        for (int x = 0; x < SIDE; x++)
            for (int end = 0; end < 2; end++) {
                float value = w->after[i * PLANE + (end ? 15 : 5) * SIDE + x];
                sums[end] += value;
                places[end] += x * value;
            }
        double slant = (places[1] / sums[1] - places[0] / sums[0]) / 10;
        assert_true(fabs(slant) < 0.301);
        assert_true(fabs(places[0] / sums[0] + places[1] / sums[1] - 2 * MIDDLE) < 1e-3);
        most = fmax(most, fabs(slant));
    }
    assert_true(most > 0.25);
    free(w);
}

/* The highest, or the lowest, value around a pixel of the picture as it was. */
static float extreme_around(const world *w, int x, int y, bool highest)
{
    float end = w->before[y * SIDE + x];
    for (int j = y - 1; j <= y + 1; j++)
        for (int i = x - 1; i <= x + 1; i++) {
            if (i < 0 || j < 0 || i >= SIDE || j >= SIDE)
                continue;
            float value = w->before[j * SIDE + i];
            end = highest ? fmaxf(end, value) : fminf(end, value);
        }
    return end;
}

static uint8_t corners(int channel, int x, int y)
{
    (void)channel;
    return (uint8_t)(x < 4 && y < 4 ? 200 : (37 * x + 91 * y) % 256);
}

static void strokes_go_part_of_the_way(void **state)
{
    (void)state;
    world *w = make_world(1, true, corners);
    w->options.augment.stroke = 1;
    augment(w);
    int thicker = 0;
    for (int i = 0; i < PICTURES; i++) {
        const float *picture = w->after + i * PLANE;
        double change = 0;
        for (int p = 0; p < PLANE; p++)
            change += picture[p] - w->before[p];
        bool highest = change > 0;
        thicker += highest;
        float part = (picture[MIDDLE] - w->before[MIDDLE]) /
                     (extreme_around(w, MIDDLE, 0, highest) - w->before[MIDDLE]);
        assert_true(part >= 0 && part <= 1);
        for (int p = 0; p < PLANE; p++) {
            float end = extreme_around(w, p % SIDE, p / SIDE, highest);
            float expected = w->before[p] + part * (end - w->before[p]);
            assert_true(fabsf(picture[p] - expected) < 1e-4f);
        }
    }
    assert_in_range(thicker, 18, 42);
    free(w);
}

static void strokes_grow_and_shrink(void **state)
{
    (void)state;
    world *w = make_world(1, true, bar);
    w->options.augment.stroke = 0.5;
    augment(w);
    double least = INFINITY, most = 0;
    for (int i = 0; i < PICTURES; i++) {
        double width = 0;
        for (int x = 0; x < SIDE; x++) {
            float value = w->after[i * PLANE + MIDDLE * SIDE + x];
            assert_true(value >= 0 && value <= 1);
            width += value;
        }
        least = fmin(least, width);
        most = fmax(most, width);
    }
    /* three pixels, and half a one on either side */
    assert_true(least >= 2 && least < 2.15 && most <= 4 && most > 3.85);
    free(w);
}

static uint8_t two_colours(int channel, int x, int y)
{
    (void)y;
    return (uint8_t)(x < MIDDLE ? 60 + 40 * channel : 200 - 50 * channel);
}

static void colours_change_together(void **state)
{
    (void)state;
    world *w = make_world(3, false, two_colours);
    w->options.augment.colour = 0.4;
    augment(w);
    int others = 0;
    double least = INFINITY, most = 0;
    for (int i = 0; i < PICTURES; i++) {
        const float *picture = w->after + i * 3 * PLANE;
        double mean = 0;
        for (int p = 0; p < 3 * PLANE; p++) {
            assert_true(picture[p] >= 0 && picture[p] <= 1);
            mean += picture[p] / (3 * PLANE);
            /* pixels that were alike still are */
            int x = p % SIDE, channel = p / PLANE;
            assert_true(picture[p] == picture[channel * PLANE + (x < MIDDLE ? 0 : SIDE - 1)]);
        }
        others += fabsf(picture[0] - w->before[0]) > 1e-3f;
        least = fmin(least, mean);
        most = fmax(most, mean);
    }
    double own = 0;
    for (int p = 0; p < 3 * PLANE; p++)
        own += w->before[p] / (3 * PLANE);
    assert_true(others > 55);
    assert_true(least > 0.55 * own && least < 0.7 * own);
    assert_true(most < 1.45 * own && most > 1.25 * own);

    /* the same of normalised pictures, normalised */
    float *normalised = malloc(sizeof w->after);
    memcpy(normalised, w->after, sizeof w->after);
    for (int c = 0; c < 3; c++) {
        w->dataset.mean[c] = 0.4f + 0.1f * (float)c;
        w->dataset.deviation[c] = 0.25f;
    }
    augment(w);
    for (int p = 0; p < PICTURES * 3 * PLANE; p++) {
        int c = p / PLANE % 3;
        float expected = (normalised[p] - w->dataset.mean[c]) / w->dataset.deviation[c];
        assert_true(fabsf(w->after[p] - expected) < 1e-4f);
    }
    free(normalised);
    free(w);
}

static void episodes_are_named_by_seed_and_index(void **state)
{
    (void)state;
    world *w = make_world(1, false, slope);
    w->options.augment = (imp_augmentation){.flip = 0.5, .turn = 20, .zoom = 0.2, .shear = 0.1};
    augment(w);
    float *first = malloc(sizeof w->after);
    memcpy(first, w->after, sizeof w->after);
    augment(w);
    assert_memory_equal(first, w->after, sizeof w->after);
    w->episode.index = 8;
    augment(w);
    assert_memory_not_equal(first, w->after, PLANE * sizeof(float));
    w->episode.index = 7;
    w->options.seed = 1;
    augment(w);
    assert_memory_not_equal(first, w->after, PLANE * sizeof(float));
    w->options.seed = 0;
    w->options.purpose = IMP_FOR_TESTING;
    augment(w);
    assert_memory_not_equal(first, w->after, PLANE * sizeof(float));
    w->options.purpose = IMP_FOR_TRAINING;

    /* Another change beside them leaves them as they are: a flip is a flip before and after. */
    w->options.augment = (imp_augmentation){.flip = 0.5};
    augment(w);
    bool flipped[PICTURES];
    for (int i = 0; i < PICTURES; i++)
        flipped[i] = w->after[i * PLANE] > w->before[i * PLANE];
    w->options.augment.zoom = 0.01;
    augment(w);
    for (int i = 0; i < PICTURES; i++)
        assert_int_equal(flipped[i], w->after[i * PLANE] > w->after[i * PLANE + SIDE - 1]);
    free(first);
    free(w);
}

/* What a feed gives is what can be made alone. */
static void a_feed_augments(void **state)
{
    (void)state;
    imp_dataset *dataset;
    imp_error error;
    imp_dataset_options of_data = imp_dataset_defaults();
    of_data.glyphs = (imp_glyph_options){.alphabets = 5, .fewest_characters = 5, .drawings = 8};
    assert_int_equal(imp_dataset_open("glyphs", &of_data, &dataset, &error), IMP_OK);
    imp_episode_options options = imp_episode_defaults();
    options.augment = (imp_augmentation){.shift = 0.1, .turn = 15, .zoom = 0.2, .stroke = 0.4};
    imp_feed *feed;
    assert_int_equal(imp_feed_open(dataset, &options, 5, 2, &feed, &error), IMP_OK);
    for (uint64_t index = 5; index < 8; index++) {
        const imp_task *task;
        imp_episode episode;
        assert_int_equal(imp_feed_next(feed, &task, &error), IMP_OK);
        assert_int_equal(imp_episode_draw(dataset, &options, index, &episode, &error), IMP_OK);
        size_t bytes = imp_episode_size(&episode) * 28 * 28 * sizeof(float);
        float *alone = malloc(bytes), *plain = malloc(bytes);
        assert_int_equal(imp_episode_augmented(dataset, &options, &episode, alone, &error), IMP_OK);
        imp_episode_pixels(dataset, &episode, plain);
        assert_memory_equal(alone, task->pixels, bytes);
        assert_memory_not_equal(alone, plain, bytes);
        free(alone);
        free(plain);
        imp_episode_clear(&episode);
    }
    imp_feed_close(feed);

    options.augment = (imp_augmentation){.zoom = -1};
    assert_int_equal(imp_feed_open(dataset, &options, 5, 2, &feed, &error), IMP_EINVAL);
    assert_string_equal(error.message, "the augmentation's zoom must be from 0 to 3, not -1");
    options.augment = (imp_augmentation){.turn = NAN};
    assert_int_equal(imp_feed_open(dataset, &options, 5, 2, &feed, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "turn must be from 0 to 180"));
    imp_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_asked_nothing_changed),
        cmocka_unit_test(flips_are_exact),
        cmocka_unit_test(shifts_are_whole_pixels),
        cmocka_unit_test(turns_and_zooms_keep_their_bounds),
        cmocka_unit_test(shears_slant),
        cmocka_unit_test(strokes_go_part_of_the_way),
        cmocka_unit_test(strokes_grow_and_shrink),
        cmocka_unit_test(colours_change_together),
        cmocka_unit_test(episodes_are_named_by_seed_and_index),
        cmocka_unit_test(a_feed_augments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
