/*
 * winograd_backward.h - the adjoint of the fused block conv -> norm -> ReLU -> pool, 64 to 64
 * channels.
 *
 * The gradient of the convolution's output is never stored: it is computed tile by tile from the
 * pooled gradient (routed to the window's maximum, zero where ReLU was closed) and the two
 * correction terms of batch norm, and goes straight into the transform. The input's transform is
 * recomputed.
 */
#ifndef IMP_KERNELS_WINOGRAD_BACKWARD_H
#define IMP_KERNELS_WINOGRAD_BACKWARD_H

#include "kernels/variants.h"
#include "kernels/winograd.h"

/* Pointers to the quantities of one 2x2 pooling window, or NULL outside the pooled map. */
typedef struct window {
    const float *selected, *pooled, *dpooled;
} window;

/* dy of one tile and LANES channels:
 * scale * dz + offset + slope * (y - mean), where dz is dpooled at the winner. */
INLINE void output_gradient(const imp_maps *maps, size_t rows, size_t columns, const float *y,
                            const window windows[TILE / 2][TILE / 2], const imp_norm *norm,
                            size_t channel, vec dy[TILE][TILE])
{
    vec scale = load_unaligned(norm->scale + channel), mean = load_unaligned(norm->mean + channel);
    vec slope = load_unaligned(norm->slope + channel);
    vec offset = load_unaligned(norm->offset + channel);
#pragma GCC unroll 8
    for (size_t wr = 0; wr < TILE / 2; wr++)
#pragma GCC unroll 8
        for (size_t wc = 0; wc < TILE / 2; wc++) {
            const window *w = &windows[wr][wc];
            vec gradient = zero(), selected = zero();
            mask waiting = (mask)zero(); /* lanes whose maximum has not been found yet */
            if (w->selected) {
                gradient = scale * load(w->dpooled + channel);
                selected = load(w->selected + channel);
                waiting = load(w->pooled + channel) > zero();
            }
#pragma GCC unroll 4
            for (size_t i = 0; i < 4; i++) {
                size_t r = 2 * wr + i / 2, c = 2 * wc + i % 2;
                if (r >= rows || c >= columns) {
                    dy[r][c] = zero();
                    continue;
                }
                vec value = load(y + (r * maps->width + c) * IMP_CHANNELS + channel);
                mask winner = waiting & (value == selected);
                waiting &= ~winner;
                dy[r][c] = offset + slope * (value - mean) + keep(winner, gradient);
            }
        }
}

static void transform_gradient(const imp_maps *maps, size_t first, size_t count, const float *y,
                               const float *selected, const float *pooled, const float *dpooled,
                               const imp_norm *norm, float *dm)
{
    size_t height = maps->height / 2, width = maps->width / 2;
    for (size_t i = 0; i < count; i++) {
        tile t = tile_at(maps, first + i);
        const float *corner = y + pixel_at(maps, t.image, t.top, t.left);
        window windows[TILE / 2][TILE / 2] = {0};
        for (size_t r = 0; r < TILE / 2; r++)
            for (size_t c = 0; c < TILE / 2; c++) {
                size_t row = t.top / 2 + r, column = t.left / 2 + c;
                if (selected && row < height && column < width) {
                    size_t at = ((t.image * height + row) * width + column) * IMP_CHANNELS;
                    windows[r][c] = (window){selected + at, pooled + at, dpooled + at};
                }
            }
        for (size_t channel = 0; channel < IMP_CHANNELS; channel += LANES) {
            vec dy[TILE][TILE];
            if (t.rows == TILE && t.columns == TILE)
                output_gradient(maps, TILE, TILE, corner, windows, norm, channel, dy);
            else
                output_gradient(maps, t.rows, t.columns, corner, windows, norm, channel, dy);
            transform_tile_gradient(dy, POINT_STRIDE, dm + i * ROW_STRIDE + channel);
        }
    }
}

/* The part of a tile's window that lies on the map, from pixel (top, left) on; `above` and `beside`
 * say whether other windows overlap its first two rows and columns. */
typedef struct shown {
    size_t top, left, bottom, right;
    bool above, beside;
} shown;

/* Adds the gradient of that part for LANES channels to the pixels from `corner` on, overwriting
 * where no window has written before. */
