/*
 * test_onnx.c - the exported graph, read back by a parser that knows nothing of the writer, and
 * computed by plain loops: the same embeddings as the encoder's. ONNX Runtime itself is asked in
 * tests/cli/onnx_long.bats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <imp/encoder.h>

#include "base/file.h"
#include "base/memory.h"
#include "scratch.h"
#include "train/onnx.h"

/* ---- reading Protocol Buffers ---- */

typedef struct span {
    const unsigned char *bytes;
    size_t size;
} span;

typedef struct field {
    unsigned number, type;
    uint64_t integer;
    span bytes;
} field;

static uint64_t read_varint(span *from)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(from->size > 0 && shift < 64);
        unsigned char byte = *from->bytes++;
        from->size--;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
}

/* The next field of a message; false at its end. */
static bool next_field(span *from, field *found)
{
    if (from->size == 0)
        return false;
    uint64_t tag = read_varint(from);
    *found = (field){.number = (unsigned)(tag >> 3), .type = tag & 7};
    size_t length = 0;
    if (found->type == 0)
        found->integer = read_varint(from);
    else
        length = found->type == 5 ? 4 : (size_t)read_varint(from);
    assert_true(found->type == 0 || found->type == 2 || found->type == 5);
    assert_true(length <= from->size);
    found->bytes = (span){from->bytes, length};
    from->bytes += length;
    from->size -= length;
    return true;
}

/* Field `number` of a message, counted from 0 if it is repeated. */
static field get(span message, unsigned number, size_t index)
{
    for (field found; next_field(&message, &found);)
        if (found.number == number && index-- == 0)
            return found;
    fail_msg("there is no field %u", number);
    return (field){0};
}

static size_t count_fields(span message, unsigned number)
{
    size_t count = 0;
    for (field found; next_field(&message, &found);)
        count += found.number == number;
    return count;
}

static bool is_text(span bytes, const char *text)
{
    return bytes.size == strlen(text) && memcmp(bytes.bytes, text, bytes.size) == 0;
}

/* ---- attributes ---- */

static span attribute(span node, const char *name)
{
    for (size_t i = 0; i < count_fields(node, 5); i++) {
        span found = get(node, 5, i).bytes;
        if (is_text(get(found, 1, 0).bytes, name))
            return found;
    }
    fail_msg("there is no attribute '%s'", name);
    return (span){0};
}

static void assert_integer(span node, const char *name, uint64_t expected)
{
    span found = attribute(node, name);
    assert_int_equal(get(found, 20, 0).integer, 2); /* INT */
    assert_int_equal(get(found, 3, 0).integer, expected);
}

