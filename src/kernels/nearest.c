/*
 * nearest.c - the nearest of many centers for each of many points, fused: scores stay in registers
 * and only the best survives.
 *
 * The nearest center is the one with the largest score x.c - |c|^2 / 2. Scores are float; the best
 * and the second best are given, so that a caller who needs the exact answer knows where to look
 * again.
 */
#include <float.h>
#include <stdbool.h>

#include "kernels/variants.h"

enum {
    POINTS = LANES == 16 ? 7 : 6,  /* points of a register block */
    CENTERS = LANES == 16 ? 4 : 2, /* its vectors of centers */
    WIDTH = CENTERS * LANES,       /* its centers: a panel */
    SLAB = 8 * POINTS              /* points that go through all panels together */
};

size_t VARIANT(nearest_packed)(size_t count, size_t dimensions)
{
    return (count + WIDTH - 1) / WIDTH * WIDTH * (dimensions + 1);
}

/* A panel is its centers' -|c|^2 / 2, then dimension by dimension their coordinates. */
void VARIANT(nearest_pack)(size_t count, size_t dimensions, const float *centers, float *packed)
{
    for (size_t first = 0; first < count; first += WIDTH, packed += WIDTH * (dimensions + 1))
        for (size_t i = 0; i < WIDTH; i++) {
            bool exists = first + i < count;
            const float *center = exists ? centers + (first + i) * dimensions : NULL;
            double square = 0;
            for (size_t j = 0; j < dimensions; j++) {
                packed[(j + 1) * WIDTH + i] = exists ? center[j] : 0;
                square += exists ? (double)center[j] * center[j] : 0;
            }
            packed[i] = exists ? (float)(-square / 2) : -FLT_MAX;
        }
}

/* The best so far of one point, lane by lane. */
typedef struct leader {
    vec best, second;
    mask center;
} leader;

/* POINTS points against one panel. */
INLINE void meet_panel(size_t points, size_t dimensions, const float *x, const float *panel,
                       int32_t first, leader *leaders)
{
    vec score[POINTS][CENTERS];
#pragma GCC unroll 8
    for (size_t r = 0; r < points; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < CENTERS; v++)
            score[r][v] = load_unaligned(panel + v * LANES);
    for (size_t j = 0; j < dimensions; j++) {
        vec c[CENTERS];
#pragma GCC unroll 4
        for (size_t v = 0; v < CENTERS; v++)
            c[v] = load_unaligned(panel + (j + 1) * WIDTH + v * LANES);
#pragma GCC unroll 8
        for (size_t r = 0; r < points; r++) {
            vec coordinate = splat(x[r * dimensions + j]);
#pragma GCC unroll 4
            for (size_t v = 0; v < CENTERS; v++)
                score[r][v] += coordinate * c[v];
        }
    }
#pragma GCC unroll 8
    for (size_t r = 0; r < points; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < CENTERS; v++) {
            leader *l = &leaders[r];
            mask better = score[r][v] > l->best;
            mask number = (mask)zero() + (first + (int32_t)(v * LANES)); /* of the first lane */
            l->second = larger(l->second, choose(better, l->best, score[r][v]));
            l->best = choose(better, score[r][v], l->best);
            l->center = (better & number) | (~better & l->center);
        }
}

/* The lanes' leaders become one. */
static void settle(const leader *l, int32_t *center, float *best, float *second)
{
    float scores[LANES] __attribute__((aligned(64))), seconds[LANES] __attribute__((aligned(64)));
    int32_t numbers[LANES] __attribute__((aligned(64)));
    store(scores, l->best);
    store(seconds, l->second);
    *(mask *)numbers = l->center;
    *best = -FLT_MAX, *second = -FLT_MAX, *center = 0;
    for (int32_t i = 0; i < LANES; i++) {
        float loser = scores[i] > *best ? *best : scores[i];
        if (scores[i] > *best) {
            *best = scores[i];
            *center = numbers[i] + i;
        }
        *second = loser > *second ? loser : *second;
        *second = seconds[i] > *second ? seconds[i] : *second;
    }
}

void VARIANT(nearest)(size_t points, size_t dimensions, const float *x, size_t count,
                      const float *packed, int32_t *center, float *best, float *second)
{
    leader leaders[SLAB];
    for (size_t begin = 0; begin < points; begin += SLAB) {
        size_t slab = points - begin < SLAB ? points - begin : SLAB;
        for (size_t i = 0; i < slab; i++)
            leaders[i] = (leader){splat(-FLT_MAX), splat(-FLT_MAX), (mask)zero()};
        const float *panel = packed;
        for (size_t first = 0; first < count; first += WIDTH, panel += WIDTH * (dimensions + 1)) {
            size_t i = 0;
            for (; i + POINTS <= slab; i += POINTS)
                meet_panel(POINTS, dimensions, x + (begin + i) * dimensions, panel, (int32_t)first,
                           leaders + i);
            for (; i < slab; i++)
                meet_panel(1, dimensions, x + (begin + i) * dimensions, panel, (int32_t)first,
                           leaders + i);
        }
        for (size_t i = 0; i < slab; i++)
            settle(&leaders[i], &center[begin + i], &best[begin + i], &second[begin + i]);
    }
}
