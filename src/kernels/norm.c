/*
 * norm.c - batch normalisation for any number of channels, with the rectifier after it.
 *
 * Plain loops over a pixel's channels, which compilers vectorise. They are limited by memory
 * bandwidth, so each pass reads as little as possible: where the rectifier was closed is recomputed
 * from the norm's input.
 */
#include "kernels/variants.h"

enum { CHUNK = 64 }; /* pixels summed in float before adding to the double sum */

static size_t chunk_end(size_t begin, size_t pixels)
{
    return pixels - begin < CHUNK ? pixels : begin + CHUNK;
}

/* Adds both float sums to the double ones and clears them. */
static void flush(size_t channels, float *restrict sum, float *restrict other,
                  double *restrict total, double *restrict total_other)
{
    for (size_t c = 0; c < channels; c++) {
        total[c] += sum[c];
        total_other[c] += other[c];
        sum[c] = other[c] = 0;
    }
}

/* The mean of the first pixels, as an origin for the sums, to avoid cancellation. */
static void set_origin(size_t pixels, size_t channels, const float *restrict x,
                       float *restrict origin)
{
    size_t end = chunk_end(0, pixels);
    for (size_t c = 0; c < channels; c++)
        origin[c] = 0;
    for (size_t p = 0; p < end; p++)
        for (size_t c = 0; c < channels; c++)
            origin[c] += x[p * channels + c] * (1 / (float)end);
}

void VARIANT(norm_moments)(size_t pixels, size_t channels, const float *restrict x,
                           double *restrict mean, double *restrict deviation,
                           float *restrict scratch)
{
    float *restrict origin = scratch, *restrict sum = scratch + channels,
                    *restrict squares = scratch + 2 * channels;
    set_origin(pixels, channels, x, origin);
    for (size_t c = 0; c < channels; c++) {
        sum[c] = squares[c] = 0;
        mean[c] = deviation[c] = 0;
    }
    for (size_t begin = 0; begin < pixels; begin += CHUNK) {
        for (size_t p = begin; p < chunk_end(begin, pixels); p++)
            for (size_t c = 0; c < channels; c++) {
                float d = x[p * channels + c] - origin[c];
                sum[c] += d;
                squares[c] += d * d;
            }
        flush(channels, sum, squares, mean, deviation);
    }
    for (size_t c = 0; c < channels; c++) {
        double all = mean[c];
        mean[c] = origin[c] + all / (double)pixels;
        deviation[c] -= all * all / (double)pixels;
    }
}

void VARIANT(norm_forward)(const imp_channel_norm *norm, size_t pixels, const float *restrict x,
                           float *restrict out)
{
    const float *restrict mean = norm->mean, *restrict scale = norm->scale,
                          *restrict beta = norm->beta;
    size_t channels = norm->channels;
    float slope = norm->slope;
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < channels; c++) {
            float z = scale[c] * (x[p * channels + c] - mean[c]) + beta[c];
            out[p * channels + c] = z < 0 ? (slope > 0 ? slope * z : 0) : z;
        }
}

/* the gradient before the rectifier, given the rectifier's input */
INLINE float through(float slope, float z, float gradient)
{
    return z > 0 ? gradient : slope > 0 ? slope * gradient : 0;
}

void VARIANT(norm_backward_sums)(const imp_channel_norm *norm, size_t pixels,
                                 const float *restrict x, const float *restrict dout,
                                 double *restrict sum_dz, double *restrict sum_dz_x,
                                 float *restrict scratch)
{
    const float *restrict mean = norm->mean, *restrict scale = norm->scale,
                          *restrict beta = norm->beta;
    size_t channels = norm->channels;
    float slope = norm->slope, *restrict sum = scratch, *restrict product = scratch + channels;
    for (size_t c = 0; c < channels; c++) {
        sum[c] = product[c] = 0;
        sum_dz[c] = sum_dz_x[c] = 0;
    }
    for (size_t begin = 0; begin < pixels; begin += CHUNK) {
        for (size_t p = begin; p < chunk_end(begin, pixels); p++)
            for (size_t c = 0; c < channels; c++) {
                float d = x[p * channels + c] - mean[c];
                float dz = through(slope, scale[c] * d + beta[c], dout[p * channels + c]);
                sum[c] += dz;
                product[c] += dz * d;
            }
        flush(channels, sum, product, sum_dz, sum_dz_x);
    }
}

void VARIANT(norm_backward)(const imp_channel_norm *norm, size_t pixels, const float *restrict x,
                            const float *restrict dout, float *restrict din)
{
    const float *restrict mean = norm->mean, *restrict scale = norm->scale,
                          *restrict beta = norm->beta, *restrict offset = norm->offset,
                          *restrict tilt = norm->tilt;
    size_t channels = norm->channels;
    float slope = norm->slope;
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < channels; c++) {
            float d = x[p * channels + c] - mean[c];
            float dz = through(slope, scale[c] * d + beta[c], dout[p * channels + c]);
            din[p * channels + c] = scale[c] * dz + offset[c] + tilt[c] * d;
        }
}
