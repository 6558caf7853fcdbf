/*
 * bmp.c - decodes BMP pictures without a library: none reads only BMP, and the format is simple.
 *
 * 1, 4, 8, 16, 24 and 32 bits, with palettes and bit fields, top down or bottom up. Compressed
 * files are refused. Alpha in 32 bits is composited on white if the header defines it.
 */
#include <string.h>

#include "base/error.h"
#include "data/image.h"

enum { PLAIN = 0, BIT_FIELDS = 3, BIT_FIELDS_WITH_ALPHA = 6, FILE_HEADER = 14 };

static uint32_t number(const uint8_t *bytes, size_t count)
{
    uint32_t value = 0;
    for (size_t i = 0; i < count; i++)
        value |= (uint32_t)bytes[i] << 8 * i;
    return value;
}

typedef struct header {
    uint32_t width, height, bits, compression;
    bool top_down;
    size_t pixels, stride;
    const uint8_t *palette; /* entries of `entry` bytes: blue, green, red */
    size_t colours, entry;
    uint32_t masks[4]; /* red, green, blue, alpha of 16 and 32 bits */
} header;

static imp_status broken(const char *what, imp_error *error)
{
    return imp_fail(error, IMP_EFORMAT, "broken BMP: %s", what);
}

/* OS/2's header of 12 bytes, or one of Windows'. */
static imp_status read_sizes(const uint8_t *bytes, size_t size, size_t length, header *about,
                             imp_error *error)
{
    if (size < FILE_HEADER + length || (length != 12 && length < 40))
        return broken("its header is cut off or of an unknown kind", error);
    const uint8_t *at = bytes + FILE_HEADER;
    if (length == 12) {
        about->width = number(at + 4, 2);
        about->height = number(at + 6, 2);
        about->bits = number(at + 10, 2);
        return IMP_OK;
    }
    int32_t width = (int32_t)number(at + 4, 4), height = (int32_t)number(at + 8, 4);
    if (width <= 0 || height == 0 || height == INT32_MIN)
        return broken("it is empty", error);
    about->width = (uint32_t)width;
    about->top_down = height < 0;
    about->height = (uint32_t)(height < 0 ? -height : height);
    about->bits = number(at + 14, 2);
    about->compression = number(at + 16, 4);
    return IMP_OK;
}

/* The bit masks of the colours, which are in the longer headers or after the short one. */
static imp_status read_masks(const uint8_t *bytes, size_t size, size_t length, header *about,
                             imp_error *error)
{
    static const uint32_t usual[2][4] = {{0x7C00, 0x3E0, 0x1F, 0}, {0xFF0000, 0xFF00, 0xFF, 0}};
    memcpy(about->masks, usual[about->bits == 32], sizeof about->masks);
    if (about->compression == PLAIN)
        return IMP_OK;
    bool alpha = length >= 56 || about->compression == BIT_FIELDS_WITH_ALPHA;
    size_t first = FILE_HEADER + 40, count = alpha ? 4 : 3;
    if (size < first + 4 * count)
        return broken("its fields are cut off", error);
    for (size_t i = 0; i < count; i++)
        about->masks[i] = number(bytes + first + 4 * i, 4);
    return IMP_OK;
}

static imp_status read_header(const uint8_t *bytes, size_t size, size_t pixel_limit, header *about,
                              imp_error *error)
{
    *about = (header){0};
    if (size < FILE_HEADER + 4)
        return broken("its header is cut off", error);
    size_t length = number(bytes + FILE_HEADER, 4);
    about->pixels = number(bytes + 10, 4);
    imp_status status = read_sizes(bytes, size, length, about, error);
    if (!status)
        status = imp_image_check_size(about->width, about->height, pixel_limit, error);
    if (status)
        return status;
    uint32_t bits = about->bits, compression = about->compression;
    bool deep = bits == 16 || bits == 32;
    if (bits != 1 && bits != 4 && bits != 8 && bits != 24 && !deep)
        return broken("it has an invalid number of bits per pixel", error);
    if (compression != PLAIN &&
        !(deep && (compression == BIT_FIELDS || compression == BIT_FIELDS_WITH_ALPHA)))
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "the picture is a compressed BMP; save it without compression or as PNG");
    if (deep)
        status = read_masks(bytes, size, length, about, error);
    about->stride = ((size_t)about->width * bits + 31) / 32 * 4;
    if (!status && (about->pixels > size || (size - about->pixels) / about->stride < about->height))
        status = broken("it is cut off", error);
    if (!status && bits <= 8) {
        size_t first = FILE_HEADER + length;
        about->entry = length == 12 ? 3 : 4;
        about->palette = bytes + first;
        about->colours = (size_t)1 << bits;
        size_t room = about->pixels > first ? (about->pixels - first) / about->entry : 0;
        if (room < about->colours)
            about->colours = room;
    }
    return status;
}

/* The bits of a field, scaled to eight. */
static uint8_t field(uint32_t value, uint32_t mask)
{
    if (mask == 0)
        return 0;
    int shift = __builtin_ctz(mask);
    uint64_t most = mask >> shift;
    return (uint8_t)(((uint64_t)((value & mask) >> shift) * 255 + most / 2) / most);
}

static void read_pixel(const header *about, const uint8_t *row, uint32_t x, uint8_t *rgba)
{
    rgba[3] = 255;
    if (about->bits <= 8) {
        uint32_t per_byte = 8 / about->bits, shift = 8 - about->bits * (x % per_byte + 1);
        size_t index = row[x / per_byte] >> shift & ((1u << about->bits) - 1);
        const uint8_t *entry = about->palette + index * about->entry;
        for (size_t c = 0; c < 3; c++)
            rgba[c] = index < about->colours ? entry[2 - c] : 0;
    } else if (about->bits == 24) {
        for (size_t c = 0; c < 3; c++)
            rgba[c] = row[3 * (size_t)x + 2 - c];
    } else {
        uint32_t value = number(row + (size_t)x * about->bits / 8, about->bits / 8);
        for (size_t c = 0; c < 3; c++)
            rgba[c] = field(value, about->masks[c]);
        if (about->masks[3])
            rgba[3] = field(value, about->masks[3]);
    }
}

imp_status imp_bmp_decode(const uint8_t *bytes, size_t size, size_t pixel_limit, imp_image *image,
                          imp_error *error)
{
    *image = (imp_image){0};
    header about;
    imp_status status = read_header(bytes, size, pixel_limit, &about, error);
    if (!status)
        status = imp_image_create(image, about.width, about.height, 3, error);
    if (status)
        return status;
    for (uint32_t y = 0; y < about.height; y++) {
        uint32_t from = about.top_down ? y : about.height - 1 - y;
        const uint8_t *row = bytes + about.pixels + from * about.stride;
        uint8_t *to = image->pixels + (size_t)y * about.width * 3, rgba[4];
        for (uint32_t x = 0; x < about.width; x++, to += 3) {
            read_pixel(&about, row, x, rgba);
            imp_image_lay_on_white(rgba, 1, to);
        }
    }
    return IMP_OK;
}
