/* palette.c - chooses colours that look different. */
#include "draw/palette.h"

#include <math.h>
#include <stddef.h>

enum { CHOSEN = 10, STEPS = 13 };

/* Ten colours that most people, including most of the colour-blind, can tell apart. */
static const imp_colour chosen[CHOSEN] = {
    {0.12, 0.47, 0.71}, {1.00, 0.50, 0.05}, {0.17, 0.63, 0.17}, {0.84, 0.15, 0.16},
    {0.58, 0.40, 0.74}, {0.55, 0.34, 0.29}, {0.89, 0.47, 0.76}, {0.09, 0.75, 0.81},
    {0.74, 0.74, 0.13}, {0.30, 0.30, 0.60}};

static const imp_colour white = {1, 1, 1}, gray = {0.5, 0.5, 0.5};

/* ---- colour difference ---- */

typedef struct lab {
    double lightness, a, b;
} lab;

static double linear(double value)
{
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

static double compress(double ratio)
{
    double knee = 6.0 / 29;
    return ratio > knee * knee * knee ? cbrt(ratio) : ratio / (3 * knee * knee) + 4.0 / 29;
}

/* sRGB to CIELAB under its own white, D65. */
static lab lab_of(imp_colour colour)
{
    double r = linear(colour.red), g = linear(colour.green), b = linear(colour.blue);
    double x = compress((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
    double y = compress(0.2126 * r + 0.7152 * g + 0.0722 * b);
    double z = compress((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.0890);
    return (lab){116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

static double difference(lab one, lab other)
{
    double lightness = one.lightness - other.lightness, a = one.a - other.a, b = one.b - other.b;
    return lightness * lightness + a * a + b * b;
}

/* ---- the palette ---- */

typedef struct candidates {
    imp_colour colours[STEPS * STEPS * STEPS];
    lab looks[STEPS * STEPS * STEPS];
    double nearest[STEPS * STEPS * STEPS]; /* difference from the most similar colour in use */
    size_t count;
} candidates;

/* A grid over all colours, except those too pale for a small dot or too dark to have a hue. */
static void fill(candidates *all)
{
    enum { DARKEST = 25, PALEST = 83 };
    all->count = 0;
    for (size_t i = 0; i < STEPS * STEPS * STEPS; i++) {
        double last = STEPS - 1;
        imp_colour colour = {.red = (double)(i / STEPS / STEPS) / last,
                             .green = (double)(i / STEPS % STEPS) / last,
                             .blue = (double)(i % STEPS) / last};
        lab look = lab_of(colour);
        if (look.lightness < DARKEST || look.lightness > PALEST)
            continue;
        all->colours[all->count] = colour;
        all->looks[all->count] = look;
        all->nearest[all->count++] = INFINITY;
    }
}

static void avoid(candidates *all, imp_colour colour)
{
    lab look = lab_of(colour);
    for (size_t i = 0; i < all->count; i++)
        all->nearest[i] = fmin(all->nearest[i], difference(all->looks[i], look));
}

static imp_colour farthest(const candidates *all)
{
    size_t best = 0;
    for (size_t i = 1; i < all->count; i++)
        if (all->nearest[i] > all->nearest[best])
            best = i;
    return all->colours[best];
}

void imp_palette_init(imp_palette *palette)
{
    candidates all;
    fill(&all);
    avoid(&all, white);
    avoid(&all, gray);
    for (size_t i = 0; i < IMP_PALETTE_SIZE; i++) {
        palette->colours[i] = i < CHOSEN ? chosen[i] : farthest(&all);
        avoid(&all, palette->colours[i]);
    }
}

void imp_palette_use(const imp_palette *palette, cairo_t *cairo, int32_t label, double opacity)
{
    imp_colour colour = label < 0 ? gray : palette->colours[label % IMP_PALETTE_SIZE];
    cairo_set_source_rgba(cairo, colour.red, colour.green, colour.blue, opacity);
}
