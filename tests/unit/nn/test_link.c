/*
 * test_link.c - the gradient by a network's inputs, against differences of the double-precision
 * reference; that the other gradients stay what they were; and on any number of threads.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "nn/link.h"
#include "reference.h"

typedef struct test_row {
    const char *description;
    size_t images, channels, height, width;
} test_row;

/* Nothing decides in them, so that differences are slopes. */
static const test_row rows[] = {
    {"linear:5,bn,linear:3", 9, 7, 1, 1},
    {"bn,linear:4", 6, 3, 1, 1},
    {"conv3x3:4,bn,avgpool,conv3x3:3", 4, 2, 6, 5},
    {"conv3x3:16,bn,leaky:0.999,conv3x3:16,avgpool", 3, 3, 6, 6},
    {"residual(conv3x3:3,bn),flatten,linear:4", 5, 3, 4, 5},
};

static imp_network_options options_of(const test_row *row, int threads)
{
    return (imp_network_options){.size = sizeof(imp_network_options),
                                 .channels = row->channels,
                                 .height = row->height,
                                 .width = row->width,
                                 .seed = 11,
                                 .threads = threads};
}

static float *numbers(size_t count, uint64_t stream)
{
    float *values = malloc(count * sizeof *values);
    imp_random random = imp_random_start(3, 0, stream);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)imp_random_normal(&random);
    return values;
}

static double loss_of(reference *r, const test_row *row, const float *pixels, const float *slope,
                      size_t outputs)
{
    const double *out = reference_forward(r, pixels, row->images, true);
    double loss = 0;
    for (size_t i = 0; i < row->images * outputs; i++)
        loss += slope[i] * out[i];
    return loss;
}

static void test_row_of(const test_row *row)
{
    const float h = 1.f / 1024;
    size_t size = row->channels * row->height * row->width, count = row->images * size;
    imp_network_options options = options_of(row, 1);
    imp_network *network, *usual;
    assert_int_equal(imp_network_create_link(row->description, &options, &network, NULL), IMP_OK);
    assert_int_equal(imp_network_create(row->description, &options, &usual, NULL), IMP_OK);
    size_t outputs = imp_network_output_size(network);
    float *pixels = numbers(count, 0), *slope = numbers(row->images * outputs, 1);
    float *out = malloc(row->images * outputs * sizeof *out), *din = malloc(count * sizeof *din);
    assert_int_equal(imp_network_forward(network, pixels, row->images, out, NULL), IMP_OK);
    assert_int_equal(imp_network_backward_link(network, slope, din, NULL), IMP_OK);

    reference *r = reference_create(network);
    for (size_t i = 0; i < count; i += 1 + count / 60) {
        float kept = pixels[i];
        pixels[i] = kept + h;
        double above = loss_of(r, row, pixels, slope, outputs), step = pixels[i];
        pixels[i] = kept - h;
        double below = loss_of(r, row, pixels, slope, outputs);
        step -= pixels[i];
        pixels[i] = kept;
        if (!(fabs((above - below) / step - din[i]) < 2e-3 * (1 + fabs(din[i]))))
            fail_msg("'%s': input %zu: the loss rises by %g, the pass says %g", row->description, i,
                     (above - below) / step, din[i]);
    }
    reference_free(r);

    assert_int_equal(imp_network_forward(usual, pixels, row->images, out, NULL), IMP_OK);
    assert_int_equal(imp_network_backward(usual, slope, NULL), IMP_OK);
    for (size_t i = 0; i < imp_network_parameter_count(network); i++)
        assert_true(fabsf(imp_network_gradients(network)[i] - imp_network_gradients(usual)[i]) <
                    1e-3f * (1 + fabsf(imp_network_gradients(usual)[i])));
    imp_network_free(network);
    imp_network_free(usual);
    free(pixels);
    free(slope);
    free(out);
    free(din);
}

static void input_gradients_are_slopes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        test_row_of(&rows[i]);
}

static void same_bits_on_any_number_of_threads(void **state)
{
    (void)state;
    test_row row = {"linear:5,bn,leaky:0.1,linear:3", 300, 7, 1, 1};
    float *pixels = numbers(300 * 7, 0), *slope = numbers(300 * 3, 1), *first = NULL;
    float out[300 * 3];
    for (int threads = 1; threads <= 3; threads++) {
        imp_network_options options = options_of(&row, threads);
        imp_network *network;
        float *din = malloc(300 * 7 * sizeof *din);
        assert_int_equal(imp_network_create_link(row.description, &options, &network, NULL),
                         IMP_OK);
        assert_int_equal(imp_network_forward(network, pixels, 300, out, NULL), IMP_OK);
        assert_int_equal(imp_network_backward_link(network, slope, din, NULL), IMP_OK);
        if (first)
            assert_memory_equal(din, first, 300 * 7 * sizeof *din);
        free(threads == 1 ? NULL : din);
        first = threads == 1 ? din : first;
        imp_network_free(network);
    }
    free(first);
    free(pixels);
    free(slope);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(input_gradients_are_slopes),
        cmocka_unit_test(same_bits_on_any_number_of_threads),
    };
    return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
