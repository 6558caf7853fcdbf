/*
 * glyph.h - the generator of handwritten-like characters.
 *
 * An alphabet is a style: a small vocabulary of strokes, and habits of combining them. A character
 * is a few strokes drawn from that style. A drawing is one writer's version of it. Each step has
 * its own random numbers, keyed by (alphabet, character, drawing), so any drawing can be generated
 * alone and is always the same.
 */
#ifndef IMP_DATA_GLYPH_H
#define IMP_DATA_GLYPH_H

#include <stdbool.h>
#include <stdint.h>

#include <imp/dataset.h>

#include "base/random.h"

enum {
    IMP_STROKE_POINTS = 12,  /* most control points of a stroke */
    IMP_GLYPH_STROKES = 7,   /* most strokes of a character */
    IMP_STYLE_VOCABULARY = 7 /* most strokes in an alphabet's vocabulary */
};

/* A path of the pen through its control points, in a square from 0 to 1, y downwards. */
typedef struct imp_stroke {
    unsigned count;
    float x[IMP_STROKE_POINTS], y[IMP_STROKE_POINTS];
    bool angular; /* corners at the points instead of a smooth curve through them */
} imp_stroke;

typedef struct imp_glyph {
    unsigned count;
    imp_stroke strokes[IMP_GLYPH_STROKES];
    float radius;   /* half the width of the pen */
    float pressure; /* thinning of the ends of strokes, 0..1 */
} imp_glyph;

/* What the characters of an alphabet have in common. */
typedef struct imp_style {
    unsigned characters; /* how many the alphabet has */
    unsigned vocabulary;
    imp_stroke strokes[IMP_STYLE_VOCABULARY]; /* each in a box from -1 to 1 */
    float weight[IMP_STYLE_VOCABULARY];       /* probability of each; sums to one */
    float effort[IMP_STYLE_VOCABULARY];       /* its visual complexity; a line has 1 */
    unsigned fewest_strokes, most_strokes;
    float slant;       /* how far the top leans to the right */
    float width;       /* of the bounding box of characters, relative to its height */
    float serif;       /* probability of a serif at the free end of a stroke */
    float serif_angle; /* direction of serifs */
    float head_line;   /* probability of a bar along the top */
    float base_line;   /* and along the bottom */
    float dots;        /* probability of dots above or below */
    float joined;      /* probability that a stroke starts on another one */
    float mirror;      /* probability that a stroke is used mirrored */
} imp_style;

/* Fills in the defaults; IMP_EINVAL for invalid options. */
imp_status imp_glyph_settle(imp_glyph_options *options, imp_error *error);

/* The random numbers of a drawing; with IMP_GLYPH_ALL for the later arguments, those of a character
 * or of an alphabet, all counted from 0. */
#define IMP_GLYPH_ALL UINT32_MAX
imp_random imp_glyph_random(uint64_t seed, uint32_t alphabet, uint32_t character, uint32_t drawing);

/* The style of an alphabet. */
imp_style imp_style_of(const imp_glyph_options *options, uint32_t alphabet);

/* The ideal form of a character. */
imp_glyph imp_glyph_of(const imp_glyph_options *options, const imp_style *style, uint32_t alphabet,
                       uint32_t character);

/* One writer's version of it. */
imp_glyph imp_glyph_write(const imp_glyph_options *options, const imp_glyph *glyph,
                          uint32_t alphabet, uint32_t character, uint32_t drawing);

/* Draws a glyph anti-aliased, ink high, into (size, size) bytes. */
void imp_glyph_raster(const imp_glyph *glyph, uint32_t size, uint8_t *pixels);

#endif
