/*
 * sorted_folder.h - pictures that a command has sorted, as a folder with a sub-folder for each
 * pile.
 */
#ifndef IMP_CLI_SORTED_FOLDER_H
#define IMP_CLI_SORTED_FOLDER_H

#include <stdbool.h>

#include "data/gallery.h"

typedef struct imp_piles {
    const imp_gallery *gallery;
    const size_t *pile;       /* (pictures): the number of each picture's pile */
    const size_t *order;      /* (pictures): in which they are put there; NULL: as they are */
    const char *const *names; /* (count): of the sub-folders */
    size_t count;
} imp_piles;

/* Makes `folder`, which must be new or empty, with copies of the pictures or links to them. On
 * failure, and an interruption is one, it takes back what it made. */
imp_status imp_sorted_folder(const imp_piles *piles, const char *folder, bool links,
                             imp_error *error);

#endif