/* That many integers, all the same. */
static void assert_integers(span node, const char *name, size_t count, uint64_t expected)
{
    span found = attribute(node, name);
    assert_int_equal(get(found, 20, 0).integer, 7); /* INTS */
    assert_int_equal(count_fields(found, 8), count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(get(found, 8, i).integer, expected);
}

static float float_of(span node, const char *name)
{
    span found = attribute(node, name);
    assert_int_equal(get(found, 20, 0).integer, 1); /* FLOAT */
    field value = get(found, 2, 0);
    float number;
    assert_int_equal(value.bytes.size, sizeof number);
    memcpy(&number, value.bytes.bytes, sizeof number);
    return number;
}

/* What the loops below compute is what the attributes say, and there are no others. */
static void check_attributes(span node)
{
    span operation = get(node, 4, 0).bytes;
    size_t expected = 0;
    if (is_text(operation, "Conv")) {
        assert_integers(node, "kernel_shape", 2, 3);
        assert_integers(node, "pads", 4, 1);
        expected = 2;
    } else if (is_text(operation, "MaxPool")) {
        assert_integers(node, "kernel_shape", 2, 2);
        assert_integers(node, "strides", 2, 2);
        expected = 2;
    } else if (is_text(operation, "Gemm")) {
        assert_integer(node, "transB", 1);
        expected = 1;
    } else if (is_text(operation, "Flatten")) {
        assert_integer(node, "axis", 1);
        expected = 1;
    } else if (is_text(operation, "BatchNormalization")) {
        assert_float_equal(float_of(node, "epsilon"), 1e-5f, 0);
        expected = 1;
    }
    assert_int_equal(count_fields(node, 5), expected);
}

/* ---- running the graph ---- */

typedef struct map {
    size_t channels, height, width;
    double *values;
} map;

static map make_map(size_t channels, size_t height, size_t width)
{
    return (map){channels, height, width, calloc(channels * height * width, sizeof(double))};
}

static double at(const map *m, size_t c, long y, long x)
{
    if (y < 0 || x < 0 || y >= (long)m->height || x >= (long)m->width)
        return 0;
    return m->values[(c * m->height + (size_t)y) * m->width + (size_t)x];
}

/* The initializer that input `index` of a node names. */
static const float *initializer(span graph, span node, size_t index, size_t *count)
{
    span name = get(node, 1, index).bytes;
    for (size_t i = 0; i < count_fields(graph, 5); i++) {
        span tensor = get(graph, 5, i).bytes;
        span own = get(tensor, 8, 0).bytes;
        if (own.size == name.size && memcmp(own.bytes, name.bytes, name.size) == 0) {
            span data = get(tensor, 9, 0).bytes;
            assert_int_equal(get(tensor, 2, 0).integer, 1);
            size_t product = 1;
            for (size_t d = 0; d < count_fields(tensor, 1); d++)
                product *= get(tensor, 1, d).integer;
            assert_int_equal(product * sizeof(float), data.size);
            *count = product;
            float *values = malloc(data.size);
            memcpy(values, data.bytes, data.size);
            return values;
        }
    }
    fail_msg("there is no initializer '%.*s'", (int)name.size, name.bytes);
    return NULL;
}

static map convolve(const map *in, const float *weight, const float *bias, size_t outputs)
{
    map out = make_map(outputs, in->height, in->width);
    for (size_t o = 0; o < outputs; o++)
        for (size_t y = 0; y < in->height; y++)
            for (size_t x = 0; x < in->width; x++) {
                double sum = bias[o];
                for (size_t c = 0; c < in->channels; c++)
                    for (long ky = 0; ky < 3; ky++)
                        for (long kx = 0; kx < 3; kx++)
                            sum +=
                                weight[((o * in->channels + c) * 3 + (size_t)ky) * 3 + (size_t)kx] *
                                at(in, c, (long)y + ky - 1, (long)x + kx - 1);
                out.values[(o * in->height + y) * in->width + x] = sum;
            }
    return out;
}

static map pool(const map *in)
{
    map out = make_map(in->channels, in->height / 2, in->width / 2);
    for (size_t c = 0; c < out.channels; c++)
        for (size_t y = 0; y < out.height; y++)
            for (size_t x = 0; x < out.width; x++) {
                double most = -INFINITY;
                for (long k = 0; k < 4; k++)
                    most = fmax(most, at(in, c, 2 * (long)y + k / 2, 2 * (long)x + k % 2));
                out.values[(c * out.height + y) * out.width + x] = most;
            }
    return out;
}

static map multiply(const map *in, const float *weight, const float *bias, size_t outputs)
{
    size_t inputs = in->channels * in->height * in->width;
    map out = make_map(outputs, 1, 1);
    for (size_t o = 0; o < outputs; o++) {
        out.values[o] = bias[o];
        for (size_t i = 0; i < inputs; i++)
            out.values[o] += weight[o * inputs + i] * in->values[i];
    }
    return out;
}

static map norm(const map *in, span graph, span node)
{
    const float *parts[4];
    size_t count, area = in->height * in->width;
    for (size_t p = 0; p < 4; p++)
        parts[p] = initializer(graph, node, p + 1, &count);
    map out = make_map(in->channels, in->height, in->width);
    for (size_t i = 0; i < in->channels * area; i++) {
        size_t c = i / area;
        out.values[i] =
            (in->values[i] - parts[2][c]) / sqrt(parts[3][c] + 1e-5) * parts[0][c] + parts[1][c];
    }
    for (size_t p = 0; p < 4; p++)
        free((void *)parts[p]);
    return out;
}

static map run_node(span graph, span node, const map *in)
{
    span operation = get(node, 4, 0).bytes;
    map out;
    check_attributes(node);
    if (is_text(operation, "Conv") || is_text(operation, "Gemm")) {
        size_t weights, outputs;
        const float *weight = initializer(graph, node, 1, &weights);
        const float *bias = initializer(graph, node, 2, &outputs);
        out = is_text(operation, "Conv") ? convolve(in, weight, bias, outputs)
                                         : multiply(in, weight, bias, outputs);
        free((void *)weight);
        free((void *)bias);
    } else if (is_text(operation, "MaxPool")) {
        out = pool(in);
    } else if (is_text(operation, "BatchNormalization")) {
        out = norm(in, graph, node);
    } else {
        bool rectifies = is_text(operation, "Relu");
        if (!rectifies && !is_text(operation, "Flatten"))
            fail_msg("unexpected '%.*s'", (int)operation.size, operation.bytes);
        out = make_map(in->channels, in->height, in->width);
        for (size_t i = 0; i < in->channels * in->height * in->width; i++)
            out.values[i] = rectifies ? fmax(in->values[i], 0) : in->values[i];
    }
    return out;
}

/* Each node takes what the one before it put out. */
static map run_graph(span graph, const map *images)
{
    map value = make_map(images->channels, images->height, images->width);
    memcpy(value.values, images->values,
           images->channels * images->height * images->width * sizeof(double));
    span last = {(const unsigned char *)"images", 6};
    for (size_t n = 0; n < count_fields(graph, 1); n++) {
        span node = get(graph, 1, n).bytes;
        span input = get(node, 1, 0).bytes;
        assert_true(input.size == last.size && memcmp(input.bytes, last.bytes, last.size) == 0);
        map next = run_node(graph, node, &value);
        free(value.values);
        value = next;
        last = get(node, 2, 0).bytes;
    }
    assert_true(is_text(last, "embeddings"));
    return value;
}

/* ---- tests ---- */

static void check(void **state, const char *description, size_t channels, size_t side, size_t nodes)
{
    enum { IMAGES = 3 };
    scratch_path path = scratch_file(state, "model.onnx");
    imp_network_options options = {.size = sizeof options,
                                   .channels = channels,
                                   .height = side,
                                   .width = side,
                                   .seed = 3,
                                   .threads = 1};
    imp_network *network;
    assert_int_equal(imp_network_create(description, &options, &network, NULL), IMP_OK);
    size_t pixels = channels * side * side, d = imp_network_output_size(network);
    float *images = malloc(IMAGES * pixels * sizeof *images);
    float *embeddings = malloc(IMAGES * d * sizeof *embeddings);
    for (size_t i = 0; i < IMAGES * pixels; i++)
        images[i] = (float)((i * 7919) % 101) / 100.0f;
    /* running statistics, gammas and biases that are not 0 and 1 */
    assert_int_equal(imp_network_forward(network, images, IMAGES, embeddings, NULL), IMP_OK);
    for (size_t i = 0; i < imp_network_tensor_count(network); i++) {
        imp_network_tensor tensor = imp_network_tensor_at(network, i);
        for (size_t v = 0; tensor.rank == 1 && tensor.gradients && v < tensor.count; v++)
            tensor.values[v] += 0.01f * (float)(v % 13);
    }
    imp_encoder *encoder;
    assert_int_equal(imp_encoder_create(network, &encoder, NULL), IMP_OK);
    assert_int_equal(imp_encoder_encode(encoder, images, IMAGES, 1, embeddings, NULL), IMP_OK);
    assert_int_equal(imp_onnx_save(network, path.text, NULL), IMP_OK);

    unsigned char *bytes;
    size_t size;
    assert_int_equal(imp_file_read(path.text, 1 << 24, &bytes, &size, NULL), IMP_OK);
    span model = {bytes, size}, graph = get(model, 7, 0).bytes;
    assert_int_equal(get(model, 1, 0).integer, 7);                   /* ir_version */
    assert_int_equal(get(get(model, 8, 0).bytes, 2, 0).integer, 13); /* opset */
    assert_true(is_text(get(get(graph, 11, 0).bytes, 1, 0).bytes, "images"));
    assert_true(is_text(get(get(graph, 12, 0).bytes, 1, 0).bytes, "embeddings"));
    assert_int_equal(count_fields(graph, 1), nodes);
    for (size_t i = 0; i < IMAGES; i++) {
        map image = make_map(channels, side, side);
        for (size_t p = 0; p < pixels; p++)
            image.values[p] = images[i * pixels + p];
        map embedding = run_graph(graph, &image);
        assert_int_equal(embedding.channels * embedding.height * embedding.width, d);
        for (size_t j = 0; j < d; j++)
            assert_true(fabs(embedding.values[j] - embeddings[i * d + j]) <=
                        1e-4 * fmax(1, fabs(embedding.values[j])));
        free(image.values);
        free(embedding.values);
    }
    imp_release(bytes);
    imp_encoder_free(encoder);
    imp_network_free(network);
    free(images);
    free(embeddings);
}

static void test_conv4(void **state)
{
    check(state, "conv4", 1, 28, 13); /* convolution, relu, pool four times, flatten */
}

static void test_other_layers(void **state)
{
    check(state, "conv3x3:5,relu,bn,pool,conv3x3:6,bn,relu,flatten,linear:7,bn,relu", 3, 9, 11);
    check(state, "conv3x3:3", 2, 5, 2);
}

static void test_unwritable(void **state)
{
    (void)state;
    imp_network_options options = {
        .size = sizeof options, .channels = 1, .height = 4, .width = 4, .threads = 1};
    imp_network *network;
    imp_error error;
    assert_int_equal(imp_network_create("conv3x3:2", &options, &network, NULL), IMP_OK);
    assert_int_equal(imp_onnx_save(network, "/nowhere/x.onnx", &error), IMP_EIO);
    assert_non_null(strstr(error.message, "/nowhere/x.onnx"));
    imp_network_free(network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_conv4, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_other_layers, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_unwritable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
