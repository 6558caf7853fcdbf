/*
 * test_passes.c - what a forward and a backward pass can be told: other parameters, the step that
 * names dropout's random numbers, no dropout at all.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <imp/encoder.h>
#include <imp/network.h>

enum { IMAGES = 20, SIDE = 16, PIXELS = SIDE * SIDE };

static imp_network *network_of(const char *description, uint64_t seed)
{
    imp_network_options options = {.size = sizeof options,
                                   .channels = 1,
                                   .height = SIDE,
                                   .width = SIDE,
                                   .seed = seed,
                                   .threads = 2};
    imp_network *network;
    imp_error error;
    if (imp_network_create(description, &options, &network, &error))
        fail_msg("%s: %s", description, error.message);
    return network;
}

static const float *images(void)
{
    static float pixels[IMAGES * PIXELS];
    for (size_t i = 0; i < IMAGES * PIXELS; i++)
        pixels[i] = (float)(1 + i * 7919 % 101) / 100.0f;
    return pixels;
}

/* Ones to ones: what is dropped is 0, what is not is enlarged. */
static void embed(imp_network *network, float *out)
{
    static float ones[IMAGES * PIXELS];
    for (size_t i = 0; i < IMAGES * PIXELS; i++)
        ones[i] = 1;
    assert_int_equal(imp_network_forward(network, ones, IMAGES, out, NULL), IMP_OK);
}

static void test_dropout_s_share(void **state)
{
    (void)state;
    static float out[IMAGES * PIXELS];
    imp_network *network = network_of("dropout:0.4", 1);
    embed(network, out);
    size_t dropped = 0;
    for (size_t i = 0; i < IMAGES * PIXELS; i++) {
        assert_true(out[i] == 0 || fabsf(out[i] - 1 / 0.6f) < 1e-6f);
        dropped += out[i] == 0;
    }
    double deviation = sqrt(0.4 * 0.6 / (IMAGES * PIXELS));
    assert_true(fabs((double)dropped / (IMAGES * PIXELS) - 0.4) < 4 * deviation);
    imp_network_free(network);

    network = network_of("dropout:0.4:channels", 1);
    embed(network, out);
    for (size_t i = 0; i < IMAGES * PIXELS; i++)
        assert_true(out[i] == out[i / PIXELS * PIXELS]);
    imp_network_free(network);
}

static void test_dropout_is_named_by_seed_and_step(void **state)
{
    (void)state;
    static float first[IMAGES * PIXELS], second[IMAGES * PIXELS], third[IMAGES * PIXELS];
    imp_network *network = network_of("dropout:0.4", 1), *other = network_of("dropout:0.4", 2);
    imp_network_set_step(network, 4711);
    embed(network, first);
    embed(network, second); /* of step 4712 */
    assert_memory_not_equal(first, second, sizeof first);
    imp_network_set_step(network, 4712);
    embed(network, third);
    assert_memory_equal(second, third, sizeof second);
    imp_network_set_step(other, 4712);
    embed(other, third);
    assert_memory_not_equal(second, third, sizeof second);
    imp_network_free(network);
    imp_network_free(other);

    network = network_of("residual(dropout:0.4|dropout:0.4)", 1);
    embed(network, first); /* two layers drop by numbers of their own */
    size_t ones = 0;
    for (size_t i = 0; i < IMAGES * PIXELS; i++)
        ones += fabsf(first[i] - 1 / 0.6f) < 1e-6f;
    assert_true(ones > IMAGES * PIXELS / 3);
    imp_network_free(network);
}

static void test_no_dropout(void **state)
{
    (void)state;
    static float out[IMAGES * PIXELS];
    imp_network *network = network_of("dropout:0.4", 1);
    imp_encoder *encoder;
    imp_network_set_dropout(network, 0);
    embed(network, out);
    for (size_t i = 0; i < IMAGES * PIXELS; i++)
        assert_true(out[i] == 1);
    imp_network_set_dropout(network, 1);
    embed(network, out);
    assert_true(out[0] != 1);
    assert_int_equal(imp_encoder_create(network, &encoder, NULL), IMP_OK);
    assert_int_equal(imp_encoder_encode(encoder, images(), IMAGES, 1, out, NULL), IMP_OK);
    assert_memory_equal(out, images(), sizeof out);
    imp_encoder_free(encoder);
    imp_network_free(network);
}

/* A network that uses another's parameters does what that one does, fused or not, and is itself
 * again afterwards. */
static void test_other_parameters(void **state)
{
    (void)state;
    static const char *const descriptions[] = {
        "conv4", "conv3x3:8/2,bn,relu,residual(conv1x1:8,bn),gap,linear:3"};
    for (size_t i = 0; i < 2; i++) {
        imp_network *one = network_of(descriptions[i], 1), *two = network_of(descriptions[i], 2);
        size_t outputs = IMAGES * imp_network_output_size(one);
        size_t parameters = imp_network_parameter_count(one) * sizeof(float);
        float *own = malloc(outputs * sizeof *own), *others = malloc(outputs * sizeof *others);
        float *again = malloc(outputs * sizeof *again);
        assert_int_equal(imp_network_forward(one, images(), IMAGES, own, NULL), IMP_OK);
        assert_int_equal(imp_network_forward(two, images(), IMAGES, others, NULL), IMP_OK);
        assert_int_equal(imp_network_backward(two, others, NULL), IMP_OK);
        assert_memory_not_equal(own, others, outputs * sizeof *own);

        imp_network_use_parameters(one, imp_network_parameters(two));
        assert_int_equal(imp_network_forward(one, images(), IMAGES, again, NULL), IMP_OK);
        assert_memory_equal(again, others, outputs * sizeof *own);
        assert_int_equal(imp_network_backward(one, others, NULL), IMP_OK);
        assert_memory_equal(imp_network_gradients(one), imp_network_gradients(two), parameters);

        imp_network_use_parameters(one, NULL);
        assert_int_equal(imp_network_forward(one, images(), IMAGES, again, NULL), IMP_OK);
        assert_memory_equal(again, own, outputs * sizeof *own);
        free(own);
        free(others);
        free(again);
        imp_network_free(one);
        imp_network_free(two);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dropout_s_share),
        cmocka_unit_test(test_dropout_is_named_by_seed_and_step),
        cmocka_unit_test(test_no_dropout),
        cmocka_unit_test(test_other_parameters),
    };
    return cmocka_run_group_tests_name("passes", tests, NULL, NULL);
}
