/*
 * random.c - Philox4x32-10 and the few distributions drawn from it.
 *
 * The generator is the one of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
 * 1, 2, 3" (2011): ten rounds turn a 128-bit counter into 128 random bits under a 64-bit key.
 */
#include "base/random.h"

#include <math.h>

enum { ROUNDS = 10, WORDS = 4 };

/* The multipliers, and the golden ratio and sqrt(3) - 1 that step the key, from the paper. */
static const uint32_t multiplier0 = 0xD2511F53u, multiplier1 = 0xCD9E8D57u;
static const uint32_t weyl0 = 0x9E3779B9u, weyl1 = 0xBB67AE85u;

void imp_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];

    for (int round = 0; round < ROUNDS; round++) {
        uint64_t product0 = (uint64_t)multiplier0 * c0;
        uint64_t product1 = (uint64_t)multiplier1 * c2;
        c0 = (uint32_t)(product1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)product1;
        c2 = (uint32_t)(product0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)product0;
        k0 += weyl0;
        k1 += weyl1;
    }

    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

imp_random imp_random_start(uint64_t seed, uint32_t stream, uint64_t index)
{
    return (imp_random){
        .key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
        .counter = {0, stream, (uint32_t)index, (uint32_t)(index >> 32)},
        .used = WORDS,
    };
}

uint32_t imp_random_u32(imp_random *random)
{
    if (random->used >= WORDS) {
        imp_philox(random->counter, random->key, random->word);
        random->counter[0]++;
        random->used = 0;
    }
    return random->word[random->used++];
}

uint64_t imp_random_u64(imp_random *random)
{
    uint64_t low = imp_random_u32(random);
    uint64_t high = imp_random_u32(random);
    return high << 32 | low;
}

/* Lemire, "Fast random integer generation in an interval" (2019): the high half of word * bound,
 * where the few words that would bias the result are drawn again. */
uint32_t imp_random_below(imp_random *random, uint32_t bound)
{
    uint64_t product = (uint64_t)imp_random_u32(random) * bound;
    if ((uint32_t)product < bound) {
        uint32_t surplus = -bound % bound; /* 2^32 mod bound */
        while ((uint32_t)product < surplus)
            product = (uint64_t)imp_random_u32(random) * bound;
    }
    return (uint32_t)(product >> 32);
}

double imp_random_uniform(imp_random *random)
{
    return (double)(imp_random_u64(random) >> 11) * 0x1p-53;
}

double imp_random_normal(imp_random *random)
{
    const double two_pi = 6.283185307179586;
    double radius = sqrt(-2.0 * log(1.0 - imp_random_uniform(random))); /* log never sees 0 */
    double angle = two_pi * imp_random_uniform(random);
    return radius * cos(angle);
}

void imp_random_shuffle(imp_random *random, uint32_t *items, size_t count)
{
    for (size_t left = count; left > 1; left--) {
        uint32_t chosen = imp_random_below(random, (uint32_t)left);
        uint32_t item = items[left - 1];
        items[left - 1] = items[chosen];
        items[chosen] = item;
    }
}
