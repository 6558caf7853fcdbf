/*
 * glyph_character.c - composes characters from an alphabet's strokes, and varies them as different
 * writers would.
 *
 * The first stroke is placed freely; the others mostly start, cross or end on existing ones, as in
 * real scripts. A writer bends every stroke a little, and slants, scales and shifts the whole.
 */
#include <math.h>

#include "data/glyph.h"

static float between(imp_random *random, float low, float high)
{
    return low + (high - low) * (float)imp_random_uniform(random);
}

static float normal(imp_random *random, float deviation)
{
    return deviation * (float)imp_random_normal(random);
}

static bool happens(imp_random *random, float probability)
{
    return imp_random_uniform(random) < (double)probability;
}

/* ---- composing ---- */

static unsigned choose_stroke(imp_random *random, const imp_style *style)
{
    float left = (float)imp_random_uniform(random);
    for (unsigned i = 0; i + 1 < style->vocabulary; i++) {
        left -= style->weight[i];
        if (left < 0.0f)
            return i;
    }
    return style->vocabulary - 1;
}

/* The start, middle or end of a stroke, where others touch it. */
static unsigned choose_joint(imp_random *random, const imp_stroke *stroke)
{
    static const float where[] = {0.0f, 0.5f, 1.0f};
    float at = where[imp_random_below(random, 3)];
    return (unsigned)lroundf(at * (float)(stroke->count - 1));
}

static void transform(imp_stroke *stroke, float scale_x, float scale_y, float shift_x,
                      float shift_y)
{
    for (unsigned i = 0; i < stroke->count; i++) {
        stroke->x[i] = scale_x * stroke->x[i] + shift_x;
        stroke->y[i] = scale_y * stroke->y[i] + shift_y;
    }
}

/* Adds a stroke and returns its complexity. */
static float add_stroke(imp_random *random, const imp_style *style, imp_glyph *glyph)
{
    unsigned chosen = choose_stroke(random, style);
    imp_stroke stroke = style->strokes[chosen];
    bool first = glyph->count == 0;
    /* Intricate strokes must not shrink to a blot. */
    float smallest = 0.25f + 0.15f * style->effort[chosen];
    float scale = first ? 1.0f : between(random, fminf(smallest, 0.7f), 1.0f);
    float flip_x = happens(random, style->mirror) ? -1.0f : 1.0f;
    float flip_y = happens(random, 0.5f * style->mirror) ? -1.0f : 1.0f;
    transform(&stroke, flip_x * scale, flip_y * scale, 0.0f, 0.0f);
    if (!first && happens(random, style->joined)) {
        const imp_stroke *other = &glyph->strokes[imp_random_below(random, glyph->count)];
        unsigned there = choose_joint(random, other), here = choose_joint(random, &stroke);
        transform(&stroke, 1.0f, 1.0f, other->x[there] - stroke.x[here],
                  other->y[there] - stroke.y[here]);
    } else if (!first) {
        transform(&stroke, 1.0f, 1.0f, between(random, -0.9f, 0.9f), between(random, -0.9f, 0.9f));
    }
    glyph->strokes[glyph->count++] = stroke;
    return style->effort[chosen];
}

typedef struct box {
    float left, right, top, bottom;
} box;

static box bounds(const imp_glyph *glyph)
{
    box around = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (unsigned s = 0; s < glyph->count; s++)
        for (unsigned i = 0; i < glyph->strokes[s].count; i++) {
            around.left = fminf(around.left, glyph->strokes[s].x[i]);
            around.right = fmaxf(around.right, glyph->strokes[s].x[i]);
            around.top = fminf(around.top, glyph->strokes[s].y[i]);
            around.bottom = fmaxf(around.bottom, glyph->strokes[s].y[i]);
        }
    return around;
}

static void add_segment(imp_glyph *glyph, float x0, float y0, float x1, float y1)
{
    if (glyph->count == IMP_GLYPH_STROKES)
        return;
    glyph->strokes[glyph->count++] =
        (imp_stroke){.count = 3, .x = {x0, 0.5f * (x0 + x1), x1}, .y = {y0, 0.5f * (y0 + y1), y1}};
}

/* Head line, base line, dots and serifs, which an alphabet adds to some or all characters. */
static void add_habits(imp_random *random, const imp_style *style, imp_glyph *glyph)
{
    box around = bounds(glyph);
    unsigned strokes = glyph->count;
    if (happens(random, style->head_line))
        add_segment(glyph, around.left - 0.15f, around.top, around.right + 0.15f, around.top);
    if (happens(random, style->base_line))
        add_segment(glyph, around.left - 0.1f, around.bottom, around.right + 0.1f, around.bottom);
    if (happens(random, style->dots)) {
        bool above = happens(random, 0.7f);
        float x = between(random, around.left, around.right);
        float y = above ? around.top - 0.3f : around.bottom + 0.3f;
        add_segment(glyph, x - 0.03f, y, x + 0.03f, y + 0.06f);
        if (happens(random, 0.4f))
            add_segment(glyph, x + 0.32f, y, x + 0.38f, y + 0.06f);
    }
    for (unsigned s = 0; s < strokes; s++) {
        const imp_stroke *stroke = &glyph->strokes[s];
        unsigned end = happens(random, 0.5f) ? 0 : stroke->count - 1;
        float x = stroke->x[end], y = stroke->y[end];
        float dx = 0.22f * cosf(style->serif_angle), dy = 0.22f * sinf(style->serif_angle);
        if (happens(random, style->serif))
            add_segment(glyph, x - dx, y - dy, x + dx, y + dy);
    }
}

