/*
 * orientation.c - reads the orientation from EXIF data and rotates pictures.
 */
#include "data/orientation.h"

#include <string.h>

enum { TAG = 0x0112, SHORT = 3, ENTRY = 12 };

/* A number of two or four bytes in the header's byte order. */
static uint32_t number(const uint8_t *bytes, size_t count, bool big)
{
    uint32_t value = 0;
    for (size_t i = 0; i < count; i++)
        value |= (uint32_t)bytes[i] << 8 * (big ? count - 1 - i : i);
    return value;
}

int imp_exif_orientation(const uint8_t *bytes, size_t size)
{
    static const uint8_t before[] = {'E', 'x', 'i', 'f', 0, 0};
    if (size > sizeof before && memcmp(bytes, before, sizeof before) == 0) {
        bytes += sizeof before;
        size -= sizeof before;
    }
    if (size < 8 || (memcmp(bytes, "II", 2) != 0 && memcmp(bytes, "MM", 2) != 0))
        return 1;
    bool big = bytes[0] == 'M';
    size_t at = number(bytes + 4, 4, big);
    if (at > size - 2)
        return 1;
    size_t entries = number(bytes + at, 2, big);
    for (at += 2; entries > 0 && at + ENTRY <= size; entries--, at += ENTRY) {
        if (number(bytes + at, 2, big) != TAG || number(bytes + at + 2, 2, big) != SHORT)
            continue;
        uint32_t found = number(bytes + at + 8, 2, big);
        return found >= 1 && found <= 8 ? (int)found : 1;
    }
    return 1;
}

imp_status imp_image_orient(imp_image *image, int orientation, imp_error *error)
{
    if (orientation <= 1 || orientation > 8)
        return IMP_OK;
    bool turned = orientation >= 5; /* rows become columns */
    uint32_t width = turned ? image->height : image->width;
    uint32_t height = turned ? image->width : image->height;
    imp_image upright;
    imp_status status = imp_image_create(&upright, width, height, image->channels, error);
    if (status)
        return status;
    /* Whether an axis of the stored picture is reversed. */
    bool back_x = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    bool back_y = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    size_t channels = image->channels;
    uint8_t *to = upright.pixels;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++, to += channels) {
            uint32_t from_x = turned ? y : x, from_y = turned ? x : y;
            if (back_x)
                from_x = image->width - 1 - from_x;
            if (back_y)
                from_y = image->height - 1 - from_y;
            memcpy(to, image->pixels + ((size_t)from_y * image->width + from_x) * channels,
                   channels);
        }
    imp_image_clear(image);
    *image = upright;
    return IMP_OK;
}
