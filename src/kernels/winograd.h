/*
 * winograd.h - the transforms of Winograd's minimal filtering (Lavin & Gray 2016) and the traversal
 * of a map's tiles: F(4x4, 3x3), or F(6x6, 3x3) if TILE is defined as 6 before this is included.
 *
 * With V = B'dB of an input window d, two wider than the tile, and U = GgG' of a filter g, the
 * tile's output is A'(U.V)A. The backward pass uses the adjoint transforms: A dY A' for the output
 * gradient, B dV B' for the input gradient.
 */
#ifndef IMP_KERNELS_WINOGRAD_H
#define IMP_KERNELS_WINOGRAD_H

#include "kernels/kernels.h"
#include "kernels/product.h"
#include "kernels/vector.h"

#ifndef TILE
#define TILE 4
#endif

enum {
    WINDOW = TILE + 2,
    POINTS = WINDOW * WINDOW,             /* 36 or 64 */
    TILES = (LANES == 16 ? 3 : 4) * ROWS, /* tiles transformed together */
    /* Floats between transform points. One spare row keeps the streams of a transform from
       colliding in the same cache sets. */
    POINT_STRIDE = (TILES + 1) * IMP_CHANNELS
};

#if TILE == 4

/* B' */
INLINE void to_input_points(const vec d[WINDOW], vec v[WINDOW])
{
    vec a = d[4] - 4 * d[2], b = d[3] - 4 * d[1];
    vec c = d[4] - d[2], e = d[3] - d[1];
    v[0] = 4 * d[0] - 5 * d[2] + d[4];
    v[1] = a + b;
    v[2] = a - b;
    v[3] = c + 2 * e;
    v[4] = c - 2 * e;
    v[5] = 4 * d[1] - 5 * d[3] + d[5];
}

/* B, the adjoint of to_input_points() */
INLINE void from_input_points(const vec v[WINDOW], vec d[WINDOW])
{
    vec a = v[1] + v[2], b = v[1] - v[2];
    vec c = v[3] + v[4], e = v[3] - v[4];
    d[0] = 4 * v[0];
    d[1] = 4 * (v[5] - b) - 2 * e;
    d[2] = -5 * v[0] - 4 * a - c;
    d[3] = b + 2 * e - 5 * v[5];
    d[4] = v[0] + a + c;
    d[5] = v[5];
}

/* A' */
INLINE void from_output_points(const vec m[WINDOW], vec y[TILE])
{
    vec a = m[1] + m[2], b = m[1] - m[2];
    vec c = m[3] + m[4], e = m[3] - m[4];
    y[0] = m[0] + a + c;
    y[1] = b + 2 * e;
    y[2] = a + 4 * c;
    y[3] = b + 8 * e + m[5];
}

/* A, the adjoint of from_output_points() */
INLINE void to_output_points(const vec y[TILE], vec m[WINDOW])
{
    vec even = y[0] + y[2], odd = y[1] + y[3];
    vec even4 = y[0] + 4 * y[2], odd8 = 2 * y[1] + 8 * y[3];
    m[0] = y[0];
    m[1] = even + odd;
    m[2] = even - odd;
    m[3] = even4 + odd8;
    m[4] = even4 - odd8;
    m[5] = y[3];
}

#else

/* B' */
INLINE void to_input_points(const vec d[WINDOW], vec v[WINDOW])
{
    vec a = d[2] + d[6] - 4.25F * d[4], b = d[1] + d[5] - 4.25F * d[3];
    vec c = d[6] + 0.25F * d[2] - 1.25F * d[4], e = 0.5F * d[1] - 2.5F * d[3] + 2 * d[5];
    vec f = d[6] + 4 * d[2] - 5 * d[4], g = 2 * d[1] - 2.5F * d[3] + 0.5F * d[5];
    v[0] = d[0] - d[6] + 5.25F * (d[4] - d[2]);
    v[1] = a + b;
    v[2] = a - b;
    v[3] = c + e;
    v[4] = c - e;
    v[5] = f + g;
    v[6] = f - g;
    v[7] = d[7] - d[1] + 5.25F * (d[3] - d[5]);
}

/* B, the adjoint of to_input_points() */
INLINE void from_input_points(const vec v[WINDOW], vec d[WINDOW])
{
    vec a = v[1] + v[2], b = v[1] - v[2];
    vec c = v[3] + v[4], e = v[3] - v[4];
    vec f = v[5] + v[6], g = v[5] - v[6];
    d[0] = v[0];
    d[1] = b - v[7] + 0.5F * e + 2 * g;
    d[2] = a - 5.25F * v[0] + 0.25F * c + 4 * f;
    d[3] = 5.25F * v[7] - 4.25F * b - 2.5F * (e + g);
    d[4] = 5.25F * v[0] - 4.25F * a - 1.25F * c - 5 * f;
    d[5] = b - 5.25F * v[7] + 2 * e + 0.5F * g;
    d[6] = a - v[0] + c + f;
    d[7] = v[7];
}

