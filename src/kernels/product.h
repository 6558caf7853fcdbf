/*
 * product.h - the small matrix products inside the Winograd convolution: (tiles x 64) by (64 x 64).
 *
 * A product is computed in register blocks of up to ROWS rows by one PANEL of columns, as many
 * accumulators as the instruction set's registers hold beside the operands.
 */
#ifndef IMP_KERNELS_PRODUCT_H
#define IMP_KERNELS_PRODUCT_H

#include <stdbool.h>

#include "kernels/kernels.h"
#include "kernels/vector.h"

enum {
    ROWS = LANES == 16 ? 7 : 6,          /* rows of a register block */
    PANEL_VECTORS = LANES == 16 ? 4 : 2, /* its vectors per row: 28 or 12 accumulators in all */
    PANEL = PANEL_VECTORS * LANES,       /* its columns */
    PANELS = IMP_CHANNELS / PANEL,       /* register blocks side by side */
    TILES = LANES == 16 ? 3 * ROWS : 24, /* tiles transformed together; a multiple of ROWS */
    ROW_STRIDE = IMP_CHANNELS,           /* floats between tiles of one transform point */
    /* Floats between transform points. One spare row keeps the 36 streams of a transform off each
     * other's cache sets. */
    POINT_STRIDE = (TILES + 1) * IMP_CHANNELS
};

/* c(rows, PANEL) = a(rows, 64) b(64, PANEL), the panel's rows lying one after the other. */
INLINE void multiply_block(size_t rows, const float *a, const float *panel, float *c)
{
    vec sum[ROWS][PANEL_VECTORS];
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < PANEL_VECTORS; v++)
            sum[r][v] = zero();
    for (size_t k = 0; k < IMP_CHANNELS; k++) {
        vec b[PANEL_VECTORS];
#pragma GCC unroll 4
        for (size_t v = 0; v < PANEL_VECTORS; v++)
            b[v] = load(panel + k * PANEL + v * LANES);
            /* the next panel, which may have left the cache since it was last used */
#pragma GCC unroll 4
        for (size_t v = 0; v < PANEL; v += 16)
            __builtin_prefetch(panel + (IMP_CHANNELS + k) * PANEL + v);
#pragma GCC unroll 8
        for (size_t r = 0; r < rows; r++) {
            vec x = splat(a[r * ROW_STRIDE + k]);
#pragma GCC unroll 4
            for (size_t v = 0; v < PANEL_VECTORS; v++)
                sum[r][v] += x * b[v];
        }
    }
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < PANEL_VECTORS; v++)
            store(c + r * ROW_STRIDE + v * LANES, sum[r][v]);
}

/* du(rows, PANEL) = v(tiles, rows)^T dm(tiles, PANEL), added to what is there unless `fresh` */
INLINE void outer_block(size_t rows, size_t tiles, const float *v, const float *dm, bool fresh,
                        float *du)
{
    vec sum[ROWS][PANEL_VECTORS];
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (size_t p = 0; p < PANEL_VECTORS; p++)
            sum[r][p] = fresh ? zero() : load(du + r * IMP_CHANNELS + p * LANES);
    for (size_t t = 0; t < tiles; t++) {
        vec b[PANEL_VECTORS];
#pragma GCC unroll 4
        for (size_t p = 0; p < PANEL_VECTORS; p++)
            b[p] = load(dm + t * ROW_STRIDE + p * LANES);
#pragma GCC unroll 8
        for (size_t r = 0; r < rows; r++) {
            vec x = splat(v[t * ROW_STRIDE + r]);
#pragma GCC unroll 4
            for (size_t p = 0; p < PANEL_VECTORS; p++)
                sum[r][p] += x * b[p];
        }
    }
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (size_t p = 0; p < PANEL_VECTORS; p++)
            store(du + r * IMP_CHANNELS + p * LANES, sum[r][p]);
}

/* block(rows, ...) with `rows` a constant, which is what keeps the accumulators in registers. */
/* clang-format off */
#define CASE_ROWS(n, block, ...) case n: block(n, __VA_ARGS__); break;
#define WITH_CONSTANT_ROWS(block, rows, ...)                                                       \
    switch (rows) {                                                                                \
        CASE_ROWS(1, block, __VA_ARGS__)                                                           \
        CASE_ROWS(2, block, __VA_ARGS__)                                                           \
        CASE_ROWS(3, block, __VA_ARGS__)                                                           \
        CASE_ROWS(4, block, __VA_ARGS__)                                                           \
        CASE_ROWS(5, block, __VA_ARGS__)                                                           \
        CASE_ROWS(6, block, __VA_ARGS__)                                                           \
    default: block(ROWS, __VA_ARGS__);                                                             \
    }
/* clang-format on */

/* c(tiles, 64) = a(tiles, 64) b(64, 64), b packed in panels as winograd_weights() does. */
static inline void multiply(size_t tiles, const float *a, const float *b, float *c)
{
    for (size_t p = 0; p < PANELS; p++) {
        const float *panel = b + p * IMP_CHANNELS * PANEL;
        for (size_t t = 0; t < tiles; t += ROWS) {
            const float *rows_a = a + t * ROW_STRIDE;
            float *rows_c = c + t * ROW_STRIDE + p * PANEL;
            size_t rows = tiles - t < ROWS ? tiles - t : ROWS;
            WITH_CONSTANT_ROWS(multiply_block, rows, rows_a, panel, rows_c)
        }
    }
}

/* du(64, 64) = v(tiles, 64)^T dm(tiles, 64), added to what is there unless `fresh` */
static inline void outer(size_t tiles, const float *v, const float *dm, bool fresh, float *du)
{
    enum { BLOCKS = (IMP_CHANNELS + ROWS - 1) / ROWS };
    for (size_t p = 0; p < PANELS; p++)
        for (size_t i = 0; i < BLOCKS; i++) {
            /* 64 rows dealt out evenly: 11 blocks of 5 or 6, or 10 of 6 or 7 */
            size_t row = i * IMP_CHANNELS / BLOCKS;
            size_t rows = (i + 1) * IMP_CHANNELS / BLOCKS - row;
            float *block = du + row * IMP_CHANNELS + p * PANEL;
            const float *column = v + row, *side = dm + p * PANEL;
            WITH_CONSTANT_ROWS(outer_block, rows, tiles, column, side, fresh, block)
        }
}

#endif
