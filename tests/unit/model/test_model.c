/*
 * test_model.c - a model as an object: what it tells, and that pictures come to the same embeddings
 * by every way that leads there.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <imp/network.h>

#include "failing_allocator.h"
#include "model/built_in_model.h"
#include "model/model.h"
#include "pictures.h"
#include "scratch.h"

/* Images of 2x3 pixels come out of the network as they went in, so that embeddings show them. */
enum { HEIGHT = 2, WIDTH = 3, PIXELS = HEIGHT * WIDTH, MOST = 4 * PIXELS };

static scratch_path save_network(void **state, const char *name, const char *description,
                                 size_t channels, size_t height, size_t width)
{
    imp_network_options options = {.size = sizeof options,
                                   .channels = channels,
                                   .height = height,
                                   .width = width,
                                   .threads = 1};
    imp_network *network;
    imp_error error;
    scratch_path path = scratch_file(state, name);
    if (imp_network_create(description, &options, &network, &error) != IMP_OK)
        fail_msg("%s", error.message);
    assert_int_equal(imp_network_save(network, path.text, NULL), IMP_OK);
    imp_network_free(network);
    return path;
}

static imp_model *open_model(scratch_path path, imp_ink ink)
{
    imp_model_options options = {.size = sizeof options, .ink = ink};
    imp_model *model;
    imp_error error;
    if (imp_model_open(path.text, &options, &model, &error) != IMP_OK)
        fail_msg("%s", error.message);
    return model;
}

/* A rectifier passes on what is not negative. */
static imp_model *mirror(void **state, size_t channels, imp_ink ink)
{
    return open_model(save_network(state, "mirror", "relu,flatten", channels, HEIGHT, WIDTH), ink);
}

static void embed_pictures(const imp_model *model, const imp_picture *pictures, size_t count,
                           float *embeddings)
{
    imp_error error;
    if (imp_model_embed_pictures(model, pictures, count, 2, embeddings, &error) != IMP_OK)
        fail_msg("%s", error.message);
}

/* ---- what it tells ---- */

static void a_network_alone_counts_as_one_of_glyphs(void **state)
{
    imp_model *model =
        open_model(save_network(state, "alone", "conv3x3:2,pool", 1, 4, 6), IMP_INK_OWN);
    const imp_model_info *info = imp_model_info_of(model);
    assert_non_null(strstr(info->name, "alone"));
    assert_int_equal(info->dimensions, 2 * 2 * 3);
    assert_int_equal(info->channels, 1);
    assert_int_equal(info->height, 4);
    assert_int_equal(info->width, 6);
    assert_int_equal(info->inversion, IMP_INVERT_LIGHT);
    assert_string_equal(info->network, "conv3x3:2,pool");
    assert_int_equal(info->parameters, 2 * 9 + 2);
    assert_string_equal(info->method, "imp");
    assert_true(info->rule.sigma_l == 5 && info->rule.sigma_u == 5);
    assert_true(isnan(info->rule.lambda));
    assert_string_equal(info->fingerprint, "");
    assert_true(info->update == 0 && isnan(info->validation));
    imp_model_free(model);
}

static void no_model(void **state)
{
    imp_model *model = (imp_model *)state;
    imp_error error;
    assert_int_equal(imp_model_open("nowhere", NULL, &model, &error), IMP_EIO);
    assert_null(model);
    assert_int_equal(imp_model_open_bytes("no model", 8, "these bytes", NULL, &model, &error),
                     IMP_EFORMAT);
    assert_null(model);
    assert_int_equal(strncmp(error.message, "these bytes: ", 13), 0);
    imp_model_options options = {.size = sizeof options, .ink = (imp_ink)7};
    assert_int_equal(imp_model_open("nowhere", &options, &model, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "ink is 7"));
    imp_model_free(NULL);
}

static void the_built_in_model(void **state)
{
    (void)state;
    imp_model *model;
    imp_error error;
    if (imp_built_in_model_size == 0) {
        assert_int_equal(imp_model_open(NULL, NULL, &model, &error), IMP_EUNSUPPORTED);
        return;
    }
    assert_int_equal(imp_model_open(NULL, NULL, &model, &error), IMP_OK);
    const imp_model_info *info = imp_model_info_of(model);
    assert_string_equal(info->name, imp_built_in_model_name);
    assert_true(info->width == 28 && info->channels == 1 && info->dimensions == 64);
    assert_true(info->update > 0 && info->inversion == IMP_INVERT_LIGHT);
    imp_model_free(model);
}

