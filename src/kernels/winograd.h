/*
 * winograd.h - the transforms of Winograd's minimal filtering F(4x4, 3x3) (Lavin & Gray 2016) and
 * the walk over a map's 4x4 tiles.
 *
 * With V = B'dB of a 6x6 input window d and U = GgG' of a filter g, the 4x4 output is A'(U.V)A.
 * The backward pass uses the adjoints of the same maps: A dY A' for gradients going in,
 * B dV B' for gradients coming out.
 */
#ifndef IMP_KERNELS_WINOGRAD_H
#define IMP_KERNELS_WINOGRAD_H

#include "kernels/kernels.h"
#include "kernels/product.h"
#include "kernels/vector.h"

enum { TILE = 4, WINDOW = 6 };

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

/* One 4x4 output tile: where it begins and how much of it lies on the map. */
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

/* How many channels a pixel has, and how far tiles and transform points lie apart in an array
 * (IMP_POINTS, tiles, channels). */
typedef struct points {
    size_t channels, row, point;
} points;

/* Where pixel (row, column) of an image lies in an (N, H, W, channels) array. */
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

/* V of `count` tiles from tile `first` on: v(IMP_POINTS, tiles, channels). */
INLINE void transform_windows(const imp_maps *maps, points p, const float *in, size_t first,
                              size_t count, float *v)
{
    static const float outside[IMP_CHANNELS] __attribute__((aligned(64)));
    for (size_t i = 0; i < count; i++) {
        tile t = tile_at(maps, first + i);
        for (size_t begin = 0; begin < p.channels; begin += IMP_CHANNELS) {
            size_t channels =
                p.channels - begin < IMP_CHANNELS ? p.channels - begin : (size_t)IMP_CHANNELS;
            const float *window[WINDOW][WINDOW];
            for (size_t r = 0; r < WINDOW; r++)
                for (size_t c = 0; c < WINDOW; c++) {
                    /* the window begins one pixel up and left of the tile; -1 wraps to a huge
                     * number */
                    size_t row = t.top + r - 1, column = t.left + c - 1;
                    window[r][c] =
                        row < maps->height && column < maps->width
                            ? in + pixel_of(maps, p.channels, t.image, row, column) + begin
                            : outside;
                }
            for (size_t channel = 0; channel < channels; channel += LANES) {
                vec half[WINDOW][WINDOW];
#pragma GCC unroll 6
                for (size_t c = 0; c < WINDOW; c++) {
                    vec d[WINDOW], w[WINDOW];
#pragma GCC unroll 6
                    for (size_t r = 0; r < WINDOW; r++)
                        d[r] = load(window[r][c] + channel);
                    to_input_points(d, w);
#pragma GCC unroll 6
                    for (size_t r = 0; r < WINDOW; r++)
                        half[r][c] = w[r];
                }
                float *out = v + i * p.row + begin + channel;
#pragma GCC unroll 6
                for (size_t r = 0; r < WINDOW; r++) {
                    vec w[WINDOW];
                    to_input_points(half[r], w);
#pragma GCC unroll 6
                    for (size_t c = 0; c < WINDOW; c++)
                        store(out + (r * WINDOW + c) * p.point, w[c]);
                }
            }
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
#pragma GCC unroll 4
    for (size_t c = 0; c < TILE; c++) {
        vec column[TILE] = {dy[0][c], dy[1][c], dy[2][c], dy[3][c]}, p[WINDOW];
        to_output_points(column, p);
#pragma GCC unroll 6
        for (size_t r = 0; r < WINDOW; r++)
            half[r][c] = p[r];
    }
#pragma GCC unroll 6
    for (size_t r = 0; r < WINDOW; r++) {
        vec p[WINDOW];
        to_output_points(half[r], p);
#pragma GCC unroll 6
        for (size_t c = 0; c < WINDOW; c++)
            store(dm + (r * WINDOW + c) * point, p[c]);
    }
}

/* The 4x4 outputs of one tile and LANES channels from the products at `m`. */
INLINE void transform_output(const float *m, size_t point, vec y[TILE][TILE])
{
    vec half[TILE][WINDOW];
#pragma GCC unroll 6
    for (size_t c = 0; c < WINDOW; c++) {
        vec p[WINDOW], q[TILE];
#pragma GCC unroll 6
        for (size_t r = 0; r < WINDOW; r++)
            p[r] = load(m + (r * WINDOW + c) * point);
        from_output_points(p, q);
#pragma GCC unroll 4
        for (size_t r = 0; r < TILE; r++)
            half[r][c] = q[r];
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < TILE; r++)
        from_output_points(half[r], y[r]);
}

#endif
