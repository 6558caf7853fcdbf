/*
 * resample.c - changes a picture's size.
 *
 * A new pixel is a weighted mean of old ones. If an axis shrinks the weights are a box as wide as
 * the new pixel; if it grows they are Keys' cubic with a = -1/2. Both are computed as in Pillow, so
 * that results agree within rounding. Rows are combined first, which is contiguous in memory, then
 * the columns of the few that remain.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/image.h"

/* For every new pixel of an axis: the old pixels it is made of, and their weights. */
typedef struct weights {
    uint32_t *first; /* (size): the first old pixel */
    uint32_t *count; /* (size) */
    float *weight;   /* (size, widest) */
    size_t widest;
    bool even; /* all weights of a new pixel are the same */
} weights;

static double box(double x)
{
    return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
}

static double cubic(double x)
{
    const double a = -0.5;
    x = fabs(x);
    if (x < 1.0)
        return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
    if (x < 2.0)
        return (((x - 5.0) * x + 8.0) * x - 4.0) * a;
    return 0.0;
}

static void weights_clear(weights *axis)
{
    imp_release(axis->first);
    imp_release(axis->count);
    imp_release(axis->weight);
    *axis = (weights){0};
}

/* Computes the weights of one new pixel, whose centre is at `centre` among the old ones. */
static void weigh(weights *axis, uint32_t index, uint32_t old_size, double centre, double stretch)
{
    double (*filter)(double) = stretch > 1.0 ? box : cubic;
    double support = (stretch > 1.0 ? 0.5 : 2.0) * stretch;
    double low = floor(centre - support + 0.5), high = floor(centre + support + 0.5);
    uint32_t first = low > 0.0 ? (uint32_t)low : 0;
    uint32_t end = high < old_size ? (uint32_t)high : old_size;
    float *row = axis->weight + index * axis->widest;
    /* At its ends the box may not cover an old pixel at all. */
    while (end - first > 1 && filter((first + 0.5 - centre) / stretch) == 0.0)
        first++;
    while (end - first > 1 && filter((end - 0.5 - centre) / stretch) == 0.0)
        end--;

    double total = 0.0;
    for (uint32_t i = first; i < end; i++)
        total += filter((i + 0.5 - centre) / stretch);
    for (uint32_t i = first; i < end; i++)
        row[i - first] = (float)(filter((i + 0.5 - centre) / stretch) / total);
    axis->first[index] = first;
    axis->count[index] = end - first;
}

static imp_status weights_create(weights *axis, uint32_t old_size, uint32_t new_size,
                                 imp_error *error)
{
    double scale = (double)old_size / new_size;
    double stretch = scale > 1.0 ? scale : 1.0; /* of the filter: it covers a whole new pixel */
    axis->even = scale > 1.0;
    axis->widest = scale > 1.0 ? (size_t)ceil(stretch) + 2 : 6;
    size_t total;
    axis->first = imp_allocate(new_size, sizeof *axis->first);
    axis->count = imp_allocate(new_size, sizeof *axis->count);
    axis->weight = imp_multiply(new_size, axis->widest, &total)
                       ? imp_allocate(total, sizeof *axis->weight)
                       : NULL;
    if (axis->first == NULL || axis->count == NULL || axis->weight == NULL) {
        weights_clear(axis);
        return imp_fail_memory(error, "resampling a picture");
    }
    for (uint32_t i = 0; i < new_size; i++)
        weigh(axis, i, old_size, (i + 0.5) * scale, stretch);
    return IMP_OK;
}

static uint8_t to_byte(float value)
{
    float above = value + 0.5f; /* positive, so truncation rounds down */
    return value <= 0.0f ? 0 : value >= 255.0f ? 255 : (uint8_t)above;
}

/* One new row before its columns are combined: the weighted mean of old rows, (width, channels). */
static void merge_rows(const imp_image *image, const weights *down, size_t y, float *line)
{
    size_t stride = (size_t)image->width * image->channels;
    memset(line, 0, stride * sizeof *line);
    for (size_t i = 0; i < down->count[y]; i++) {
        const uint8_t *from = image->pixels + (down->first[y] + i) * stride;
        float weight = down->weight[y * down->widest + i];
        for (size_t x = 0; x < stride; x++)
            line[x] += weight * from[x];
    }
}

static void merge_columns(const float *line, size_t channels, const weights *across, size_t width,
                          uint8_t *row)
{
    for (size_t x = 0; x < width; x++) {
        const float *weight = across->weight + x * across->widest;
        const float *first = line + across->first[x] * channels;
        for (size_t c = 0; c < channels; c++) {
            float sum = 0.0f;
            for (size_t i = 0; i < across->count[x]; i++)
                sum += weight[i] * first[i * channels + c];
            row[x * channels + c] = to_byte(sum);
        }
    }
}

/* The same for a picture that shrinks along both axes, as nearly all do: the weights are equal, so
 * integer sums suffice. */
enum { MOST_SUMMED = 257 }; /* bytes whose sum fits in 16 bits */

