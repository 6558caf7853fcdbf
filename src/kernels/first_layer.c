/*
 * first_layer.c - the first block, 1 to 4 input channels to 64, without ever storing its full-size
 * output.
 *
 * The output is linear in the input's 3x3 patches, so its batch mean and variance follow exactly
 * from the sums and the Gram matrix of the patches (9x9 per pair of channels). The norm is then
 * known before convolving, and convolution, pooling, norm and ReLU are one pass that keeps the
 * pooled value and the position of the maximum. The backward pass needs only the patches of these
 * winners: the correction terms of batch norm come from the same Gram matrix.
 */
#include <string.h>

#include "kernels/variants.h"

enum {
    FORWARD_VECTORS = LANES == 16 ? 4 : 2,  /* output vectors in registers, for each of 4 pixels */
    BACKWARD_VECTORS = LANES == 16 ? 2 : 1, /* for each of 9 taps */
    SHUT = 4                                /* the winner's value where ReLU is closed */
};

static size_t plane_of(const imp_padded *in)
{
    return (in->height + 2) * in->row;
}

/* Pairs of lines to multiply: line y of `plane` with line y + down of `other`, for y in
 * begin..end-1. */
typedef struct line_pairs {
    const float *plane, *other;
    size_t down, begin, end;
} line_pairs;

/* Sums over the lines of products at the five column distances right = -2..2, each over the first
 * `width` columns on which both taps exist: the window of tap column max(0, -right). */
static void line_products(const imp_padded *in, const line_pairs *pairs, double dots[5])
{
    enum { FLUSH = 4 }; /* lines summed in float before adding to the double sums */
    vec sum[5] = {zero(), zero(), zero(), zero(), zero()};
    size_t whole = in->width / LANES * LANES;
    mask inside = (mask)zero();
    for (size_t i = 0; i < in->width - whole; i++)
        inside[i] = -1;
    for (size_t s = 0; s < 5; s++)
        dots[s] = 0;
    for (size_t y = pairs->begin; y < pairs->end; y++) {
        const float *line = pairs->plane + y * in->row;
        const float *other = pairs->other + (y + pairs->down) * in->row;
        for (size_t x = 0; x < whole; x += LANES) {
            vec a = load_unaligned(line + x), b = load_unaligned(other + x);
            sum[0] += load_unaligned(line + x + 2) * b;
            sum[1] += load_unaligned(line + x + 1) * b;
            sum[2] += a * b;
            sum[3] += a * load_unaligned(other + x + 1);
            sum[4] += a * load_unaligned(other + x + 2);
        }
        if (whole < in->width) {
            vec a = keep(inside, load_unaligned(line + whole));
            vec b = keep(inside, load_unaligned(other + whole));
            sum[0] += load_unaligned(line + whole + 2) * b;
            sum[1] += load_unaligned(line + whole + 1) * b;
            sum[2] += a * b;
            sum[3] += a * load_unaligned(other + whole + 1);
            sum[4] += a * load_unaligned(other + whole + 2);
        }
        if ((y - pairs->begin) % FLUSH == FLUSH - 1 || y + 1 == pairs->end)
#pragma GCC unroll 5
            for (size_t s = 0; s < 5; s++) {
                dots[s] += total(sum[s]);
                sum[s] = zero();
            }
    }
}

/* The difference between the sums over the windows of tap columns b + 1 and b: one column is gained
 * and one lost. */
static double next_window(const imp_padded *in, const line_pairs *pairs, size_t b, size_t partner)
{
    double change = 0;
    for (size_t y = pairs->begin; y < pairs->end; y++) {
        const float *line = pairs->plane + y * in->row + b;
        const float *other = pairs->other + (y + pairs->down) * in->row + partner;
        change += (double)line[in->width] * other[in->width] - (double)line[0] * other[0];
    }
    return change;
}

