/*
 * test_hessian.c - products of Hessians with directions: against finite differences of the
 * double-precision reference's gradient, for every layer, alone and in company, on every
 * instruction set; on any number of threads; and when memory runs out.
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
#include "failing_allocator.h"
#include "nn/hessian.h"
#include "nn/network.h"
#include "reference.h"

#define BLOCK "conv3x3:64,bn,relu,pool"

typedef struct test_row {
    const char *description;
    size_t images, channels, height, width;
} test_row;

static const test_row rows[] = {
    {"linear:7", 5, 4, 1, 1},
    {"standard,linear:7,relu,linear:5", 5, 4, 1, 1},
    {"linear:7:nobias,linear:5", 5, 4, 1, 1},
    {"conv3x3:5,conv3x3:4", 3, 2, 6, 7},
    {"conv3x3:5/2,conv3x3:4/3:nobias", 3, 2, 9, 8},
    {"conv1x1:5,conv5x5:6:valid", 3, 3, 7, 6},
    {"conv3x3:32,conv3x3:6", 3, 32, 5, 4},
    {"bn", 6, 3, 5, 4},
    {"conv3x3:4,bn,conv3x3:3", 6, 3, 5, 4},
    {"conv3x3:4,bn,relu,conv3x3:3,bn,leaky:0.2,linear:3", 9, 2, 1, 1},
    {"conv3x3:4,bn,relu,pool,conv3x3:3", 6, 2, 7, 9},
    {"bn,leaky:0.2,pool,conv3x3:2,bn,relu,pool", 5, 3, 7, 6},
    {"conv3x3:4,relu,conv3x3:3", 3, 2, 5, 5},
    {"conv3x3:4,leaky:0.1,conv3x3:3", 3, 2, 5, 5},
    {"conv3x3:4,pool,conv3x3:3", 3, 2, 6, 7},
    {"conv3x3:4,avgpool,conv3x3:3", 3, 2, 6, 7},
    {"conv3x3:4,gap,linear:3", 3, 2, 6, 7},
    {"conv3x3:4,flatten,linear:6", 3, 2, 3, 4},
    {"conv3x3:4,dropout:0.4,conv3x3:3", 17, 2, 5, 7},
    {"conv3x3:4,residual(conv3x3:5/2,bn|conv1x1:5/2:nobias,bn),leaky:0.1,conv3x3:2", 5, 2, 5, 4},
    {"conv3x3:4,residual(relu|leaky:0.5),residual(dropout:0.3),conv3x3:2", 3, 2, 5, 4},
    {"residual(bn),residual(conv3x3:2|conv1x1:2)", 5, 2, 5, 4},
    /* the convolution that has kernels, with a bias and without one */
    {"conv3x3:64,conv3x3:3", 2, 64, 6, 5},
    {"conv3x3:3,conv3x3:64,conv3x3:64:nobias,gap", 2, 1, 5, 9},
    {BLOCK "," BLOCK ",flatten,linear:5", 5, 1, 9, 8},
    {"conv4,linear:5", 6, 1, 16, 16},
};
enum { ROWS = sizeof rows / sizeof *rows };

static double uniform(imp_random *random)
{
    return 2 * imp_random_uniform(random) - 1;
}

static float *numbers(size_t count, uint64_t seed)
{
    float *values = malloc(count * sizeof *values);
    imp_random random = imp_random_start(seed, 0, 0);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)uniform(&random);
    return values;
}

static imp_network *network_of(const test_row *row, int threads)
{
    imp_network_options options = {.size = sizeof options,
                                   .channels = row->channels,
                                   .height = row->height,
                                   .width = row->width,
                                   .seed = 7,
                                   .threads = threads};
    imp_network *network;
    imp_error error;
    if (imp_network_create(row->description, &options, &network, &error))
        fail_msg("%s: %s", row->description, error.message);
    imp_random random = imp_random_start(3, 0, 0);
    for (size_t i = 0; i < imp_network_tensor_count(network); i++) {
        imp_network_tensor t = imp_network_tensor_at(network, i);
        for (size_t j = 0; t.rank == 1 && j < t.count; j++)
            t.values[j] = (float)(uniform(&random) + (j % 2 ? 0.3 : 0));
    }
    return network;
}

