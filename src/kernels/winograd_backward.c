/*
 * winograd_backward.c - the adjoint of the fused block conv -> norm -> ReLU -> pool, 64 to 64
 * channels.
 *
 * The gradient of the convolution's output is never stored: it is made tile by tile from the pooled
 * gradient (routed to the window's winner, shut where ReLU was) and the two correction terms of
 * batch norm, and goes straight into the transform. The input's transform is recomputed.
 */
#include "kernels/variants.h"
#include "kernels/winograd.h"

/* Where one 2x2 pooling window's quantities lie, or NULL outside the pooled map. */
typedef struct window {
    const float *selected, *pooled, *dpooled;
} window;

/* dy of one tile and LANES channels:
 * scale * dz + offset + slope * (y - mean), where dz is dpooled at the winner. */
INLINE void output_gradient(const imp_maps *maps, const tile *t, const float *y,
                            const window windows[2][2], const imp_norm *norm, size_t channel,
                            vec dy[TILE][TILE])
{
    vec scale = load_unaligned(norm->scale + channel), mean = load_unaligned(norm->mean + channel);
    vec slope = load_unaligned(norm->slope + channel);
    vec offset = load_unaligned(norm->offset + channel);
#pragma GCC unroll 2
    for (size_t wr = 0; wr < 2; wr++)
#pragma GCC unroll 2
        for (size_t wc = 0; wc < 2; wc++) {
            const window *w = &windows[wr][wc];
            vec gradient = zero(), selected = zero();
            mask waiting = (mask)zero(); /* lanes whose winner has not been met yet */
            if (w->selected) {
                gradient = scale * load(w->dpooled + channel);
                selected = load(w->selected + channel);
                waiting = load(w->pooled + channel) > zero();
            }
#pragma GCC unroll 4
            for (size_t i = 0; i < 4; i++) {
                size_t r = 2 * wr + i / 2, c = 2 * wc + i % 2;
                if (r >= t->rows || c >= t->columns) {
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
        window windows[2][2] = {0};
        for (size_t r = 0; r < 2; r++)
            for (size_t c = 0; c < 2; c++) {
                size_t row = t.top / 2 + r, column = t.left / 2 + c;
                if (selected && row < height && column < width) {
                    size_t at = ((t.image * height + row) * width + column) * IMP_CHANNELS;
                    windows[r][c] = (window){selected + at, pooled + at, dpooled + at};
                }
            }
        for (size_t channel = 0; channel < IMP_CHANNELS; channel += LANES) {
            vec dy[TILE][TILE];
            output_gradient(maps, &t, corner, windows, norm, channel, dy);
            transform_tile_gradient(dy, POINT_STRIDE, dm + i * ROW_STRIDE + channel);
        }
    }
}

/* din += B dV B' of each tile's window; neighbouring windows overlap by two pixels. */
static void add_input_gradient(const imp_maps *maps, size_t first, size_t count, const float *dv,
                               float *din)
{
    for (size_t i = 0; i < count; i++) {
        tile t = tile_at(maps, first + i);
        /* the part of the window that lies on the map */
        size_t top = t.top == 0, left = t.left == 0;
        size_t bottom = maps->height - t.top + 1 < WINDOW ? maps->height - t.top + 1 : WINDOW;
        size_t right = maps->width - t.left + 1 < WINDOW ? maps->width - t.left + 1 : WINDOW;
        float *corner = din + pixel_at(maps, t.image, t.top + top - 1, t.left + left - 1);
        for (size_t channel = 0; channel < IMP_CHANNELS; channel += LANES) {
            const float *in = dv + i * ROW_STRIDE + channel;
            vec half[WINDOW][WINDOW];
#pragma GCC unroll 6
            for (size_t c = 0; c < WINDOW; c++) {
                vec p[WINDOW], d[WINDOW];
#pragma GCC unroll 6
                for (size_t r = 0; r < WINDOW; r++)
                    p[r] = load(in + (r * WINDOW + c) * POINT_STRIDE);
                from_input_points(p, d);
#pragma GCC unroll 6
                for (size_t r = 0; r < WINDOW; r++)
                    half[r][c] = d[r];
            }
#pragma GCC unroll 6
            for (size_t r = 0; r < WINDOW; r++) {
                if (r < top || r >= bottom)
                    continue;
                vec d[WINDOW];
                from_input_points(half[r], d);
                float *row = corner + (r - top) * maps->width * IMP_CHANNELS + channel;
#pragma GCC unroll 6
                for (size_t c = 0; c < WINDOW; c++) {
                    if (c < left || c >= right)
                        continue;
                    float *pixel = row + (c - left) * IMP_CHANNELS;
                    store(pixel, load(pixel) + d[c]);
                }
            }
        }
    }
}

void VARIANT(winograd_backward)(const imp_maps *maps, const float *in, const float *y,
                                const float *selected, const float *pooled, const float *dpooled,
                                const imp_norm *norm, const float *adjoint, float *dweights,
                                float *din, float *scratch)
{
    enum { MATRIX = IMP_CHANNELS * IMP_CHANNELS };
    float *v = scratch, *dm = scratch + IMP_POINTS * POINT_STRIDE;
    size_t tiles = imp_maps_tiles(maps);
    if (din)
        for (size_t i = 0; i < maps->images * maps->height * maps->width * IMP_CHANNELS; i += LANES)
            store(din + i, zero());
    for (size_t first = 0; first < tiles; first += TILES) {
        size_t count = tiles - first < TILES ? tiles - first : TILES;
        transform_input(maps, in, first, count, v);
        transform_gradient(maps, first, count, y, selected, pooled, dpooled, norm, dm);
        for (size_t p = 0; p < IMP_POINTS; p++) {
            float *point_v = v + p * POINT_STRIDE, *point_dm = dm + p * POINT_STRIDE;
            outer(count, point_v, point_dm, first == 0, dweights + p * MATRIX);
            if (din) /* v has served: dv takes its place */
                multiply(count, point_dm, adjoint + p * MATRIX, point_v);
        }
        if (din)
            add_input_gradient(maps, first, count, v, din);
    }
}
