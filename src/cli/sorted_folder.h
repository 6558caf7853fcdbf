/*
 * sorted_folder.h - sorted pictures as a folder with a sub-folder per pile.
 */
#ifndef IMP_CLI_SORTED_FOLDER_H
#define IMP_CLI_SORTED_FOLDER_H

#include <stdbool.h>

#include "data/gallery.h"

typedef struct imp_piles {
    const imp_gallery *gallery;
    const size_t *pile;       /* (pictures): each picture's pile */
    const size_t *order;      /* (pictures): the order in which they are added; NULL: as they are */
    const char *const *names; /* (count): names of the sub-folders */
    size_t count;
} imp_piles;

/* Makes `folder`, which must be new or empty, with copies of the pictures or links to them. On
 * failure, including an interruption, it removes what it made. */
imp_status imp_sorted_folder(const imp_piles *piles, const char *folder, bool links,
                             imp_error *error);

#endif
