/*
 * format.c - the table of image formats: magic bytes and decoders.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "data/image.h"

static bool begins_with(const uint8_t *bytes, size_t size, const char *beginning, size_t length)
{
    return size >= length && memcmp(bytes, beginning, length) == 0;
}

static bool begins_png(const uint8_t *bytes, size_t size)
{
    return begins_with(bytes, size, "\x89PNG", 4);
}

static bool begins_jpeg(const uint8_t *bytes, size_t size)
{
    return begins_with(bytes, size, "\xFF\xD8\xFF", 3);
}

static bool begins_bmp(const uint8_t *bytes, size_t size)
{
    return begins_with(bytes, size, "BM", 2) && size >= 10 && memcmp(bytes + 6, "\0\0\0\0", 4) == 0;
}

static bool begins_webp(const uint8_t *bytes, size_t size)
{
    return begins_with(bytes, size, "RIFF", 4) && size >= 12 && memcmp(bytes + 8, "WEBP", 4) == 0;
}

static bool begins_heif(const uint8_t *bytes, size_t size)
{
    /* Not AVIF: the AV1 decoder of libheif prints to standard error about broken files, and leaks
     * memory. */
    return size >= 12 && memcmp(bytes + 4, "ftyp", 4) == 0 && memcmp(bytes + 8, "avi", 3) != 0;
}

static bool begins_tiff(const uint8_t *bytes, size_t size)
{
    return begins_with(bytes, size, "II*", 4) || begins_with(bytes, size, "MM\0*", 4) ||
           begins_with(bytes, size, "II+", 4) || begins_with(bytes, size, "MM\0+", 4);
}

static bool begins_gif(const uint8_t *bytes, size_t size)
{
    return begins_with(bytes, size, "GIF87a", 6) || begins_with(bytes, size, "GIF89a", 6);
}

/* A decoder that was built, or NULL. */
#ifdef IMP_WITH_WEBP
#define WEBP imp_webp_decode
#else
#define WEBP NULL
#endif
#ifdef IMP_WITH_HEIF
#define HEIF imp_heif_decode
#else
#define HEIF NULL
#endif
#ifdef IMP_WITH_TIFF
#define TIFF imp_tiff_decode
#else
#define TIFF NULL
#endif
#ifdef IMP_WITH_GIF
#define GIF imp_gif_decode
#else
#define GIF NULL
#endif

#define ENDINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

const imp_image_format imp_image_formats[] = {
    {"PNG", "libpng", ENDINGS(".png"), begins_png, imp_png_decode},
    {"JPEG", "libjpeg", ENDINGS(".jpg", ".jpeg"), begins_jpeg, imp_jpeg_decode},
    {"WebP", "libwebp", ENDINGS(".webp"), begins_webp, WEBP},
    {"HEIF", "libheif", ENDINGS(".heic", ".heif"), begins_heif, HEIF},
    {"TIFF", "libtiff", ENDINGS(".tif", ".tiff"), begins_tiff, TIFF},
    {"GIF", "giflib", ENDINGS(".gif"), begins_gif, GIF},
    {"BMP", NULL, ENDINGS(".bmp"), begins_bmp, imp_bmp_decode},
    {NULL, NULL, NULL, NULL, NULL},
};

bool imp_image_begins(const unsigned char *bytes, size_t size)
{
    enum { ENOUGH = 12 }; /* bytes to recognise every format; fewer may be the start of any */
    for (const imp_image_format *format = imp_image_formats; format->name != NULL; format++)
        if (format->begins(bytes, size))
            return true;
    return size < ENOUGH;
}

imp_status imp_image_decode(const uint8_t *bytes, size_t size, size_t pixel_limit, imp_image *image,
                            imp_error *error)
{
    *image = (imp_image){0};
    if (size == 0)
        return imp_fail(error, IMP_EFORMAT, "the file is empty");
    for (const imp_image_format *format = imp_image_formats; format->name != NULL; format++) {
        if (!format->begins(bytes, size))
            continue;
        if (format->decode != NULL)
            return format->decode(bytes, size, pixel_limit, image, error);
        return imp_fail(
            error, IMP_EUNSUPPORTED,
            "the file is a %s picture, which this build does not read: it was built without %s",
            format->name, format->library);
    }
    return imp_fail(
        error, IMP_EFORMAT,
        "the file is not a picture of a known kind (PNG, JPEG, WebP, HEIF, TIFF, GIF, BMP)");
}
