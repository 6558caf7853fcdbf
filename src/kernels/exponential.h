/*
 * exponential.h - exponentials of vectors of floats.
 *
 * An exponential is a power of two, assembled from its bits, times a polynomial in the remainder.
 */
#ifndef IMP_KERNELS_EXPONENTIAL_H
#define IMP_KERNELS_EXPONENTIAL_H

#include "kernels/vector.h"

#define LOG2_E 1.44269504088896340736
/* log 2 in two parts: small multiples of the first are exact */
#define LN2_HIGH_F 0.693359375F
#define LN2_LOW_F -2.12194440e-4F

/* For arguments up to 80; gives 0 where the result would be subnormal. */
INLINE vec exponential(vec x)
{
    mask power = round_to_whole(larger(x, splat(-100)) * splat((float)LOG2_E));
    vec n = __builtin_convertvector(power, vec);
    vec r = x - n * splat(LN2_HIGH_F) - n * splat(LN2_LOW_F);
    vec p = splat(1.9875691500e-4F);
    p = p * r + splat(1.3981999507e-3F);
    p = p * r + splat(8.3334519073e-3F);
    p = p * r + splat(4.1665795894e-2F);
    p = p * r + splat(1.6666665459e-1F);
    p = p * r + splat(5.0000001201e-1F);
    p = p * r * r + r + splat(1);
    vec scale = (vec)((power + 127) << 23);
    return keep(x > splat(-87), p * scale);
}

/* 2^x with a relative error below 3e-6, for x from -120 to 120. */
INLINE vec rough_power_of_two(vec x)
{
    const vec shift = splat(0x1.8p23F); /* adding it rounds to an integer, in the last bits */
    vec shifted = x + shift, r = x - (shifted - shift);
    vec p = splat(9.5701019676e-3F); /* found by minimising the largest relative error */
    p = multiply_add(p, r, splat(5.5917860762e-2F));
    p = multiply_add(p, r, splat(2.4024744830e-1F));
    p = multiply_add(p, r, splat(6.9312181468e-1F));
    p = multiply_add(p, r, splat(9.9999926144e-1F));
    return (vec)((mask)p + ((mask)shifted << 23));
}

#endif
