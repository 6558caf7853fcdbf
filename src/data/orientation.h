/*
 * orientation.h - the orientation in a picture's EXIF data, and rotating the picture accordingly.
 */
#ifndef IMP_DATA_ORIENTATION_H
#define IMP_DATA_ORIENTATION_H

#include "data/image.h"

/* The orientation, 1 to 8, of EXIF data that begins with its TIFF header (after "Exif\0\0", if that
 * is there); 1, which is upright, if there is none or the data is broken. */
int imp_exif_orientation(const uint8_t *bytes, size_t size);

/* Rotates and mirrors the picture so that it is upright. On failure (IMP_ENOMEM) it is unchanged.
 */
imp_status imp_image_orient(imp_image *image, int orientation, imp_error *error);

#endif
