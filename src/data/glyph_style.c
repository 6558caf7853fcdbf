/*
 * glyph_style.c - generates alphabets: their strokes and habits.
 *
 * A small vocabulary of strokes makes characters look as if they belonged together; habits (slant,
 * serifs, head lines, dots) do the rest.
 */
#include <math.h>

#include "data/glyph.h"

static const float pi = 3.14159265f;

/* Kinds of strokes in a vocabulary. */
enum { LINE, ARC, LOOP, HOOK, WAVE, CORNER, ZIGZAG, KINDS };

static const float efforts[KINDS] = {1.0f, 1.2f, 1.6f, 1.6f, 2.2f, 1.6f, 2.6f};

static float between(imp_random *random, float low, float high)
{
    return low + (high - low) * (float)imp_random_uniform(random);
}

static void add_point(imp_stroke *stroke, float x, float y)
{
    if (stroke->count < IMP_STROKE_POINTS) {
        stroke->x[stroke->count] = x;
        stroke->y[stroke->count] = y;
        stroke->count++;
    }
}

static void add_arc(imp_stroke *stroke, float centre_x, float centre_y, float radius, float from,
                    float sweep, unsigned points)
{
    for (unsigned i = 0; i < points; i++) {
        float angle = from + sweep * (float)i / (float)(points - 1);
        add_point(stroke, centre_x + radius * cosf(angle), centre_y + radius * sinf(angle));
    }
}

/* A stroke of one kind, in a box from -1 to 1, lying along the x axis. */
static imp_stroke invent(imp_random *random, int kind)
{
    imp_stroke stroke = {0};
    switch (kind) {
    case LINE:
        add_point(&stroke, -1.0f, 0.0f);
        add_point(&stroke, 0.0f, between(random, -0.15f, 0.15f));
        add_point(&stroke, 1.0f, 0.0f);
        break;
    case ARC: {
        float sweep = between(random, 0.55f, 1.35f) * pi;
        add_arc(&stroke, 0.0f, 0.0f, 1.0f, 0.5f * (pi - sweep), sweep, 7);
        break;
    }
    case LOOP: {
        float sweep = between(random, 1.75f, 2.15f) * pi;
        float squash = between(random, 0.5f, 1.0f);
        add_arc(&stroke, 0.0f, 0.0f, 1.0f, between(random, 0.0f, 2.0f * pi), sweep, 10);
        for (unsigned i = 0; i < stroke.count; i++)
            stroke.y[i] *= squash;
        break;
    }
    case HOOK: {
        float radius = between(random, 0.25f, 0.5f);
        float sweep = between(random, 0.7f, 1.4f) * pi;
        add_point(&stroke, -1.0f, 0.0f);
        add_point(&stroke, -0.3f, 0.0f);
        add_arc(&stroke, 1.0f - radius, radius, radius, -0.5f * pi, sweep, 6);
        break;
    }
    case WAVE: {
        float height = between(random, 0.25f, 0.6f);
        float turns = between(random, 0.9f, 1.6f);
        for (int i = 0; i < 9; i++) {
            float t = (float)i / 8.0f;
            add_point(&stroke, 2.0f * t - 1.0f, height * sinf(2.0f * pi * turns * t));
        }
        break;
    }
    case CORNER: {
        float at = between(random, -0.2f, 0.6f);
        stroke.angular = true;
        add_point(&stroke, -1.0f, between(random, -0.3f, 0.3f));
        add_point(&stroke, at, between(random, -0.2f, 0.2f));
        add_point(&stroke, at + between(random, -0.5f, 0.4f), between(random, 0.6f, 1.2f));
        break;
    }
    case ZIGZAG: {
        float height = between(random, 0.3f, 0.7f);
        stroke.angular = true;
        for (int i = 0; i < 4; i++)
            add_point(&stroke, (float)i / 1.5f - 1.0f, i % 2 == 0 ? height : -height);
        break;
    }
    default:
        break;
    }
    return stroke;
}

