/*
 * winograd_tiles.h - all functions of the Winograd convolution of 64 to 64 channels for one TILE,
 * and their table.
 */
#ifndef IMP_KERNELS_WINOGRAD_TILES_H
#define IMP_KERNELS_WINOGRAD_TILES_H

#include "kernels/winograd_backward.h"
#include "kernels/winograd_forward.h"
#include "kernels/winograd_weights.h"

const imp_winograd IMP_JOIN(IMP_JOIN(imp_winograd, TILE), IMP_JOIN(_, IMP_VARIANT)) = {
    .points = POINTS,
    .scratch_floats = 2 * POINTS * POINT_STRIDE,
    .weights = transform_weights,
    .forward = convolve_forward,
    .infer = convolve_infer,
    .backward = convolve_backward,
    .weight_gradient = add_weight_gradient,
};

#endif
