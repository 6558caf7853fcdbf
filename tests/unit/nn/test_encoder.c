/*
 * test_encoder.c - a frozen network against the reference in evaluation mode, on every instruction
 * set, from many threads at once, and with every allocation failing in turn.
 */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <imp/imp.h>

#include "base/random.h"
#include "failing_allocator.h"
#include "nn/network.h"
#include "reference.h"

static float *draw(size_t count, uint64_t index)
{
    float *values = malloc(count * sizeof *values);
    imp_random random = imp_random_start(17, 0, index);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)imp_random_uniform(&random) - 0.3f;
    return values;
}

static imp_network *network_of(const char *description, size_t channels, size_t height,
                               size_t width)
{
    imp_network_options options = {.size = sizeof options,
                                   .channels = channels,
                                   .height = height,
                                   .width = width,
                                   .seed = 3,
                                   .threads = 2};
    imp_network *network;
    imp_error error;
    if (imp_network_create(description, &options, &network, &error))
        fail_msg("%s", error.message);
    /* norms that do something: some negative, some zero */
    imp_random random = imp_random_start(1, 0, 0);
    for (size_t i = 0; i < imp_network_tensor_count(network); i++) {
        imp_network_tensor t = imp_network_tensor_at(network, i);
        for (size_t j = 0; t.rank == 1 && j < t.count; j++)
            t.values[j] = strstr(t.name, "running_var") ? (float)imp_random_uniform(&random) + 0.1f
                          : j % 7 == 0                  ? 0
                                       : (float)imp_random_uniform(&random) * 2 - 0.7f;
    }
    return network;
}

static void compare(const char *description, size_t images, size_t channels, size_t height,
                    size_t width, const imp_kernels *kernels)
{
    imp_network *network = network_of(description, channels, height, width);
    network->kernels = kernels;
    reference *r = reference_create(network);
    imp_encoder *encoder;
    assert_int_equal(imp_encoder_create(network, &encoder, NULL), IMP_OK);
    size_t outputs = imp_encoder_output_size(encoder);
    float *pixels = draw(images * channels * height * width, 0);
    float *embeddings = malloc(images * outputs * sizeof *embeddings);
    assert_int_equal(imp_encoder_encode(encoder, pixels, images, 2, embeddings, NULL), IMP_OK);
    const double *expected = reference_forward(r, pixels, images, false);
    double largest = 1e-9, difference = 0;
    for (size_t i = 0; i < images * outputs; i++) {
        assert_true(isfinite(embeddings[i]));
        largest = fmax(largest, fabs(expected[i]));
        difference = fmax(difference, fabs(embeddings[i] - expected[i]));
    }
    if (!(difference <= 2e-5 * largest))
        fail_msg("%s, %s: off by %g", description, kernels->name, difference / largest);

    /* an image's embedding does not depend on its neighbours: the last one alone, to the bit */
    float *alone = malloc(outputs * sizeof *alone);
    size_t last = images - 1;
    assert_int_equal(
        imp_encoder_encode(encoder, pixels + last * channels * height * width, 1, 1, alone, NULL),
        IMP_OK);
    assert_memory_equal(alone, embeddings + last * outputs, outputs * sizeof *alone);
    free(alone);
    free(pixels);
    free(embeddings);
    imp_encoder_free(encoder);
    reference_free(r);
    imp_network_free(network);
}

#ifdef __x86_64__
extern const imp_kernels imp_kernels_wide;
#endif

static void test_against_reference(void **state)
{
    (void)state;
    const imp_kernels *variants[4] = {imp_kernels_find("portable"), imp_kernels_find("avx2"),
                                      imp_kernels_find("avx512")};
#ifdef __x86_64__
    variants[3] = variants[1] ? &imp_kernels_wide : NULL;
#elif defined(__aarch64__)
    variants[3] = imp_kernels_find("neon");
#endif
    for (size_t v = 0; v < 4; v++)
        if (variants[v]) {
            compare("conv4", 1, 1, 28, 28, variants[v]);
            compare("conv4", 53, 1, 17, 22, variants[v]);
            compare("conv4", 5, 3, 35, 48, variants[v]);
            compare("conv4", 2, 7, 16, 16, variants[v]);
            compare(
                "conv3x3:5,bn,relu,pool,conv3x3:64,relu,conv3x3:64,bn,relu,pool,flatten,linear:9",
                30, 2, 9, 10, variants[v]);
            compare(
                "conv3x3:6/2:nobias,bn,leaky:0.2,avgpool,dropout:0.3,flatten,linear:9:nobias,bn",
                30, 2, 9, 10, variants[v]);
            compare("conv3x3:64,bn,relu,pool,residual(conv3x3:64,bn,relu,dropout:0.5,conv3x3:64|),"
                    "residual(bn,relu,conv1x1:7|conv3x3:7,bn),dropout:0.1",
                    5, 3, 9, 10, variants[v]);
            compare("resnet12:4", 5, 3, 23, 18, variants[v]);
            compare("standard,linear:9,bn,relu", 50, 70, 1, 1, variants[v]);
            compare("linear:9,relu,residual(linear:9),linear:4,bn", 50, 70, 1, 1, variants[v]);
        }
}

