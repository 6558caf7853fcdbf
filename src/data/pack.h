/*
 * pack.h - the format of a packed dataset, version 2, little-endian.
 *
 *     header       imp_pack_header
 *     table        classes, super-class names, picture names, block checksums, texts (see below)
 *     padding      to a multiple of 4096
 *     pixels       (pictures, channels, size, size)
 *
 * The parts of the table are contiguous and in this order, those of 8 bytes first; names are
 * offsets of zero-terminated strings. Everything is covered by a checksum: the header by its own,
 * the table by one in the header, the pixels by one per block in the table.
 */
#ifndef IMP_DATA_PACK_H
#define IMP_DATA_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/dataset.h"

#define IMP_PACK_MAGIC "imp-pack"
enum { IMP_PACK_VERSION = 2, IMP_PACK_BLOCK = 1 << 20, IMP_PACK_PAGE = 4096 };

typedef struct imp_pack_header {
    char magic[8];
    uint32_t version;
    uint32_t size, channels;
    uint32_t classes, super_classes, pictures;
    uint32_t sizes[4]; /* imp_size_range */
    char kind[12];     /* the first letters of imp_dataset.kind */
    uint8_t inverted;  /* 0 or 1, as imp_dataset.inverted */
    char kind_rest[3]; /* the letters of the kind from the 13th on */
    uint8_t fingerprint[IMP_FINGERPRINT_BYTES];
    uint64_t text_size;
    uint64_t table_checksum;
    uint64_t header_checksum; /* of all bytes before it */
} imp_pack_header;

typedef struct imp_pack_class {
    uint32_t name, super_class, split, first_picture, count;
} imp_pack_class;

/* Offsets of the parts in the file. */
typedef struct imp_pack_layout {
    uint64_t block_checksums, classes, super_names, picture_names, text;
    uint64_t table_end, pixels, end;
    uint64_t blocks;
} imp_pack_layout;

/* False if the header's counts do not fit in memory. */
bool imp_pack_layout_of(const imp_pack_header *header, imp_pack_layout *layout);

/* The checksum of the header, as it should be in header_checksum. */
uint64_t imp_pack_header_checksum(const imp_pack_header *header);

/* Bytes of block `block` of the pixels. */
static inline size_t imp_pack_block_size(const imp_pack_layout *layout, size_t block)
{
    uint64_t left = layout->end - layout->pixels - (uint64_t)block * IMP_PACK_BLOCK;
    return left < IMP_PACK_BLOCK ? (size_t)left : IMP_PACK_BLOCK;
}

#endif
