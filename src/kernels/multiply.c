/*
 * multiply.c - a general matrix product for the layers that have no kernel of their own.
 *
 * Works for any size and alignment. Every element of c is one sum in the order of k.
 */
#include <string.h>

#include "kernels/product.h"
#include "kernels/variants.h"

/* The last columns, fewer than a vector, on copies of b and c padded with zeros. */
static void narrow(size_t m, size_t columns, size_t k, const float *a, size_t a_row,
                   size_t a_column, const float *b, size_t b_row, float *c, size_t c_row)
{
    enum { DEPTH = 256 };
    float side[DEPTH * LANES] = {0}, sums[ROWS * LANES] = {0};
    for (size_t begin = 0; begin < k; begin += DEPTH) {
        size_t depth = k - begin < DEPTH ? k - begin : DEPTH;
        for (size_t i = 0; i < depth; i++)
            memcpy(side + i * LANES, b + (begin + i) * b_row, columns * sizeof *b);
        for (size_t row = 0; row < m; row += ROWS) {
            size_t rows = m - row < ROWS ? m - row : ROWS;
            for (size_t r = 0; r < rows; r++)
                memcpy(sums + r * LANES, c + (row + r) * c_row, columns * sizeof *c);
            product_rows(1, rows, depth, a + row * a_row + begin * a_column, a_row, a_column, side,
                         LANES, 0, false, sums, LANES);
            for (size_t r = 0; r < rows; r++)
                memcpy(c + (row + r) * c_row, sums + r * LANES, columns * sizeof *c);
        }
    }
}

void VARIANT(multiply)(size_t m, size_t n, size_t k, const float *a, size_t a_row, size_t a_column,
                       const float *b, size_t b_row, float *c, size_t c_row)
{
    size_t whole = n / LANES * LANES;
    for (size_t column = 0, width; column < whole; column += width) {
        width = panel_width(whole, column);
        product_panel(width, m, k, a, a_row, a_column, b + column, b_row, 0, false, c + column,
                      c_row);
    }
    if (whole < n)
        narrow(m, n - whole, k, a, a_row, a_column, b + whole, b_row, c + whole, c_row);
}