static void rotate(imp_stroke *stroke, float angle)
{
    float c = cosf(angle), s = sinf(angle);
    for (unsigned i = 0; i < stroke->count; i++) {
        float x = stroke->x[i], y = stroke->y[i];
        stroke->x[i] = c * x - s * y;
        stroke->y[i] = s * x + c * y;
    }
}

/* How often an alphabet uses each kind: some often, some never. */
static void draw_tastes(imp_random *random, float taste[KINDS])
{
    static const float usual[KINDS] = {1.6f, 1.6f, 0.8f, 1.1f, 0.5f, 1.0f, 0.4f};
    for (int kind = 0; kind < KINDS; kind++)
        taste[kind] = usual[kind] * expf(1.3f * (float)imp_random_normal(random));
}

static int choose(imp_random *random, const float *weight, int count)
{
    float total = 0.0f;
    for (int i = 0; i < count; i++)
        total += weight[i];
    float left = total * (float)imp_random_uniform(random);
    for (int i = 0; i < count - 1; i++) {
        left -= weight[i];
        if (left < 0.0f)
            return i;
    }
    return count - 1;
}

static void draw_vocabulary(imp_random *random, imp_style *style)
{
    float taste[KINDS];
    draw_tastes(random, taste);
    /* Scripts favour few directions, so most strokes lie along one of two axes. */
    float axis = between(random, -0.12f, 0.12f) * pi;
    float grid = imp_random_uniform(random) < 0.75 ? 0.5f * pi : 0.25f * pi;

    style->vocabulary = 4 + imp_random_below(random, IMP_STYLE_VOCABULARY - 3);
    float total = 0.0f;
    for (unsigned i = 0; i < style->vocabulary; i++) {
        int kind = choose(random, taste, KINDS);
        taste[kind] *= 0.5f; /* less likely to repeat, for variety */
        style->strokes[i] = invent(random, kind);
        style->effort[i] = efforts[kind];
        float turn = grid * (float)imp_random_below(random, 8);
        rotate(&style->strokes[i], axis + turn + 0.08f * (float)imp_random_normal(random));
        style->weight[i] = expf(0.8f * (float)imp_random_normal(random));
        total += style->weight[i];
    }
    for (unsigned i = 0; i < style->vocabulary; i++)
        style->weight[i] /= total;
}

/* Zero for most alphabets, a strong habit for the others. */
static float habit(imp_random *random, double probability, float low, float high)
{
    bool has = imp_random_uniform(random) < probability;
    float strength = between(random, low, high);
    return has ? strength : 0.0f;
}

imp_style imp_style_of(const imp_glyph_options *options, uint32_t alphabet)
{
    imp_random random = imp_glyph_random(options->seed, alphabet, IMP_GLYPH_ALL, IMP_GLYPH_ALL);
    imp_style style = {0};
    uint32_t spread = options->most_characters - options->fewest_characters + 1;
    style.characters = options->fewest_characters + imp_random_below(&random, spread);
    draw_vocabulary(&random, &style);
    style.fewest_strokes = 1 + imp_random_below(&random, 3);
    style.most_strokes = style.fewest_strokes + 1 + imp_random_below(&random, 2);
    style.slant = 0.16f * (float)imp_random_normal(&random);
    style.width = between(&random, 0.6f, 1.25f);
    style.serif = habit(&random, 0.3, 0.4f, 0.9f);
    style.serif_angle = between(&random, 0.0f, pi);
    style.head_line = habit(&random, 0.12, 0.7f, 1.0f);
    style.base_line = habit(&random, 0.08, 0.5f, 1.0f);
    style.dots = habit(&random, 0.35, 0.15f, 0.6f);
    style.joined = between(&random, 0.6f, 1.0f);
    style.mirror = between(&random, 0.0f, 0.6f);
    return style;
}
