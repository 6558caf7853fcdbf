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
        {"conv5", 1, 28, 28, "'conv5' in the network should be 'convKxK:F'"},
        {"convolution", 1, 28, 28, "no layer 'convolution'"},
        {"", 1, 28, 28, "no layer ''"},
        {"conv3x3:64,,relu", 1, 28, 28, "no layer ''"},
        {"conv3x3", 1, 28, 28, "should be 'convKxK:F'"},
        {"conv3x3:", 1, 28, 28, "should be 'convKxK:F'"},
        {"conv3x3:0", 1, 28, 28, "should be 'convKxK:F'"},
        {"conv3x3:-3", 1, 28, 28, "should be 'convKxK:F'"},
        {"conv3x5:3", 1, 28, 28, "should be 'convKxK:F'"},
        {"conv0x0:3", 1, 28, 28, "should be 'convKxK:F'"},
        {"conv3x3:8/0", 1, 28, 28, "'/S' for a stride"},
        {"conv3x3:8:nobias:valid", 1, 28, 28, "in this order"},
        {"conv3x3:8:he:xavier", 1, 28, 28, "':he' or ':xavier'"},
        {"conv2x2:8", 1, 28, 28, "has an even kernel"},
        {"conv9x9:8:valid", 1, 8, 28, "is larger than its map of 8x28"},
        {"conv3x3:99999999999999999999", 1, 28, 28, "from 1 to 65536"},
        {"relu:3", 1, 28, 28, "'relu:3' in the network should be 'relu', which takes no number"},
        {"pool:3", 1, 28, 28, "which takes no number"},
        {"gap:3", 1, 28, 28, "which takes no number"},
        {"leaky", 1, 28, 28, "should be 'leaky:S'"},
        {"leaky:0", 1, 28, 28, "should be 'leaky:S'"},
        {"leaky:1", 1, 28, 28, "should be 'leaky:S'"},
        {"leaky:0,1", 1, 28, 28, "should be 'leaky:S'"},
        {"dropout", 1, 28, 28, "should be 'dropout:P'"},
        {"dropout:1", 1, 28, 28, "should be 'dropout:P'"},
        {"dropout:.", 1, 28, 28, "should be 'dropout:P'"},
        {"dropout:0.3:rows", 1, 28, 28, "'dropout:P:channels'"},
        {"linear:4:he:nobias", 1, 1, 1, "should be 'linear:F'"},
        {"conv4", 1, 15, 28, "pool 4 would shrink 1x3 to nothing"},
        {"conv4", 1, 28, 15, "images of 28x15 are too small"},
        {"pool,pool", 1, 3, 3, "pool 2 would shrink 1x1 to nothing"},
        {"conv4", 0, 28, 28, "0 channels"},
        {"conv4", 65537, 28, 28, "65537 channels; a network takes 1 to 65536"},
        {"conv4", 1, 0, 28, "0x28"},
        {"conv4", 1, 5000, 28, "5000x28"},
        {"flatten,conv3x3:4", 1, 28, 28, "cannot follow flatten"},
        {"linear:4", 1, 28, 28, "'linear:4' needs 'flatten' before it"},
        {"bn,bn", 1, 8, 8, "two bn follow"},
        {"conv3x3:8,bn,bn", 1, 8, 8, "two bn follow"},
        {"conv3x3:65536", 1, 4096, 4096, "more than 2^32"},
        {"avgpool,pool", 1, 2, 2, "pool 2 would shrink 1x1 to nothing"},
        {"residual(conv3x3:4)", 3, 8, 8, "adds 4 channels of 8x8 to 3 of 8x8; give it a shortcut"},
        {"residual(conv3x3:4|conv1x1:4/2)", 3, 8, 8, "to 4 of 4x4"},
        {"residual(conv3x3:3", 3, 8, 8, "a 'residual(' without its ')'"},
        {"conv3x3:3)", 3, 8, 8, "a ')' without its 'residual('"},
        {"residual()", 3, 8, 8, "no layer ''"},
        {"residual(relu,)", 3, 8, 8, "no layer ''"},
        {"residual(relu|relu|relu)", 3, 8, 8, "'|' stands between"},
        {"relu|relu", 3, 8, 8, "'|' stands between"},
        {"residual(relu)relu", 3, 8, 8, "a comma is missing before 'relu'"},
        {"relu(relu)", 3, 8, 8, "'relu(' in the network should be 'residual('"},
        {"residual(residual(residual(residual(residual(relu)))))", 3, 8, 8, "4 deep, not deeper"},
        {"residual(bn,bn)", 3, 8, 8, "two bn follow one input"},
        {"resnet12,resnet12", 3, 84, 84, "more than one resnet12"},
        {"resnet12:0", 3, 84, 84, "no layer 'resnet12:0'"},
        {"resnet12:9000", 3, 84, 84, "no layer 'resnet12:9000'"},
        {"resnet12", 3, 15, 15, "pool 4 would shrink 1x1 to nothing"},
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
    assert_int_equal(network->run.count, 5);
    assert_ptr_equal(network->run.layers[0].kind, &imp_layer_first);
    for (size_t i = 1; i < 4; i++)
        assert_ptr_equal(network->run.layers[i].kind, &imp_layer_winograd);
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

