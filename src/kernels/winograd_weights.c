/*
 * winograd_weights.c - filters into the transform domain, U = GgG', and weight gradients back out
 * of it, dg = G'dU G.
 *
 * Once per step and far from hot, so it is written for reading; the packing matches product.h.
 */
#include "kernels/variants.h"
#include "kernels/winograd.h"

/* G */
static const float G[WINDOW][3] = {
    {1.0f / 4, 0, 0},
    {-1.0f / 6, -1.0f / 6, -1.0f / 6},
    {-1.0f / 6, 1.0f / 6, -1.0f / 6},
    {1.0f / 24, 1.0f / 12, 1.0f / 6},
    {1.0f / 24, -1.0f / 12, 1.0f / 6},
    {0, 0, 1},
};

enum { POINT = IMP_CHANNELS * IMP_CHANNELS }; /* floats from one point's matrix to the next */

/* Packs rows begin..end-1 of all points' matrices. Element (row, column) of a point's matrix comes
 * from the 3x3 filter at weights + row * row_step + column * column_step, or is zero beyond `rows`
 * and `columns`. A row is put together in a buffer first: the 36 matrices lie a power of two apart,
 * and writing to all of them in turn would throw each other's lines out of the cache. */
static void pack(const float *weights, size_t row_step, size_t column_step, size_t rows,
                 size_t columns, const float *scale, size_t begin, size_t end, float *packed)
{
    float line[IMP_POINTS][IMP_CHANNELS] __attribute__((aligned(64)));
    for (size_t row = begin; row < end; row++) {
        for (size_t column = 0; column < IMP_CHANNELS; column += LANES) {
            vec g[9], half[WINDOW][3];
            float filters[9][LANES] __attribute__((aligned(64))) = {{0}};
            for (size_t lane = 0; lane < LANES; lane++)
                if (row < rows && column + lane < columns)
                    for (size_t i = 0; i < 9; i++)
                        filters[i][lane] =
                            weights[row * row_step + (column + lane) * column_step + i];
            for (size_t i = 0; i < 9; i++)
                g[i] = load(filters[i]);
            vec factor = scale ? load_unaligned(scale + column) : splat(1);
            for (size_t r = 0; r < WINDOW; r++)
                for (size_t c = 0; c < 3; c++)
                    half[r][c] =
                        factor * (G[r][0] * g[c] + G[r][1] * g[3 + c] + G[r][2] * g[6 + c]);
            for (size_t r = 0; r < WINDOW; r++)
                for (size_t c = 0; c < WINDOW; c++)
                    store(&line[r * WINDOW + c][column],
                          half[r][0] * G[c][0] + half[r][1] * G[c][1] + half[r][2] * G[c][2]);
        }
        for (size_t point = 0; point < IMP_POINTS; point++)
            for (size_t column = 0; column < IMP_CHANNELS; column += LANES)
                store(packed + point * POINT + column / PANEL * IMP_CHANNELS * PANEL + row * PANEL +
                          column % PANEL,
                      load(&line[point][column]));
    }
}

void VARIANT(winograd_weights)(const float *weights, size_t inputs, const float *scale,
                               size_t begin, size_t end, float *forward, float *adjoint)
{
    size_t filter = 9, filters = inputs * filter;
    pack(weights, filter, filters, inputs, IMP_CHANNELS, scale, begin, end, forward);
    if (adjoint)
        pack(weights, filters, filter, IMP_CHANNELS, inputs, NULL, begin, end, adjoint);
}

void VARIANT(winograd_weight_gradient)(const float *parts, size_t count, size_t inputs,
                                       size_t begin, size_t end, float *dweights)
{
    float du[IMP_POINTS][IMP_CHANNELS] __attribute__((aligned(64)));
    for (size_t in = begin; in < end; in++) {
        for (size_t point = 0; point < IMP_POINTS; point++) {
            const float *part = parts + point * POINT + in * IMP_CHANNELS;
            for (size_t out = 0; out < IMP_CHANNELS; out += LANES) {
                vec sum = load(part + out);
                for (size_t i = 1; i < count; i++)
                    sum += load(part + i * IMP_POINTS * POINT + out);
                store(&du[point][out], sum);
            }
        }
        for (size_t out = 0; out < IMP_CHANNELS; out += LANES) {
            vec half[3][WINDOW];
            for (size_t i = 0; i < 3; i++)
                for (size_t c = 0; c < WINDOW; c++) {
                    half[i][c] = zero();
                    for (size_t r = 0; r < WINDOW; r++)
                        half[i][c] += G[r][i] * load(&du[r * WINDOW + c][out]);
                }
            for (size_t i = 0; i < 3; i++)
                for (size_t j = 0; j < 3; j++) {
                    vec dg = zero();
                    for (size_t c = 0; c < WINDOW; c++)
                        dg += half[i][c] * G[c][j];
                    for (size_t lane = 0; lane < LANES; lane++)
                        dweights[((out + lane) * inputs + in) * 9 + i * 3 + j] += dg[lane];
                }
        }
    }
}
