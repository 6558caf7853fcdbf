/* test_description.c - what can be built, and the sentences for what cannot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nn/network.h"

static imp_status build(const char *description, size_t channels, size_t height, size_t width,
                        imp_network **network, imp_error *error)
{
    imp_network_options options = {.size = sizeof options,
                                   .channels = channels,
                                   .height = height,
                                   .width = width,
                                   .threads = 1};
    return imp_network_create(description, &options, network, error);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *description;
        size_t channels, height, width;
        const char *sentence; /* a part of it */
    } rows[] = {
        {"conv5", 1, 28, 28, "no layer 'conv5'"},
        {"", 1, 28, 28, "no layer ''"},
        {"conv3x3:64,,relu", 1, 28, 28, "no layer ''"},
        {"conv4,flatten", 1, 28, 28, "no layer 'conv4'"},
        {"conv3x3", 1, 28, 28, "should be 'conv3x3:F'"},
        {"conv3x3:", 1, 28, 28, "should be 'conv3x3:F'"},
        {"conv3x3:0", 1, 28, 28, "should be 'conv3x3:F'"},
        {"conv3x3:-3", 1, 28, 28, "should be 'conv3x3:F'"},
        {"conv3x3:99999999999999999999", 1, 28, 28, "from 1 to 65536"},
        {"relu:3", 1, 28, 28, "'relu' takes no number"},
        {"conv4", 1, 15, 28, "pool 4 would shrink 1x3 to nothing"},
        {"conv4", 1, 28, 15, "images of 28x15 are too small"},
        {"pool,pool", 1, 3, 3, "pool 2 would shrink 1x1 to nothing"},
        {"conv4", 0, 28, 28, "0 channels"},
        {"conv4", 65, 28, 28, "65 channels; a network takes 1 to 64"},
        {"conv4", 1, 0, 28, "0x28"},
        {"conv4", 1, 5000, 28, "5000x28"},
        {"flatten,conv3x3:4", 1, 28, 28, "cannot follow flatten"},
        {"linear:4", 1, 28, 28, "linear:4 needs 'flatten' before it"},
        {"bn,bn", 1, 8, 8, "two bn follow"},
        {"conv3x3:8,bn,bn", 1, 8, 8, "two bn follow"},
        {"conv3x3:65536", 1, 4096, 4096, "more than 2^32"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        imp_network *network = (imp_network *)&rows;
        imp_error error;
        imp_status status = build(rows[i].description, rows[i].channels, rows[i].height,
                                  rows[i].width, &network, &error);
        assert_int_equal(status, IMP_EINVAL);
        assert_null(network);
        if (!strstr(error.message, rows[i].sentence))
            fail_msg("'%s': \"%s\" does not say \"%s\"", rows[i].description, error.message,
                     rows[i].sentence);
    }
}

static void test_too_many_layers(void **state)
{
    (void)state;
    char description[5 * 300] = "relu";
    for (int i = 0; i < 260; i++)
        strcat(description, ",relu");
    imp_network *network;
    imp_error error;
    assert_int_equal(build(description, 1, 4, 4, &network, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "more than 256 layers"));
}

static void test_conv4_runs_fused(void **state)
{
    (void)state;
    imp_network *network;
    assert_int_equal(build("conv4", 1, 28, 28, &network, NULL), IMP_OK);
    assert_int_equal(network->layer_count, 5);
    assert_ptr_equal(network->layers[0].kind, &imp_layer_first);
    for (size_t i = 1; i < 4; i++)
        assert_ptr_equal(network->layers[i].kind, &imp_layer_winograd);
    assert_int_equal(imp_network_output_size(network), 64);
    assert_int_equal(imp_network_parameter_count(network),
                     64 * 9 + 3 * 64 * 64 * 9 + 4 * 64 + 8 * 64);
    imp_network_free(network);

    assert_int_equal(build("conv4", 3, 84, 84, &network, NULL), IMP_OK);
    assert_int_equal(imp_network_output_size(network), 1600);
    imp_network_free(network);
}

