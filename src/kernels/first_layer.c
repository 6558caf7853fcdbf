/*
 * first_layer.c - the first block, 1 to 4 input channels to 64, without ever storing its full-size
 * output.
 *
 * The output is linear in the input's 3x3 patches, so its batch mean and variance follow exactly
 * from the patches' sums and products (a 9x9 matrix per pair of channels). The norm is then known
 * before convolving, and convolution, pooling, norm and ReLU are one pass that keeps the pooled
 * value and which pixel won. Backward needs only the winners' patches: the correction
 * terms of batch norm come from the same products.
 */
#include "kernels/variants.h"

enum {
    FORWARD_VECTORS = LANES == 16 ? 4 : 2,  /* output vectors in flight: times 4 pixels */
    BACKWARD_VECTORS = LANES == 16 ? 2 : 1, /* times 9 taps */
    SHUT = 4                                /* winner where ReLU lets nothing through */
};

static size_t plane_of(const imp_padded *in)
{
    return (in->height + 2) * in->row;
}

/* Sums of products of two lines at the five column distances right = -2..2, each over the first
 * `width` columns on which both taps exist: the window of tap column max(0, -right). */
INLINE void line_products(const float *line, const float *other, size_t width, double dots[5])
{
    vec sum[5] = {zero(), zero(), zero(), zero(), zero()};
    for (size_t x = 0; x < width; x += LANES) {
        mask inside = (mask)zero() - 1;
        if (width - x < LANES)
            for (size_t i = width - x; i < LANES; i++)
                inside[i] = 0;
        vec a = keep(inside, load_unaligned(line + x)), b = keep(inside, load_unaligned(other + x));
        sum[0] += load_unaligned(line + x + 2) * b;
        sum[1] += load_unaligned(line + x + 1) * b;
        sum[2] += a * b;
        sum[3] += a * load_unaligned(other + x + 1);
        sum[4] += a * load_unaligned(other + x + 2);
    }
#pragma GCC unroll 5
    for (size_t s = 0; s < 5; s++)
        dots[s] = total(sum[s]);
}

/* Adds what line y of channel c and line y + down of channel d contribute to `products`. Entries
 * whose taps lie equally far apart sum the same numbers over windows that differ by one column at
 * each end and one line above or below. */
static void add_line_products(const imp_padded *in, const float *image, size_t c, size_t d,
                              size_t y, size_t down, double *products)
{
    size_t taps = 9 * in->channels, width = in->width;
    const float *line = image + c * plane_of(in) + y * in->row;
    const float *other = image + d * plane_of(in) + (y + down) * in->row;
    double dots[5];
    line_products(line, other, width, dots);
    for (int right = -2; right <= 2; right++) {
        double dot = dots[right + 2];
        size_t first = right < 0 ? (size_t)-right : 0, last = right > 0 ? 2 - (size_t)right : 2;
        for (size_t b = first; b <= last; b++) {
            size_t partner = (size_t)((int)b + right); /* the other tap's column */
            for (size_t a = 0; a + down < 3; a++)
                if (y >= a && y - a < in->height)
                    products[(c * 9 + a * 3 + b) * taps + d * 9 + (a + down) * 3 + partner] += dot;
            dot += (double)line[b + width] * other[partner + width];
            dot -= (double)line[b] * other[partner];
        }
    }
}

static void add_line_sums(const imp_padded *in, const float *image, size_t c, size_t y,
                          double *sums)
{
    const float *line = image + c * plane_of(in) + y * in->row;
    double sum = 0;
    for (size_t x = 0; x < in->width; x++)
        sum += line[x];
    for (size_t b = 0; b < 3; b++) {
        for (size_t a = 0; a < 3; a++)
            if (y >= a && y - a < in->height)
                sums[c * 9 + a * 3 + b] += sum;
        sum += (double)line[b + in->width] - line[b];
    }
}

