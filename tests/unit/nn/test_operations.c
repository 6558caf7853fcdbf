/*
 * test_operations.c - every layer, alone and in company, on every instruction set, against the
 * double-precision reference: outputs, gradients and running statistics; and the gradients against
 * finite differences of the reference. A new operation or a new awkward case is one row of the
 * table.
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
#include "nn/network.h"
#include "reference.h"

#define BLOCK "conv3x3:64,bn,relu,pool"

typedef enum pixels { UNIFORM, LARGE_MEAN, ZERO, INK } pixels;
typedef enum gammas { USUAL, NEGATIVE, MIXED, NULL_AND_TINY } gammas;

typedef struct test_row {
    const char *description;
    size_t images, channels, height, width;
    pixels pixels;
    gammas gammas;
    bool differences; /* also compare with finite differences; for small networks */
} test_row;

static const test_row rows[] = {
    /* single layers on the general road */
    {"conv3x3:5", 3, 2, 6, 7, UNIFORM, USUAL, true},
    {"conv3x3:3,conv3x3:4", 3, 2, 5, 4, UNIFORM, USUAL, true},
    {"bn", 4, 3, 5, 4, UNIFORM, MIXED, true},
    {"conv3x3:4,bn", 4, 3, 5, 4, UNIFORM, MIXED, true},
    {"conv3x3:4,bn,conv3x3:3", 4, 3, 5, 4, UNIFORM, MIXED, true},
    {"conv3x3:4,relu,conv3x3:3", 3, 2, 5, 5, UNIFORM, USUAL, true},
    {"conv3x3:4,pool,conv3x3:3", 3, 2, 6, 7, UNIFORM, USUAL, true},
    {"conv3x3:4,flatten,linear:6", 3, 2, 3, 4, UNIFORM, USUAL, true},
    {"flatten,linear:7,relu,linear:5", 5, 3, 4, 4, UNIFORM, USUAL, true},
    {"conv3x3:32,bn,relu,pool,conv3x3:128,bn,relu,pool,flatten,linear:10", 5, 3, 9, 8, UNIFORM,
     MIXED, true},
    {"bn,conv3x3:4", 4, 3, 5, 4, LARGE_MEAN, USUAL, true},
    {"conv3x3:4:nobias,bn,relu", 4, 3, 5, 4, UNIFORM, MIXED, true},
    {"conv1x1:5", 3, 4, 6, 7, UNIFORM, USUAL, true},
    {"conv1x1:5/2,conv1x1:3", 3, 4, 6, 7, UNIFORM, USUAL, true},
    {"conv3x3:5/2,conv3x3:4/3", 3, 2, 9, 8, UNIFORM, USUAL, true},
    {"conv3x3:5:valid,conv3x3:4/2:valid", 3, 2, 9, 8, UNIFORM, USUAL, true},
    {"conv5x5:5:nobias,conv2x2:4:valid", 3, 2, 6, 7, UNIFORM, USUAL, true},
    {"conv3x3:32/2,conv3x3:6/2,bn", 9, 32, 9, 8, UNIFORM, USUAL, true},
    {"conv3x3:32,conv1x1:7,conv5x5:6:valid", 5, 32, 16, 17, UNIFORM, USUAL, true},
    {"conv3x3:4,leaky:0.1,conv3x3:3", 3, 2, 5, 5, UNIFORM, USUAL, true},
    {"conv3x3:4,bn,leaky:0.2,conv3x3:3", 3, 2, 5, 5, UNIFORM, MIXED, true},
    {"conv3x3:4,avgpool,conv3x3:3", 3, 2, 6, 7, UNIFORM, USUAL, true},
    {"conv3x3:4,gap,linear:3", 3, 2, 6, 7, UNIFORM, USUAL, true},
    {"conv3x3:4,dropout:0.4,conv3x3:3", 17, 2, 5, 7, UNIFORM, USUAL, true},
    {"conv3x3:6,dropout:0.5:channels,flatten,linear:5,dropout:0.2,linear:4", 17, 2, 3, 4, UNIFORM,
     USUAL, true},
    /* convolutions by tiles: channels that fill panels of every width, maps that end inside a tile,
     * more tiles than are taken together (nothing decides there: one decision would show) */
    {"conv3x3:16", 3, 16, 3, 3, UNIFORM, USUAL, true},
    {"conv3x3:80,leaky:0.1,conv3x3:32:nobias", 3, 48, 5, 9, UNIFORM, USUAL, true},
    {"conv3x3:112,bn,relu,conv3x3:64", 5, 32, 7, 4, UNIFORM, MIXED, true},
    {"conv3x3:16,bn,conv3x3:32,conv3x3:16", 4, 3, 50, 37, UNIFORM, MIXED, false},
    {"conv3x3:32,bn", 6, 16, 12, 12, LARGE_MEAN, MIXED, false},
    {"conv3x3:144,conv3x3:16", 2, 16, 3, 3, ZERO, USUAL, false},
    /* graphs */
    {"residual(conv3x3:3)", 3, 3, 5, 4, UNIFORM, USUAL, true},
    {"conv3x3:4,residual(conv3x3:4,relu,conv3x3:4),bn,relu", 3, 2, 5, 4, UNIFORM, MIXED, true},
    {"conv3x3:4,residual(conv3x3:5/2,bn|conv1x1:5/2:nobias,bn),leaky:0.1,conv3x3:2", 3, 2, 5, 4,
     UNIFORM, MIXED, true},
    {"conv3x3:4,residual(residual(conv3x3:4,bn),residual(relu|bn)|residual(conv1x1:4)),gap", 3, 2,
     5, 4, UNIFORM, MIXED, true},
    {"conv3x3:4,residual(relu|leaky:0.5),residual(dropout:0.3),conv3x3:2", 3, 2, 5, 4, UNIFORM,
     USUAL, true},
    {"gap,residual(flatten|flatten),linear:4,residual(flatten),linear:3", 5, 3, 4, 4, UNIFORM,
     USUAL, true},
    /* vectors */
    {"linear:12,relu,linear:5", 9, 70, 1, 1, UNIFORM, USUAL, true},
    {"standard,linear:12,relu,linear:5", 9, 70, 1, 1, UNIFORM, USUAL, true},
    {"linear:12,bn,leaky:0.1,residual(linear:12,bn,relu,linear:12:nobias)", 9, 7, 1, 1, UNIFORM,
     MIXED, true},
    /* the fused first block */
    {BLOCK, 1, 1, 2, 2, UNIFORM, USUAL, true},
    {BLOCK, 1, 1, 28, 28, UNIFORM, USUAL, true},
    {BLOCK, 3, 1, 5, 9, UNIFORM, MIXED, true},
    {BLOCK, 7, 1, 17, 6, UNIFORM, NEGATIVE, true},
    {BLOCK, 5, 2, 8, 11, UNIFORM, MIXED, true},
    {BLOCK, 4, 3, 13, 10, UNIFORM, MIXED, true},
    {BLOCK, 4, 4, 7, 33, UNIFORM, NULL_AND_TINY, true},
    {BLOCK, 6, 1, 12, 12, LARGE_MEAN, MIXED, false},
    {BLOCK, 6, 3, 12, 12, LARGE_MEAN, MIXED, false},
    {BLOCK, 6, 1, 14, 14, ZERO, MIXED, false},
    {BLOCK, 20, 1, 28, 28, INK, USUAL, false},
    /* the fused Winograd block, alone (channels padded to 64) and after another */
    {BLOCK, 1, 64, 2, 2, UNIFORM, USUAL, true},
    {BLOCK, 2, 5, 7, 5, UNIFORM, MIXED, true},
    {BLOCK, 3, 64, 9, 14, UNIFORM, NEGATIVE, false},
    {BLOCK, 9, 63, 4, 4, UNIFORM, NULL_AND_TINY, true},
    {BLOCK, 3, 64, 6, 6, LARGE_MEAN, MIXED, false},
    {BLOCK, 3, 64, 6, 6, ZERO, MIXED, false},
    {BLOCK, 2, 64, 26, 25, UNIFORM, MIXED, false}, /* tiles of 6x6, some with others all around */
    {BLOCK, 2, 64, 20, 19, UNIFORM, MIXED, false}, /* and of 4x4 */
    {BLOCK "," BLOCK, 5, 1, 11, 9, UNIFORM, MIXED, true},
    {BLOCK "," BLOCK, 25, 1, 8, 8, UNIFORM, USUAL, false},
    {BLOCK "," BLOCK, 5, 3, 21, 21, UNIFORM, NULL_AND_TINY, false},
    /* mixed company: fused, general, fused */
    {BLOCK ",conv3x3:64,relu," BLOCK ",flatten,linear:5", 4, 1, 8, 8, UNIFORM, MIXED, true},
    {"conv3x3:64,bn,relu," BLOCK ",flatten", 4, 3, 8, 8, UNIFORM, MIXED, true},
    /* the whole network */
    {"conv4", 1, 1, 16, 16, UNIFORM, USUAL, false},
    {"conv4", 6, 1, 28, 28, INK, MIXED, false},
    {"conv4", 20, 1, 20, 23, UNIFORM, USUAL, false},
    {"conv4", 3, 3, 42, 35, UNIFORM, USUAL, false},
    {"resnet12:4", 5, 3, 23, 18, UNIFORM, USUAL, true},
    {"resnet12:16", 3, 3, 26, 24, UNIFORM, MIXED, false},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* AVX-512's shapes with AVX2's instructions; it exists in the tests only. */
#ifdef __x86_64__
extern const imp_kernels imp_kernels_wide;
#endif

static const imp_kernels *variant_at(size_t index)
{
    static const char *const names[] = {"portable", "avx2", "avx512"};
    if (index < 3)
        return imp_kernels_find(names[index]);
#ifdef __x86_64__
    if (index == 3 && imp_kernels_find("avx2"))
        return &imp_kernels_wide;
#elif defined(__aarch64__)
    if (index == 3)
        return imp_kernels_find("neon");
#endif
    return NULL;
}
enum { VARIANTS = 4 };

static double uniform(imp_random *random)
{
    return 2 * imp_random_uniform(random) - 1;
}

static imp_network *network_of(const test_row *row, const imp_kernels *kernels)
{
    imp_network_options options = {.size = sizeof options,
                                   .channels = row->channels,
                                   .height = row->height,
                                   .width = row->width,
                                   .seed = 7,
                                   .threads = 2};
    imp_network *network;
    imp_error error;
    if (imp_network_create(row->description, &options, &network, &error))
        fail_msg("%s: %s", row->description, error.message);
    network->kernels = kernels;
    imp_random random = imp_random_start(3, 0, 0);
    for (size_t i = 0; i < imp_network_tensor_count(network); i++) {
        imp_network_tensor t = imp_network_tensor_at(network, i);
        bool is_gamma = strstr(t.name, "bn.weight") != NULL;
        for (size_t j = 0; t.rank == 1 && j < t.count; j++) {
            float x = (float)uniform(&random);
            if (is_gamma && row->gammas == NEGATIVE)
                x = -0.5f - 0.4f * x;
            else if (is_gamma && row->gammas == USUAL)
                x = 1 + 0.3f * x;
            else if (is_gamma && row->gammas == NULL_AND_TINY)
                x = j % 3 == 0 ? 0 : j % 3 == 1 ? 1e-6f * x : x;
            else if (strstr(t.name, "running_var"))
                x = 1.5f + x;
            t.values[j] = x;
        }
    }
    return network;
}

static float *images_of(const test_row *row, uint64_t seed)
{
    size_t count = row->images * row->channels * row->height * row->width;
    float *images = malloc(count * sizeof *images);
    imp_random random = imp_random_start(seed, 0, 0);
    for (size_t i = 0; i < count; i++) {
        double x = uniform(&random);
        switch (row->pixels) {
        case UNIFORM:
            images[i] = (float)x;
            break;
        case LARGE_MEAN:
            images[i] = (float)(1000 + x);
            break;
        case ZERO:
            images[i] = 0;
            break;
        case INK: /* mostly paper, as handwriting is: ties between pixels are the rule */
            images[i] = x > 0.7 ? (float)imp_random_uniform(&random) : 0;
            break;
        }
    }
    return images;
}

static float *gradient_of(size_t count)
{
    float *gradient = malloc(count * sizeof *gradient);
    imp_random random = imp_random_start(11, 0, 0);
    for (size_t i = 0; i < count; i++)
        gradient[i] = (float)uniform(&random);
    return gradient;
}

static double largest(const double *values, size_t count)
{
    double size = 0;
    for (size_t i = 0; i < count; i++)
        size = fmax(size, fabs(values[i]));
    return size;
}

/* The largest difference, relative to the largest reference value, or to `floor` if that is larger.
 */
static double apart(const float *values, const double *expected, size_t count, double floor)
{
    double difference = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]) || !isfinite(expected[i]))
            return INFINITY;
        difference = fmax(difference, fabs(values[i] - expected[i]));
    }
    return difference / fmax(largest(expected, count), floor);
}