/* Adds the contribution of these lines to the products of taps in rows first..last of channel c
 * with taps `down` rows below in channel d. Entries whose taps are equally far apart sum the same
 * products over windows that differ by one column at each end. */
static void add_products(const imp_padded *in, const line_pairs *pairs, size_t c, size_t d,
                         size_t first, size_t last, double *products)
{
    size_t taps = 9 * in->channels;
    double dots[5];
    line_products(in, pairs, dots);
    for (int right = -2; right <= 2; right++) {
        double dot = dots[right + 2];
        size_t begin = right < 0 ? (size_t)-right : 0, end = right > 0 ? 2 - (size_t)right : 2;
        for (size_t b = begin; b <= end; b++) {
            size_t partner = (size_t)((int)b + right); /* the other tap's column */
            for (size_t a = first; a <= last; a++)
                products[(c * 9 + a * 3 + b) * taps + d * 9 + (a + pairs->down) * 3 + partner] +=
                    dot;
            if (b < end)
                dot += next_window(in, pairs, b, partner);
        }
    }
}

/* All products of channel c's taps with channel d's `down` rows below. Output row r has its tap row
 * a on line r + a, so all but the first and last lines serve every tap row. */
static void add_pair(const imp_padded *in, const float *image, size_t c, size_t d, size_t down,
                     double *products)
{
    size_t most = 2 - down, height = in->height; /* the last tap row with another `down` below it */
    line_pairs pairs = {.plane = image + c * plane_of(in),
                        .other = image + d * plane_of(in),
                        .down = down,
                        .begin = most,
                        .end = height};
    add_products(in, &pairs, c, d, 0, most, products);
    for (size_t i = 0; i < most; i++) {
        pairs.begin = i, pairs.end = i + 1;
        add_products(in, &pairs, c, d, 0, i, products);
        pairs.begin = height + i, pairs.end = height + i + 1;
        add_products(in, &pairs, c, d, i + 1, most, products);
    }
}

static void add_sums(const imp_padded *in, const float *plane, double *sums)
{
    for (size_t y = 0; y < in->height + 2; y++) {
        const float *line = plane + y * in->row;
        double sum = 0;
        for (size_t x = 0; x < in->width; x++)
            sum += line[x];
        for (size_t b = 0; b < 3; b++) {
            for (size_t a = 0; a < 3; a++)
                if (y >= a && y - a < in->height)
                    sums[a * 3 + b] += sum;
            sum += (double)line[b + in->width] - line[b];
        }
    }
}

void VARIANT(first_moments)(const imp_padded *in, double *sums, double *products)
{
    size_t channels = in->channels, taps = 9 * channels;
    for (size_t i = 0; i < taps; i++)
        sums[i] = 0;
    for (size_t i = 0; i < taps * taps; i++)
        products[i] = 0;
    for (size_t n = 0; n < in->images; n++) {
        const float *image = in->pixels + n * channels * plane_of(in);
        for (size_t c = 0; c < channels; c++) {
            add_sums(in, image + c * plane_of(in), sums + c * 9);
            for (size_t d = 0; d < channels; d++)
                for (size_t down = d < c; down < 3; down++)
                    add_pair(in, image, c, d, down, products);
        }
    }
    /* the rest follow by symmetry from pairs with the second tap below, or beside in a later
     * channel
     */
    for (size_t i = 0; i < taps; i++)
        for (size_t j = 0; j < taps; j++) {
            size_t row = i % 9 / 3, other = j % 9 / 3;
            if (row > other || (row == other && i / 9 > j / 9))
                products[i * taps + j] = products[j * taps + i];
        }
}

/* One pooled pixel and FORWARD_VECTORS vectors of channels. `window` is the upper left of its 4x4
 * input pixels in the first channel's plane; offset[t] is the distance of tap t from there. */
