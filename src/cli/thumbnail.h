/*
 * thumbnail.h - small copies of pictures for pages, made on all cores a batch at a time.
 */
#ifndef IMP_CLI_THUMBNAIL_H
#define IMP_CLI_THUMBNAIL_H

#include "data/gallery.h"

/* A picture of which a copy of at most `side` pixels each way is wanted. */
typedef struct imp_thumbnail_of {
    const imp_gallery *gallery;
    size_t picture;
    uint32_t side;
} imp_thumbnail_of;

typedef struct imp_thumbnail {
    imp_thumbnail_of of;
    uint32_t width, height;
    const char *kind; /* "png" or, of coloured pictures, "jpeg" */
    uint8_t *bytes;
    size_t size;
    imp_status status; /* of making it */
    imp_error error;
} imp_thumbnail;

/* Makes the copy that `thumbnail->of` says, the other members zero. Release it with
 * imp_thumbnail_clear(). */
void imp_thumbnail_make(imp_thumbnail *thumbnail);
void imp_thumbnail_clear(imp_thumbnail *thumbnail);

/* Pictures that are going to be asked for one after the other. */
typedef struct imp_thumbnails {
    imp_thumbnail *items;
    size_t count, next;
} imp_thumbnails;

/* Makes `count` copies, on all cores. What there was is cleared. On failure, for lack of memory,
 * there are none. */
imp_status imp_thumbnails_make(imp_thumbnails *all, const imp_thumbnail_of *wanted, size_t count,
                               imp_error *error);

/* The copy of a picture, or NULL where it is not the next one. */
imp_thumbnail *imp_thumbnails_take(imp_thumbnails *all, imp_thumbnail_of wanted);

void imp_thumbnails_clear(imp_thumbnails *all);

#endif
