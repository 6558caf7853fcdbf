/*
 * winograd_forward.h - 3x3 convolution of 64 to 64 channels, forward: for training, with batch
 * moments and the winners of pooling windows computed in the output transform, and for evaluation,
 * with bias, ReLU and pooling there.
 */
#ifndef IMP_KERNELS_WINOGRAD_FORWARD_H
#define IMP_KERNELS_WINOGRAD_FORWARD_H

#include "kernels/variants.h"
#include "kernels/winograd.h"

/* Tiles whose moments are summed in float before adding to the double sums. */
enum { FLUSH = TILE == 4 ? (LANES == 16 ? 21 : 24) : 9 };

/* The source of the tiles being multiplied, and their destination unless `out` is NULL. */
typedef struct chunk {
    const imp_maps *maps;
    size_t first, count, all; /* all tiles of the maps */
    const float *in;
    float *out;
} chunk;

static void product_of_points(const chunk *k, const float *v, const float *weights, float *m)
{
    for (size_t p = 0; p < POINTS; p++) {
        for (size_t i = p * k->count / POINTS; i < (p + 1) * k->count / POINTS; i++) {
            size_t next = k->first + k->count + i;
            if (k->out) {
                tile t = tile_at(k->maps, k->first + i);
                fetch_output(k->maps, &t, k->out);
            }
            if (next < k->all) {
                tile t = tile_at(k->maps, next);
                fetch_window(k->maps, &t, k->in);
            }
        }
        multiply(k->count, v + p * POINT_STRIDE, weights + p * IMP_CHANNELS * IMP_CHANNELS,
                 m + p * POINT_STRIDE);
    }
}

/* Sums of (y - origin) and its square, about an origin near the mean, to avoid cancellation where
 * the mean is much larger than the deviation. */
typedef struct running_sums {
    float origin[IMP_CHANNELS];
    double sum[IMP_CHANNELS], squares[IMP_CHANNELS];
    double count;
} running_sums;

static void set_origin(const tile *t, const float *m, running_sums *sums)
{
    for (size_t channel = 0; channel < IMP_CHANNELS; channel += LANES) {
        vec y[TILE][TILE], sum = zero();
        transform_output(m + channel, POINT_STRIDE, y);
        for (size_t r = 0; r < t->rows; r++)
            for (size_t c = 0; c < t->columns; c++)
                sum += y[r][c];
        vec mean = sum / (float)(t->rows * t->columns);
        store_unaligned(sums->origin + channel, mean);
    }
}

/* The winner of each 2x2 window that is whole. The norm is monotone in each channel, rising or
 * falling with the sign of gamma, so the winner is found on y itself, before the norm is known, and
 * only a quarter of the pixels is normalised. Ties go to the first pixel, as in PyTorch. */
INLINE void select_winners(size_t rows, size_t columns, const vec y[TILE][TILE], vec sign,
                           float *selected, size_t line)
{
#pragma GCC unroll 8
    for (size_t r = 0; r < TILE; r += 2)
#pragma GCC unroll 8
        for (size_t c = 0; c < TILE; c += 2) {
            if (r + 1 >= rows || c + 1 >= columns)
                continue;
            vec above = larger(sign * y[r][c], sign * y[r][c + 1]);
            vec below = larger(sign * y[r + 1][c], sign * y[r + 1][c + 1]);
            /* gamma = 0 makes all four equal: the first one wins */
            vec winner = choose(sign == zero(), y[r][c], sign * larger(above, below));
            store(selected + r / 2 * line + c / 2 * IMP_CHANNELS, winner);
        }
}

/* Writes the `rows` by `columns` part of a tile's outputs that lies on the map, for LANES channels,
 * and adds to the sums. */
INLINE void write_tile(size_t rows, size_t columns, const vec y[TILE][TILE], vec origin, float *out,
                       size_t line, vec *sum, vec *squares)
{
#pragma GCC unroll 8
    for (size_t r = 0; r < TILE; r++)
#pragma GCC unroll 8
        for (size_t c = 0; c < TILE; c++) {
            if (r >= rows || c >= columns)
                continue;
            vec d = y[r][c] - origin;
            *sum += d;
            *squares += d * d;
            store(out + r * line + c * IMP_CHANNELS, y[r][c]);
        }
}

