/*
 * winograd_weights.h - transforms filters, U = GgG', and transforms weight gradients back, dg =
 * G'dU G.
 *
 * This runs once per step and is not hot, so it is written for readability; the packing matches
 * product.h.
 */
#ifndef IMP_KERNELS_WINOGRAD_WEIGHTS_H
#define IMP_KERNELS_WINOGRAD_WEIGHTS_H

#include "kernels/variants.h"
#include "kernels/winograd.h"

/* G */
static const float G[WINDOW][3] = {
#if TILE == 4
    {1.0f / 4, 0, 0},
    {-1.0f / 6, -1.0f / 6, -1.0f / 6},
    {-1.0f / 6, 1.0f / 6, -1.0f / 6},
    {1.0f / 24, 1.0f / 12, 1.0f / 6},
    {1.0f / 24, -1.0f / 12, 1.0f / 6},
#else
    {1, 0, 0},
    {-2.0f / 9, -2.0f / 9, -2.0f / 9},
    {-2.0f / 9, 2.0f / 9, -2.0f / 9},
    {1.0f / 90, 1.0f / 45, 2.0f / 45},
    {1.0f / 90, -1.0f / 45, 2.0f / 45},
    {32.0f / 45, 16.0f / 45, 8.0f / 45},
    {32.0f / 45, -16.0f / 45, 8.0f / 45},
#endif
    {0, 0, 1},
};

/* How the matrix (rows, columns) of every point is filled: element (row, column) from the 3x3
 * filter at weights + row * row_step + column * column_step, rotated by 180 degrees if `turned`, or
 * zero beyond the first `filled_rows` and `filled_columns`. */
typedef struct filters {
    const float *weights;
    size_t row_step, column_step, rows, columns, filled_rows, filled_columns;
    bool turned;
} filters;

/* U of LANES filters of a row from `column` on, at point p from u + p * IMP_CHANNELS on. */
static void transform_filters(const filters *f, size_t row, size_t column, const float *scale,
                              float *u)
{
    float lanes[9][LANES] __attribute__((aligned(64))) = {{0}};
    vec g[9], half[WINDOW][3];
    for (size_t lane = 0; lane < LANES; lane++)
        if (row < f->filled_rows && column + lane < f->filled_columns) {
            const float *filter = f->weights + row * f->row_step + (column + lane) * f->column_step;
            for (size_t i = 0; i < 9; i++)
                lanes[i][lane] = filter[f->turned ? 8 - i : i];
        }
    for (size_t i = 0; i < 9; i++)
        g[i] = load(lanes[i]);
    vec factor = scale ? load_unaligned(scale + column) : splat(1);
    for (size_t r = 0; r < WINDOW; r++)
        for (size_t c = 0; c < 3; c++)
            half[r][c] = factor * (G[r][0] * g[c] + G[r][1] * g[3 + c] + G[r][2] * g[6 + c]);
    for (size_t r = 0; r < WINDOW; r++)
        for (size_t c = 0; c < WINDOW; c++)
            store(u + (r * WINDOW + c) * IMP_CHANNELS,
                  half[r][0] * G[c][0] + half[r][1] * G[c][1] + half[r][2] * G[c][2]);
}

/* Packs rows begin..end-1 of all points' matrices. A part of a row is assembled in a buffer first:
 * the matrices are a power of two apart, and writing to them in turn would evict each other's cache
 * lines. */
static void pack(const filters *f, const float *scale, size_t begin, size_t end, float *packed)
{
    float line[POINTS][IMP_CHANNELS] __attribute__((aligned(64)));
    size_t matrix = f->rows * f->columns;
    for (size_t row = begin; row < end; row++)
        for (size_t left = 0; left < f->columns; left += IMP_CHANNELS) {
            size_t right = f->columns - left < IMP_CHANNELS ? f->columns : left + IMP_CHANNELS;
            for (size_t column = left; column < right; column += LANES)
                transform_filters(f, row, column, scale, &line[0][column - left]);
            for (size_t point = 0; point < POINTS; point++)
                for (size_t column = left; column < right; column += LANES)
                    store(packed + point * matrix + packed_at(f->rows, f->columns, row, column),
                          load(&line[point][column - left]));
        }
}

static void transform_weights(const float *weights, size_t inputs, const float *scale, size_t begin,
                              size_t end, float *forward, float *adjoint)
{
    size_t filter = 9, row = inputs * filter, all = IMP_CHANNELS;
    pack(&(filters){weights, filter, row, all, all, inputs, all, false}, scale, begin, end,
         forward);
    if (adjoint)
        pack(&(filters){weights, row, filter, all, all, all, inputs, false}, NULL, begin, end,
             adjoint);
}

/* dweights += G'dU G for input channel `in` and the `count` outputs from `out` on, at most 64,
 * where dU of point p is the sum of parts[i * part + p * point], in order. */
static void add_filters(const float *parts, size_t count, size_t part, size_t point, size_t inputs,
                        size_t in, size_t out, size_t outputs, float *dweights)
{
    float du[POINTS][IMP_CHANNELS] __attribute__((aligned(64)));
    for (size_t p = 0; p < POINTS; p++)
        for (size_t o = 0; o < outputs; o += LANES) {
            vec sum = load(parts + p * point + o);
            for (size_t i = 1; i < count; i++)
                sum += load(parts + i * part + p * point + o);
            store(&du[p][o], sum);
        }
    for (size_t o = 0; o < outputs; o += LANES) {
        vec half[3][WINDOW];
        for (size_t i = 0; i < 3; i++)
            for (size_t c = 0; c < WINDOW; c++) {
                half[i][c] = zero();
                for (size_t r = 0; r < WINDOW; r++)
                    half[i][c] += G[r][i] * load(&du[r * WINDOW + c][o]);
            }
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < 3; j++) {
                vec dg = zero();
                for (size_t c = 0; c < WINDOW; c++)
                    dg += half[i][c] * G[c][j];
                for (size_t lane = 0; lane < LANES; lane++)
                    dweights[((out + o + lane) * inputs + in) * 9 + i * 3 + j] += dg[lane];
            }
    }
}

static void add_weight_gradient(const float *parts, size_t count, size_t inputs, size_t begin,
                                size_t end, float *dweights)
{
    enum { POINT = IMP_CHANNELS * IMP_CHANNELS };
    for (size_t in = begin; in < end; in++)
        add_filters(parts + in * IMP_CHANNELS, count, POINTS * POINT, POINT, inputs, in, 0,
                    IMP_CHANNELS, dweights);
}

#if TILE == 4 /* what convolve.c needs of its weights */

void VARIANT(convolve_weights)(const float *weights, size_t inputs, size_t outputs, bool adjoint,
                               const float *scale, size_t begin, size_t end, float *packed)
{
    size_t filter = 9, row = inputs * filter;
    filters there = {weights, filter, row, inputs, outputs, inputs, outputs, false};
    filters back = {weights, row, filter, outputs, inputs, outputs, inputs, true};
    pack(adjoint ? &back : &there, scale, begin, end, packed);
}

void VARIANT(convolve_weight_gradient)(const float *du, size_t inputs, size_t outputs, size_t begin,
                                       size_t end, float *dweights)
{
    for (size_t in = begin; in < end; in++)
        for (size_t out = 0; out < outputs; out += IMP_CHANNELS) {
            size_t some = outputs - out < IMP_CHANNELS ? outputs - out : (size_t)IMP_CHANNELS;
            add_filters(du + in * outputs + out, 1, 0, inputs * outputs, inputs, in, out, some,
                        dweights);
        }
}

#endif

#endif