static void sum_area(const imp_image *image, const weights *across, const weights *down, size_t y,
                     uint16_t *line, size_t width, uint8_t *row)
{
    size_t channels = image->channels, stride = (size_t)image->width * channels;
    uint32_t rows = down->count[y];
    memset(line, 0, stride * sizeof *line);
    for (size_t i = 0; i < rows; i++) {
        const uint8_t *from = image->pixels + (down->first[y] + i) * stride;
        for (size_t x = 0; x < stride; x++)
            line[x] = (uint16_t)(line[x] + from[x]);
    }
    for (size_t x = 0; x < width; x++) {
        const uint16_t *first = line + across->first[x] * channels;
        float scale = 1.0f / ((float)across->count[x] * (float)rows);
        for (size_t c = 0; c < channels; c++) {
            uint64_t sum = 0;
            for (size_t i = 0; i < across->count[x]; i++)
                sum += first[i * channels + c];
            row[x * channels + c] = to_byte((float)sum * scale);
        }
    }
}

/* Columns first, for a picture that becomes wider and lower: every old row is widened and clamped
 * to bytes before rows are combined. One row at a time, because a picture of one column may have
 * millions of rows, which would not all fit in memory when widened. */
static imp_status widen_and_lower(const imp_image *image, uint32_t width, uint32_t height,
                                  imp_image *out, imp_error *error)
{
    size_t stride = (size_t)width * image->channels;
    size_t old_stride = (size_t)image->width * image->channels;
    weights across_axis = {0}, down_axis = {0}, *across = &across_axis, *down = &down_axis;
    float *old = imp_allocate(old_stride, sizeof *old), *sum = imp_allocate(stride, sizeof *sum);
    uint8_t *wide = imp_allocate(stride, 1);
    imp_status status = IMP_OK;
    if (old == NULL || sum == NULL || wide == NULL)
        status = imp_fail_memory(error, "resampling a picture");
    if (!status)
        status = weights_create(across, image->width, width, error);
    if (!status)
        status = weights_create(down, image->height, height, error);
    if (!status)
        status = imp_image_create(out, width, height, image->channels, error);
    for (size_t y = 0; y < height && !status; y++) {
        memset(sum, 0, stride * sizeof *sum);
        for (size_t i = 0; i < down->count[y]; i++) {
            const uint8_t *from = image->pixels + (down->first[y] + i) * old_stride;
            float weight = down->weight[y * down->widest + i];
            for (size_t x = 0; x < old_stride; x++)
                old[x] = from[x];
            merge_columns(old, image->channels, across, width, wide);
            for (size_t x = 0; x < stride; x++)
                sum[x] += weight * wide[x];
        }
        for (size_t x = 0; x < stride; x++)
            out->pixels[y * stride + x] = to_byte(sum[x]);
    }
    imp_release(old);
    imp_release(sum);
    imp_release(wide);
    weights_clear(across);
    weights_clear(down);
    return status;
}

/* Rows first, then columns; each new row is finished before the next. */
static imp_status merge(const imp_image *image, uint32_t width, uint32_t height, imp_image *out,
                        imp_error *error)
{
    weights across = {0}, down = {0};
    /* Floats, or integer sums. */
    void *line = imp_allocate((size_t)image->width * image->channels, sizeof(float));
    imp_status status = line != NULL ? IMP_OK : imp_fail_memory(error, "resampling a picture");
    if (!status)
        status = weights_create(&across, image->width, width, error);
    if (!status)
        status = weights_create(&down, image->height, height, error);
    if (!status)
        status = imp_image_create(out, width, height, image->channels, error);
    size_t stride = (size_t)width * image->channels;
    bool even = across.even && down.even && down.widest <= MOST_SUMMED;
    for (size_t y = 0; y < height && !status; y++) {
        uint8_t *row = out->pixels + y * stride;
        if (even) {
            sum_area(image, &across, &down, y, line, width, row);
        } else {
            merge_rows(image, &down, y, line);
            merge_columns(line, image->channels, &across, width, row);
        }
    }
    imp_release(line);
    weights_clear(&across);
    weights_clear(&down);
    return status;
}

imp_status imp_image_resample(const imp_image *image, uint32_t width, uint32_t height,
                              imp_image *out, imp_error *error)
{
    *out = (imp_image){0};
    if (width == 0 || height == 0)
        return imp_fail(error, IMP_EINVAL, "cannot resample to %u x %u pixels", width, height);
    if (width <= image->width)
        return merge(image, width, height, out, error);

    /* The cubic overshoots at edges and is clamped to 0..255 after each axis. Clamping does not
     * commute; widening first is Pillow's order. */
    if (height < image->height)
        return widen_and_lower(image, width, height, out, error);
    imp_image wide = {0};
    imp_status status = merge(image, width, image->height, &wide, error);
    if (!status)
        status = merge(&wide, width, height, out, error);
    imp_image_clear(&wide);
    return status;
}

imp_status imp_image_shrink(imp_image *image, uint32_t side, imp_error *error)
{
    uint32_t longer = image->width > image->height ? image->width : image->height;
    if (longer <= side)
        return IMP_OK;
    uint32_t width = (uint32_t)((uint64_t)image->width * side / longer);
    uint32_t height = (uint32_t)((uint64_t)image->height * side / longer);
    imp_image smaller;
    imp_status status =
        imp_image_resample(image, width ? width : 1, height ? height : 1, &smaller, error);
    if (status)
        return status;
    imp_image_clear(image);
    *image = smaller;
    return IMP_OK;
}
