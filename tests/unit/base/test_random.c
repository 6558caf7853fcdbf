/*
 * test_random.c - the generator against its published vectors, the distributions against their
 * moments.
 *
 * Every seed is fixed, so that a statistic either passes always or never; the bounds are those a
 * right generator exceeds once in ten thousand seeds.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"

/* Random123's kat_vectors, lines "philox4x32 10". */
static void philox_gives_the_published_vectors(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } vectors[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        uint32_t out[4];
        imp_philox(vectors[i].counter, vectors[i].key, out);
        assert_memory_equal(out, vectors[i].out, sizeof out);
    }
}

/* The layout of key and counter is a promise: files and papers refer to (seed, stream, index). */
static void sequence_is_philox_of_its_name(void **state)
{
    (void)state;
    const uint64_t seed = 0x0123456789abcdef, index = 0xfedcba9876543210;
    imp_random random = imp_random_start(seed, IMP_STREAM_TEST, index);
    for (uint32_t block = 0; block < 5; block++) {
        uint32_t expected[4];
        imp_philox((uint32_t[4]){block, IMP_STREAM_TEST, 0x76543210, 0xfedcba98},
                   (uint32_t[2]){0x89abcdef, 0x01234567}, expected);
        for (int i = 0; i < 4; i++)
            assert_int_equal(imp_random_u32(&random), expected[i]);
    }

    imp_random words = imp_random_start(seed, IMP_STREAM_TEST, index);
    imp_random pairs = words;
    for (int i = 0; i < 10; i++) {
        uint64_t low = imp_random_u32(&words), high = imp_random_u32(&words);
        assert_true(imp_random_u64(&pairs) == (high << 32 | low));
    }
}

static void names_tell_sequences_apart(void **state)
{
    (void)state;
    imp_random random[] = {
        imp_random_start(1, IMP_STREAM_TRAIN, 0),
        imp_random_start(2, IMP_STREAM_TRAIN, 0),
        imp_random_start((uint64_t)1 << 32 | 1, IMP_STREAM_TRAIN, 0),
        imp_random_start(1, IMP_STREAM_TEST, 0),
        imp_random_start(1, IMP_STREAM_TRAIN, 1),
        imp_random_start(1, IMP_STREAM_TRAIN, (uint64_t)1 << 32),
    };
    enum { SEQUENCES = sizeof random / sizeof random[0] };
    uint64_t first[SEQUENCES];
    for (size_t i = 0; i < SEQUENCES; i++) {
        first[i] = imp_random_u64(&random[i]);
        for (size_t j = 0; j < i; j++)
            assert_true(first[i] != first[j]);
    }
    imp_random again = imp_random_start(1, IMP_STREAM_TRAIN, 0);
    assert_true(imp_random_u64(&again) == first[0]);
}

static double chi_square(const size_t *counts, size_t cells, size_t draws)
{
    double expected = (double)draws / (double)cells, sum = 0;
    for (size_t i = 0; i < cells; i++)
        sum += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
    return sum;
}

static void below_stays_below(void **state)
{
    (void)state;
    const uint32_t bounds[] = {1, 2, 3, 7, 20, 1000, 0x80000000, 0xc0000000, 0xffffffff};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        imp_random random = imp_random_start(3, IMP_STREAM_ORDER, i);
        for (int draw = 0; draw < 10000; draw++)
            assert_true(imp_random_below(&random, bounds[i]) < bounds[i]);
    }
}

static void below_is_even(void **state)
{
    (void)state;
    enum { DRAWS = 100000 };
    imp_random random = imp_random_start(4, IMP_STREAM_ORDER, 0);

    size_t tenths[10] = {0};
    for (int i = 0; i < DRAWS; i++)
        tenths[imp_random_below(&random, 10)]++;
    assert_true(chi_square(tenths, 10, DRAWS) < 33.7); /* 9 degrees of freedom */

    /* With this bound a plain remainder would make the first third twice as likely. */
    size_t thirds[3] = {0};
    for (int i = 0; i < DRAWS; i++)
        thirds[imp_random_below(&random, 0xc0000000) >> 30]++;
    assert_true(chi_square(thirds, 3, DRAWS) < 18.4); /* 2 degrees of freedom */
}

