/*
 * image.h - a decoded picture: 8 bits per channel, gray or RGB, rows from top to bottom.
 *
 * imp_image_decode() reads all formats and recognises them by their first bytes, not by the file's
 * name: PNG, JPEG and BMP always, WebP, HEIF, TIFF and GIF if their libraries were available at
 * build time. Pictures are rotated as EXIF says, transparency is composited on white, 16 bits
 * become 8, CMYK becomes RGB, and only the first of several frames is used.
 */
#ifndef IMP_DATA_IMAGE_H
#define IMP_DATA_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/dataset.h>
#include <imp/status.h>

typedef struct imp_image {
    uint32_t width, height;
    uint32_t channels; /* 1: gray, 3: RGB */
    uint8_t *pixels;   /* (height, width, channels) */
} imp_image;

/* The most pixels a picture may have unless the caller says otherwise: 64 megapixels. */
#define IMP_PIXEL_LIMIT ((size_t)64 << 20)

/* A new picture, uninitialised; release with imp_image_clear(). On failure *image is zeroed. */
imp_status imp_image_create(imp_image *image, uint32_t width, uint32_t height, uint32_t channels,
                            imp_error *error);

/* Releases the pixels and zeroes the struct; harmless on a zeroed one. */
void imp_image_clear(imp_image *image);

/* Decodes a whole picture file held in memory. A picture of more than `pixel_limit` pixels is
 * refused before memory is allocated. On failure *image is zeroed: IMP_EFORMAT for a broken file,
 * IMP_EUNSUPPORTED for a valid one of an unsupported kind, IMP_ENOMEM. */
imp_status imp_image_decode(const uint8_t *bytes, size_t size, size_t pixel_limit, imp_image *image,
                            imp_error *error);

/* Whether a file that begins like this may be a picture, for imp_file_read_if(). */
bool imp_image_begins(const unsigned char *bytes, size_t size);

imp_status imp_png_decode(const uint8_t *bytes, size_t size, size_t pixel_limit, imp_image *image,
                          imp_error *error);
imp_status imp_jpeg_decode(const uint8_t *bytes, size_t size, size_t pixel_limit, imp_image *image,
                           imp_error *error);
imp_status imp_bmp_decode(const uint8_t *bytes, size_t size, size_t pixel_limit, imp_image *image,
                          imp_error *error);
imp_status imp_webp_decode(const uint8_t *bytes, size_t size, size_t pixel_limit, imp_image *image,
                           imp_error *error);
imp_status imp_heif_decode(const uint8_t *bytes, size_t size, size_t pixel_limit, imp_image *image,
                           imp_error *error);
imp_status imp_tiff_decode(const uint8_t *bytes, size_t size, size_t pixel_limit, imp_image *image,
                           imp_error *error);
imp_status imp_gif_decode(const uint8_t *bytes, size_t size, size_t pixel_limit, imp_image *image,
                          imp_error *error);

/* Composites `count` RGBA pixels on white. */
void imp_image_lay_on_white(const uint8_t *rgba, size_t count, uint8_t *rgb);

/* The formats in the order in which they are tried; a NULL name ends the list. */
typedef struct imp_image_format {
    const char *name;           /* "WebP" */
    const char *library;        /* that decodes it */
    const char *const *endings; /* suffixes of its files, with the dot; ends with NULL */
    bool (*begins)(const uint8_t *bytes, size_t size);
    imp_status (*decode)(const uint8_t *bytes, size_t size, size_t pixel_limit, imp_image *image,
                         imp_error *error); /* NULL: built without the library */
} imp_image_format;
extern const imp_image_format imp_image_formats[];

/* IMP_EUNSUPPORTED if width x height exceeds the limit, IMP_EFORMAT if it is empty. */
imp_status imp_image_check_size(uint32_t width, uint32_t height, size_t pixel_limit,
                                imp_error *error);

/* The picture as a PNG file in memory; release *bytes with imp_release(). On failure it is NULL.
 */
imp_status imp_png_encode(const imp_image *image, uint8_t **bytes, size_t *size, imp_error *error);

/* The same as a JPEG of `quality` 1 to 100; for photographs a fifth of the size. */
imp_status imp_jpeg_encode(const imp_image *image, int quality, uint8_t **bytes, size_t *size,
                           imp_error *error);

/* Writes the picture as a PNG, atomically. */
imp_status imp_png_save(const char *path, const imp_image *image, imp_error *error);

/* Makes a gray picture RGB or an RGB picture gray (ITU-R 601 luma), in place. On failure the
 * picture is as it was. */
imp_status imp_image_convert(imp_image *image, uint32_t channels, imp_error *error);

/* Shrinks the picture so that neither side is longer than `side` pixels. */
imp_status imp_image_shrink(imp_image *image, uint32_t side, imp_error *error);

/* Resamples to another size. Shrinking averages over the area of a new pixel (Pillow's BOX),
 * enlarging is bicubic (Pillow's BICUBIC, a = -1/2), for each axis. On failure *out is zeroed. */
imp_status imp_image_resample(const imp_image *image, uint32_t width, uint32_t height,
                              imp_image *out, imp_error *error);

/* Whether the background is light: the mean of the pixels along the edges is in the upper half. */
bool imp_image_on_light(const imp_image *image);

/* Whether the picture is to be inverted. */
bool imp_image_inverts(const imp_image *image, imp_inversion inversion);

/* Whether channels differ on average by more than paper, ink and compression explain. */
bool imp_image_has_colour(const imp_image *image);

/* Writes the pixels channel by channel, (channels, height, width), to `planes`; each value v
 * becomes 255 - v if `invert`. */
void imp_image_to_planes(const imp_image *image, bool invert, uint8_t *planes);

/* Prepares a decoded picture for a network: gray or RGB, resampled to `size` x `size`, written as
 * by imp_image_to_planes(). The picture itself may be changed. */
imp_status imp_image_prepare(imp_image *image, uint32_t size, uint32_t channels, bool invert,
                             uint8_t *planes, imp_error *error);

#endif