/* One product and all that goes into it. */
typedef struct product {
    size_t parameters, outputs;
    float *images, *direction, *gradient, *moved_gradient;
    float *embeddings, *moved, *sum, *result;
} product;

static product product_of(const test_row *row, imp_network *network)
{
    product p = {.parameters = imp_network_parameter_count(network),
                 .outputs = row->images * imp_network_output_size(network)};
    p.images = numbers(row->images * row->channels * row->height * row->width, 5);
    p.direction = numbers(p.parameters, 6);
    for (size_t i = 0; i < p.parameters; i++) /* no longer than the way to the next ReLU's edge */
        p.direction[i] /= sqrtf((float)p.parameters);
    p.gradient = numbers(p.outputs, 7);
    p.moved_gradient = numbers(p.outputs, 8);
    p.embeddings = calloc(p.outputs, sizeof(float));
    p.moved = calloc(p.outputs, sizeof(float));
    p.sum = calloc(p.parameters, sizeof(float));
    p.result = calloc(p.parameters, sizeof(float));
    return p;
}

static void free_product(product *p)
{
    float *all[] = {p->images,     p->direction, p->gradient, p->moved_gradient,
                    p->embeddings, p->moved,     p->sum,      p->result};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static imp_status multiply(const test_row *row, imp_network *network, product *p)
{
    imp_hessian *hessian;
    imp_status status = imp_hessian_create(network, &hessian, NULL);
    if (!status)
        status = imp_hessian_forward(hessian, imp_network_parameters(network), p->direction,
                                     p->images, row->images, p->embeddings, p->moved, NULL);
    if (!status)
        status =
            imp_hessian_backward(hessian, p->gradient, p->moved_gradient, p->sum, p->result, NULL);
    imp_hessian_free(hessian);
    return status;
}

static double apart(const float *values, const double *expected, size_t count)
{
    double difference = 0, size = 1e-9;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            return INFINITY;
        difference = fmax(difference, fabs(values[i] - expected[i]));
        size = fmax(size, fabs(expected[i]));
    }
    return difference / size;
}

/* What the reference says at parameters + step * direction, as outputs and as the gradient. */
static void look(imp_network *network, const test_row *row, const product *p, double step,
                 const float *gradient, double *out, double *gradients)
{
    reference *r = reference_create(network);
    for (size_t i = 0; i < p->parameters; i++)
        reference_parameters(r)[i] += step * p->direction[i];
    const double *found = reference_forward(r, p->images, row->images, true);
    memcpy(out, found, p->outputs * sizeof *out);
    reference_backward(r, gradient);
    memcpy(gradients, reference_gradients(r), p->parameters * sizeof *gradients);
    reference_free(r);
}

static void compare(const test_row *row, const char *isa)
{
    const double step = 1e-7;
    imp_network *network = network_of(row, 2);
    product p = product_of(row, network);
    double *out[3], *gradients[3];
    for (size_t i = 0; i < 3; i++) {
        out[i] = malloc(p.outputs * sizeof(double));
        gradients[i] = malloc(p.parameters * sizeof(double));
    }
    assert_int_equal(multiply(row, network, &p), IMP_OK);

    look(network, row, &p, step, p.gradient, out[1], gradients[1]);
    look(network, row, &p, -step, p.gradient, out[2], gradients[2]);
    for (size_t i = 0; i < p.outputs; i++)
        out[1][i] = (out[1][i] - out[2][i]) / (2 * step);
    for (size_t i = 0; i < p.parameters; i++)
        gradients[1][i] = (gradients[1][i] - gradients[2][i]) / (2 * step);
    look(network, row, &p, 0, p.moved_gradient, out[0], gradients[0]);
    for (size_t i = 0; i < p.parameters; i++)
        gradients[1][i] += gradients[0][i];
    look(network, row, &p, 0, p.gradient, out[0], gradients[0]);

    double distance[4] = {apart(p.embeddings, out[0], p.outputs), apart(p.moved, out[1], p.outputs),
                          apart(p.sum, gradients[0], p.parameters),
                          apart(p.result, gradients[1], p.parameters)};
    static const double bounds[4] = {2e-5, 1e-4, 1e-3, 1e-3};
    static const char *const names[4] = {"embeddings", "their tangent", "gradient", "product"};
    for (size_t i = 0; i < 4; i++)
        if (!(distance[i] <= bounds[i]))
            fail_msg("%s, %s: the %s off by %g", row->description, isa, names[i], distance[i]);
    for (size_t i = 0; i < 3; i++) {
        free(out[i]);
        free(gradients[i]);
    }
    free_product(&p);
    imp_network_free(network);
}