typedef struct visitor {
    const imp_encoder *encoder;
    const float *pixels;
    float *embeddings;
    imp_status status;
} visitor;

enum { VISITORS = 6, IMAGES = 30, PIXELS = 16 * 16 };

static void *visit(void *context)
{
    visitor *v = context;
    for (int i = 0; i < 5 && !v->status; i++)
        v->status = imp_encoder_encode(v->encoder, v->pixels, IMAGES, 2, v->embeddings, NULL);
    return NULL;
}

static void test_many_threads_at_once(void **state)
{
    (void)state;
    imp_network *network = network_of("conv4", 1, 16, 16);
    imp_encoder *encoder;
    assert_int_equal(imp_encoder_create(network, &encoder, NULL), IMP_OK);
    imp_network_free(network); /* the encoder does not need it any more */
    float *pixels = draw(IMAGES * PIXELS, 1), expected[IMAGES * 64];
    assert_int_equal(imp_encoder_encode(encoder, pixels, IMAGES, 1, expected, NULL), IMP_OK);
    pthread_t threads[VISITORS];
    visitor visitors[VISITORS];
    for (size_t i = 0; i < VISITORS; i++) {
        visitors[i] = (visitor){encoder, pixels, malloc(sizeof expected), IMP_OK};
        assert_int_equal(pthread_create(&threads[i], NULL, visit, &visitors[i]), 0);
    }
    for (size_t i = 0; i < VISITORS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(visitors[i].status, IMP_OK);
        assert_memory_equal(visitors[i].embeddings, expected, sizeof expected);
        free(visitors[i].embeddings);
    }
    free(pixels);
    imp_encoder_free(encoder);
}

static void test_no_images(void **state)
{
    (void)state;
    imp_network *network = network_of("conv4", 1, 16, 16);
    imp_encoder *encoder;
    assert_int_equal(imp_encoder_create(network, &encoder, NULL), IMP_OK);
    assert_int_equal(imp_encoder_encode(encoder, NULL, 0, 2, NULL, NULL), IMP_OK);
    imp_encoder_free(encoder);
    imp_network_free(network);
}

/* Builds, trains a step, freezes and encodes. */
static imp_status whole_life(void)
{
    imp_network_options options = {
        .size = sizeof options, .channels = 1, .height = 16, .width = 16, .threads = 2};
    imp_network *network = NULL;
    imp_encoder *encoder = NULL;
    imp_optimizer *optimizer = NULL;
    float pixels[50 * PIXELS] = {0}, out[50 * 64];
    imp_status status =
        imp_network_create("conv4,residual(linear:64,dropout:0.1)", &options, &network, NULL);
    if (!status)
        status = imp_optimizer_create(imp_network_parameter_count(network), NULL, &optimizer, NULL);
    if (!status)
        status = imp_network_forward(network, pixels, 4, out, NULL);
    if (!status)
        status = imp_network_backward(network, out, NULL);
    if (!status)
        status = imp_encoder_create(network, &encoder, NULL);
    if (!status)
        status = imp_encoder_encode(encoder, pixels, 50, 2, out, NULL); /* several chunks */
    imp_encoder_free(encoder);
    imp_optimizer_free(optimizer);
    imp_network_free(network);
    return status;
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_status status = whole_life();
        failing_allocator_expect(&memory, status);
    }
}

/* A batch that does not fit leaves the network as it was: able to do a smaller one. */
static void test_batch_too_large_for_memory(void **state)
{
    (void)state;
    imp_network_options options = {
        .size = sizeof options, .channels = 1, .height = 16, .width = 16, .threads = 1};
    imp_network *network;
    float pixels[2 * PIXELS] = {0}, out[2 * 64];
    failing_allocator memory = {0};
    failing_allocator_install(&memory, 0);
    assert_int_equal(imp_network_create("conv4,residual(linear:64)", &options, &network, NULL),
                     IMP_OK);
    assert_int_equal(imp_network_forward(network, pixels, 1, out, NULL), IMP_OK);
    memory.fail_at = memory.calls + 1;
    assert_int_equal(imp_network_forward(network, pixels, 2, out, NULL), IMP_ENOMEM);
    assert_int_equal(imp_network_forward(network, pixels, 1, out, NULL), IMP_OK);
    assert_int_equal(imp_network_backward(network, out, NULL), IMP_OK);
    /* and steps no larger than an earlier one take no memory at all */
    size_t calls = memory.calls;
    assert_int_equal(imp_network_forward(network, pixels, 1, out, NULL), IMP_OK);
    assert_int_equal(imp_network_backward(network, out, NULL), IMP_OK);
    assert_int_equal(memory.calls, calls);
    imp_network_free(network);
    failing_allocator_end(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_many_threads_at_once),
        cmocka_unit_test(test_no_images),
        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_batch_too_large_for_memory),
    };
    return cmocka_run_group_tests_name("encoder", tests, NULL, NULL);
}