INLINE void add_window(shown on, const float *dv, float *corner, size_t line)
{
    vec half[WINDOW][WINDOW];
#pragma GCC unroll 8
    for (size_t c = 0; c < WINDOW; c++) {
        vec p[WINDOW], d[WINDOW];
#pragma GCC unroll 8
        for (size_t r = 0; r < WINDOW; r++)
            p[r] = load(dv + (r * WINDOW + c) * POINT_STRIDE);
        from_input_points(p, d);
#pragma GCC unroll 8
        for (size_t r = 0; r < WINDOW; r++)
            half[r][c] = d[r];
    }
#pragma GCC unroll 8
    for (size_t r = 0; r < WINDOW; r++) {
        if (r < on.top || r >= on.bottom)
            continue;
        vec d[WINDOW];
        from_input_points(half[r], d);
#pragma GCC unroll 8
        for (size_t c = 0; c < WINDOW; c++) {
            if (c < on.left || c >= on.right)
                continue;
            float *pixel = corner + (r - on.top) * line + (c - on.left) * IMP_CHANNELS;
            bool met = (on.above && r < 2) || (on.beside && c < 2);
            store(pixel, (met ? load(pixel) : zero()) + d[c]);
        }
    }
}

/* din += B dV B' of each tile's window; neighbouring windows overlap by two pixels. */
static void add_input_gradient(const imp_maps *maps, size_t first, size_t count, const float *dv,
                               float *din)
{
    size_t line = maps->width * IMP_CHANNELS;
    for (size_t i = 0; i < count; i++) {
        tile t = tile_at(maps, first + i);
        size_t below = maps->height - t.top + 1, beyond = maps->width - t.left + 1;
        shown on = {.top = t.top == 0,
                    .left = t.left == 0,
                    .bottom = below < WINDOW ? below : WINDOW,
                    .right = beyond < WINDOW ? beyond : WINDOW,
                    .above = t.top > 0,
                    .beside = t.left > 0};
        bool inside = on.above && on.beside && on.bottom == WINDOW && on.right == WINDOW;
        float *corner = din + pixel_at(maps, t.image, t.top + on.top - 1, t.left + on.left - 1);
        for (size_t channel = 0; channel < IMP_CHANNELS; channel += LANES) {
            const float *in = dv + i * ROW_STRIDE + channel;
            /* Constants remove most branches. They also let a compiler fuse operations it would
             * round separately between branches, which would change the results of 4x4 tiles. */
            if (TILE == 6 && inside)
                add_window((shown){0, 0, WINDOW, WINDOW, true, true}, in, corner + channel, line);
            else
                add_window(on, in, corner + channel, line);
        }
    }
}

/* Prefetches what will be written of a tile and read of the one `count` later. */
static void fetch_next(const imp_maps *maps, size_t index, size_t count, const float *in,
                       const float *y, const float *selected, const float *pooled,
                       const float *dpooled, const float *din)
{
    tile t = tile_at(maps, index);
    if (din)
        fetch_output(maps, &t, din);
    if (index + count >= tiles_of(maps))
        return;
    t = tile_at(maps, index + count);
    fetch_window(maps, &t, in);
    fetch_tile(maps, &t, y);
    if (selected) {
        fetch_pooled(maps, &t, selected);
        fetch_pooled(maps, &t, pooled);
        fetch_pooled(maps, &t, dpooled);
    }
}

static void convolve_backward(const imp_maps *maps, const float *in, const float *y,
                              const float *selected, const float *pooled, const float *dpooled,
                              const imp_norm *norm, const float *adjoint, float *dweights,
                              float *din, float *scratch)
{
    enum { MATRIX = IMP_CHANNELS * IMP_CHANNELS };
    float *v = scratch, *dm = scratch + POINTS * POINT_STRIDE;
    size_t tiles = tiles_of(maps);
    for (size_t first = 0; first < tiles; first += TILES) {
        size_t count = tiles - first < TILES ? tiles - first : TILES;
        transform_input(maps, in, first, count, v);
        transform_gradient(maps, first, count, y, selected, pooled, dpooled, norm, dm);
        for (size_t p = 0; p < POINTS; p++) {
            for (size_t i = p * count / POINTS; i < (p + 1) * count / POINTS; i++)
                fetch_next(maps, first + i, count, in, y, selected, pooled, dpooled, din);
            float *point_v = v + p * POINT_STRIDE, *point_dm = dm + p * POINT_STRIDE;
            outer(count, point_v, point_dm, first == 0, dweights + p * MATRIX);
            if (din) /* v is no longer needed: dv takes its place */
                multiply(count, point_dm, adjoint + p * MATRIX, point_v);
        }
        if (din)
            add_input_gradient(maps, first, count, v, din);
    }
}

#endif
