/*
 * pictures.h - picture files and archives for the tests of the data layer, made without its help.
 */
#ifndef PICTURES_H
#define PICTURES_H

#include <stddef.h>
#include <stdint.h>

typedef struct picture_bytes {
    uint8_t *bytes; /* malloc()ed */
    size_t size;
} picture_bytes;

/* A PNG of the given libpng colour type and bit depth; `rows` holds packed rows as libpng wants
 * them. A palette image gets the palette i -> (i, 2i, 255 - i), entry 0 transparent if asked so. */
picture_bytes picture_png(uint32_t width, uint32_t height, int colour_type, int bit_depth,
                          int interlaced, int transparent, const uint8_t *rows);

/* A gray 8-bit PNG whose pixel (x, y) is start + x + y. */
picture_bytes picture_ramp(uint32_t width, uint32_t height, uint8_t start);

/* A JPEG of 1, 3 or 4 (CMYK) components, all `value`. */
picture_bytes picture_jpeg(uint32_t width, uint32_t height, int components, uint8_t value,
                           int progressive);

void picture_save(const char *path, picture_bytes picture); /* and frees it */

/* Makes a folder and those above it below an existing one. */
void make_folders(const char *path);

/* Teardown of a test whose scratch folder has folders in it; scratch_setup made it. */
int tree_teardown(void **state);

/* Packs files into an archive: format "zip", "tar" or "tar.gz". */
typedef struct archive_member {
    const char *name;
    picture_bytes content;
} archive_member;
void archive_save(const char *path, const char *format, const archive_member *members,
                  size_t count);

#endif