INLINE void forward_pixel(size_t taps, const size_t *offset, size_t row, const float *window,
                          const float *weights, const float *scale, const float *bias,
                          float *pooled, uint8_t *winner)
{
    vec y[4][FORWARD_VECTORS];
#pragma GCC unroll 4
    for (size_t v = 0; v < FORWARD_VECTORS; v++)
        y[0][v] = y[1][v] = y[2][v] = y[3][v] = zero();
        /* not unrolled: neighbouring taps share pixels, and a compiler that sees it keeps those in
         * registers and the sums out of them */
#pragma GCC unroll 1
    for (size_t t = 0; t < taps; t++) {
        const float *x = window + offset[t], *w = weights + t * IMP_CHANNELS;
        vec tap[FORWARD_VECTORS];
#pragma GCC unroll 4
        for (size_t v = 0; v < FORWARD_VECTORS; v++)
            tap[v] = in_register(load(w + v * LANES));
        vec x0 = splat(x[0]), x1 = splat(x[1]), x2 = splat(x[row]), x3 = splat(x[row + 1]);
#pragma GCC unroll 4
        for (size_t v = 0; v < FORWARD_VECTORS; v++) {
            y[0][v] += x0 * tap[v];
            y[1][v] += x1 * tap[v];
            y[2][v] += x2 * tap[v];
            y[3][v] += x3 * tap[v];
        }
    }
#pragma GCC unroll 4
    for (size_t v = 0; v < FORWARD_VECTORS; v++) {
        vec most = larger(larger(y[0][v], y[1][v]), larger(y[2][v], y[3][v]));
        vec z = most * load_unaligned(scale + v * LANES) + load_unaligned(bias + v * LANES);
        store(pooled + v * LANES, larger(zero(), z));
        if (winner) {
            mask is0 = y[0][v] == most, is1 = y[1][v] == most, is2 = y[2][v] == most;
            /* masks are -1, so this is 3 minus one for each earlier pixel that is as large */
            mask which = 3 + (is0 | is1 | is2) + (is0 | is1) + is0;
            mask open = z > zero();
            which = (which & open) | (SHUT & ~open);
            store_bytes(winner + v * LANES, which);
        }
    }
}

void VARIANT(first_forward)(const imp_padded *in, const float *weights, const float *scale,
                            const float *bias, float *pooled, uint8_t *winner)
{
    size_t height = in->height / 2, width = in->width / 2, taps = 9 * in->channels;
    size_t offset[IMP_FIRST_MAX_TAPS];
    for (size_t t = 0; t < taps; t++)
        offset[t] = t / 9 * plane_of(in) + t % 9 / 3 * in->row + t % 3;
    for (size_t n = 0; n < in->images; n++)
        for (size_t row = 0; row < height; row++) {
            const float *window = in->pixels + n * in->channels * plane_of(in) + 2 * row * in->row;
            for (size_t column = 0; column < width; column++, window += 2)
                for (size_t c = 0; c < IMP_CHANNELS; c += FORWARD_VECTORS * LANES) {
                    forward_pixel(taps, offset, in->row, window, weights + c, scale + c, bias + c,
                                  pooled, winner);
                    pooled += FORWARD_VECTORS * LANES;
                    if (winner)
                        winner += FORWARD_VECTORS * LANES;
                }
        }
}

/* Backward, one row of pooled pixels at a time, so that it stays in cache for all channels.
 *
 * A pooled pixel's gradient belongs to one of four pixels, which differs between channels. At one
 * tap, the inputs of those four pixels form a 2x2 square; so with all squares gathered in advance,
 * one pick() selects the right inputs of a tap for all channels. */

/* squares(3, row) = the 2x2 squares at lines 0..2 of `lines`. */
static void gather_squares(const imp_padded *in, const float *lines, float (*squares)[4])
{
    for (size_t y = 0; y < 3; y++)
        for (size_t x = 0; x < in->width + 1; x++) {
            const float *p = lines + y * in->row + x, *q = p + in->row;
            *(four_floats *)squares[y * in->row + x] = (four_floats){p[0], p[1], q[0], q[1]};
        }
}

