/*
 * palette.h - colours that can be told apart, for as many groups as possible.
 *
 * The first ten were chosen by hand; each further one is the colour farthest, in CIELAB, from
 * white, from gray and from all before it (Glasbey et al., "Colour displays for categorical
 * images", 2007). So colour i does not depend on how many are in use.
 */
#ifndef IMP_DRAW_PALETTE_H
#define IMP_DRAW_PALETTE_H

#include <cairo.h>
#include <stdint.h>

enum { IMP_PALETTE_SIZE = 64 };

typedef struct imp_colour {
    double red, green, blue; /* sRGB, 0 to 1 */
} imp_colour;

typedef struct imp_palette {
    imp_colour colours[IMP_PALETTE_SIZE];
} imp_palette;

/* Computes the palette, always the same, in a few milliseconds. */
void imp_palette_init(imp_palette *palette);

/* Sets the colour of a label, which wraps around the palette; a negative label is gray. */
void imp_palette_use(const imp_palette *palette, cairo_t *cairo, int32_t label, double opacity);

#endif
