/*
 * test_pytorch.c - a training step of resnet12 and its evaluation against PyTorch's on the same
 * weights, fused and layer by layer. tests/data/resnet12/make.py makes the file.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <imp/encoder.h>
#include <imp/network.h>

#include "base/safetensors.h"

/* Another file, made with other numbers, may be named as the argument. */
static const char *path = IMP_TEST_DATA "/resnet12/step.safetensors";

static const imp_tensor *tensor_of(const imp_safetensors *file, const char *prefix,
                                   const char *name)
{
    char full[256];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    const imp_tensor *tensor = imp_safetensors_find(file, full);
    if (!tensor || tensor->dtype != IMP_FLOAT32)
        fail_msg("%s has no '%s' of float32", path, full);
    return tensor;
}

/* The largest difference, relative to the largest expected number or `floor`. */
static void compare(const char *what, const char *name, const float *values,
                    const imp_tensor *expected, double floor, double bound)
{
    const float *right = expected->data;
    double largest = floor, difference = 0;
    for (size_t i = 0; i < expected->count; i++) {
        largest = fmax(largest, fabs(right[i]));
        difference = fmax(difference, fabs((double)values[i] - right[i]));
    }
    if (!(difference <= bound * largest))
        fail_msg("%s %s is off by %g", what, name, difference / largest);
}

static imp_network *network_of(const imp_safetensors *file, int unfused)
{
    const imp_tensor *images = tensor_of(file, "", "images");
    const imp_tensor *first = tensor_of(file, "", "blocks.0.body.0.conv.weight");
    imp_network_options options = {.size = sizeof options,
                                   .channels = images->shape[1],
                                   .height = images->shape[2],
                                   .width = images->shape[3],
                                   .threads = 2,
                                   .unfused = unfused};
    char description[32];
    snprintf(description, sizeof description, "resnet12:%zu", first->shape[0]);
    imp_network *network;
    imp_error error;
    if (imp_network_create(description, &options, &network, &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < imp_network_tensor_count(network); i++) {
        imp_network_tensor tensor = imp_network_tensor_at(network, i);
        const imp_tensor *given = tensor_of(file, "", tensor.name);
        assert_int_equal(given->count, tensor.count);
        memcpy(tensor.values, given->data, tensor.count * sizeof *tensor.values);
    }
    return network;
}

static void check_step(int unfused)
{
    imp_safetensors *file;
    imp_error error;
    if (imp_safetensors_load(path, &file, &error))
        fail_msg("%s", error.message);
    imp_network *network = network_of(file, unfused);
    const imp_tensor *images = tensor_of(file, "", "images");
    const imp_tensor *gradient = tensor_of(file, "", "embedding_gradient");
    size_t count = images->shape[0], outputs = count * imp_network_output_size(network);
    assert_int_equal(gradient->count, outputs);
    float *embeddings = malloc(outputs * sizeof *embeddings);

    assert_int_equal(imp_network_forward(network, images->data, count, embeddings, NULL), IMP_OK);
    compare("training's", "output", embeddings, tensor_of(file, "", "embeddings"), 0, 2e-5);
    double loss = 0;
    for (size_t i = 0; i < outputs; i++)
        loss += (double)embeddings[i] * ((const float *)gradient->data)[i];
    compare("the", "loss", &(float){(float)loss}, tensor_of(file, "", "loss"), 1, 2e-5);

    assert_int_equal(imp_network_backward(network, gradient->data, NULL), IMP_OK);
    for (size_t i = 0; i < imp_network_tensor_count(network); i++) {
        imp_network_tensor tensor = imp_network_tensor_at(network, i);
        if (tensor.gradients)
            compare("the gradient of", tensor.name, tensor.gradients,
                    tensor_of(file, "gradient.", tensor.name), 1e-3, 2e-4);
        else
            compare("the statistic", tensor.name, tensor.values,
                    tensor_of(file, "after.", tensor.name), 1e-3, 1e-5);
    }

    imp_encoder *encoder;
    assert_int_equal(imp_encoder_create(network, &encoder, NULL), IMP_OK);
    assert_int_equal(imp_encoder_encode(encoder, images->data, count, 2, embeddings, NULL), IMP_OK);
    compare("evaluation's", "output", embeddings, tensor_of(file, "", "evaluated"), 0, 2e-5);
    imp_encoder_free(encoder);
    imp_network_free(network);
    imp_safetensors_free(file);
    free(embeddings);
}

static void test_fused(void **state)
{
    (void)state;
    check_step(0);
}

static void test_layer_by_layer(void **state)
{
    (void)state;
    check_step(1);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        path = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fused),
        cmocka_unit_test(test_layer_by_layer),
    };
    return cmocka_run_group_tests_name("pytorch", tests, NULL, NULL);
}