static void test_products_are_differences_of_gradients(void **state)
{
    (void)state;
    static const char *const isas[] = {"portable", "avx2", "avx512"};
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        if (!imp_kernels_find(isas[i]))
            continue;
        setenv("IMP_ISA", isas[i], 1);
        for (size_t j = 0; j < ROWS; j++)
            compare(&rows[j], isas[i]);
    }
    unsetenv("IMP_ISA");
}

static void test_same_bits_on_any_number_of_threads(void **state)
{
    (void)state;
    const test_row row = {"conv4,linear:5", 37, 1, 18, 17};
    imp_network *one = network_of(&row, 1);
    product p = product_of(&row, one);
    assert_int_equal(multiply(&row, one, &p), IMP_OK);
    for (int threads = 2; threads <= 5; threads++) {
        imp_network *many = network_of(&row, threads);
        product q = product_of(&row, many);
        assert_int_equal(multiply(&row, many, &q), IMP_OK);
        assert_memory_equal(p.moved, q.moved, p.outputs * sizeof *p.moved);
        assert_memory_equal(p.result, q.result, p.parameters * sizeof *p.result);
        free_product(&q);
        imp_network_free(many);
    }
    free_product(&p);
    imp_network_free(one);
}

/* A larger batch after a smaller one, and again a smaller one, with one object. */
static void test_batches_of_several_sizes(void **state)
{
    (void)state;
    const test_row row = {BLOCK ",flatten,linear:5", 19, 1, 8, 8};
    imp_network *network = network_of(&row, 2);
    imp_hessian *hessian;
    assert_int_equal(imp_hessian_create(network, &hessian, NULL), IMP_OK);
    for (size_t images = 3; images <= row.images; images += 16)
        for (int again = 0; again < 2; again++) {
            test_row part = row;
            part.images = again ? 5 : images;
            product p = product_of(&part, network), q = product_of(&part, network);
            assert_int_equal(multiply(&part, network, &p), IMP_OK);
            assert_int_equal(imp_hessian_forward(hessian, imp_network_parameters(network),
                                                 q.direction, q.images, part.images, q.embeddings,
                                                 q.moved, NULL),
                             IMP_OK);
            assert_int_equal(
                imp_hessian_backward(hessian, q.gradient, q.moved_gradient, NULL, q.result, NULL),
                IMP_OK);
            assert_memory_equal(p.result, q.result, p.parameters * sizeof *p.result);
            free_product(&p);
            free_product(&q);
        }
    float unused[64];
    imp_error error;
    assert_int_equal(imp_hessian_backward(hessian, unused, unused, NULL, unused, &error),
                     IMP_EINVAL);
    imp_hessian_free(hessian);
    imp_network_free(network);
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    const test_row row = {"conv3x3:4,residual(conv3x3:4,bn,relu),flatten,linear:5", 5, 1, 6, 6};
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_network_options options = {
            .size = sizeof options, .channels = 1, .height = 6, .width = 6, .threads = 1};
        imp_network *network;
        imp_status status = imp_network_create(row.description, &options, &network, NULL);
        if (!status) {
            product p = product_of(&row, network);
            status = multiply(&row, network, &p);
            free_product(&p);
        }
        imp_network_free(network);
        failing_allocator_expect(&memory, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_are_differences_of_gradients),
        cmocka_unit_test(test_same_bits_on_any_number_of_threads),
        cmocka_unit_test(test_batches_of_several_sizes),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests_name("hessian", tests, NULL, NULL);
}