/* ---- pictures ---- */

static void channels_come_first(void **state)
{
    imp_model *model = mirror(state, 3, IMP_INK_AS_IS);
    uint8_t pixels[3 * PIXELS];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(14 * i);
    imp_picture picture = {.width = WIDTH, .height = HEIGHT, .channels = 3, .pixels = pixels};
    float embeddings[MOST];
    embed_pictures(model, &picture, 1, embeddings);
    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < PIXELS; i++)
            assert_true(embeddings[c * PIXELS + i] == (float)pixels[3 * i + c] / 255.0f);
    imp_model_free(model);
}

static void what_is_inverted(void **state)
{
    uint8_t light[PIXELS], dark[PIXELS];
    memset(light, 200, PIXELS);
    memset(dark, 50, PIXELS);
    const imp_picture pictures[] = {{WIDTH, HEIGHT, 1, light}, {WIDTH, HEIGHT, 1, dark}};
    const float expected[][2] = {[IMP_INK_OWN] = {55, 50}, /* those on a light ground */
                                 [IMP_INK_AS_IS] = {200, 50},
                                 [IMP_INK_INVERT] = {55, 205}};
    for (int ink = IMP_INK_OWN; ink <= IMP_INK_INVERT; ink++) {
        imp_model *model = mirror(state, 1, (imp_ink)ink);
        float embeddings[2 * PIXELS];
        embed_pictures(model, pictures, 2, embeddings);
        assert_true(embeddings[0] == expected[ink][0] / 255.0f);
        assert_true(embeddings[PIXELS] == expected[ink][1] / 255.0f);
        imp_model_free(model);
    }
}

static void expect_failure(const imp_model *model, imp_picture picture, imp_status status,
                           const char *part)
{
    static const uint8_t black[MOST];
    const imp_picture both[] = {{WIDTH, HEIGHT, imp_model_info_of(model)->channels, black},
                                picture};
    float embeddings[2 * MOST];
    imp_error error;
    assert_int_equal(imp_model_embed_pictures(model, both, 2, 1, embeddings, &error), status);
    assert_int_equal(strncmp(error.message, "picture 1: ", 11), 0);
    if (!strstr(error.message, part))
        fail_msg("%s", error.message);
}

static void pictures_that_do_not_fit(void **state)
{
    static const uint8_t pixels[5 * 5 * 4];
    imp_model *gray = mirror(state, 1, IMP_INK_AS_IS);
    expect_failure(gray, (imp_picture){5, 5, 1, pixels}, IMP_EUNSUPPORTED, "made square");
    expect_failure(gray, (imp_picture){5, 5, 4, pixels}, IMP_EUNSUPPORTED, "5x5");
    expect_failure(gray, (imp_picture){WIDTH, HEIGHT, 1, NULL}, IMP_EINVAL, "empty");
    expect_failure(gray, (imp_picture){0, HEIGHT, 1, pixels}, IMP_EINVAL, "empty");
    imp_model_free(gray);
    imp_model *four = mirror(state, 4, IMP_INK_AS_IS);
    expect_failure(four, (imp_picture){5, 5, 3, pixels}, IMP_EUNSUPPORTED, "4x2x3");
    imp_model_free(four);
}

/* A network of four channels takes what has four channels. */
static void any_number_of_channels(void **state)
{
    imp_model *model = mirror(state, 4, IMP_INK_INVERT);
    static const uint8_t pixels[4 * PIXELS];
    imp_picture picture = {WIDTH, HEIGHT, 4, pixels};
    float embeddings[MOST];
    embed_pictures(model, &picture, 1, embeddings);
    assert_true(embeddings[0] == 1 && embeddings[MOST - 1] == 1);
    imp_model_free(model);
}

/* ---- files ---- */

enum { FILES = 3, SIDE = 8, WIDE = 11, HIGH = 9 };

/* Ramps as files and as pictures, larger than the model's images and of another shape. */
typedef struct ramps {
    scratch_path path[FILES];
    const char *paths[FILES];
    uint8_t pixels[FILES][WIDE * HIGH];
    imp_picture pictures[FILES];
} ramps;

