/*
 * product.h - matrix products in register blocks: those inside the Winograd convolutions, of 64
 * channels (tiles x 64 by 64 x 64) and of any number, and the general one of multiply.c.
 *
 * A product is computed in register blocks of up to ROWS rows by one PANEL of columns, with as many
 * accumulators as fit in the registers besides the operands.
 */
#ifndef IMP_KERNELS_PRODUCT_H
#define IMP_KERNELS_PRODUCT_H

#include <stdbool.h>

#include "kernels/kernels.h"
#include "kernels/vector.h"

enum {
    ROWS = LANES == 16 ? 7 : 6,              /* rows of a register block */
    PANEL_VECTORS = REGISTERS == 32 ? 4 : 2, /* its vectors per row: 12 to 28 accumulators in all */
    PANEL = PANEL_VECTORS * LANES,           /* its columns */
    PANELS = IMP_CHANNELS / PANEL,           /* register blocks side by side */
    ROW_STRIDE = IMP_CHANNELS                /* floats between tiles of one transform point */
};

/* c(rows, columns) = a(rows, depth) b(depth, columns), added to what is there unless `fresh`, for
 * `vectors` vectors of columns. Element (r, k) of a is a[r * a_row + k * a_step], so a transposed
 * matrix only needs other strides. Where b is packed, `ahead` is the prefetch distance in floats,
 * because its next rows may have been evicted since their last use; otherwise 0. */
INLINE void product_block(size_t rows, size_t vectors, size_t depth, const float *a, size_t a_row,
                          size_t a_step, const float *b, size_t b_row, size_t ahead, bool fresh,
                          float *c, size_t c_row)
{
    vec sum[ROWS][PANEL_VECTORS];
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            sum[r][v] = fresh ? zero() : load_unaligned(c + r * c_row + v * LANES);
    for (size_t k = 0; k < depth; k++) {
        vec side[PANEL_VECTORS];
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            side[v] = load_unaligned(b + k * b_row + v * LANES);
        if (ahead > 0)
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors * LANES; v += 16)
                __builtin_prefetch(b + k * b_row + ahead + v);
#pragma GCC unroll 8
        for (size_t r = 0; r < rows; r++) {
            vec x = splat(a[r * a_row + k * a_step]);
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; v++)
                sum[r][v] = multiply_add(x, side[v], sum[r][v]);
        }
    }
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            store_unaligned(c + r * c_row + v * LANES, sum[r][v]);
}

/* c(rows, PANEL) = a(rows, 64) b(64, PANEL), the panel's rows being contiguous. */
INLINE void multiply_block(size_t rows, const float *a, const float *panel, float *c)
{
    product_block(rows, PANEL_VECTORS, IMP_CHANNELS, a, ROW_STRIDE, 1, panel, PANEL,
                  IMP_CHANNELS * PANEL, true, c, ROW_STRIDE);
}

/* du(rows, PANEL) = v(tiles, rows)^T dm(tiles, PANEL), added to what is there unless `fresh` */
INLINE void outer_block(size_t rows, size_t tiles, const float *v, const float *dm, bool fresh,
                        float *du)
{
    product_block(rows, PANEL_VECTORS, tiles, v, 1, ROW_STRIDE, dm, ROW_STRIDE, 0, fresh, du,
                  IMP_CHANNELS);
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

/* The columns of a matrix (rows, columns), a multiple of LANES, are packed in panels with
 * contiguous rows: of PANEL columns each, and for the remainder of two vectors or one. */
INLINE size_t panel_width(size_t columns, size_t left)
{
    size_t rest = columns - left;
    return rest >= PANEL ? PANEL : rest >= 2 * LANES ? 2 * LANES : LANES;
}

/* The index of element (row, column) of a packed matrix. */
INLINE size_t packed_at(size_t rows, size_t columns, size_t row, size_t column)
{
    size_t left = column / PANEL * PANEL, width = panel_width(columns, left);
    for (; column >= left + width; width = panel_width(columns, left))
        left += width;
    return left * rows + row * width + column - left;
}

/* product_block() for any number of rows; `vectors` is a constant */
INLINE void product_rows(size_t vectors, size_t rows, size_t depth, const float *a, size_t a_row,
                         size_t a_step, const float *b, size_t b_row, size_t ahead, bool fresh,
                         float *c, size_t c_row)
{
    for (size_t r = 0; r < rows; r += ROWS) {
        const float *rows_a = a + r * a_row;
        float *rows_c = c + r * c_row;
        size_t some = rows - r < ROWS ? rows - r : ROWS;
        WITH_CONSTANT_ROWS(product_block, some, vectors, depth, rows_a, a_row, a_step, b, b_row,
                           ahead, fresh, rows_c, c_row)
    }
}

/* product_rows() for a panel of that width */
INLINE void product_panel(size_t width, size_t rows, size_t depth, const float *a, size_t a_row,
                          size_t a_step, const float *b, size_t b_row, size_t ahead, bool fresh,
                          float *c, size_t c_row)
{
    if (width == PANEL)
        product_rows(PANEL_VECTORS, rows, depth, a, a_row, a_step, b, b_row, ahead, fresh, c,
                     c_row);
    else if (PANEL_VECTORS > 2 && width == 2 * LANES)
        product_rows(2, rows, depth, a, a_row, a_step, b, b_row, ahead, fresh, c, c_row);
    else
        product_rows(1, rows, depth, a, a_row, a_step, b, b_row, ahead, fresh, c, c_row);
}

/* c(tiles, 64) = a(tiles, 64) b(64, 64), b packed in panels as winograd_weights.h does. */
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
            /* 64 rows divided evenly: 11 blocks of 5 or 6, or 10 of 6 or 7 */
            size_t row = i * IMP_CHANNELS / BLOCKS;
            size_t rows = (i + 1) * IMP_CHANNELS / BLOCKS - row;
            float *block = du + row * IMP_CHANNELS + p * PANEL;
            const float *column = v + row, *side = dm + p * PANEL;
            WITH_CONSTANT_ROWS(outer_block, rows, tiles, column, side, fresh, block)
        }
}

#endif
