/*
 * image.h - a decoded picture: 8 bits a channel, gray or RGB, rows from top to bottom.
 *
 * All formats come in through imp_image_decode(), which tells them apart by their first bytes and
 * not by a file's name: PNG, JPEG and BMP always, WebP, HEIF, TIFF and GIF if their libraries were
 * there when this was built. Pictures are turned as the camera was held, transparent ones are laid
 * on white, 16 bits become 8, CMYK becomes RGB, and of several frames the first counts.
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
 * refused before memory is taken for it. On failure *image is zeroed: IMP_EFORMAT for a broken
 * file, IMP_EUNSUPPORTED for a sound one of a kind that is not read, IMP_ENOMEM. */
imp_status imp_image_decode(const uint8_t *bytes, size_t size, size_t pixel_limit, imp_image *image,
                            imp_error *error);

/* Whether a file that begins so may be one, as imp_file_read_if() wants to know. */
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

/* Makes RGB of `count` pixels of RGBA that lie on white. */
void imp_image_lay_on_white(const uint8_t *rgba, size_t count, uint8_t *rgb);

/* The formats in the order in which they are asked; a name of NULL ends them. */
typedef struct imp_image_format {
    const char *name;           /* "WebP" */
    const char *library;        /* that reads it */
    const char *const *endings; /* of names of its files, with the dot; ends with NULL */
    bool (*begins)(const uint8_t *bytes, size_t size);
    imp_status (*decode)(const uint8_t *bytes, size_t size, size_t pixel_limit, imp_image *image,
                         imp_error *error); /* NULL: the library was not there */
} imp_image_format;
extern const imp_image_format imp_image_formats[];

/* IMP_EUNSUPPORTED when width x height is beyond the limit, IMP_EFORMAT when it is empty. */
imp_status imp_image_check_size(uint32_t width, uint32_t height, size_t pixel_limit,
                                imp_error *error);

/* The picture as a PNG file in memory; give *bytes back with imp_release(). On failure it is NULL.
 */
imp_status imp_png_encode(const imp_image *image, uint8_t **bytes, size_t *size, imp_error *error);

/* The same as a JPEG of `quality` 1 to 100, which is a fifth of that for a photograph. */
imp_status imp_jpeg_encode(const imp_image *image, int quality, uint8_t **bytes, size_t *size,
                           imp_error *error);

/* Writes the picture as a PNG, atomically. */
imp_status imp_png_save(const char *path, const imp_image *image, imp_error *error);

/* Makes a gray picture RGB or an RGB picture gray (ITU-R 601 luma), in place. On failure the
 * picture is as it was. */
imp_status imp_image_convert(imp_image *image, uint32_t channels, imp_error *error);

/* Makes it smaller, if it is larger than `side` pixels either way. */
imp_status imp_image_shrink(imp_image *image, uint32_t side, imp_error *error);

/* Resamples to another size. An axis that shrinks is averaged over the area a new pixel covers
 * (Pillow's BOX), one that grows is interpolated bicubically (Pillow's BICUBIC, a = -1/2).
 * On failure *out is zeroed. */
imp_status imp_image_resample(const imp_image *image, uint32_t width, uint32_t height,
                              imp_image *out, imp_error *error);

/* Whether the picture's ground is light: the mean of the pixels along its edges is in the upper
 * half. */
bool imp_image_on_light(const imp_image *image);

/* Whether the picture is one of those that are inverted. */
bool imp_image_inverts(const imp_image *image, imp_inversion inversion);

/* Whether channels differ by more than paper, ink and compression make them, on average. */
bool imp_image_has_colour(const imp_image *image);

/* Writes the pixels channel by channel, (channels, height, width), to `planes`; each value v
 * becomes 255 - v when `invert`. */
void imp_image_to_planes(const imp_image *image, bool invert, uint8_t *planes);

/* From a decoded picture to what networks are trained on: gray or RGB, resampled to `size` x
 * `size`, written as imp_image_to_planes() does. The picture may be changed on the way. */
imp_status imp_image_prepare(imp_image *image, uint32_t size, uint32_t channels, bool invert,
                             uint8_t *planes, imp_error *error);

#endif
