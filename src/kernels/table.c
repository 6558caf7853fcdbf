/* table.c - the table of one variant: every kernel function of this instruction set by its name. */
#include "kernels/variants.h"
#include "kernels/winograd.h"

#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)

const imp_kernels VARIANT(kernels) = {
    .name = TEXT(IMP_VARIANT),
    .scratch_floats = 2 * IMP_POINTS * POINT_STRIDE,
    .padding_floats = 2 * LANES,
    .winograd_weights = VARIANT(winograd_weights),
    .winograd_forward = VARIANT(winograd_forward),
    .winograd_infer = VARIANT(winograd_infer),
    .winograd_backward = VARIANT(winograd_backward),
    .winograd_weight_gradient = VARIANT(winograd_weight_gradient),
    .pool_forward = VARIANT(pool_forward),
    .pool_backward_sums = VARIANT(pool_backward_sums),
    .multiply = VARIANT(multiply),
    .nearest_width = NEAREST_WIDTH,
    .nearest_square = VARIANT(nearest_square),
    .nearest_round = VARIANT(nearest_round),
    .nearest_panel = VARIANT(nearest_panel),
    .nearest_pack = VARIANT(nearest_pack),
    .nearest = VARIANT(nearest),
    .nearest_close = VARIANT(nearest_close),
    .nearest_above = VARIANT(nearest_above),
    .first_moments = VARIANT(first_moments),
    .first_forward = VARIANT(first_forward),
    .first_backward = VARIANT(first_backward),
};
