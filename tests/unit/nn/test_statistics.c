/* test_statistics.c - running statistics follow batches in a given order, whoever saw them first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "nn/statistics.h"

enum { BATCHES = 3, IMAGES = 6, SIDE = 8, MOST_STATISTICS = 1024 };

static imp_network *make(const char *description)
{
    imp_network_options options = {
        .size = sizeof options, .channels = 1, .height = SIDE, .width = SIDE, .threads = 1};
    imp_network *network;
    assert_int_equal(imp_network_create(description, &options, &network, NULL), IMP_OK);
    return network;
}

static void draw(size_t batch, float pixels[IMAGES * SIDE * SIDE])
{
    imp_random random = imp_random_start(1, 0, batch);
    for (size_t i = 0; i < IMAGES * SIDE * SIDE; i++)
        pixels[i] = (float)imp_random_uniform(&random);
}

static void assert_same_tensors(imp_network *a, imp_network *b)
{
    for (size_t i = 0; i < imp_network_tensor_count(a); i++) {
        imp_network_tensor left = imp_network_tensor_at(a, i), right = imp_network_tensor_at(b, i);
        assert_memory_equal(left.values, right.values, left.count * sizeof(float));
    }
}

/* One network sees the batches in order. Another sees them backwards, keeps what it found, and
 * follows in order. */
static void check(const char *description)
{
    static float pixels[IMAGES * SIDE * SIDE], embeddings[IMAGES * 1024];
    static double noted[BATCHES][MOST_STATISTICS];
    imp_network *here = make(description), *apart = make(description), *fresh = make(description);
    size_t count;
    for (size_t batch = 0; batch < BATCHES; batch++) {
        draw(batch, pixels);
        assert_int_equal(imp_network_forward(here, pixels, IMAGES, embeddings, NULL), IMP_OK);
    }
    for (size_t batch = BATCHES; batch-- > 0;) {
        draw(batch, pixels);
        assert_int_equal(imp_network_forward_apart(apart, pixels, IMAGES, embeddings, NULL),
                         IMP_OK);
        const double *statistics = imp_network_statistics(apart, &count);
        assert_in_range(count, 1, MOST_STATISTICS);
        memcpy(noted[batch], statistics, count * sizeof *statistics);
    }
    assert_same_tensors(apart, fresh); /* nothing has moved yet */
    for (size_t batch = 0; batch < BATCHES; batch++)
        imp_network_follow(apart, noted[batch]);
    assert_same_tensors(apart, here);
    imp_network_free(here);
    imp_network_free(apart);
    imp_network_free(fresh);
}

static void test_fused_blocks(void **state)
{
    (void)state;
    check("conv3x3:64,bn,relu,pool,conv3x3:64,bn,relu,pool");
}

static void test_single_layers(void **state)
{
    (void)state;
    check("conv3x3:4,bn,relu,pool,flatten,linear:5,bn");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fused_blocks),
        cmocka_unit_test(test_single_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