static void make_ramps(void **state, ramps *all)
{
    for (size_t i = 0; i < FILES; i++) {
        char name[20];
        snprintf(name, sizeof name, "%zu.png", i);
        uint8_t start = (uint8_t)(90 * i);
        all->path[i] = scratch_file(state, name);
        all->paths[i] = all->path[i].text;
        picture_save(all->paths[i], picture_ramp(WIDE, HIGH, start));
        for (size_t p = 0; p < WIDE * HIGH; p++)
            all->pixels[i][p] = (uint8_t)(start + p % WIDE + p / WIDE);
        all->pictures[i] = (imp_picture){WIDE, HIGH, 1, all->pixels[i]};
    }
}

static void files_pictures_and_images_agree(void **state)
{
    ramps all;
    make_ramps(state, &all);
    imp_model *model = open_model(
        save_network(state, "square", "conv3x3:4,relu,flatten", 1, SIDE, SIDE), IMP_INK_OWN);
    size_t d = imp_model_info_of(model)->dimensions;
    float *files = malloc(3 * FILES * d * sizeof *files);
    float *pictures = files + FILES * d, *one = pictures + FILES * d;
    assert_non_null(files);
    for (int threads = 0; threads < 3; threads++) {
        assert_int_equal(
            imp_model_embed_files(model, all.paths, FILES, threads, NULL, NULL, files, NULL),
            IMP_OK);
        assert_int_equal(
            imp_model_embed_pictures(model, all.pictures, FILES, threads, pictures, NULL), IMP_OK);
        assert_memory_equal(files, pictures, FILES * d * sizeof *files);
    }
    for (size_t i = 0; i < FILES; i++) {
        embed_pictures(model, &all.pictures[i], 1, one);
        assert_memory_equal(one, files + i * d, d * sizeof *one);
    }
    free(files);
    imp_model_free(model);
}

static void note_fault(size_t index, imp_status status, const char *sentence, void *context)
{
    assert_int_equal(index, 1);
    assert_int_equal(status, IMP_EFORMAT);
    assert_non_null(strstr(sentence, "1.png"));
    ++*(int *)context;
}

static void a_file_that_cannot_be_read(void **state)
{
    ramps all;
    make_ramps(state, &all);
    scratch_write(all.paths[1], "no picture", 10);
    imp_model *model =
        open_model(save_network(state, "square", "flatten", 1, SIDE, SIDE), IMP_INK_AS_IS);
    float embeddings[FILES * SIDE * SIDE], alone[SIDE * SIDE];
    imp_error error;
    assert_int_equal(
        imp_model_embed_files(model, all.paths, FILES, 2, NULL, NULL, embeddings, &error),
        IMP_EFORMAT);
    assert_non_null(strstr(error.message, "1.png"));
    int faults = 0;
    assert_int_equal(
        imp_model_embed_files(model, all.paths, FILES, 2, note_fault, &faults, embeddings, NULL),
        IMP_OK);
    assert_int_equal(faults, 1);
    embed_pictures(model, &all.pictures[2], 1, alone);
    assert_memory_equal(alone, embeddings + 2 * SIDE * SIDE, sizeof alone);
    imp_model_free(model);
}

/* ---- memory ---- */

static void out_of_memory(void **state)
{
    ramps all;
    make_ramps(state, &all);
    scratch_path path = save_network(state, "square", "conv3x3:4,relu", 1, SIDE, SIDE);
    float embeddings[FILES * 4 * SIDE * SIDE];
    failing_allocator memory = {.spare_jansson = true};
    while (failing_allocator_next(&memory)) {
        imp_model *model;
        imp_status status = imp_model_open(path.text, NULL, &model, NULL);
        if (status)
            assert_null(model);
        if (!status)
            status =
                imp_model_embed_files(model, all.paths, FILES, 1, NULL, NULL, embeddings, NULL);
        if (!status)
            status = imp_model_embed_pictures(model, all.pictures, FILES, 1, embeddings, NULL);
        imp_model_free(model);
        failing_allocator_expect(&memory, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_network_alone_counts_as_one_of_glyphs, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(no_model),
        cmocka_unit_test(the_built_in_model),
        cmocka_unit_test_setup_teardown(channels_come_first, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(what_is_inverted, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(pictures_that_do_not_fit, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(any_number_of_channels, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(files_pictures_and_images_agree, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_read, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(out_of_memory, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