void VARIANT(first_moments)(const imp_padded *in, double *sums, double *products)
{
    size_t channels = in->channels, taps = 9 * channels, lines = in->height + 2;
    for (size_t i = 0; i < taps; i++)
        sums[i] = 0;
    for (size_t i = 0; i < taps * taps; i++)
        products[i] = 0;
    for (size_t n = 0; n < in->images; n++) {
        const float *image = in->pixels + n * channels * plane_of(in);
        for (size_t c = 0; c < channels; c++)
            for (size_t y = 0; y < lines; y++) {
                add_line_sums(in, image, c, y, sums);
                for (size_t d = 0; d < channels; d++)
                    for (size_t down = 0; down < 3 && y + down < lines; down++)
                        add_line_products(in, image, c, d, y, down, products);
            }
    }
    /* pairs with the second tap above the first are the mirror of those below */
    for (size_t i = 0; i < taps; i++)
        for (size_t j = 0; j < taps; j++)
            if (i % 9 / 3 > j % 9 / 3)
                products[i * taps + j] = products[j * taps + i];
}

/* One pooled pixel and FORWARD_VECTORS vectors of channels. `window` is the upper left of its 4x4
 * input pixels in the first channel's plane. */
INLINE void forward_pixel(const imp_padded *in, size_t channels, const float *window,
                          const float *weights, const float *scale, const float *bias,
                          float *pooled, uint8_t *winner)
{
    vec y[4][FORWARD_VECTORS];
#pragma GCC unroll 4
    for (size_t v = 0; v < FORWARD_VECTORS; v++)
        y[0][v] = y[1][v] = y[2][v] = y[3][v] = zero();
    for (size_t c = 0; c < channels; c++)
#pragma GCC unroll 3
        for (size_t a = 0; a < 3; a++)
#pragma GCC unroll 3
            for (size_t b = 0; b < 3; b++) {
                const float *x = window + c * plane_of(in) + a * in->row + b;
                const float *w = weights + (c * 9 + a * 3 + b) * IMP_CHANNELS;
#pragma GCC unroll 4
                for (size_t v = 0; v < FORWARD_VECTORS; v++) {
                    vec tap = load(w + v * LANES);
                    y[0][v] += splat(x[0]) * tap;
                    y[1][v] += splat(x[1]) * tap;
                    y[2][v] += splat(x[in->row]) * tap;
                    y[3][v] += splat(x[in->row + 1]) * tap;
                }
            }
#pragma GCC unroll 4
    for (size_t v = 0; v < FORWARD_VECTORS; v++) {
        vec most = larger(larger(y[0][v], y[1][v]), larger(y[2][v], y[3][v]));
        vec z = most * load_unaligned(scale + v * LANES) + load_unaligned(bias + v * LANES);
        store(pooled + v * LANES, larger(z, zero()));
        if (winner) {
            mask is0 = y[0][v] == most, is1 = y[1][v] == most, is2 = y[2][v] == most;
            /* masks are -1: 3 less one for each earlier pixel that is as good */
            mask which = 3 + (is0 | is1 | is2) + (is0 | is1) + is0;
            mask open = z > zero();
            which = (which & open) | (SHUT & ~open);
            store_bytes(winner + v * LANES, which);
        }
    }
}

INLINE void forward_images(const imp_padded *in, size_t channels, const float *weights,
                           const float *scale, const float *bias, float *pooled, uint8_t *winner)
{
    size_t height = in->height / 2, width = in->width / 2;
    for (size_t n = 0; n < in->images; n++)
        for (size_t row = 0; row < height; row++) {
            const float *window = in->pixels + n * channels * plane_of(in) + 2 * row * in->row;
            for (size_t column = 0; column < width; column++, window += 2)
                for (size_t c = 0; c < IMP_CHANNELS; c += FORWARD_VECTORS * LANES) {
                    forward_pixel(in, channels, window, weights + c, scale + c, bias + c, pooled,
                                  winner);
                    pooled += FORWARD_VECTORS * LANES;
                    if (winner)
                        winner += FORWARD_VECTORS * LANES;
                }
        }
}

