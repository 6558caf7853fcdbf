/*
 * image.c - operations on decoded pictures, independent of their format.
 *
 * Gray is computed with Pillow's integer weights, so that pictures prepared by either agree.
 */
#include "data/image.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

imp_status imp_image_check_size(uint32_t width, uint32_t height, size_t pixel_limit,
                                imp_error *error)
{
    if (width == 0 || height == 0)
        return imp_fail(error, IMP_EFORMAT, "the picture is %u x %u pixels, which is empty", width,
                        height);
    if ((uint64_t)width * height > pixel_limit)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "the picture is %u x %u pixels, and at most %zu pixels are allowed", width,
                        height, pixel_limit);
    return IMP_OK;
}

imp_status imp_image_create(imp_image *image, uint32_t width, uint32_t height, uint32_t channels,
                            imp_error *error)
{
    *image = (imp_image){0};
    size_t row, pixels;
    if (!imp_multiply(width, channels, &row) || !imp_multiply(row, height, &pixels))
        return imp_fail_memory(error, "a picture");
    uint8_t *memory = imp_allocate(pixels, 1);
    if (memory == NULL)
        return imp_fail_memory(error, "a picture");
    *image = (imp_image){width, height, channels, memory};
    return IMP_OK;
}

void imp_image_clear(imp_image *image)
{
    imp_release(image->pixels);
    *image = (imp_image){0};
}

void imp_image_lay_on_white(const uint8_t *rgba, size_t count, uint8_t *rgb)
{
    for (size_t i = 0; i < count; i++, rgba += 4, rgb += 3) {
        unsigned alpha = rgba[3], ground = 255 * (255 - alpha) + 127;
        for (size_t c = 0; c < 3; c++)
            rgb[c] = (uint8_t)((rgba[c] * alpha + ground) / 255);
    }
}

static uint8_t luma(const uint8_t *rgb)
{
    return (uint8_t)((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
}

imp_status imp_image_convert(imp_image *image, uint32_t channels, imp_error *error)
{
    if (image->channels == channels)
        return IMP_OK;
    imp_image other;
    imp_status status = imp_image_create(&other, image->width, image->height, channels, error);
    if (status)
        return status;

    size_t pixels = (size_t)image->width * image->height;
    if (channels == 1) {
        for (size_t i = 0; i < pixels; i++)
            other.pixels[i] = luma(image->pixels + 3 * i);
    } else {
        for (size_t i = 0; i < pixels; i++)
            memset(other.pixels + 3 * i, image->pixels[i], 3);
    }
    imp_image_clear(image);
    *image = other;
    return IMP_OK;
}

void imp_image_to_planes(const imp_image *image, bool invert, uint8_t *planes)
{
    size_t pixels = (size_t)image->width * image->height, channels = image->channels;
    uint8_t flip = invert ? 0xFF : 0;
    for (size_t channel = 0; channel < channels; channel++)
        for (size_t i = 0; i < pixels; i++)
            planes[channel * pixels + i] = image->pixels[i * channels + channel] ^ flip;
}

imp_status imp_image_prepare(imp_image *image, uint32_t size, uint32_t channels, bool invert,
                             uint8_t *planes, imp_error *error)
{
    imp_image resampled = {0};
    bool fits = image->width == size && image->height == size;
    imp_status status = imp_image_convert(image, channels, error);
    if (!status && !fits)
        status = imp_image_resample(image, size, size, &resampled, error);
    if (!status)
        imp_image_to_planes(fits ? image : &resampled, invert, planes);
    imp_image_clear(&resampled);
    return status;
}

bool imp_image_on_light(const imp_image *image)
{
    uint64_t sum = 0, count = 0;
    for (size_t y = 0; y < image->height; y++) {
        bool whole = y == 0 || y == image->height - 1;
        size_t step = whole || image->width == 1 ? 1 : image->width - 1;
        for (size_t x = 0; x < image->width; x += step, count++) {
            const uint8_t *pixel = image->pixels + (y * image->width + x) * image->channels;
            sum += image->channels == 1 ? *pixel : luma(pixel);
        }
    }
    return 2 * sum >= 255 * count;
}

bool imp_image_inverts(const imp_image *image, imp_inversion inversion)
{
    return inversion == IMP_INVERT_ALL ||
           (inversion == IMP_INVERT_LIGHT && imp_image_on_light(image));
}

bool imp_image_has_colour(const imp_image *image)
{
    enum { TINT = 16 };
    if (image->channels != 3)
        return false;
    size_t pixels = (size_t)image->width * image->height;
    uint64_t sum = 0;
    for (size_t i = 0; i < pixels; i++) {
        const uint8_t *rgb = image->pixels + 3 * i;
        uint8_t low = rgb[0], high = rgb[0];
        for (int c = 1; c < 3; c++) {
            low = rgb[c] < low ? rgb[c] : low;
            high = rgb[c] > high ? rgb[c] : high;
        }
        sum += (uint64_t)(high - low);
    }
    return sum > (uint64_t)TINT * pixels;
}