/* Random images; for the whole network, whose last maps are so small that each decision shows, such
 * that no decision is a matter of rounding. */
static float *clear_images_of(const test_row *row, imp_network *network)
{
    for (uint64_t seed = 5;; seed++) {
        float *images = images_of(row, seed);
        reference *r = reference_create(network);
        reference_forward(r, images, row->images, true);
        size_t close_calls = reference_close_calls(r, 1e-5);
        reference_free(r);
        if (strcmp(row->description, "conv4") != 0 || row->pixels != UNIFORM || close_calls == 0)
            return images;
        free(images);
    }
}

/* What the reference makes of a row, the same for all variants. */
typedef struct answer {
    imp_network *network;
    reference *r;
    float *images, *gradient;
    const double *out;
    size_t outputs;
} answer;

static answer answer_of(const test_row *row)
{
    answer a = {.network = network_of(row, variant_at(0))};
    a.outputs = row->images * imp_network_output_size(a.network);
    a.images = clear_images_of(row, a.network);
    a.gradient = gradient_of(a.outputs);
    a.r = reference_create(a.network);
    a.out = reference_forward(a.r, a.images, row->images, true);
    reference_backward(a.r, a.gradient);
    return a;
}

static void forget(answer *a)
{
    reference_free(a->r);
    imp_network_free(a->network);
    free(a->images);
    free(a->gradient);
}