/* A' */
INLINE void from_output_points(const vec m[WINDOW], vec y[TILE])
{
    vec a = m[1] + m[2], b = m[1] - m[2];
    vec c = m[3] + m[4], e = m[3] - m[4];
    vec f = m[5] + m[6], g = m[5] - m[6];
    y[0] = m[0] + a + c + f;
    y[1] = b + 2 * e + 0.5F * g;
    y[2] = a + 4 * c + 0.25F * f;
    y[3] = b + 8 * e + 0.125F * g;
    y[4] = a + 16 * c + 0.0625F * f;
    y[5] = b + 32 * e + 0.03125F * g + m[7];
}

/* A, the adjoint of from_output_points() */
INLINE void to_output_points(const vec y[TILE], vec m[WINDOW])
{
    vec even = y[0] + y[2] + y[4], odd = y[1] + y[3] + y[5];
    vec even2 = y[0] + 4 * y[2] + 16 * y[4], odd2 = 2 * y[1] + 8 * y[3] + 32 * y[5];
    vec half_even = y[0] + 0.25F * y[2] + 0.0625F * y[4];
    vec half_odd = 0.5F * y[1] + 0.125F * y[3] + 0.03125F * y[5];
    m[0] = y[0];
    m[1] = even + odd;
    m[2] = even - odd;
    m[3] = even2 + odd2;
    m[4] = even2 - odd2;
    m[5] = half_even + half_odd;
    m[6] = half_even - half_odd;
    m[7] = y[5];
}

#endif

/* One output tile: its position and how much of it lies on the map. */
typedef struct tile {
    size_t image, top, left, rows, columns;
} tile;

INLINE size_t tiles_along(size_t length)
{
    return (length + TILE - 1) / TILE;
}

INLINE tile tile_at(const imp_maps *maps, size_t index)
{
    size_t across = tiles_along(maps->width), down = tiles_along(maps->height);
    tile t = {.image = index / (across * down),
              .top = index / across % down * TILE,
              .left = index % across * TILE};
    t.rows = maps->height - t.top < TILE ? maps->height - t.top : TILE;
    t.columns = maps->width - t.left < TILE ? maps->width - t.left : TILE;
    return t;
}

INLINE size_t tiles_of(const imp_maps *maps)
{
    return maps->images * tiles_along(maps->height) * tiles_along(maps->width);
}

/* The channels of a pixel, and the strides of tiles and transform points in an array (POINTS,
 * tiles, channels). */
typedef struct points {
    size_t channels, row, point;
} points;

/* The index of pixel (row, column) of an image in an (N, H, W, channels) array. */
INLINE size_t pixel_of(const imp_maps *maps, size_t channels, size_t image, size_t row,
                       size_t column)
{
    return ((image * maps->height + row) * maps->width + column) * channels;
}

/* The same with 64 channels. */
INLINE size_t pixel_at(const imp_maps *maps, size_t image, size_t row, size_t column)
{
    return pixel_of(maps, IMP_CHANNELS, image, row, column);
}

/* The index of a tile's first pooling window in an (N, H/2, W/2, 64) array. */
INLINE size_t pooled_at(const imp_maps *maps, const tile *t)
{
    size_t height = maps->height / 2, width = maps->width / 2;
    return ((t->image * height + t->top / 2) * width + t->left / 2) * IMP_CHANNELS;
}

/* Prefetches `rows` lines of pixels from `corner` on, which are about to be read or, if `write`,
 * written. Products leave the memory bus idle, so these fetches cost nothing. */
INLINE void fetch(const float *corner, size_t rows, size_t columns, size_t width, bool write)
{
    enum { LINE = 16 };
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < columns * IMP_CHANNELS; i += LINE)
            if (write)
                __builtin_prefetch(corner + r * width * IMP_CHANNELS + i, 1, 2);
            else
                __builtin_prefetch(corner + r * width * IMP_CHANNELS + i, 0, 2);
}

/* Prefetches what will be written of a tile, */
INLINE void fetch_output(const imp_maps *maps, const tile *t, const float *out)
{
    fetch(out + pixel_at(maps, t->image, t->top, t->left), t->rows, t->columns, maps->width, true);
}

/* what will be read of its outputs, */
INLINE void fetch_tile(const imp_maps *maps, const tile *t, const float *y)
{
    fetch(y + pixel_at(maps, t->image, t->top, t->left), t->rows, t->columns, maps->width, false);
}

/* of their pooling windows, */
INLINE void fetch_pooled(const imp_maps *maps, const tile *t, const float *pooled)
{
    fetch(pooled + pooled_at(maps, t), t->rows / 2, t->columns / 2, maps->width / 2, false);
}

/* and of its window, except what tiles above and on the left have already read. */
INLINE void fetch_window(const imp_maps *maps, const tile *t, const float *in)
{
    size_t rows = t->rows + (t->top + t->rows < maps->height);
    size_t columns = t->columns + (t->left + t->columns < maps->width);
    fetch(in + pixel_at(maps, t->image, t->top, t->left), rows, columns, maps->width, false);
}

/* V of one window and LANES channels. Its lines are `line` floats apart, pixels of a line `pixel`.
 */