void VARIANT(first_forward)(const imp_padded *in, const float *weights, const float *scale,
                            const float *bias, float *pooled, uint8_t *winner)
{
    /* gray pictures are the common case and gain from a constant number of taps */
    if (in->channels == 1)
        forward_images(in, 1, weights, scale, bias, pooled, winner);
    else
        forward_images(in, in->channels, weights, scale, bias, pooled, winner);
}

/* One image, one input channel, BACKWARD_VECTORS vectors of output channels. */
INLINE void backward_image(const imp_padded *in, const float *plane, const float *dpooled,
                           const uint8_t *winner, double *sum_dz, double *products)
{
    size_t height = in->height / 2, width = in->width / 2;
    vec sum[BACKWARD_VECTORS][9], all[BACKWARD_VECTORS];
#pragma GCC unroll 2
    for (size_t v = 0; v < BACKWARD_VECTORS; v++) {
        all[v] = zero();
#pragma GCC unroll 9
        for (size_t t = 0; t < 9; t++)
            sum[v][t] = zero();
    }
    for (size_t row = 0; row < height; row++) {
        const float *window = plane + 2 * row * in->row;
        for (size_t column = 0; column < width; column++, window += 2) {
            /* the gradient, dealt out to the pixel of four that won */
            vec dz[BACKWARD_VECTORS][4];
#pragma GCC unroll 2
            for (size_t v = 0; v < BACKWARD_VECTORS; v++) {
                vec gradient = load(dpooled + v * LANES);
                mask which = load_bytes(winner + v * LANES);
                all[v] += keep(which < SHUT, gradient);
#pragma GCC unroll 4
                for (int i = 0; i < 4; i++)
                    dz[v][i] = keep(which == i, gradient);
            }
            /* each of the 4x4 inputs is a tap of up to four of them */
#pragma GCC unroll 16
            for (size_t p = 0; p < 16; p++) {
                vec x = splat(window[p / 4 * in->row + p % 4]);
#pragma GCC unroll 4
                for (size_t i = 0; i < 4; i++) {
                    size_t a = p / 4 - i / 2, b = p % 4 - i % 2; /* -1 wraps to a huge number */
                    if (a < 3 && b < 3)
#pragma GCC unroll 2
                        for (size_t v = 0; v < BACKWARD_VECTORS; v++)
                            sum[v][a * 3 + b] += x * dz[v][i];
                }
            }
            dpooled += IMP_CHANNELS;
            winner += IMP_CHANNELS;
        }
    }
#pragma GCC unroll 2
    for (size_t v = 0; v < BACKWARD_VECTORS; v++) {
        add_lanes(sum_dz + v * LANES, all[v]);
#pragma GCC unroll 9
        for (size_t t = 0; t < 9; t++)
            add_lanes(products + t * IMP_CHANNELS + v * LANES, sum[v][t]);
    }
}

void VARIANT(first_backward)(const imp_padded *in, const float *dpooled, const uint8_t *winner,
                             double *sum_dz, double *products)
{
    size_t channels = in->channels;
    size_t pixels = (in->height / 2) * (in->width / 2);
    for (size_t i = 0; i < IMP_CHANNELS; i++)
        sum_dz[i] = 0;
    for (size_t i = 0; i < 9 * channels * IMP_CHANNELS; i++)
        products[i] = 0;
    for (size_t n = 0; n < in->images; n++)
        for (size_t c = 0; c < channels; c++)
            for (size_t out = 0; out < IMP_CHANNELS; out += BACKWARD_VECTORS * LANES) {
                size_t at = n * pixels * IMP_CHANNELS + out;
                double ignored[IMP_CHANNELS] = {0}; /* the sum is the same for every channel */
                backward_image(in, in->pixels + (n * channels + c) * plane_of(in), dpooled + at,
                               winner + at, c == 0 ? sum_dz + out : ignored,
                               products + c * 9 * IMP_CHANNELS + out);
            }
}