static void compare_variant(const test_row *row, const imp_kernels *kernels, const answer *a)
{
    imp_network *network = network_of(row, kernels);
    float *out = malloc(a->outputs * sizeof *out);
    imp_error error;

    /* a mean a thousand times the deviation costs float32 three of its seven digits */
    bool hard = row->pixels == LARGE_MEAN;
    double forward_bound = hard ? 2e-2 : 2e-5, backward_bound = hard ? 5e-2 : 1e-3;

    assert_int_equal(imp_network_forward(network, a->images, row->images, out, &error), IMP_OK);
    double distance = apart(out, a->out, a->outputs, 1e-9);
    if (distance > forward_bound)
        fail_msg("%s (%zu of %zux%zux%zu), %s: output off by %g", row->description, row->images,
                 row->channels, row->height, row->width, kernels->name, distance);

    assert_int_equal(imp_network_backward(network, a->gradient, &error), IMP_OK);
    const double *parameter = reference_gradients(a->r), *state = reference_state(a->r);
    /* a convolution's bias before a batch norm has no gradient but rounding's */
    double floor = fmax(1e-3 * largest(parameter, imp_network_parameter_count(network)), 1e-9);
    for (size_t i = 0; i < imp_network_tensor_count(network); i++) {
        imp_network_tensor t = imp_network_tensor_at(network, i);
        const double **next = t.gradients ? &parameter : &state;
        const float *values = t.gradients ? t.gradients : t.values;
        distance = apart(values, *next, t.count, floor);
        if (distance > backward_bound)
            fail_msg("%s (%zu of %zux%zux%zu), %s: %s off by %g", row->description, row->images,
                     row->channels, row->height, row->width, kernels->name, t.name, distance);
        *next += t.count;
    }
    free(out);
    imp_network_free(network);
}

