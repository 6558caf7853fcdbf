/*
 * augment.c - augmentation: crops, flips and colour changes for photographs, small affine changes
 * and thicker or thinner strokes for drawings.
 *
 * Every picture draws the same number of random numbers in the same order, whatever is enabled: so
 * enabling one change does not affect the others, and any episode can be reproduced alone. The
 * affine change is applied in one step, by its inverse, with bilinear interpolation. Outside of the
 * picture is paper for drawings, whose ink is high, and otherwise the mirrored picture.
 */
#include "episode/augment.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/random.h"
#include "data/dataset.h"

/* The change of one picture. */
typedef struct change {
    float across[2],
        down[2];    /* (x, y) step in the source for one pixel to the right and one down */
    float begin[2]; /* (x, y) in the source of the first pixel */
    float brightness, contrast, saturation; /* factors */
    float stroke;                           /* thicker above 0, thinner below */
} change;

/* ---- checking ---- */

static const struct {
    const char *name;
    size_t offset;
    double most;
} ranges[] = {
    {"flip", offsetof(imp_augmentation, flip), 1},
    {"shift", offsetof(imp_augmentation, shift), 0.5},
    {"turn", offsetof(imp_augmentation, turn), 180},
    {"zoom", offsetof(imp_augmentation, zoom), 3},
    {"shear", offsetof(imp_augmentation, shear), 1},
    {"colour", offsetof(imp_augmentation, colour), 1},
    {"stroke", offsetof(imp_augmentation, stroke), 1},
};

enum { RANGES = sizeof ranges / sizeof *ranges };

static double value_of(const imp_augmentation *wanted, size_t index)
{
    double value;
    memcpy(&value, (const char *)wanted + ranges[index].offset, sizeof value);
    return value;
}

bool imp_augmentation_is_on(const imp_augmentation *wanted)
{
    for (size_t i = 0; i < RANGES; i++)
        if (value_of(wanted, i) != 0)
            return true;
    return false;
}

imp_status imp_augmentation_check(const imp_augmentation *wanted, imp_error *error)
{
    for (size_t i = 0; i < RANGES; i++) {
        double value = value_of(wanted, i);
        if (!(value >= 0 && value <= ranges[i].most))
            return imp_fail(error, IMP_EINVAL, "the augmentation's %s must be from 0 to %g, not %g",
                            ranges[i].name, ranges[i].most, value);
    }
    return IMP_OK;
}

/* ---- drawing a change ---- */

/* Uniform from -most to most. */
static double spread(imp_random *random, double most)
{
    return most * (2 * imp_random_uniform(random) - 1);
}

static change draw_change(imp_random *random, const imp_augmentation *wanted, size_t side)
{
    double flip = imp_random_uniform(random) < wanted->flip ? -1 : 1;
    /* by whole pixels, so that a shift alone keeps the picture sharp */
    double right = round(spread(random, wanted->shift * (double)side));
    double below = round(spread(random, wanted->shift * (double)side));
    double angle = spread(random, wanted->turn) * (3.14159265358979323846 / 180);
    double scale = exp(spread(random, log1p(wanted->zoom)));
    double shear = spread(random, wanted->shear);

    /* Where a pixel comes from, relative to the middle: flip, shear, rotation, scale, shift. */
    double c = cos(angle) / scale, s = sin(angle) / scale;
    double across[2] = {flip * c, flip * s}, down[2] = {c * shear - s, s * shear + c};
    double middle = ((double)side - 1) / 2;
    change drawn = {.across = {(float)across[0], (float)across[1]},
                    .down = {(float)down[0], (float)down[1]},
                    .begin = {(float)(middle - right - middle * (across[0] + down[0])),
                              (float)(middle - below - middle * (across[1] + down[1]))}};
    drawn.brightness = (float)(1 + spread(random, wanted->colour));
    drawn.contrast = (float)(1 + spread(random, wanted->colour));
    drawn.saturation = (float)(1 + spread(random, wanted->colour));
    drawn.stroke = (float)spread(random, wanted->stroke);
    return drawn;
}

/* ---- moving ---- */

/* Reflects a position outside the picture back inside. */
static ptrdiff_t mirrored(ptrdiff_t at, ptrdiff_t side)
{
    if (side == 1)
        return 0;
    ptrdiff_t period = 2 * (side - 1);
    at %= period;
    if (at < 0)
        at += period;
    return at < side ? at : period - at;
}

typedef struct plane {
    const float *pixels;
    ptrdiff_t side;
    bool drawing;
    float paper;
} plane;

static float pixel_at(const plane *from, ptrdiff_t x, ptrdiff_t y)
{
    bool inside = x >= 0 && y >= 0 && x < from->side && y < from->side;
    if (inside)
        return from->pixels[y * from->side + x];
    if (from->drawing)
        return from->paper;
    return from->pixels[mirrored(y, from->side) * from->side + mirrored(x, from->side)];
}

/* The bilinearly interpolated value at (x, y). */
static float value_at(const plane *from, float x, float y)
{
    float left = floorf(x), top = floorf(y), u = x - left, v = y - top;
    ptrdiff_t i = (ptrdiff_t)left, j = (ptrdiff_t)top, side = from->side;
    float corners[4];
    if (i >= 0 && j >= 0 && i + 1 < side && j + 1 < side) {
        const float *at = from->pixels + j * side + i;
        memcpy(corners, at, 2 * sizeof *at);
        memcpy(corners + 2, at + side, 2 * sizeof *at);
    } else {
        for (ptrdiff_t c = 0; c < 4; c++)
            corners[c] = pixel_at(from, i + c % 2, j + c / 2);
    }
    float upper = (1 - u) * corners[0] + u * corners[1];
    float lower = (1 - u) * corners[2] + u * corners[3];
    return (1 - v) * upper + v * lower;
}