/* Writes up to FLUSH tiles and adds their sums to the double ones. */
static void write_output(const imp_maps *maps, size_t first, size_t count, const float *m,
                         const float *sign, float *out, float *selected, running_sums *sums)
{
    tile tiles[FLUSH];
    for (size_t i = 0; i < count; i++) {
        tiles[i] = tile_at(maps, first + i);
        sums->count += (double)(tiles[i].rows * tiles[i].columns);
    }
    size_t line = maps->width * IMP_CHANNELS, pooled_line = maps->width / 2 * IMP_CHANNELS;
    for (size_t channel = 0; channel < IMP_CHANNELS; channel += LANES) {
        vec origin = load_unaligned(sums->origin + channel), sum = zero(), squares = zero();
        for (size_t i = 0; i < count; i++) {
            vec y[TILE][TILE];
            transform_output(m + i * ROW_STRIDE + channel, POINT_STRIDE, y);
            const tile *t = &tiles[i];
            float *corner = out + pixel_at(maps, t->image, t->top, t->left) + channel;
            float *winners = selected ? selected + pooled_at(maps, t) + channel : NULL;
            vec signs = selected ? load_unaligned(sign + channel) : zero();
            if (t->rows == TILE && t->columns == TILE) { /* constants remove most branches */
                write_tile(TILE, TILE, y, origin, corner, line, &sum, &squares);
                if (selected)
                    select_winners(TILE, TILE, y, signs, winners, pooled_line);
            } else {
                write_tile(t->rows, t->columns, y, origin, corner, line, &sum, &squares);
                if (selected)
                    select_winners(t->rows, t->columns, y, signs, winners, pooled_line);
            }
        }
        add_lanes(sums->sum + channel, sum);
        add_lanes(sums->squares + channel, squares);
    }
}

static void convolve_forward(const imp_maps *maps, const float *in, const float *weights,
                             const float *sign, float *out, float *selected, imp_moments *moments,
                             float *scratch)
{
    float *v = scratch, *m = scratch + POINTS * POINT_STRIDE;
    size_t tiles = tiles_of(maps);
    running_sums sums = {.count = 0};
    for (size_t first = 0; first < tiles; first += TILES) {
        size_t count = tiles - first < TILES ? tiles - first : TILES;
        transform_input(maps, in, first, count, v);
        product_of_points(&(chunk){maps, first, count, tiles, in, out}, v, weights, m);
        if (first == 0) {
            tile t = tile_at(maps, 0);
            set_origin(&t, m, &sums);
        }
        for (size_t i = 0; i < count; i += FLUSH)
            write_output(maps, first + i, count - i < FLUSH ? count - i : FLUSH, m + i * ROW_STRIDE,
                         sign, out, selected, &sums);
    }
    moments->count = sums.count;
    for (size_t c = 0; c < IMP_CHANNELS; c++) {
        double mean = sums.sum[c] / sums.count;
        moments->mean[c] = sums.origin[c] + mean;
        moments->deviation[c] = sums.squares[c] - sums.sum[c] * mean;
    }
}

static void write_pooled(const imp_maps *maps, size_t first, size_t count, const float *m,
                         const float *bias, float *out)
{
    size_t width = maps->width / 2;
    for (size_t i = 0; i < count; i++) {
        tile t = tile_at(maps, first + i);
        float *corner = out + pooled_at(maps, &t);
        for (size_t channel = 0; channel < IMP_CHANNELS; channel += LANES) {
            vec y[TILE][TILE], b = load_unaligned(bias + channel);
            transform_output(m + i * ROW_STRIDE + channel, POINT_STRIDE, y);
#pragma GCC unroll 8
            for (size_t r = 0; r < TILE; r += 2)
#pragma GCC unroll 8
                for (size_t c = 0; c < TILE; c += 2) {
                    if (r + 1 >= t.rows || c + 1 >= t.columns)
                        continue;
                    vec most =
                        larger(larger(y[r][c], y[r][c + 1]), larger(y[r + 1][c], y[r + 1][c + 1]));
                    store(corner + (r / 2 * width + c / 2) * IMP_CHANNELS + channel,
                          larger(zero(), most + b));
                }
        }
    }
}

static void convolve_infer(const imp_maps *maps, const float *in, const float *weights,
                           const float *bias, float *out, float *scratch)
{
    float *v = scratch, *m = scratch + POINTS * POINT_STRIDE;
    size_t tiles = tiles_of(maps);
    for (size_t first = 0; first < tiles; first += TILES) {
        size_t count = tiles - first < TILES ? tiles - first : TILES;
        transform_input(maps, in, first, count, v);
        product_of_points(&(chunk){maps, first, count, tiles, in, NULL}, v, weights, m);
        write_pooled(maps, first, count, m, bias, out);
    }
}

#endif
