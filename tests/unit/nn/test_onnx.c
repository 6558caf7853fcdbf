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
#include "nn/onnx.h"
#include "scratch.h"

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

/* That many integers, all the same: which one. */
static size_t integers_of(span node, const char *name, size_t count)
{
    span found = attribute(node, name);
    assert_int_equal(get(found, 20, 0).integer, 7); /* INTS */
    assert_int_equal(count_fields(found, 8), count);
    for (size_t i = 1; i < count; i++)
        assert_int_equal(get(found, 8, i).integer, get(found, 8, 0).integer);
    return get(found, 8, 0).integer;
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
        expected = 3; /* read where it is computed */
    } else if (is_text(operation, "MaxPool") || is_text(operation, "AveragePool")) {
        assert_int_equal(integers_of(node, "kernel_shape", 2), 2);
        assert_int_equal(integers_of(node, "strides", 2), 2);
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
    } else if (is_text(operation, "LeakyRelu")) {
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

/* The first dimension of a node's weights. */
static size_t outputs_of(span graph, span node)
{
    span name = get(node, 1, 1).bytes;
    for (size_t i = 0; i < count_fields(graph, 5); i++) {
        span tensor = get(graph, 5, i).bytes, own = get(tensor, 8, 0).bytes;
        if (own.size == name.size && memcmp(own.bytes, name.bytes, name.size) == 0)
            return get(tensor, 1, 0).integer;
    }
    fail_msg("there is no initializer '%.*s'", (int)name.size, name.bytes);
    return 0;
}

static map convolve(span node, const map *in, const float *weight, const float *bias,
                    size_t outputs)
{
    size_t kernel = integers_of(node, "kernel_shape", 2), stride = integers_of(node, "strides", 2);
    size_t pad = integers_of(node, "pads", 4);
    map out = make_map(outputs, (in->height + 2 * pad - kernel) / stride + 1,
                       (in->width + 2 * pad - kernel) / stride + 1);
    for (size_t o = 0; o < outputs; o++)
        for (size_t y = 0; y < out.height; y++)
            for (size_t x = 0; x < out.width; x++) {
                double sum = bias ? bias[o] : 0;
                for (size_t c = 0; c < in->channels; c++)
                    for (size_t k = 0; k < kernel * kernel; k++)
                        sum += weight[(o * in->channels + c) * kernel * kernel + k] *
                               at(in, c, (long)(y * stride + k / kernel) - (long)pad,
                                  (long)(x * stride + k % kernel) - (long)pad);
                out.values[(o * out.height + y) * out.width + x] = sum;
            }
    return out;
}

/* The maximum or mean of windows of rows x columns. */
static map pool(const map *in, bool takes_mean, size_t rows, size_t columns)
{
    map out = make_map(in->channels, in->height / rows, in->width / columns);
    for (size_t c = 0; c < out.channels; c++)
        for (size_t y = 0; y < out.height; y++)
            for (size_t x = 0; x < out.width; x++) {
                double most = -INFINITY, sum = 0;
                for (size_t k = 0; k < rows * columns; k++) {
                    double value = at(in, c, (long)(rows * y + k / columns),
                                      (long)(columns * x + k % columns));
                    most = fmax(most, value);
                    sum += value;
                }
                out.values[(c * out.height + y) * out.width + x] =
                    takes_mean ? sum / (double)(rows * columns) : most;
            }
    return out;
}

static map multiply(const map *in, const float *weight, const float *bias, size_t outputs)
{
    size_t inputs = in->channels * in->height * in->width;
    map out = make_map(outputs, 1, 1);
    for (size_t o = 0; o < outputs; o++) {
        out.values[o] = bias ? bias[o] : 0;
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

/* Relu, LeakyRelu, or nothing */
static map each(span node, const map *in)
{
    span operation = get(node, 4, 0).bytes;
    double slope = 1;
    if (is_text(operation, "Relu"))
        slope = 0;
    else if (is_text(operation, "LeakyRelu"))
        slope = float_of(node, "alpha");
    else if (!is_text(operation, "Flatten"))
        fail_msg("unexpected '%.*s'", (int)operation.size, operation.bytes);
    map out = make_map(in->channels, in->height, in->width);
    for (size_t i = 0; i < in->channels * in->height * in->width; i++)
        out.values[i] = in->values[i] > 0 ? in->values[i] : slope * in->values[i];
    return out;
}

static map sum_of(const map *a, const map *b)
{
    assert_true(a->channels == b->channels && a->height == b->height && a->width == b->width);
    map out = make_map(a->channels, a->height, a->width);
    for (size_t i = 0; i < a->channels * a->height * a->width; i++)
        out.values[i] = a->values[i] + b->values[i];
    return out;
}

static map run_node(span graph, span node, const map *in, const map *second)
{
    span operation = get(node, 4, 0).bytes;
    check_attributes(node);
    if (is_text(operation, "Conv") || is_text(operation, "Gemm")) {
        size_t weights, biases;
        const float *weight = initializer(graph, node, 1, &weights);
        bool has_bias = count_fields(node, 1) > 2;
        const float *bias = has_bias ? initializer(graph, node, 2, &biases) : NULL;
        size_t outputs = outputs_of(graph, node);
        map out = is_text(operation, "Conv") ? convolve(node, in, weight, bias, outputs)
                                             : multiply(in, weight, bias, outputs);
        free((void *)weight);
        free((void *)bias);
        return out;
    }
    if (is_text(operation, "Add"))
        return sum_of(in, second);
    if (is_text(operation, "Sub") || is_text(operation, "Mul")) {
        size_t features;
        const float *by = initializer(graph, node, 1, &features);
        map out = make_map(in->channels, 1, 1);
        assert_int_equal(features, in->channels * in->height * in->width);
        for (size_t i = 0; i < features; i++)
            out.values[i] =
                is_text(operation, "Sub") ? in->values[i] - by[i] : in->values[i] * by[i];
        free((void *)by);
        return out;
    }
    if (is_text(operation, "MaxPool") || is_text(operation, "AveragePool"))
        return pool(in, is_text(operation, "AveragePool"), 2, 2);
    if (is_text(operation, "GlobalAveragePool"))
        return pool(in, true, in->height, in->width);
    if (is_text(operation, "BatchNormalization"))
        return norm(in, graph, node);
    return each(node, in);
}

enum { MOST_VALUES = 100 };

typedef struct named {
    span name;
    map value;
} named;

static const map *find(const named *values, size_t count, span name)
{
    for (size_t i = 0; i < count; i++)
        if (values[i].name.size == name.size &&
            memcmp(values[i].name.bytes, name.bytes, name.size) == 0)
            return &values[i].value;
    return NULL;
}

/* Each node takes what nodes before it put out. */
static map run_graph(span graph, const map *images)
{
    named values[MOST_VALUES] = {{{(const unsigned char *)"images", 6}, *images}};
    size_t count = 1;
    for (size_t n = 0; n < count_fields(graph, 1); n++) {
        span node = get(graph, 1, n).bytes;
        const map *in = find(values, count, get(node, 1, 0).bytes);
        const map *second =
            count_fields(node, 1) > 1 ? find(values, count, get(node, 1, 1).bytes) : NULL;
        assert_non_null(in);
        assert_true(count < MOST_VALUES);
        values[count] = (named){get(node, 2, 0).bytes, run_node(graph, node, in, second)};
        count++;
    }
    assert_true(is_text(values[count - 1].name, "embeddings"));
    for (size_t i = 1; i + 1 < count; i++)
        free(values[i].value.values);
    return values[count - 1].value;
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
        bool of_input = strncmp(tensor.name, "input.", 6) == 0;
        for (size_t v = 0; tensor.rank == 1 && (tensor.gradients || of_input) && v < tensor.count;
             v++)
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
    check(state, "conv3x3:5,relu,bn,pool,conv3x3:6,bn,relu,flatten,linear:7,bn,relu", 3, 9, 10);
    check(state, "conv3x3:3", 2, 5, 2);
    check(state, "conv3x3:5/2:nobias,bn,leaky:0.2,conv5x5:4:valid,dropout:0.4,avgpool", 3, 17, 5);
    check(state, "conv1x1:5/3:valid:nobias,gap,linear:4:nobias,dropout:0.3", 3, 11, 5);
    check(state, "standard,linear:6,relu,linear:3", 9, 1, 7);
    check(state, "dropout:0.5,linear:6,bn,leaky:0.1,linear:3,gap", 9, 1, 5);
}

static void test_graphs(void **state)
{
    check(state, "residual(conv3x3:3,bn,relu,dropout:0.2)", 3, 6, 4);
    check(state,
          "conv3x3:4,residual(conv3x3:5/2,bn,leaky:0.1,conv3x3:5|conv1x1:5/2:nobias,bn),bn,relu,"
          "residual(gap|gap),flatten,residual(linear:5|dropout:0.1)",
          2, 9, 15);
    check(state, "resnet12:4", 3, 16, 38);
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
        cmocka_unit_test_setup_teardown(test_graphs, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_unwritable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
