/*
 * thumbnail.h - thumbnails for pages, made on all cores in batches.
 */
#ifndef IMP_CLI_THUMBNAIL_H
#define IMP_CLI_THUMBNAIL_H

#include "data/gallery.h"

/* A picture and the size of its thumbnail, at most `side` pixels each way. */
typedef struct imp_thumbnail_of {
    const imp_gallery *gallery;
    size_t picture;
    uint32_t side;
} imp_thumbnail_of;

typedef struct imp_thumbnail {
    imp_thumbnail_of of;
    uint32_t width, height;
    const char *kind; /* "png", or "jpeg" for coloured pictures */
    uint8_t *bytes;
    size_t size;
    imp_status status; /* of making the thumbnail */
    imp_error error;
} imp_thumbnail;

/* Makes the thumbnail of `thumbnail->of`; the other members must be zero. Release it with
 * imp_thumbnail_clear(). */
void imp_thumbnail_make(imp_thumbnail *thumbnail);
void imp_thumbnail_clear(imp_thumbnail *thumbnail);

/* Thumbnails that will be used one after the other. */
typedef struct imp_thumbnails {
    imp_thumbnail *items;
    size_t count, next;
} imp_thumbnails;

/* Makes `count` thumbnails on all cores, replacing earlier ones. If memory runs out there are
 * none. */
imp_status imp_thumbnails_make(imp_thumbnails *all, const imp_thumbnail_of *wanted, size_t count,
                               imp_error *error);

/* The thumbnail of a picture, or NULL if it is not the next one. */
imp_thumbnail *imp_thumbnails_take(imp_thumbnails *all, imp_thumbnail_of wanted);

void imp_thumbnails_clear(imp_thumbnails *all);

#endif
