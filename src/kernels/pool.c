/*
 * pool.c - batch norm, ReLU and 2x2 max-pooling in one pass over the convolution's output.
 *
 * The norm is monotone in each channel, rising or falling with the sign of gamma, so the window's
 * winner is found on y itself and only a quarter of the pixels is ever normalised. The winning y
 * is kept beside the result: the backward pass takes xhat from it, which stays exact when gamma is
 * tiny, zero or negative. Ties go to the first pixel, as in PyTorch.
 */
#include "kernels/variants.h"

void VARIANT(pool_forward)(const imp_maps *maps, const float *y, const imp_norm *norm,
                           float *selected, float *pooled)
{
    size_t height = maps->height / 2, width = maps->width / 2;
    size_t line = maps->width * IMP_CHANNELS;
    for (size_t image = 0; image < maps->images; image++)
        for (size_t row = 0; row < height; row++) {
            const float *above = y + (image * maps->height + 2 * row) * line;
            for (size_t column = 0; column < width; column++, above += 2 * IMP_CHANNELS)
                for (size_t c = 0; c < IMP_CHANNELS; c += LANES) {
                    vec sign = load_unaligned(norm->sign + c);
                    vec first = load(above + c);
                    vec a = sign * first, b = sign * load(above + IMP_CHANNELS + c);
                    vec d = sign * load(above + line + c);
                    vec e = sign * load(above + line + IMP_CHANNELS + c);
                    vec most = sign * larger(larger(a, b), larger(d, e));
                    /* gamma = 0 makes all four equal: the first one wins */
                    vec winner = choose(sign == zero(), first, most);
                    vec centred = winner - load_unaligned(norm->mean + c);
                    vec z =
                        load_unaligned(norm->scale + c) * centred + load_unaligned(norm->beta + c);
                    store(selected, winner);
                    store(pooled, larger(zero(), z));
                    selected += LANES;
                    pooled += LANES;
                }
        }
}

void VARIANT(pool_backward_sums)(size_t count, const float *selected, const float *pooled,
                                 const float *dpooled, const imp_norm *norm, double *sum_dz,
                                 double *sum_dz_xhat)
{
    enum { CHUNK = 64 }; /* pixels summed in float before the sum goes to double */
    for (size_t c = 0; c < IMP_CHANNELS; c++)
        sum_dz[c] = sum_dz_xhat[c] = 0;
    for (size_t begin = 0; begin < count; begin += CHUNK) {
        size_t end = count - begin < CHUNK ? count : begin + CHUNK;
        for (size_t c = 0; c < IMP_CHANNELS; c += LANES) {
            vec mean = load_unaligned(norm->mean + c), rstd = load_unaligned(norm->rstd + c);
            vec sum = zero(), product = zero();
            for (size_t i = begin; i < end; i++) {
                size_t at = i * IMP_CHANNELS + c;
                vec dz = keep(load(pooled + at) > zero(), load(dpooled + at));
                sum += dz;
                product += dz * (load(selected + at) - mean);
            }
            product *= rstd;
            add_lanes(sum_dz + c, sum);
            add_lanes(sum_dz_xhat + c, product);
        }
    }
}
