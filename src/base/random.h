/*
 * random.h - counter-based random numbers (Philox4x32-10, Salmon et al. 2011).
 *
 * A sequence depends on (seed, stream, index) and nothing else, so episode 4711 of the test stream
 * can be drawn alone, on any thread or machine, and is always the same. Not for cryptography.
 */
#ifndef IMP_BASE_RANDOM_H
#define IMP_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* What the numbers are for. Two purposes never share a stream, so their numbers are independent. */
enum imp_stream {
    IMP_STREAM_WEIGHTS = 1,
    IMP_STREAM_TRAIN,
    IMP_STREAM_VALIDATION,
    IMP_STREAM_TEST,
    IMP_STREAM_SPLIT,
    IMP_STREAM_GLYPHS,
    IMP_STREAM_ORDER,
    IMP_STREAM_DEMO,
    IMP_STREAM_TSNE,
    IMP_STREAM_MASK,
    IMP_STREAM_DROPOUT,
    IMP_STREAM_AUGMENT, /* and the two after it: one for each purpose of an episode */
    IMP_STREAM_AUGMENT_END = IMP_STREAM_AUGMENT + 2,
    IMP_STREAM_GIBBS,
    IMP_STREAM_BATCHES,
    IMP_STREAM_QUESTIONS,
    IMP_STREAM_HELD_OUT =
        64,            /* fixed, whatever is added above: what mixtures choose depends on it */
    IMP_STREAM_SAMPLE, /* likewise: which points mixtures keep */
};

typedef struct imp_random {
    uint32_t key[2];     /* the seed */
    uint32_t counter[4]; /* block within the sequence, stream, index (low, high) */
    uint32_t word[4];    /* the current block's output */
    unsigned used;       /* words of it used */
} imp_random;

/* One Philox4x32-10 block: the published bijection, exposed for its test vectors. */
void imp_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* Starts the sequence (seed, stream, index), which has 2^34 words. */
imp_random imp_random_start(uint64_t seed, uint32_t stream, uint64_t index);

uint32_t imp_random_u32(imp_random *random);
uint64_t imp_random_u64(imp_random *random);

/* Uniform in 0..bound-1 without bias; bound must be at least 1. */
uint32_t imp_random_below(imp_random *random, uint32_t bound);

/* Uniform in [0, 1), 53 bits. */
double imp_random_uniform(imp_random *random);

/* Standard normal (Box-Muller, two uniforms each, nothing kept between calls). */
double imp_random_normal(imp_random *random);

/* Fisher-Yates: any order of items[0..count-1] is equally likely; count is below 2^32. */
void imp_random_shuffle(imp_random *random, uint32_t *items, size_t count);

#endif