static void compare(const test_row *row)
{
    answer a = answer_of(row);
    for (size_t v = 0; v < VARIANTS; v++)
        if (variant_at(v))
            compare_variant(row, variant_at(v), &a);
    forget(&a);
}

static double loss_of(reference *r, const test_row *row, const float *images, const float *gradient,
                      size_t outputs)
{
    const double *out = reference_forward(r, images, row->images, true);
    double loss = 0;
    for (size_t i = 0; i < outputs; i++)
        loss += out[i] * gradient[i];
    return loss;
}

/* The derivative of sum(out * gradient) by a few parameters of every tensor, by central
 * differences in double, against what backward says. */
static void differentiate(const test_row *row, const imp_kernels *kernels)
{
    enum { SAMPLES = 2 };
    imp_network *network = network_of(row, kernels);
    reference *r = reference_create(network);
    float *images = images_of(row, 5);
    size_t outputs = row->images * imp_network_output_size(network);
    float *out = malloc(outputs * sizeof *out), *gradient = gradient_of(outputs);
    imp_error error;
    assert_int_equal(imp_network_forward(network, images, row->images, out, &error), IMP_OK);
    assert_int_equal(imp_network_backward(network, gradient, &error), IMP_OK);
    double all = 0;
    for (size_t i = 0; i < imp_network_parameter_count(network); i++)
        all = fmax(all, fabs(imp_network_gradients(network)[i]));
    imp_random random = imp_random_start(13, 0, 0);
    size_t first = 0;
    for (size_t i = 0; i < imp_network_tensor_count(network); i++) {
        imp_network_tensor t = imp_network_tensor_at(network, i);
        if (!t.gradients)
            continue;
        double size = 1e-2 * all; /* a bias before a norm has no gradient but rounding's */
        for (size_t j = 0; j < t.count; j++)
            size = fmax(size, fabs(t.gradients[j]));
        for (size_t s = 0; s < SAMPLES; s++) {
            const double step = 1e-7;
            size_t j;
            do /* a norm's weight of zero is a kink: its sign decides what is pooled */
                j = imp_random_below(&random, (uint32_t)t.count);
            while (fabs(reference_parameters(r)[first + j]) <= step);
            double *x = reference_parameters(r) + first + j, kept = *x;
            *x = kept + step;
            double above = loss_of(r, row, images, gradient, outputs);
            *x = kept - step;
            double below = loss_of(r, row, images, gradient, outputs);
            *x = kept;
            double slope = (above - below) / (2 * step);
            if (!(fabs(slope - t.gradients[j]) <= 1e-3 * size))
                fail_msg("%s, %s: d/d %s[%zu] is %g, backward says %g", row->description,
                         kernels->name, t.name, j, slope, t.gradients[j]);
        }
        first += t.count;
    }
    free(images);
    free(out);
    free(gradient);
    reference_free(r);
    imp_network_free(network);
}

