/*
 * test_embedder.c - pictures into images: their layout, which of them are inverted, and what a file
 * of a network alone counts as.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <imp/network.h>

#include "scratch.h"
#include "train/embedder.h"

enum { SIDE = 3, PIXELS = SIDE * SIDE };

static void channels_come_first(void **state)
{
    (void)state;
    imp_model_summary model = {.channels = 3, .height = 1, .width = 2};
    const uint8_t pictures[] = {0, 51, 102, 153, 204, 255};
    float images[6];
    assert_int_equal(imp_model_images(&model, pictures, 1, images, NULL), IMP_OK);
    const uint8_t expected[] = {0, 153, 51, 204, 102, 255};
    for (int i = 0; i < 6; i++)
        assert_true(images[i] == (float)expected[i] / 255.0f);
}

static void what_is_inverted(void **state)
{
    (void)state;
    uint8_t pictures[2][PIXELS]; /* light with a dark middle, and the other way round */
    memset(pictures[0], 200, PIXELS);
    memset(pictures[1], 50, PIXELS);
    pictures[0][PIXELS / 2] = 0;
    pictures[1][PIXELS / 2] = 255;
    const float corners[][2] = {
        [IMP_INVERT_NONE] = {200, 50}, [IMP_INVERT_ALL] = {55, 205}, [IMP_INVERT_LIGHT] = {55, 50}};
    for (int inversion = IMP_INVERT_NONE; inversion <= IMP_INVERT_LIGHT; inversion++) {
        imp_model_summary model = {.channels = 1, .height = SIDE, .width = SIDE};
        model.inversion = (imp_inversion)inversion;
        float images[2 * PIXELS];
        assert_int_equal(imp_model_images(&model, pictures[0], 2, images, NULL), IMP_OK);
        assert_true(images[0] == corners[inversion][0] / 255.0f);
        assert_true(images[PIXELS] == corners[inversion][1] / 255.0f);
    }
}

static void two_channels_have_no_ground(void **state)
{
    (void)state;
    imp_model_summary model = {
        .channels = 2, .height = 1, .width = 1, .inversion = IMP_INVERT_LIGHT};
    const uint8_t picture[] = {255, 255};
    float image[] = {7, 7};
    imp_error error;
    assert_int_equal(imp_model_images(&model, picture, 1, image, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "gray and RGB"));
    assert_true(image[0] == 7 && image[1] == 7);
}

static void a_network_alone_counts_as_one_of_glyphs(void **state)
{
    imp_network_options options = {
        .size = sizeof options, .channels = 1, .height = 4, .width = 6, .threads = 1};
    imp_network *network;
    scratch_path path = scratch_file(state, "network.safetensors");
    assert_int_equal(imp_network_create("conv3x3:2,pool", &options, &network, NULL), IMP_OK);
    assert_int_equal(imp_network_save(network, path.text, NULL), IMP_OK);
    imp_network_free(network);
    imp_model_summary model;
    assert_int_equal(imp_model_summarize(path.text, &model, NULL), IMP_OK);
    assert_int_equal(model.channels, 1);
    assert_int_equal(model.height, 4);
    assert_int_equal(model.width, 6);
    assert_int_equal(model.inversion, IMP_INVERT_LIGHT);
    assert_true(model.mixture.sigma_l == 5 && model.mixture.sigma_u == 5);
    assert_true(isnan(model.mixture.lambda));
    assert_int_equal(imp_model_summarize("nowhere", &model, NULL), IMP_EIO);
    assert_int_equal(model.channels, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_come_first),
        cmocka_unit_test(what_is_inverted),
        cmocka_unit_test(two_channels_have_no_ground),
        cmocka_unit_test_setup_teardown(a_network_alone_counts_as_one_of_glyphs, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
