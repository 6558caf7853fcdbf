/*
 * glyph_raster.c - draws the strokes of a glyph, anti-aliased.
 *
 * A stroke becomes short segments of varying width; a pixel's ink depends on how deep its centre is
 * inside the nearest segment, with a ramp one pixel wide.
 */
#include <math.h>
#include <string.h>

#include "data/glyph.h"

/* Segments between two control points of a curve. */
enum { STEPS = 6 };

/* A Catmull-Rom spline through the points, which resembles the path of a pen. */
static float spline(const float *points, unsigned count, unsigned index, float t)
{
    float p1 = points[index], p2 = points[index + 1];
    float p0 = index > 0 ? points[index - 1] : 2.0f * p1 - p2;
    float p3 = index + 2 < count ? points[index + 2] : 2.0f * p2 - p1;
    float a = 2.0f * p1, b = p2 - p0;
    float c = 2.0f * p0 - 5.0f * p1 + 4.0f * p2 - p3;
    float d = 3.0f * (p1 - p2) + p3 - p0;
    return 0.5f * (a + t * (b + t * (c + t * d)));
}

typedef struct canvas {
    uint8_t *pixels;
    int size;
} canvas;

/* Darkens the pixels near a segment whose ends and radius are given in pixels. */
static void draw_segment(const canvas *on, float x0, float y0, float x1, float y1, float radius)
{
    float reach = radius + 1.0f;
    int left = (int)floorf(fminf(x0, x1) - reach), right = (int)ceilf(fmaxf(x0, x1) + reach);
    int top = (int)floorf(fminf(y0, y1) - reach), bottom = (int)ceilf(fmaxf(y0, y1) + reach);
    left = left > 0 ? left : 0;
    top = top > 0 ? top : 0;
    right = right < on->size ? right : on->size;
    bottom = bottom < on->size ? bottom : on->size;

    float dx = x1 - x0, dy = y1 - y0, length = dx * dx + dy * dy;
    /* A pen thinner than a pixel never fills one. */
    float full = radius < 0.5f ? 2.0f * radius : 1.0f;
    for (int y = top; y < bottom; y++)
        for (int x = left; x < right; x++) {
            float px = (float)x + 0.5f - x0, py = (float)y + 0.5f - y0;
            float t = length > 0.0f ? (px * dx + py * dy) / length : 0.0f;
            t = t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;
            float away_x = px - t * dx, away_y = py - t * dy;
            float away = sqrtf(away_x * away_x + away_y * away_y);
            float cover = fmaxf(radius, 0.5f) + 0.5f - away;
            cover = cover < 0.0f ? 0.0f : cover > 1.0f ? 1.0f : cover;
            uint8_t ink = (uint8_t)(255.0f * full * cover + 0.5f);
            uint8_t *pixel = &on->pixels[y * on->size + x];
            if (ink > *pixel)
                *pixel = ink;
        }
}

static void draw_stroke(const canvas *on, const imp_glyph *glyph, const imp_stroke *stroke)
{
    float scale = (float)on->size;
    unsigned pieces = stroke->count - 1, total = pieces * STEPS;
    float x0 = stroke->x[0], y0 = stroke->y[0];
    for (unsigned step = 1; step <= total; step++) {
        unsigned index = (step - 1) / STEPS;
        float t = (float)(step - index * STEPS) / STEPS;
        float x1, y1;
        if (stroke->angular) {
            x1 = stroke->x[index] + t * (stroke->x[index + 1] - stroke->x[index]);
            y1 = stroke->y[index] + t * (stroke->y[index + 1] - stroke->y[index]);
        } else {
            x1 = spline(stroke->x, stroke->count, index, t);
            y1 = spline(stroke->y, stroke->count, index, t);
        }
        /* Pens press less at both ends of a stroke. */
        float middle = 1.0f - fabsf(2.0f * (float)step / (float)total - 1.0f);
        float press = 1.0f - glyph->pressure * (1.0f - sqrtf(middle));
        draw_segment(on, x0 * scale, y0 * scale, x1 * scale, y1 * scale,
                     glyph->radius * scale * press);
        x0 = x1;
        y0 = y1;
    }
}

void imp_glyph_raster(const imp_glyph *glyph, uint32_t size, uint8_t *pixels)
{
    canvas on = {pixels, (int)size};
    memset(pixels, 0, (size_t)size * size);
    for (unsigned s = 0; s < glyph->count; s++)
        draw_stroke(&on, glyph, &glyph->strokes[s]);
}