/* A residual begins a block, and counts blocks of its own in its body and its shortcut. */
static void test_names_in_residuals(void **state)
{
    (void)state;
    static const char *const names[] = {
        "blocks.0.conv.weight",
        "blocks.0.conv.bias",
        "blocks.1.body.0.conv.weight",
        "blocks.1.body.0.bn.weight",
        "blocks.1.body.0.bn.bias",
        "blocks.1.body.0.bn.running_mean",
        "blocks.1.body.0.bn.running_var",
        "blocks.1.body.1.body.0.conv.weight",
        "blocks.1.shortcut.0.conv.weight",
        "blocks.1.bn.weight",
        "blocks.1.bn.bias",
        "blocks.1.bn.running_mean",
        "blocks.1.bn.running_var",
        "blocks.2.linear.weight",
    };
    imp_network *network;
    assert_int_equal(
        build(" conv3x3:3 , residual( conv1x1:4:nobias,bn,residual(conv3x3:4:nobias) | "
              "conv1x1:4:nobias ),bn,gap,linear:2:nobias ",
              1, 5, 6, &network, NULL),
        IMP_OK);
    assert_int_equal(imp_network_tensor_count(network), sizeof names / sizeof *names);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(imp_network_tensor_at(network, i).name, names[i]);
    imp_network_free(network);
}

/* The networks of MAML and of the graph network, and vectors. */
static void test_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *description;
        size_t channels, height, width, outputs, parameters;
    } rows[] = {
        {"conv3x3:64/2,bn,relu,conv3x3:64/2,bn,relu,conv3x3:64/2,bn,relu,conv3x3:64/2,bn,relu,gap,"
         "linear:5",
         1, 28, 28, 5, 640 + 3 * 36928 + 4 * 128 + 325},
        {"conv3x3:32,bn,relu,pool,conv3x3:32,bn,relu,pool,conv3x3:32,bn,relu,pool,conv3x3:32,bn,"
         "relu,pool,flatten,linear:5",
         3, 84, 84, 5, 896 + 3 * 9248 + 4 * 64 + 801 * 5},
        {"conv3x3:64:nobias,bn,pool,leaky:0.2,conv3x3:96:valid:nobias,bn,pool,leaky:0.2,"
         "conv3x3:128:nobias,bn,pool,leaky:0.2,dropout:0.4:channels,conv3x3:256:nobias,bn,pool,"
         "leaky:0.2,dropout:0.5:channels,flatten,linear:128,bn",
         3, 84, 84, 128,
         9 * (3 * 64 + 64 * 96 + 96 * 128 + 128 * 256) + 2 * (64 + 96 + 128 + 256) + 6401 * 128 +
             256},
        {"linear:64,relu,linear:32", 1280, 1, 1, 32, 1281 * 64 + 65 * 32},
        {"linear:64,bn,dropout:0.1,residual(linear:64)", 7, 1, 1, 64, 8 * 64 + 128 + 65 * 64},
        {"conv5x5:6/3:valid", 2, 13, 9, 6 * 3 * 2, 306},
        {"conv2x2:6:valid,avgpool", 2, 6, 8, 6 * 2 * 3, 54},
        {"resnet12", 3, 84, 84, 512, 7996800},
        {"resnet12:16,linear:3", 1, 28, 28, 3, 501280 + 387},
        {"conv4,linear:20", 1, 28, 28, 20, 111936 + 1300},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        imp_network *network;
        imp_error error;
        if (build(rows[i].description, rows[i].channels, rows[i].height, rows[i].width, &network,
                  &error))
            fail_msg("%s: %s", rows[i].description, error.message);
        assert_int_equal(imp_network_output_size(network), rows[i].outputs);
        assert_int_equal(imp_network_parameter_count(network), rows[i].parameters);
        imp_network_free(network);
    }
}

static double mean_square(const imp_network_tensor *t)
{
    double squares = 0;
    for (size_t j = 0; j < t->count; j++)
        squares += (double)t->values[j] * t->values[j];
    return squares / (double)t->count;
}

static void test_other_initial_weights(void **state)
{
    (void)state;
    imp_network *network;
    assert_int_equal(
        build("conv3x3:64:he,conv3x3:32/2:xavier,flatten,linear:50:he", 16, 8, 8, &network, NULL),
        IMP_OK);
    imp_network_tensor he = imp_network_tensor_at(network, 0);
    imp_network_tensor xavier = imp_network_tensor_at(network, 2);
    imp_network_tensor linear = imp_network_tensor_at(network, 4);
    assert_float_equal(mean_square(&he) * (9 * 64) / 2, 1, 0.05);
    assert_float_equal(mean_square(&xavier) * (9 * (64 + 32)) / 2, 1, 0.05);
    assert_float_equal(mean_square(&linear) * 50 / 2, 1, 0.05);
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
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_too_many_layers),
        cmocka_unit_test(test_conv4_runs_fused),
        cmocka_unit_test(test_names_are_pytorch_s),
        cmocka_unit_test(test_input_norm),
        cmocka_unit_test(test_names_in_residuals),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_initial_weights),
        cmocka_unit_test(test_other_initial_weights),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_unknown_isa),
    };
    return cmocka_run_group_tests_name("description", tests, NULL, NULL);
}