static void uniform_fills_its_interval(void **state)
{
    (void)state;
    enum { DRAWS = 200000 };
    imp_random random = imp_random_start(5, IMP_STREAM_ORDER, 0);
    double sum = 0, squares = 0, least = 1, most = 0;
    for (int i = 0; i < DRAWS; i++) {
        double x = imp_random_uniform(&random);
        assert_true(x >= 0 && x < 1);
        sum += x;
        squares += x * x;
        least = fmin(least, x);
        most = fmax(most, x);
    }
    double deviation = 1 / sqrt(12.0 * DRAWS);
    assert_true(fabs(sum / DRAWS - 0.5) < 3.9 * deviation);
    assert_true(fabs(squares / DRAWS - 1.0 / 3) < 3.9 * sqrt(4.0 / 45 / DRAWS));
    assert_true(least < 1e-4 && most > 1 - 1e-4);
}

static void normal_has_its_moments(void **state)
{
    (void)state;
    enum { DRAWS = 200000 };
    imp_random random = imp_random_start(6, IMP_STREAM_WEIGHTS, 0);
    double moment[5] = {0};
    size_t beyond_two = 0;
    for (int i = 0; i < DRAWS; i++) {
        double x = imp_random_normal(&random);
        assert_true(isfinite(x));
        for (int power = 1; power <= 4; power++)
            moment[power] += pow(x, power) / DRAWS;
        beyond_two += fabs(x) > 2;
    }
    /* The variance of x^k is E x^2k - (E x^k)^2: 1, 2, 15 and 96. */
    assert_true(fabs(moment[1]) < 3.9 * sqrt(1.0 / DRAWS));
    assert_true(fabs(moment[2] - 1) < 3.9 * sqrt(2.0 / DRAWS));
    assert_true(fabs(moment[3]) < 3.9 * sqrt(15.0 / DRAWS));
    assert_true(fabs(moment[4] - 3) < 3.9 * sqrt(96.0 / DRAWS));
    assert_true(fabs((double)beyond_two / DRAWS - 0.0455003) < 3.9 * sqrt(0.0455 * 0.9545 / DRAWS));
}

/* Two uniforms each, nothing kept: the place in the sequence depends on the count alone. */
static void normal_keeps_nothing(void **state)
{
    (void)state;
    imp_random random = imp_random_start(7, IMP_STREAM_WEIGHTS, 0);
    imp_random skipped = random;
    imp_random_normal(&random);
    imp_random_uniform(&skipped);
    imp_random_uniform(&skipped);
    assert_int_equal(imp_random_u32(&random), imp_random_u32(&skipped));
}

static void shuffle_keeps_every_item(void **state)
{
    (void)state;
    enum { ITEMS = 1000 };
    uint32_t items[ITEMS];
    unsigned char seen[ITEMS] = {0};
    for (uint32_t i = 0; i < ITEMS; i++)
        items[i] = i;
    imp_random random = imp_random_start(8, IMP_STREAM_ORDER, 0);
    imp_random_shuffle(&random, items, ITEMS);
    size_t moved = 0;
    for (uint32_t i = 0; i < ITEMS; i++) {
        assert_true(items[i] < ITEMS);
        seen[items[i]]++;
        moved += items[i] != i;
    }
    for (uint32_t i = 0; i < ITEMS; i++)
        assert_int_equal(seen[i], 1);
    assert_true(moved > ITEMS - 20);
    imp_random_shuffle(&random, NULL, 0);
    imp_random_shuffle(&random, items, 1);
}

static void shuffle_gives_every_order(void **state)
{
    (void)state;
    enum { DRAWS = 60000 };
    size_t counts[64] = {0}, orders[6], used = 0;
    imp_random random = imp_random_start(9, IMP_STREAM_ORDER, 0);
    for (int i = 0; i < DRAWS; i++) {
        uint32_t items[3] = {0, 1, 2};
        imp_random_shuffle(&random, items, 3);
        counts[items[0] * 16 + items[1] * 4 + items[2]]++;
    }
    for (size_t i = 0; i < 64; i++)
        if (counts[i] > 0) {
            assert_true(used < 6);
            orders[used++] = counts[i];
        }
    assert_int_equal(used, 6);
    assert_true(chi_square(orders, 6, DRAWS) < 25.7); /* 5 degrees of freedom */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_vectors),
        cmocka_unit_test(sequence_is_philox_of_its_name),
        cmocka_unit_test(names_tell_sequences_apart),
        cmocka_unit_test(below_stays_below),
        cmocka_unit_test(below_is_even),
        cmocka_unit_test(uniform_fills_its_interval),
        cmocka_unit_test(normal_has_its_moments),
        cmocka_unit_test(normal_keeps_nothing),
        cmocka_unit_test(shuffle_keeps_every_item),
        cmocka_unit_test(shuffle_gives_every_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
