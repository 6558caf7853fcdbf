/*
 * trail.h - what was made so far, so that it can be taken back if the rest does not follow.
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

/* Zeroed it is empty. */
typedef struct imp_trail {
    char **paths; /* in the order in which they were made */
    size_t count, capacity;
} imp_trail;

/* Notes that the file, link or folder at `path` was made just now. If there is no memory for that,
 * IMP_ENOMEM, it is removed at once. */
imp_status imp_trail_note(imp_trail *made, const char *path, imp_error *error);

/* imp_create_folder(), noted if the folder was not there before. */
imp_status imp_trail_folder(imp_trail *made, const char *path, imp_error *error);

/* Forgets what was made and, if it is not to stay, removes it, the last first; a folder only if it
 * is empty then, since somebody else may have put something there. */
void imp_trail_end(imp_trail *made, bool stay);

#endif
