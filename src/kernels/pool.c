/*
 * pool.c - batch norm and ReLU of the winners of 2x2 max pooling, which the convolution's output
 * transform has selected.
 *
 * The winning y is kept along with the result: the backward pass computes xhat from it, which stays
 * exact when gamma is tiny, zero or negative.
 */
#include "kernels/variants.h"

void VARIANT(pool_forward)(size_t count, const float *selected, const imp_norm *norm, float *pooled)
{
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < IMP_CHANNELS; c += LANES) {
            size_t at = i * IMP_CHANNELS + c;
            vec centred = load(selected + at) - load_unaligned(norm->mean + c);
            vec z = load_unaligned(norm->scale + c) * centred + load_unaligned(norm->beta + c);
            store(pooled + at, larger(zero(), z));
        }
}

void VARIANT(pool_backward_sums)(size_t count, const float *selected, const float *pooled,
                                 const float *dpooled, const imp_norm *norm, double *sum_dz,
                                 double *sum_dz_xhat)
{
    enum { CHUNK = 64 }; /* pixels summed in float before adding to the double sum */
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
