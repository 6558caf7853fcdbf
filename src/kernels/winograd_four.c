/* winograd_four.c - the Winograd convolution of 64 to 64 channels on tiles of 4x4. */
#define TILE 4
#include "kernels/winograd_tiles.h"