/* One row, one input channel, BACKWARD_VECTORS vectors of output channels: adds to products (9, 64)
 * and, unless that is NULL, to sum_dz. */
INLINE void backward_row(const imp_padded *in, float (*squares)[4], const float *dpooled,
                         const uint8_t *winner, float *sum_dz, float *products)
{
    vec sum[BACKWARD_VECTORS][9], all[BACKWARD_VECTORS];
#pragma GCC unroll 2
    for (size_t v = 0; v < BACKWARD_VECTORS; v++) {
        all[v] = zero();
#pragma GCC unroll 9
        for (size_t t = 0; t < 9; t++)
            sum[v][t] = load(products + t * IMP_CHANNELS + v * LANES);
    }
    for (size_t column = 0; column < in->width / 2; column++) {
        float(*window)[4] = squares + 2 * column;
#pragma GCC unroll 2
        for (size_t v = 0; v < BACKWARD_VECTORS; v++) {
            mask which = load_bytes(winner + column * IMP_CHANNELS + v * LANES);
            vec dz = keep(which < SHUT, load(dpooled + column * IMP_CHANNELS + v * LANES));
            all[v] += dz;
#pragma GCC unroll 9
            for (size_t t = 0; t < 9; t++)
                sum[v][t] += dz * pick(window[t / 3 * in->row + t % 3], which);
        }
    }
#pragma GCC unroll 2
    for (size_t v = 0; v < BACKWARD_VECTORS; v++) {
        if (sum_dz)
            store(sum_dz + v * LANES, load(sum_dz + v * LANES) + all[v]);
#pragma GCC unroll 9
        for (size_t t = 0; t < 9; t++)
            store(products + t * IMP_CHANNELS + v * LANES, sum[v][t]);
    }
}

static void backward_image(const imp_padded *in, const float *image, const float *dpooled,
                           const uint8_t *winner, float *sum_dz, float *products,
                           float (*squares)[4])
{
    size_t line = in->width / 2 * IMP_CHANNELS;
    for (size_t row = 0; row < in->height / 2; row++, dpooled += line, winner += line)
        for (size_t c = 0; c < in->channels; c++) {
            gather_squares(in, image + c * plane_of(in) + 2 * row * in->row, squares);
            for (size_t out = 0; out < IMP_CHANNELS; out += BACKWARD_VECTORS * LANES)
                backward_row(in, squares, dpooled + out, winner + out, c == 0 ? sum_dz + out : NULL,
                             products + c * 9 * IMP_CHANNELS + out);
        }
}

void VARIANT(first_backward)(const imp_padded *in, const float *dpooled, const uint8_t *winner,
                             double *sum_dz, double *products, float *scratch)
{
    enum { MOST = (IMP_FIRST_MAX_TAPS + 1) * IMP_CHANNELS };
    float sums[MOST] __attribute__((aligned(64))); /* of one image: sum_dz, then products */
    size_t numbers = 9 * in->channels * IMP_CHANNELS;
    size_t image = in->channels * plane_of(in);
    size_t pooled = (in->height / 2) * (in->width / 2) * IMP_CHANNELS;
    memset(sum_dz, 0, IMP_CHANNELS * sizeof *sum_dz);
    memset(products, 0, numbers * sizeof *products);
    for (size_t n = 0; n < in->images; n++) {
        memset(sums, 0, sizeof sums);
        backward_image(in, in->pixels + n * image, dpooled + n * pooled, winner + n * pooled, sums,
                       sums + IMP_CHANNELS, (float(*)[4])scratch);
        for (size_t i = 0; i < IMP_CHANNELS; i++)
            sum_dz[i] += sums[i];
        for (size_t i = 0; i < numbers; i++)
            products[i] += sums[IMP_CHANNELS + i];
    }
}