static void test_names_are_pytorch_s(void **state)
{
    (void)state;
    static const char *const names[] = {
        "blocks.0.conv.weight",   "blocks.0.conv.bias",       "blocks.0.bn.weight",
        "blocks.0.bn.bias",       "blocks.0.bn.running_mean", "blocks.0.bn.running_var",
        "blocks.1.linear.weight", "blocks.1.linear.bias",
    };
    imp_network *network;
    assert_int_equal(build("conv3x3:5,bn,relu,flatten,linear:7", 2, 3, 4, &network, NULL), IMP_OK);
    assert_int_equal(imp_network_tensor_count(network), 8);
    for (size_t i = 0; i < 8; i++)
        assert_string_equal(imp_network_tensor_at(network, i).name, names[i]);
    imp_network_tensor weight = imp_network_tensor_at(network, 0);
    assert_int_equal(weight.rank, 4);
    assert_int_equal(weight.shape[0], 5);
    assert_int_equal(weight.shape[1], 2);
    assert_null(imp_network_tensor_at(network, 4).gradients);
    assert_int_equal(imp_network_tensor_at(network, 6).shape[1], 5 * 3 * 4);
    imp_network_free(network);
}

/* A norm of the images themselves has a name of its own. */
static void test_input_norm(void **state)
{
    (void)state;
    imp_network *network;
    assert_int_equal(build("bn,conv3x3:3,bn", 2, 4, 4, &network, NULL), IMP_OK);
    assert_string_equal(imp_network_tensor_at(network, 0).name, "input.bn.weight");
    assert_string_equal(imp_network_tensor_at(network, 6).name, "blocks.0.bn.weight");
    imp_network_free(network);
}

static void test_initial_weights(void **state)
{
    (void)state;
    imp_network *network;
    assert_int_equal(build("conv4", 1, 28, 28, &network, NULL), IMP_OK);
    for (size_t i = 0; i < imp_network_tensor_count(network); i++) {
        imp_network_tensor t = imp_network_tensor_at(network, i);
        double sum = 0, squares = 0;
        for (size_t j = 0; j < t.count; j++) {
            sum += t.values[j];
            squares += (double)t.values[j] * t.values[j];
        }
        if (t.rank == 4) { /* uniform in +-bound: variance bound^2 / 3 = 4 / (fan in + fan out) */
            double variance = 4.0 / (double)(9 * (t.shape[0] + t.shape[1]));
            assert_true(squares / (double)t.count > 0.9 * variance);
            assert_true(squares / (double)t.count < 1.1 * variance);
        } else if (strstr(t.name, "bn.weight") || strstr(t.name, "running_var")) {
            assert_true(sum == (double)t.count);
        } else {
            assert_true(squares == 0);
        }
    }
    imp_network_free(network);
}

static void test_misuse(void **state)
{
    (void)state;
    imp_network *network;
    imp_error error;
    float image[16] = {0}, out[4], gradient[4] = {0};
    imp_network_options options = {.size = 3};
    assert_int_equal(imp_network_create("conv4", &options, &network, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "sizeof(imp_network_options)"));
    assert_int_equal(build("conv3x3:1,pool", 1, 4, 4, &network, &error), IMP_OK);
    assert_int_equal(imp_network_backward(network, gradient, &error), IMP_EINVAL);
    assert_int_equal(imp_network_forward(network, image, 0, out, &error), IMP_EINVAL);
    assert_int_equal(imp_network_forward(network, image, (size_t)1 << 40, out, &error), IMP_EINVAL);
    assert_int_equal(imp_network_forward(network, image, 1, out, &error), IMP_OK);
    assert_int_equal(imp_network_backward(network, gradient, &error), IMP_OK);
    assert_int_equal(imp_network_backward(network, gradient, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "forward pass before it"));
    imp_network_free(network);
}

static void test_unknown_isa(void **state)
{
    (void)state;
    imp_network *network;
    imp_error error;
    const char *before = getenv("IMP_ISA");
    setenv("IMP_ISA", "sse9", 1);
    assert_int_equal(build("conv4", 1, 28, 28, &network, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "avx512, avx2 or portable"));
    setenv("IMP_ISA", "portable", 1);
    assert_int_equal(build("conv4", 1, 28, 28, &network, &error), IMP_OK);
    assert_string_equal(imp_network_isa(network), "portable");
    imp_network_free(network);
    if (before)
        setenv("IMP_ISA", before, 1);
    else
        unsetenv("IMP_ISA");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),         cmocka_unit_test(test_too_many_layers),
        cmocka_unit_test(test_conv4_runs_fused), cmocka_unit_test(test_names_are_pytorch_s),
        cmocka_unit_test(test_input_norm),       cmocka_unit_test(test_initial_weights),
        cmocka_unit_test(test_misuse),           cmocka_unit_test(test_unknown_isa),
    };
    return cmocka_run_group_tests_name("description", tests, NULL, NULL);
}
