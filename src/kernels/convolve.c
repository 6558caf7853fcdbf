/*
 * convolve.c - 3x3 convolution for any numbers of channels by Winograd's F(4x4, 3x3), and its
 * weight gradient.
 *
 * Wide layers have more weights than a cache holds, so many tiles are transformed before each of
 * the 36 weight matrices is read once for all of them. The input gradient is a convolution too,
 * with the kernels rotated by 180 degrees and transposed.
 */
#include "kernels/variants.h"
#include "kernels/winograd.h"

/* A spare cache line after each tile and each point keeps the streams of a transform, and the rows
 * of a product, from colliding in the same cache sets. */
static points points_of(size_t channels)
{
    enum { LINE = 16 };
    size_t row = channels + LINE;
    return (points){.channels = channels, .row = row, .point = IMP_CONVOLVE_TILES * row + LINE};
}

size_t VARIANT(convolve_points)(size_t channels)
{
    return IMP_POINTS * points_of(channels).point;
}

/* m(count, outputs) = v(count, inputs) w(inputs, outputs), w packed */
static void multiply_packed(size_t count, size_t inputs, size_t outputs, const float *v,
                            size_t v_row, const float *w, float *m, size_t m_row)
{
    for (size_t left = 0, width; left < outputs; left += width) {
        width = panel_width(outputs, left);
        product_panel(width, count, inputs, v, v_row, 1, w + left * inputs, width, 0, true,
                      m + left, m_row);
    }
}

static void write_tiles(const imp_maps *maps, points p, const float *m, size_t first, size_t count,
                        const float *bias, float slope, float *out)
{
    mask leaks = splat(slope) > zero(); /* a slope of zero makes no -0 */
    for (size_t i = 0; i < count; i++) {
        tile t = tile_at(maps, first + i);
        float *corner = out + pixel_of(maps, p.channels, t.image, t.top, t.left);
        for (size_t channel = 0; channel < p.channels; channel += LANES) {
            vec y[TILE][TILE], b = bias ? load_unaligned(bias + channel) : zero();
            transform_output(m + i * p.row + channel, p.point, y);
#pragma GCC unroll 4
            for (size_t r = 0; r < TILE; r++)
#pragma GCC unroll 4
                for (size_t c = 0; c < TILE; c++) {
                    if (r >= t.rows || c >= t.columns)
                        continue;
                    vec z = y[r][c] + b;
                    if (slope != 1)
                        z = choose(z < zero(), keep(leaks, slope * z), z);
                    store(corner + (r * maps->width + c) * p.channels + channel, z);
                }
        }
    }
}

void VARIANT(convolve)(const imp_maps *maps, size_t inputs, size_t outputs, const float *in,
                       const float *weights, const float *bias, float slope, float *out,
                       float *scratch)
{
    enum { TOGETHER = IMP_CONVOLVE_TILES };
    size_t tiles = imp_maps_tiles(maps);
    points from = points_of(inputs), to = points_of(outputs);
    float *v = scratch, *m = v + IMP_POINTS * from.point;
    for (size_t first = 0; first < tiles; first += TOGETHER) {
        size_t count = tiles - first < TOGETHER ? tiles - first : TOGETHER;
        transform_windows(maps, from, in, first, count, v);
        for (size_t p = 0; p < IMP_POINTS; p++)
            multiply_packed(count, inputs, outputs, v + p * from.point, from.row,
                            weights + p * inputs * outputs, m + p * to.point, to.row);
        write_tiles(maps, to, m, first, count, bias, slope, out);
    }
}

void VARIANT(convolve_input)(const imp_maps *maps, size_t channels, const float *in, size_t first,
                             size_t begin, size_t end, float *v)
{
    points p = points_of(channels);
    transform_windows(maps, p, in, first + begin, end - begin, v + begin * p.row);
}

void VARIANT(convolve_gradient)(const imp_maps *maps, size_t channels, const float *dout,
                                size_t first, size_t begin, size_t end, float *dm)
{
    points p = points_of(channels);
    for (size_t i = begin; i < end; i++) {
        tile t = tile_at(maps, first + i);
        const float *corner = dout + pixel_of(maps, channels, t.image, t.top, t.left);
        for (size_t channel = 0; channel < channels; channel += LANES) {
            vec dy[TILE][TILE];
#pragma GCC unroll 4
            for (size_t r = 0; r < TILE; r++)
#pragma GCC unroll 4
                for (size_t c = 0; c < TILE; c++)
                    dy[r][c] = r < t.rows && c < t.columns
                                   ? load(corner + (r * maps->width + c) * channels + channel)
                                   : zero();
            transform_tile_gradient(dy, p.point, dm + i * p.row + channel);
        }
    }
}

void VARIANT(convolve_outer)(size_t point, size_t inputs, size_t outputs, size_t count,
                             const float *v, const float *dm, bool fresh, float *du)
{
    points from = points_of(inputs), to = points_of(outputs);
    const float *left = v + point * from.point;
    for (size_t column = 0, width; column < outputs; column += width) {
        width = panel_width(outputs, column);
        product_panel(width, inputs, count, left, 1, from.row, dm + point * to.point + column,
                      to.row, 0, fresh, du + point * inputs * outputs + column, outputs);
    }
}