static void test_every_row_on_every_variant(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        compare(&rows[i]);
}

static void test_finite_differences(void **state)
{
    (void)state;
    const imp_kernels *kernels;
    imp_error error;
    assert_int_equal(imp_kernels_choose(&kernels, &error), IMP_OK);
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].differences)
            differentiate(&rows[i], kernels);
}

/* Any batch size: whole and broken groups of tiles, one block and many. */
static void test_batch_sizes(void **state)
{
    (void)state;
    static const size_t sizes[] = {1,  2,  3,  4,  5,  6,  7,   8,   13,  15,  16,
                                   17, 23, 24, 25, 63, 64, 255, 256, 257, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        test_row one_tile = {BLOCK, sizes[i], 5, 3, 3, UNIFORM, MIXED, false};
        test_row first = {BLOCK, sizes[i], 1, 4, 5, UNIFORM, MIXED, false};
        compare(&one_tile);
        compare(&first);
    }
}

/* A pixel that is no number must not vanish in a ReLU: whoever trains looks at the loss. */
static void test_poison_shows(void **state)
{
    (void)state;
    static const float poisons[] = {NAN, INFINITY, -INFINITY};
    for (size_t v = 0; v < VARIANTS; v++)
        for (size_t i = 0; variant_at(v) && i < 3; i++)
            for (int general = 0; general < 2; general++) {
                test_row row = {general ? "conv3x3:8,bn,relu,pool" : "conv4",
                                4,
                                1,
                                16,
                                16,
                                UNIFORM,
                                USUAL,
                                false};
                imp_network *network = network_of(&row, variant_at(v));
                float *images = images_of(&row, 5);
                images[300] = poisons[i];
                size_t outputs = 4 * imp_network_output_size(network), finite = 0;
                float *out = malloc(outputs * sizeof *out);
                assert_int_equal(imp_network_forward(network, images, 4, out, NULL), IMP_OK);
                for (size_t j = 0; j < outputs; j++)
                    finite += isfinite(out[j]) != 0;
                assert_true(finite < outputs);
                free(images);
                free(out);
                imp_network_free(network);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_on_every_variant),
        cmocka_unit_test(test_finite_differences),
        cmocka_unit_test(test_batch_sizes),
        cmocka_unit_test(test_poison_shows),
    };
    return cmocka_run_group_tests_name("operations", tests, NULL, NULL);
}
