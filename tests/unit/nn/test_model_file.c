/* test_model_file.c - saving and loading networks; files that are not what was asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <imp/imp.h>

#include "base/safetensors.h"
#include "failing_allocator.h"
#include "scratch.h"

static const char small[] = "conv3x3:2,bn,relu,pool,flatten,linear:3";

static imp_network *network_of(const char *description, uint64_t seed)
{
    imp_network_options options = {
        .size = sizeof options, .channels = 2, .height = 4, .width = 5, .seed = seed, .threads = 1};
    imp_network *network;
    assert_int_equal(imp_network_create(description, &options, &network, NULL), IMP_OK);
    return network;
}

static void round_trip(void **state, const char *description)
{
    scratch_path path = scratch_file(state, "model.safetensors");
    imp_network *saved = network_of(description, 5), *loaded;
    float pixels[3 * 2 * 4 * 5] = {1, 2, 3}, out[9], again[9];
    assert_int_equal(imp_network_forward(saved, pixels, 3, out, NULL), IMP_OK);
    assert_int_equal(imp_network_save(saved, path.text, NULL), IMP_OK);
    assert_int_equal(imp_network_load(path.text, NULL, NULL, &loaded, NULL), IMP_OK);
    assert_string_equal(imp_network_description(loaded), description);
    assert_int_equal(imp_network_options_of(loaded)->width, 5);
    for (size_t i = 0; i < imp_network_tensor_count(saved); i++) {
        imp_network_tensor a = imp_network_tensor_at(saved, i);
        imp_network_tensor b = imp_network_tensor_at(loaded, i);
        assert_memory_equal(a.values, b.values, a.count * sizeof(float));
    }
    assert_int_equal(imp_network_forward(saved, pixels, 3, out, NULL), IMP_OK);
    assert_int_equal(imp_network_forward(loaded, pixels, 3, again, NULL), IMP_OK);
    assert_memory_equal(out, again, sizeof out);
    imp_network_free(saved);
    imp_network_free(loaded);
}

static void test_round_trip(void **state)
{
    round_trip(state, small);
}

static void test_round_trip_of_a_graph(void **state)
{
    round_trip(state, "residual(conv3x3:2:nobias,bn | bn), leaky:0.1, gap, linear:3");
}

/* A state dict as PyTorch's users save it: no metadata, a counter of batches beside each norm. */
static void test_state_dict(void **state)
{
    scratch_path path = scratch_file(state, "state_dict.safetensors");
    imp_network *network = network_of(small, 5), *loaded;
    imp_tensor tensors[16];
    size_t count = imp_network_tensor_count(network);
    for (size_t i = 0; i < count; i++) {
        imp_network_tensor t = imp_network_tensor_at(network, i);
        tensors[i] = (imp_tensor){.name = t.name,
                                  .dtype = IMP_FLOAT32,
                                  .rank = t.rank,
                                  .count = t.count,
                                  .data = t.values};
        memcpy(tensors[i].shape, t.shape, sizeof t.shape);
    }
    int64_t batches = 12;
    tensors[count] = (imp_tensor){.name = "blocks.0.bn.num_batches_tracked",
                                  .dtype = IMP_INT64,
                                  .count = 1,
                                  .data = &batches};
    assert_int_equal(imp_safetensors_save(path.text, tensors, count + 1, NULL, 0, NULL), IMP_OK);

    imp_error error;
    imp_network_options options = {
        .size = sizeof options, .channels = 2, .height = 4, .width = 5, .threads = 1};
    assert_int_equal(imp_network_load(path.text, NULL, &options, &loaded, &error), IMP_EFORMAT);
    assert_non_null(strstr(error.message, "give the description"));
    assert_int_equal(imp_network_load(path.text, small, NULL, &loaded, &error), IMP_EFORMAT);
    assert_non_null(strstr(error.message, "give channels, height and width"));
    assert_int_equal(imp_network_load(path.text, small, &options, &loaded, &error), IMP_OK);
    imp_network_free(loaded);

    /* other networks than the one it holds */
    assert_int_equal(imp_network_load(path.text, "conv3x3:2,bn,relu,pool,flatten,linear:4",
                                      &options, &loaded, &error),
                     IMP_EFORMAT);
    assert_non_null(strstr(error.message, "'blocks.1.linear.weight' should be float32 of 32"));
    assert_null(loaded);
    assert_int_equal(
        imp_network_load(path.text, "conv3x3:2,bn,relu,pool", &options, &loaded, &error),
        IMP_EFORMAT);
    assert_non_null(strstr(error.message, "holds 9 tensors"));
    assert_int_equal(
        imp_network_load(path.text, "conv3x3:2,bn,conv3x3:2", &options, &loaded, &error),
        IMP_EFORMAT);
    assert_non_null(strstr(error.message, "no tensor 'blocks.1.conv.weight'"));
    imp_network_free(network);
}

static void test_contradictions(void **state)
{
    scratch_path path = scratch_file(state, "model.safetensors");
    imp_network *network = network_of(small, 5), *loaded;
    imp_error error;
    assert_int_equal(imp_network_save(network, path.text, NULL), IMP_OK);
    assert_int_equal(imp_network_load(path.text, "conv4", NULL, &loaded, &error), IMP_EFORMAT);
    assert_non_null(strstr(error.message, "not 'conv4'"));
    assert_non_null(strstr(error.message, path.text));
    imp_network_options options = {.size = sizeof options, .channels = 1, .height = 4, .width = 5};
    assert_int_equal(imp_network_load(path.text, NULL, &options, &loaded, &error), IMP_EFORMAT);
    assert_non_null(strstr(error.message, "takes images of 2x4x5, not 1x4x5"));

    const imp_metadata bad[] = {{"network", small}, {"input", "2x4"}};
    float zero = 0;
    imp_tensor one = {.name = "x", .dtype = IMP_FLOAT32, .count = 1, .data = &zero};
    assert_int_equal(imp_safetensors_save(path.text, &one, 1, bad, 2, NULL), IMP_OK);
    assert_int_equal(imp_network_load(path.text, NULL, NULL, &loaded, &error), IMP_EFORMAT);
    assert_non_null(strstr(error.message, "should be like '1x28x28'"));
    /* A claim of 16 terabytes of weights, of which there are none. */
    const imp_metadata large[] = {{"network", "flatten,linear:4096"}, {"input", "64x4096x4096"}};
    assert_int_equal(imp_safetensors_save(path.text, &one, 1, large, 2, NULL), IMP_OK);
    assert_int_equal(imp_network_load(path.text, NULL, NULL, &loaded, &error), IMP_EFORMAT);
    assert_non_null(strstr(error.message, "it has no tensor"));
    assert_int_equal(imp_network_load("/nowhere/model", NULL, NULL, &loaded, &error), IMP_EIO);
    imp_network_free(network);
}

static void test_memory_runs_out(void **state)
{
    scratch_path path = scratch_file(state, "model.safetensors");
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_network_options options = {
            .size = sizeof options, .channels = 1, .height = 4, .width = 4, .threads = 1};
        imp_network *network = NULL, *loaded = NULL;
        imp_status status = imp_network_create("conv3x3:2,bn", &options, &network, NULL);
        if (!status)
            status = imp_network_save(network, path.text, NULL);
        if (!status)
            status = imp_network_load(path.text, NULL, NULL, &loaded, NULL);
        imp_network_free(network);
        imp_network_free(loaded);
        assert_int_equal(failing_allocator_end(&memory), status != IMP_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_round_trip_of_a_graph, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_state_dict, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_contradictions, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_memory_runs_out, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests_name("model_file", tests, NULL, NULL);
}
