/*
 * test_threads.c - twenty training steps give the same bits on 1, 2, 3 and 8 threads, and so does
 * an encoder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <imp/imp.h>

#include "base/random.h"

#ifndef STEPS
#define STEPS 20 /* a processor that is emulated makes fewer */
#endif

typedef struct trained {
    float *parameters, *embeddings;
    size_t parameter_count, embedding_count;
} trained;

static float *draw(size_t count, uint64_t index)
{
    float *values = malloc(count * sizeof *values);
    imp_random random = imp_random_start(1, 0, index);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)imp_random_uniform(&random) - 0.4f;
    return values;
}

/* Trains towards nothing in particular: the gradient is drawn, the images change each step. */
static trained train(const char *description, size_t channels, size_t side, size_t most,
                     int threads, int unfused)
{
    imp_network_options options = {.size = sizeof options,
                                   .channels = channels,
                                   .height = side,
                                   .width = side,
                                   .seed = 42,
                                   .threads = threads,
                                   .unfused = unfused};
    imp_network *network;
    imp_optimizer *optimizer;
    imp_encoder *encoder;
    assert_int_equal(imp_network_create(description, &options, &network, NULL), IMP_OK);
    size_t count = imp_network_parameter_count(network), outputs = imp_network_output_size(network);
    assert_int_equal(imp_optimizer_create(count, NULL, &optimizer, NULL), IMP_OK);
    trained t = {.parameter_count = count, .embedding_count = most * outputs};
    t.embeddings = malloc(t.embedding_count * sizeof(float));
    for (uint64_t step = 0; step < STEPS; step++) {
        /* batches of changing size reuse the same memory */
        size_t images = most - step % 3;
        float *pixels = draw(images * channels * side * side, 2 * step);
        float *gradient = draw(images * outputs, 2 * step + 1);
        assert_int_equal(imp_network_forward(network, pixels, images, t.embeddings, NULL), IMP_OK);
        assert_int_equal(imp_network_backward(network, gradient, NULL), IMP_OK);
        imp_optimizer_step(optimizer, imp_network_parameters(network),
                           imp_network_gradients(network), 1e-3);
        imp_network_clear_gradients(network);
        free(pixels);
        free(gradient);
    }
    float *pixels = draw(most * channels * side * side, 99);
    assert_int_equal(imp_encoder_create(network, &encoder, NULL), IMP_OK);
    assert_int_equal(imp_encoder_encode(encoder, pixels, most, threads, t.embeddings, NULL),
                     IMP_OK);
    t.parameters = malloc(count * sizeof(float));
    memcpy(t.parameters, imp_network_parameters(network), count * sizeof(float));
    free(pixels);
    imp_encoder_free(encoder);
    imp_optimizer_free(optimizer);
    imp_network_free(network);
    return t;
}

/* `images` per step: 37 are cut into 4 blocks, 70 into 8, 260 into 16 */
static void same_bits(const char *description, size_t channels, size_t side, size_t images,
                      int unfused)
{
    static const int threads[] = {2, 3, 8};
    trained one = train(description, channels, side, images, 1, unfused);
    for (size_t i = 0; i < 3; i++) {
        trained many = train(description, channels, side, images, threads[i], unfused);
        assert_memory_equal(many.parameters, one.parameters, one.parameter_count * sizeof(float));
        assert_memory_equal(many.embeddings, one.embeddings, one.embedding_count * sizeof(float));
        free(many.parameters);
        free(many.embeddings);
    }
    free(one.parameters);
    free(one.embeddings);
}

static void test_conv4(void **state)
{
    (void)state;
    same_bits("conv4", 1, 28, 37, 0);
}

static void test_conv4_in_colour(void **state)
{
    (void)state;
    same_bits("conv4", 3, 21, 37, 0);
}

static void test_general_layers(void **state)
{
    (void)state;
    same_bits("conv3x3:8,bn,relu,pool,conv3x3:16,bn,relu,pool,flatten,linear:10", 2, 12, 70, 0);
}

static void test_graphs(void **state)
{
    (void)state;
    same_bits("resnet12:8,dropout:0.3,linear:10", 2, 17, 70, 0);
    same_bits("conv3x3:32/2,bn,leaky:0.1,dropout:0.2:channels,residual(conv3x3:32,bn),gap", 3, 9,
              37, 0);
}

static void test_tiled_convolutions(void **state)
{
    (void)state;
    same_bits("conv3x3:16,bn,leaky:0.1,conv3x3:48,pool,conv3x3:32:nobias,bn", 3, 22, 37, 0);
}

static void test_many_images(void **state)
{
    (void)state;
    same_bits("conv3x3:64,bn,relu,pool,conv3x3:64,bn,relu,pool", 1, 6, 70, 0);
    same_bits("conv3x3:64,bn,relu,pool,conv3x3:64,bn,relu,pool", 1, 4, 260, 0);
}

static void test_unfused(void **state)
{
    (void)state;
    same_bits("conv3x3:64,bn,relu,pool", 1, 10, 37, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv4),
        cmocka_unit_test(test_conv4_in_colour),
        cmocka_unit_test(test_general_layers),
        cmocka_unit_test(test_many_images),
        cmocka_unit_test(test_unfused),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_tiled_convolutions),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