/* Fits the glyph into the middle of the unit square, at most as wide as the style allows. */
static void fit(const imp_style *style, imp_glyph *glyph)
{
    const float room = 0.70f;
    box around = bounds(glyph);
    float width = around.right - around.left, height = around.bottom - around.top;
    float most_width = style->width < 1.0f ? room * style->width : room;
    float most_height = style->width > 1.0f ? room / style->width : room;
    float scale = fminf(most_width / fmaxf(width, 0.05f), most_height / fmaxf(height, 0.05f));
    scale = fminf(scale, 0.42f); /* do not enlarge a single short stroke too much */
    for (unsigned s = 0; s < glyph->count; s++)
        transform(&glyph->strokes[s], scale, scale,
                  0.5f - scale * 0.5f * (around.left + around.right),
                  0.5f - scale * 0.5f * (around.top + around.bottom));
    for (unsigned s = 0; s < glyph->count; s++)
        for (unsigned i = 0; i < glyph->strokes[s].count; i++)
            glyph->strokes[s].x[i] -= style->slant * (glyph->strokes[s].y[i] - 0.5f);
}

imp_glyph imp_glyph_of(const imp_glyph_options *options, const imp_style *style, uint32_t alphabet,
                       uint32_t character)
{
    imp_random random = imp_glyph_random(options->seed, alphabet, character, IMP_GLYPH_ALL);
    imp_glyph glyph = {0};
    unsigned spread = style->most_strokes - style->fewest_strokes + 1;
    unsigned strokes = style->fewest_strokes + imp_random_below(&random, spread);
    /* Neither a single line nor a thicket is a character. */
    const float least = 2.4f, most = 6.0f;
    float effort = 0.0f;
    while ((glyph.count < strokes && effort < most) || effort < least)
        effort += add_stroke(&random, style, &glyph);
    add_habits(&random, style, &glyph);
    fit(style, &glyph);
    return glyph;
}

/* ---- writing ---- */

/* Bends a stroke: its points wander together (a slow drift) and alone (a tremor). */
static void bend(imp_random *random, imp_stroke *stroke, float care)
{
    float drift_x = normal(random, 0.016f * care), drift_y = normal(random, 0.016f * care);
    float swing_x = normal(random, 0.02f * care), swing_y = normal(random, 0.02f * care);
    float stretch = 1.0f + normal(random, 0.05f * care);
    float centre_x = 0.0f, centre_y = 0.0f;
    for (unsigned i = 0; i < stroke->count; i++) {
        centre_x += stroke->x[i] / (float)stroke->count;
        centre_y += stroke->y[i] / (float)stroke->count;
    }
    for (unsigned i = 0; i < stroke->count; i++) {
        float t = 2.0f * (float)i / (float)(stroke->count - 1) - 1.0f;
        stroke->x[i] = centre_x + stretch * (stroke->x[i] - centre_x) + drift_x + swing_x * t +
                       normal(random, 0.009f * care);
        stroke->y[i] = centre_y + stretch * (stroke->y[i] - centre_y) + drift_y + swing_y * t +
                       normal(random, 0.009f * care);
    }
}

imp_glyph imp_glyph_write(const imp_glyph_options *options, const imp_glyph *glyph,
                          uint32_t alphabet, uint32_t character, uint32_t drawing)
{
    imp_random random = imp_glyph_random(options->seed, alphabet, character, drawing);
    imp_glyph written = *glyph;
    float care = between(&random, 0.7f, 1.6f); /* smaller for careful writers */
    float angle = normal(&random, 0.06f), lean = normal(&random, 0.09f);
    float scale = 1.0f + normal(&random, 0.07f), aspect = 1.0f + normal(&random, 0.06f);
    float shift_x = normal(&random, 0.025f), shift_y = normal(&random, 0.025f);
    written.radius = between(&random, 0.014f, 0.025f);
    written.pressure = between(&random, 0.0f, 0.5f);

    float c = cosf(angle), s = sinf(angle);
    for (unsigned k = 0; k < written.count; k++) {
        imp_stroke *stroke = &written.strokes[k];
        bend(&random, stroke, care);
        for (unsigned i = 0; i < stroke->count; i++) {
            float y = scale * (stroke->y[i] - 0.5f);
            float x = scale * aspect * (stroke->x[i] - 0.5f) - lean * y;
            stroke->x[i] = 0.5f + shift_x + c * x - s * y;
            stroke->y[i] = 0.5f + shift_y + s * x + c * y;
        }
    }
    return written;
}
