/* trail.c - records what was created, and removes it. */
#include "base/trail.h"

#include <stdio.h>
#include <unistd.h>

#include "base/create.h"
#include "base/error.h"
#include "base/memory.h"

static bool has_room(imp_trail *made)
{
    if (made->count < made->capacity)
        return true;
    size_t larger = made->capacity > 0 ? 2 * made->capacity : 64;
    char **paths = imp_enlarge(made->paths, made->count, larger, sizeof *paths);
    if (paths == NULL)
        return false;
    imp_release(made->paths);
    made->paths = paths;
    made->capacity = larger;
    return true;
}

imp_status imp_trail_note(imp_trail *made, const char *path, imp_error *error)
{
    char *copy = has_room(made) ? imp_duplicate(path) : NULL;
    if (copy == NULL) {
        remove(path);
        return imp_fail_memory(error, "a list of files");
    }
    made->paths[made->count++] = copy;
    return IMP_OK;
}

imp_status imp_trail_folder(imp_trail *made, const char *path, imp_error *error)
{
    bool absent = access(path, F_OK) != 0;
    imp_status status = imp_create_folder(path, error);
    return status || !absent ? status : imp_trail_note(made, path, error);
}

void imp_trail_end(imp_trail *made, bool stay)
{
    while (made->count > 0) {
        char *path = made->paths[--made->count];
        if (!stay)
            remove(path);
        imp_release(path);
    }
    imp_release(made->paths);
    *made = (imp_trail){0};
}
