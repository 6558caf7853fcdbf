/*
 * tiff.c - decodes TIFF pictures with libtiff; the first of several in a file.
 *
 * libtiff converts everything to RGBA: 1 to 16 bits, palettes, CMYK, YCbCr, CIE Lab. Any error it
 * reports is a failure, even where it would continue.
 */
#include "data/image.h"

#ifdef IMP_WITH_TIFF

#include <stdio.h>
#include <string.h>
#include <tiffio.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/orientation.h"

enum { MOST_MEMORY = 1 << 28 }; /* of one allocation by libtiff */

typedef struct decoder {
    const uint8_t *bytes;
    size_t size, at;
    char fault[200]; /* the first that libtiff reported */
} decoder;

static tmsize_t read_bytes(thandle_t handle, void *to, tmsize_t wanted)
{
    decoder *state = handle;
    size_t left = state->at < state->size ? state->size - state->at : 0;
    size_t count = (size_t)wanted < left ? (size_t)wanted : left;
    if (count > 0)
        memcpy(to, state->bytes + state->at, count);
    state->at += count;
    return (tmsize_t)count;
}

static tmsize_t write_nothing(thandle_t handle, void *from, tmsize_t count)
{
    (void)handle, (void)from, (void)count;
    return 0;
}

static toff_t seek(thandle_t handle, toff_t to, int whence)
{
    decoder *state = handle;
    uint64_t base = whence == SEEK_CUR ? state->at : whence == SEEK_END ? state->size : 0;
    state->at = (size_t)(base + to);
    return state->at;
}

static int close_nothing(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t size_of(thandle_t handle)
{
    return ((decoder *)handle)->size;
}

static int on_error(TIFF *tiff, void *context, const char *module, const char *format,
                    va_list arguments)
{
    (void)tiff, (void)module;
    decoder *state = context;
    if (!state->fault[0])
        vsnprintf(state->fault, sizeof state->fault, format, arguments);
    return 1;
}

static int on_warning(TIFF *tiff, void *context, const char *module, const char *format,
                      va_list arguments)
{
    (void)tiff, (void)context, (void)module, (void)format, (void)arguments;
    return 1;
}

static TIFF *open_memory(decoder *state)
{
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, MOST_MEMORY);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, state);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, state);
    TIFF *tiff = TIFFClientOpenExt("picture", "rm", state, read_bytes, write_nothing, seek,
                                   close_nothing, size_of, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}

static imp_status broken(const decoder *state, imp_error *error)
{
    return imp_fail(error, IMP_EFORMAT, "broken TIFF: %s",
                    state->fault[0] ? state->fault : "it cannot be read");
}

/* libtiff's output is 0xAABBGGRR, with premultiplied alpha. */
static void lay_on_white(const uint32_t *packed, imp_image *image)
{
    size_t count = (size_t)image->width * image->height;
    for (size_t i = 0; i < count; i++) {
        unsigned ground = 255 - TIFFGetA(packed[i]);
        unsigned rgb[] = {TIFFGetR(packed[i]), TIFFGetG(packed[i]), TIFFGetB(packed[i])};
        for (size_t c = 0; c < image->channels; c++)
            image->pixels[i * image->channels + c] =
                (uint8_t)(rgb[c] + ground > 255 ? 255 : rgb[c] + ground);
    }
}

static imp_status read_picture(TIFF *tiff, const decoder *state, size_t pixel_limit,
                               imp_image *image, imp_error *error)
{
    uint32_t width = 0, height = 0;
    uint16_t orientation = ORIENTATION_TOPLEFT, samples = 1, photometric = PHOTOMETRIC_RGB;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &orientation);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
    TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric);
    char why[1024];
    imp_status status = imp_image_check_size(width, height, pixel_limit, error);
    if (!status && !TIFFRGBAImageOK(tiff, why))
        status = imp_fail(error, IMP_EUNSUPPORTED, "unsupported TIFF: %.150s", why);
    if (status)
        return status;
    bool gray = samples == 1 &&
                (photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE);
    uint32_t *packed = imp_allocate((size_t)width * height, sizeof *packed);
    if (!packed)
        return imp_fail_memory(error, "a TIFF picture");
    if (orientation < 1 || orientation > 8)
        orientation = ORIENTATION_TOPLEFT;
    /* In stored order; rotation follows. */
    if (!TIFFReadRGBAImageOriented(tiff, width, height, packed, orientation, 1) || state->fault[0])
        status = broken(state, error);
    if (!status)
        status = imp_image_create(image, width, height, gray ? 1 : 3, error);
    if (!status) {
        lay_on_white(packed, image);
        status = imp_image_orient(image, orientation, error);
    }
    imp_release(packed);
    return status;
}

imp_status imp_tiff_decode(const uint8_t *bytes, size_t size, size_t pixel_limit, imp_image *image,
                           imp_error *error)
{
    *image = (imp_image){0};
    decoder state = {.bytes = bytes, .size = size};
    TIFF *tiff = open_memory(&state);
    if (!tiff)
        return broken(&state, error);
    imp_status status = read_picture(tiff, &state, pixel_limit, image, error);
    TIFFClose(tiff);
    if (status)
        imp_image_clear(image);
    return status;
}

#endif
