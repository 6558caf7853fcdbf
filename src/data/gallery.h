/*
 * gallery.h - a user's pictures: files and folders, mostly without classes.
 *
 * A dataset is for training: one layout, every picture in a class, all of them decoded at once. A
 * gallery is for classifying a user's pictures. It knows where the pictures are and, for those
 * below a folder of classes, their classes; pictures are decoded on demand.
 */
#ifndef IMP_DATA_GALLERY_H
#define IMP_DATA_GALLERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

#include "data/fault.h"
#include "data/image.h"
#include "data/unpacked.h"

typedef struct imp_gallery_picture {
    char *path;            /* ARCHIVE/NAME for a member of an archive */
    imp_unpacked *archive; /* the archive it is in, or NULL for a file */
    size_t member;
    int32_t class;    /* its number, or -1 */
    bool coloured;    /* more than a tint; known once it has been read */
    imp_fault *fault; /* why it could not be read, otherwise NULL */
} imp_gallery_picture;

typedef struct imp_gallery {
    imp_gallery_picture *pictures;
    size_t count, capacity;
    char **classes; /* their names, in bytewise order of their folders' paths */
    size_t class_count;
    bool any;           /* set before adding: every file counts as a picture */
    char **passed_over; /* paths of pictures of kinds that are not read, such as .svg */
    size_t passed_count, passed_capacity;
    size_t empty_count; /* sub-folders without pictures */
    char *empty;        /* the name of one of them, or NULL */
    imp_unpacked **archives;
    size_t archive_count;
} imp_gallery;

/* Adds the picture at `path`, or all pictures in and below that folder or archive
 * (imp_source_is_archive()) in bytewise order of their names, without classes. Clear the gallery
 * after a failure: IMP_EIO for what cannot be read, IMP_EINVAL for a folder without pictures,
 * IMP_EFORMAT for a broken archive, IMP_ENOMEM. */
imp_status imp_gallery_add(imp_gallery *gallery, const char *path, imp_error *error);

/* The same for a folder or archive whose sub-folders are classes; pictures below one of them,
 * however deep, are in that class. Those beside the sub-folders and in "_unlabeled" are in none.
 * Only for a gallery that has no classes yet. */
imp_status imp_gallery_add_classes(imp_gallery *gallery, const char *folder, imp_error *error);

/* Releases everything and zeroes the struct; harmless on a zeroed one. */
void imp_gallery_clear(imp_gallery *gallery);

/* How every picture is prepared. */
typedef struct imp_picture_format {
    uint32_t size, channels;
    imp_inversion inversion;
} imp_picture_format;

/* Reads the pictures first .. first + count - 1 on up to `threads` threads into `planes`, (count,
 * channels, size, size). A picture that cannot be read gets a fault that names its path, and
 * undefined planes; only out of memory is a failure. */
imp_status imp_gallery_read(imp_gallery *gallery, size_t first, size_t count,
                            const imp_picture_format *format, int threads, uint8_t *planes,
                            imp_error *error);

/* The bytes of a picture's file, at most IMP_FILE_LIMIT; release them with imp_release(). Errors
 * name the path. */
imp_status imp_gallery_bytes(const imp_gallery *gallery, size_t picture, uint8_t **bytes,
                             size_t *size, imp_error *error);

/* One picture as it is in its file. */
imp_status imp_gallery_open(const imp_gallery *gallery, size_t picture, imp_image *image,
                            imp_error *error);

/* The fault of the first picture that has one, or NULL. */
const imp_fault *imp_gallery_fault(const imp_gallery *gallery);

/* How many of the pictures read so far are coloured. */
size_t imp_gallery_coloured(const imp_gallery *gallery);

/* Removes the pictures with faults; the others keep their order. */
void imp_gallery_drop_broken(imp_gallery *gallery);

#endif
