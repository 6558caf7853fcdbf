/*
 * winograd_forward.c - 3x3 convolution of 64 to 64 channels, forward: for training, with the batch
 * moments taken on the way out, and for evaluation, with bias, ReLU and pooling on the way out.
 */
#include "kernels/variants.h"
#include "kernels/winograd.h"

static void product_of_points(size_t tiles, const float *v, const float *weights, float *m)
{
    for (size_t p = 0; p < IMP_POINTS; p++)
        multiply(tiles, v + p * POINT_STRIDE, weights + p * IMP_CHANNELS * IMP_CHANNELS,
                 m + p * POINT_STRIDE);
}

/* Sums of (y - origin) and its square, kept about an origin near the mean so that a mean much
 * larger than the deviation does not cancel the variance away. */
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

static void write_output(const imp_maps *maps, size_t first, size_t count, const float *m,
                         float *out, running_sums *sums)
{
    tile tiles[TILES];
    for (size_t i = 0; i < count; i++) {
        tiles[i] = tile_at(maps, first + i);
        sums->count += (double)(tiles[i].rows * tiles[i].columns);
    }
    for (size_t channel = 0; channel < IMP_CHANNELS; channel += LANES) {
        vec origin = load_unaligned(sums->origin + channel), sum = zero(), squares = zero();
        for (size_t i = 0; i < count; i++) {
            vec y[TILE][TILE];
            transform_output(m + i * ROW_STRIDE + channel, POINT_STRIDE, y);
            float *corner = out + pixel_at(maps, tiles[i].image, tiles[i].top, tiles[i].left);
#pragma GCC unroll 4
            for (size_t r = 0; r < TILE; r++)
#pragma GCC unroll 4
                for (size_t c = 0; c < TILE; c++) {
                    if (r >= tiles[i].rows || c >= tiles[i].columns)
                        continue;
                    vec d = y[r][c] - origin;
                    sum += d;
                    squares += d * d;
                    store(corner + (r * maps->width + c) * IMP_CHANNELS + channel, y[r][c]);
                }
        }
        add_lanes(sums->sum + channel, sum);
        add_lanes(sums->squares + channel, squares);
    }
}

void VARIANT(winograd_forward)(const imp_maps *maps, const float *in, const float *weights,
                               float *out, imp_moments *moments, float *scratch)
{
    float *v = scratch, *m = scratch + IMP_POINTS * POINT_STRIDE;
    size_t tiles = imp_maps_tiles(maps);
    running_sums sums = {.count = 0};
    for (size_t first = 0; first < tiles; first += TILES) {
        size_t count = tiles - first < TILES ? tiles - first : TILES;
        transform_input(maps, in, first, count, v);
        product_of_points(count, v, weights, m);
        if (first == 0) {
            tile t = tile_at(maps, 0);
            set_origin(&t, m, &sums);
        }
        write_output(maps, first, count, m, out, &sums);
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
    size_t height = maps->height / 2, width = maps->width / 2;
    for (size_t i = 0; i < count; i++) {
        tile t = tile_at(maps, first + i);
        float *corner = out + ((t.image * height + t.top / 2) * width + t.left / 2) * IMP_CHANNELS;
        for (size_t channel = 0; channel < IMP_CHANNELS; channel += LANES) {
            vec y[TILE][TILE], b = load_unaligned(bias + channel);
            transform_output(m + i * ROW_STRIDE + channel, POINT_STRIDE, y);
#pragma GCC unroll 2
            for (size_t r = 0; r < TILE; r += 2)
#pragma GCC unroll 2
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

void VARIANT(winograd_infer)(const imp_maps *maps, const float *in, const float *weights,
                             const float *bias, float *out, float *scratch)
{
    float *v = scratch, *m = scratch + IMP_POINTS * POINT_STRIDE;
    size_t tiles = imp_maps_tiles(maps);
    for (size_t first = 0; first < tiles; first += TILES) {
        size_t count = tiles - first < TILES ? tiles - first : TILES;
        transform_input(maps, in, first, count, v);
        product_of_points(count, v, weights, m);
        write_pooled(maps, first, count, m, bias, out);
    }
}
