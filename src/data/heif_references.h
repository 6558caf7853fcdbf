/*
 * heif_references.h - which pictures of a HEIF file are made of which others.
 *
 * A grid is made of its tiles, and a picture with transparency of colours and alpha. libheif (1.15)
 * decodes what a picture is made of by recursion and believes the file: one that is made of itself
 * overflows the stack, and grids of grids take for ever.
 */
#ifndef IMP_DATA_HEIF_REFERENCES_H
#define IMP_DATA_HEIF_REFERENCES_H

#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

/* IMP_EFORMAT if pictures are made of each other in a circle, over many stages, or of very many
 * others; IMP_ENOMEM. Of a file that is broken otherwise nothing is said. */
imp_status imp_heif_check_references(const uint8_t *bytes, size_t size, imp_error *error);

#endif
