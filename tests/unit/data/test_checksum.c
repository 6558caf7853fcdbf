/* test_checksum.c - XXH64 gives the published values, and sees every flipped bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "data/checksum.h"

static void published_values(void **state)
{
    (void)state;
    const struct {
        const char *text;
        uint64_t value;
    } cases[] = {
        {"", 0xEF46DB3751D8E999u},
        {"a", 0xD24EC4F1A98C6E5Bu},
        {"abc", 0x44BC2CF5AD770999u},
        {"Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1u},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(imp_checksum(cases[i].text, strlen(cases[i].text)) == cases[i].value);
}

static void every_bit_counts(void **state)
{
    (void)state;
    uint8_t bytes[101] = {0};
    uint64_t clean = imp_checksum(bytes, sizeof bytes);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_true(imp_checksum(bytes, sizeof bytes) != clean);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(published_values),
                                       cmocka_unit_test(every_bit_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
