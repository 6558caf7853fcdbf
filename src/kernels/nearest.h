/*
 * nearest.h - scores of points with centers in register blocks of integers, shared by the search
 * for the nearest center and the computation of all scores.
 *
 * The nearest center is the one with the highest score x.c - |c|^2 / 2. Coordinates are quantised
 * to 16 or 8 bits: processors multiply and add two or four times as many of these at a time as
 * floats, and their sums are exact.
 */
#ifndef IMP_KERNELS_NEAREST_H
#define IMP_KERNELS_NEAREST_H

#include <stdbool.h>

#include "kernels/variants.h"

enum {
    POINTS = 6, /* points of a register block, with NEAREST_VECTORS vectors of centers */
    VECTORS = NEAREST_VECTORS,
    WIDTH = NEAREST_WIDTH
};
_Static_assert((int)WIDTH <= (int)IMP_MOST_NEAREST_WIDTH,
               "a panel's centers fit where they are listed");
_Static_assert(IMP_NEAREST_POINTS % POINTS == 0, "register blocks fill the points of a call");

/* How the 32-bit words of a row are multiplied: as two coordinates of 16 bits or four of 8, with
 * the addition in the same instruction (AT_ONCE) if the processor has it. */
typedef enum product { PAIRS, PAIRS_AT_ONCE, FOURS, FOURS_AT_ONCE } product;

INLINE mask add_product(product kind, mask sum, mask row, mask center)
{
    return kind == PAIRS || kind == PAIRS_AT_ONCE
               ? add_pairs(kind == PAIRS_AT_ONCE, sum, row, center)
               : add_fours(kind == FOURS_AT_ONCE, sum, row, center);
}

/* The initial score of an empty place; no float lies between this and the least 32-bit integer. */
#define LEAST_START (-0x1.fffffep30F)

/* The initial scores of a panel's centers, from its first floats, -|c|^2 / 2. */
INLINE void begin_scores(const int32_t *panel, float ratio, mask start[VECTORS])
{
#pragma GCC unroll 4
    for (size_t v = 0; v < VECTORS; v++) {
        vec half = (vec) * (const mask_unaligned *)(panel + v * LANES);
        start[v] = __builtin_convertvector(larger(half * splat(ratio), splat(LEAST_START)), mask);
    }
}

/* score[r][v] = the scores of `points` rows of `words` words each with the centers of a panel, of
 * which the first `vectors` vectors are looked at. */
INLINE void score_centers(product kind, size_t points, size_t vectors, size_t words,
                          const void *rows, const mask start[VECTORS], const int32_t *centers,
                          mask score[][VECTORS])
{
    const row_word *row = rows;
#pragma GCC unroll 8
    for (size_t r = 0; r < points; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            score[r][v] = start[v];
    for (size_t j = 0; j < words; j++) {
        mask c[VECTORS];
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            c[v] = *(const mask_unaligned *)(centers + j * WIDTH + v * LANES);
#pragma GCC unroll 8
        for (size_t r = 0; r < points; r++) {
            mask word = (mask)zero() + row[r * words + j];
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; v++)
                score[r][v] = add_product(kind, score[r][v], word, c[v]);
        }
    }
}

#endif
