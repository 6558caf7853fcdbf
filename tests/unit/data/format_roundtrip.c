/*
 * format_roundtrip.c - format_roundtrip FILE: writes the picture's width, height, channels and
 * pixels; format_roundtrip --torture FILE: cuts the file everywhere and flips its bits.
 *
 * A file that is cut in its first part must be refused; behind that there may be another frame.
 * What is flipped must be a picture or a sentence.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/image.h"

static int torture(const uint8_t *bytes, size_t size, const char *path)
{
    size_t step = size / 400 + 1;
    for (size_t length = 0; length < size; length += step) {
        uint8_t *piece = malloc(length ? length : 1); /* of its own: reading behind it is seen */
        memcpy(piece, bytes, length);
        imp_image image;
        imp_error error = {0};
        imp_status status = imp_image_decode(piece, length, 1 << 16, &image, &error);
        free(piece);
        if (!status && length < size * 2 / 5) {
            fprintf(stderr, "%s: %zu of %zu bytes count as a picture\n", path, length, size);
            return 1;
        }
        if (status && (image.pixels || strlen(error.message) < 10)) {
            fprintf(stderr, "%s: a fault without a sentence\n", path);
            return 1;
        }
        imp_image_clear(&image);
    }
    uint8_t *copy = malloc(size);
    memcpy(copy, bytes, size);
    for (size_t at = 0; at < size; at += step)
        for (int bit = 0; bit < 8; bit += 3) {
            copy[at] ^= (uint8_t)(1 << bit);
            imp_image image;
            if (!imp_image_decode(copy, size, 1 << 16, &image, NULL))
                imp_image_clear(&image);
            copy[at] ^= (uint8_t)(1 << bit);
        }
    free(copy);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    const char *path = argv[argc - 1];
    uint8_t *bytes;
    size_t size;
    imp_image image;
    imp_error error;
    if (imp_file_read(path, 1 << 24, &bytes, &size, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    int status = 0;
    if (argc == 3) {
        status = torture(bytes, size, path);
    } else if (imp_image_decode(bytes, size, 1 << 22, &image, &error)) {
        fprintf(stderr, "%s: %s\n", path, error.message);
        status = 1;
    } else {
        printf("%u %u %u\n", image.width, image.height, image.channels);
        fwrite(image.pixels, image.channels, (size_t)image.width * image.height, stdout);
        imp_image_clear(&image);
    }
    imp_release(bytes);
    return status;
}
