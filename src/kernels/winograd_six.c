/*
 * winograd_six.c - the Winograd convolution of 64 to 64 channels on tiles of 6x6.
 *
 * F(6x6, 3x3) multiplies 64 points for 36 pixels where F(4x4, 3x3) multiplies 36 for 16, 21% less,
 * and has about twice the rounding error. imp_tile_size() says on which maps it pays.
 */
#define TILE 6
#include "kernels/winograd_tiles.h"
