/*
 * trail.h - files and folders created so far, so that they can be removed if a later step fails.
 *
 *     imp_trail made = {0};
 *     status = imp_trail_folder(&made, "out", error);
 *     ...
 *     imp_trail_end(&made, !status);
 */
#ifndef IMP_BASE_TRAIL_H
#define IMP_BASE_TRAIL_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/status.h>

/* Empty when zeroed. */
typedef struct imp_trail {
    char **paths; /* in order of creation */
    size_t count, capacity;
} imp_trail;

/* Records that the file, link or folder at `path` was just created. Without memory for that
 * (IMP_ENOMEM) it is removed at once. */
imp_status imp_trail_note(imp_trail *made, const char *path, imp_error *error);

/* imp_create_folder(), recorded if the folder did not exist before. */
imp_status imp_trail_folder(imp_trail *made, const char *path, imp_error *error);

/* Clears the list and, unless `stay`, removes everything on it, last first; a folder only if it is
 * empty, since others may have put something there. */
void imp_trail_end(imp_trail *made, bool stay);

#endif