INLINE void transform_window(const float *window, size_t line, size_t pixel, size_t point, float *v)
{
    vec half[WINDOW][WINDOW];
#pragma GCC unroll 8
    for (size_t c = 0; c < WINDOW; c++) {
        vec d[WINDOW], w[WINDOW];
#pragma GCC unroll 8
        for (size_t r = 0; r < WINDOW; r++)
            d[r] = load(window + r * line + c * pixel);
        to_input_points(d, w);
#pragma GCC unroll 8
        for (size_t r = 0; r < WINDOW; r++)
            half[r][c] = w[r];
    }
#pragma GCC unroll 8
    for (size_t r = 0; r < WINDOW; r++) {
        vec w[WINDOW];
        to_input_points(half[r], w);
#pragma GCC unroll 8
        for (size_t c = 0; c < WINDOW; c++)
            store(v + (r * WINDOW + c) * point, w[c]);
    }
}

/* Copies a window that overhangs the map, with zeros outside, for up to 64 channels from `begin`
 * on. */
static void copy_window(const imp_maps *maps, const tile *t, const float *in, size_t all,
                        size_t begin, size_t channels, float copy[POINTS][IMP_CHANNELS])
{
    for (size_t i = 0; i < POINTS; i++) {
        /* the window begins one pixel up and left of the tile; -1 wraps to a huge number */
        size_t row = t->top + i / WINDOW - 1, column = t->left + i % WINDOW - 1;
        bool there = row < maps->height && column < maps->width;
        const float *pixel = there ? in + pixel_of(maps, all, t->image, row, column) + begin : NULL;
        for (size_t c = 0; c < channels; c += LANES)
            store(&copy[i][c], there ? load(pixel + c) : zero());
    }
}

/* V of `count` tiles from tile `first` on: v(POINTS, tiles, channels). */
INLINE void transform_windows(const imp_maps *maps, points p, const float *in, size_t first,
                              size_t count, float *v)
{
    float copy[POINTS][IMP_CHANNELS] __attribute__((aligned(64)));
    for (size_t i = 0; i < count; i++) {
        tile t = tile_at(maps, first + i);
        bool inside =
            t.top > 0 && t.left > 0 && t.top + TILE < maps->height && t.left + TILE < maps->width;
        for (size_t begin = 0; begin < p.channels; begin += IMP_CHANNELS) {
            size_t channels =
                p.channels - begin < IMP_CHANNELS ? p.channels - begin : (size_t)IMP_CHANNELS;
            const float *window = copy[0];
            size_t line = WINDOW * IMP_CHANNELS, pixel = IMP_CHANNELS;
            if (inside) {
                window = in + pixel_of(maps, p.channels, t.image, t.top - 1, t.left - 1) + begin;
                line = maps->width * p.channels, pixel = p.channels;
            } else {
                copy_window(maps, &t, in, p.channels, begin, channels, copy);
            }
            for (size_t c = 0; c < channels; c += LANES)
                transform_window(window + c, line, pixel, p.point, v + i * p.row + begin + c);
        }
    }
}

/* The same with 64 channels. */
static inline void transform_input(const imp_maps *maps, const float *in, size_t first,
                                   size_t count, float *v)
{
    transform_windows(maps, (points){IMP_CHANNELS, ROW_STRIDE, POINT_STRIDE}, in, first, count, v);
}

/* dM = A dY A' of one tile and LANES channels. */
INLINE void transform_tile_gradient(const vec dy[TILE][TILE], size_t point, float *dm)
{
    vec half[WINDOW][TILE];
#pragma GCC unroll 8
    for (size_t c = 0; c < TILE; c++) {
        vec column[TILE], p[WINDOW];
#pragma GCC unroll 8
        for (size_t r = 0; r < TILE; r++)
            column[r] = dy[r][c];
        to_output_points(column, p);
#pragma GCC unroll 8
        for (size_t r = 0; r < WINDOW; r++)
            half[r][c] = p[r];
    }
#pragma GCC unroll 8
    for (size_t r = 0; r < WINDOW; r++) {
        vec p[WINDOW];
        to_output_points(half[r], p);
#pragma GCC unroll 8
        for (size_t c = 0; c < WINDOW; c++)
            store(dm + (r * WINDOW + c) * point, p[c]);
    }
}

/* The outputs of one tile and LANES channels from the products at `m`. */
INLINE void transform_output(const float *m, size_t point, vec y[TILE][TILE])
{
    vec half[TILE][WINDOW];
#pragma GCC unroll 8
    for (size_t c = 0; c < WINDOW; c++) {
        vec p[WINDOW], q[TILE];
#pragma GCC unroll 8
        for (size_t r = 0; r < WINDOW; r++)
            p[r] = load(m + (r * WINDOW + c) * point);
        from_output_points(p, q);
#pragma GCC unroll 8
        for (size_t r = 0; r < TILE; r++)
            half[r][c] = q[r];
    }
#pragma GCC unroll 8
    for (size_t r = 0; r < TILE; r++)
        from_output_points(half[r], y[r]);
}

#endif