static void move(const plane *from, const change *by, float *to)
{
    for (ptrdiff_t row = 0; row < from->side; row++)
        for (ptrdiff_t column = 0; column < from->side; column++)
            *to++ = value_at(
                from, by->begin[0] + (float)column * by->across[0] + (float)row * by->down[0],
                by->begin[1] + (float)column * by->across[1] + (float)row * by->down[1]);
}

/* ---- strokes ---- */

static float extreme(float a, float b, bool highest)
{
    return highest == (a > b) ? a : b;
}

/* Moves each pixel part of the way to the maximum, or the minimum, of itself and its eight
 * neighbours (dilation or erosion), replicating the edge. `lines` holds the picture and is
 * overwritten with the extremes within rows. */
static void draw_strokes(float *lines, ptrdiff_t side, float stroke, float *picture)
{
    bool thicker = stroke > 0;
    for (ptrdiff_t y = 0; y < side; y++) {
        float *line = lines + y * side, before = line[0];
        for (ptrdiff_t x = 0; x < side; x++) {
            float own = line[x], after = line[x + 1 < side ? x + 1 : x];
            line[x] = extreme(extreme(before, own, thicker), after, thicker);
            before = own;
        }
    }
    for (ptrdiff_t y = 0; y < side; y++) {
        const float *line = lines + y * side;
        const float *above = y > 0 ? line - side : line, *below = y + 1 < side ? line + side : line;
        for (ptrdiff_t x = 0; x < side; x++) {
            float end = extreme(extreme(above[x], line[x], thicker), below[x], thicker);
            picture[y * side + x] += fabsf(stroke) * (end - picture[y * side + x]);
        }
    }
}

/* ---- colours ---- */

static float clipped(float value)
{
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

/* On values from 0 to 1, for which normalisation is undone and redone. */
static void change_colours(const imp_dataset *dataset, const change *by, float *picture)
{
    size_t channels = dataset->channels, count = (size_t)dataset->size * dataset->size;
    double sum = 0;
    for (size_t channel = 0; channel < channels; channel++)
        for (size_t i = 0; i < count; i++) {
            float *at = &picture[channel * count + i];
            *at = *at * dataset->deviation[channel] + dataset->mean[channel];
            sum += *at;
        }
    float mean = (float)(sum / (double)(channels * count));
    for (size_t i = 0; i < count; i++) {
        float gray = 0;
        for (size_t channel = 0; channel < channels; channel++)
            gray += picture[channel * count + i] / (float)channels;
        for (size_t channel = 0; channel < channels; channel++) {
            float *at = &picture[channel * count + i];
            float value = gray + by->saturation * (*at - gray);
            value = clipped(by->brightness * (mean + by->contrast * (value - mean)));
            *at = (value - dataset->mean[channel]) / dataset->deviation[channel];
        }
    }
}

/* ---- all of it ---- */

static void change_picture(const imp_dataset *dataset, const imp_augmentation *wanted,
                           const change *by, float *picture, float *scratch)
{
    size_t count = (size_t)dataset->size * dataset->size;
    for (size_t channel = 0; channel < dataset->channels; channel++) {
        float *pixels = picture + channel * count;
        plane from = {.pixels = scratch,
                      .side = (ptrdiff_t)dataset->size,
                      .drawing = dataset->inverted,
                      .paper = -dataset->mean[channel] / dataset->deviation[channel]};
        memcpy(scratch, pixels, count * sizeof *pixels);
        move(&from, by, pixels);
        if (wanted->stroke > 0) {
            memcpy(scratch, pixels, count * sizeof *pixels);
            draw_strokes(scratch, from.side, by->stroke, pixels);
        }
    }
    if (wanted->colour > 0)
        change_colours(dataset, by, picture);
}

void imp_augment(const imp_dataset *dataset, const imp_episode_options *options,
                 const imp_episode *episode, float *pixels, float *scratch)
{
    const imp_augmentation *wanted = &options->augment;
    if (!imp_augmentation_is_on(wanted))
        return;
    imp_random random = imp_random_start(
        options->seed, IMP_STREAM_AUGMENT + (uint32_t)options->purpose, episode->index);
    size_t room = imp_picture_bytes(dataset); /* one byte per pixel there */
    for (size_t i = 0; i < imp_episode_size(episode); i++) {
        change drawn = draw_change(&random, wanted, dataset->size);
        change_picture(dataset, wanted, &drawn, pixels + i * room, scratch);
    }
}

imp_status imp_episode_augmented(const imp_dataset *dataset, const imp_episode_options *options,
                                 const imp_episode *episode, float *pixels, imp_error *error)
{
    imp_episode_options taken = imp_episode_defaults();
    imp_status status =
        imp_take_options(&taken, sizeof taken, options, "imp_episode_options", error);
    if (!status)
        status = imp_augmentation_check(&taken.augment, error);
    if (status)
        return status;
    float *scratch = imp_allocate((size_t)dataset->size * dataset->size, sizeof *scratch);
    if (!scratch)
        return imp_fail_memory(error, "a changed picture");
    imp_episode_pixels(dataset, episode, pixels);
    imp_augment(dataset, &taken, episode, pixels, scratch);
    imp_release(scratch);
    return IMP_OK;
}
