/*
 * multiply.c - a general matrix product for the layers that have no kernel of their own.
 *
 * Right for any size and any alignment; quick enough, no more: Conv4 does not come this way.
 */
#include "kernels/variants.h"

enum { BLOCK_ROWS = 4, BLOCK_COLUMNS = 2 * LANES };

/* rows <= BLOCK_ROWS rows of c, BLOCK_COLUMNS columns */
INLINE void block(size_t rows, size_t k, const float *a, size_t a_row, size_t a_column,
                  const float *b, size_t b_row, float *c, size_t c_row)
{
    vec sum[BLOCK_ROWS][2];
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; r++) {
        sum[r][0] = load_unaligned(c + r * c_row);
        sum[r][1] = load_unaligned(c + r * c_row + LANES);
    }
    for (size_t i = 0; i < k; i++) {
        vec left = load_unaligned(b + i * b_row), right = load_unaligned(b + i * b_row + LANES);
#pragma GCC unroll 4
        for (size_t r = 0; r < rows; r++) {
            vec x = splat(a[r * a_row + i * a_column]);
            sum[r][0] += x * left;
            sum[r][1] += x * right;
        }
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; r++) {
        *(vec_unaligned *)(c + r * c_row) = sum[r][0];
        *(vec_unaligned *)(c + r * c_row + LANES) = sum[r][1];
    }
}

void VARIANT(multiply)(size_t m, size_t n, size_t k, const float *a, size_t a_row, size_t a_column,
                       const float *b, size_t b_row, float *c, size_t c_row)
{
    size_t whole_columns = n / BLOCK_COLUMNS * BLOCK_COLUMNS;
    size_t whole_rows = m / BLOCK_ROWS * BLOCK_ROWS;
    for (size_t j = 0; j < whole_columns; j += BLOCK_COLUMNS) {
        for (size_t i = 0; i < whole_rows; i += BLOCK_ROWS)
            block(BLOCK_ROWS, k, a + i * a_row, a_row, a_column, b + j, b_row, c + i * c_row + j,
                  c_row);
        for (size_t i = whole_rows; i < m; i++)
            block(1, k, a + i * a_row, a_row, a_column, b + j, b_row, c + i * c_row + j, c_row);
    }
    for (size_t i = 0; i < m; i++)
        for (size_t l = 0; l < k; l++)
            for (size_t j = whole_columns; j < n; j++)
                c[i * c_row + j] += a[i * a_row + l * a_column] * b[l * b_row + j];
}
