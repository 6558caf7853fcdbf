/*
 * sorted_folder.c - copies or links sorted pictures into a folder per pile.
 */
#define _DEFAULT_SOURCE /* realpath */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/create.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/trail.h"
#include "cli/interrupt.h"
#include "cli/page.h"
#include "cli/sorted_folder.h"
#include "data/source.h"

/* The file to make: a link to the target or, if that is NULL, a copy of the bytes. */
typedef struct content {
    const char *target;
    const unsigned char *bytes;
    size_t size;
} content;

/* Adds it to the folder as "name.png" or, if that is taken, as "name-2.png" and so on. */
static imp_status put(imp_trail *made, const char *folder, const char *name, const content *what,
                      imp_error *error)
{
    const char *dot = strrchr(name, '.');
    int stem = dot ? (int)(dot - name) : (int)strlen(name);
    char to[PATH_MAX];
    imp_status status = IMP_EINVAL; /* taken */
    for (size_t number = 1; status == IMP_EINVAL; number++) {
        char suffix[24] = "";
        if (number > 1)
            snprintf(suffix, sizeof suffix, "-%zu", number);
        int length =
            snprintf(to, sizeof to, "%s/%.*s%s%s", folder, stem, name, suffix, dot ? dot : "");
        if (length < 0 || (size_t)length >= sizeof to)
            return imp_fail(error, IMP_EUNSUPPORTED, "the path '%s/%s' is too long", folder, name);
        status = what->target ? imp_create_link(to, what->target, error)
                              : imp_create_file(to, what->bytes, what->size, error);
    }
    return status ? status : imp_trail_note(made, to, error);
}

static imp_status put_link(imp_trail *made, const char *folder, const imp_gallery *gallery,
                           size_t picture, imp_error *error)
{
    char target[PATH_MAX];
    const char *path = gallery->pictures[picture].path;
    if (gallery->pictures[picture].archive)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "'%s' is in an archive, which a link cannot point into; copy instead",
                        path);
    if (!realpath(path, target))
        return imp_fail(error, IMP_EIO, "cannot read '%s': %s", path, strerror(errno));
    return put(made, folder, imp_page_name(path), &(content){.target = target}, error);
}

static imp_status put_copy(imp_trail *made, const char *folder, const imp_gallery *gallery,
                           size_t picture, imp_error *error)
{
    unsigned char *bytes;
    size_t size;
    const char *path = gallery->pictures[picture].path;
    imp_status status = imp_gallery_bytes(gallery, picture, &bytes, &size, error);
    if (status)
        return status;
    status =
        put(made, folder, imp_page_name(path), &(content){.bytes = bytes, .size = size}, error);
    imp_release(bytes);
    return status;
}

static imp_status put_group(imp_trail *made, const imp_piles *piles, size_t index,
                            const char *folder, bool links, imp_error *error)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, piles->names[index]);
    if (length < 0 || (size_t)length >= sizeof path)
        return imp_fail(error, IMP_EUNSUPPORTED, "the path '%s' is too long", folder);
    imp_status status = imp_trail_folder(made, path, error);
    for (size_t i = 0; i < piles->gallery->count && !status; i++) {
        size_t picture = piles->order ? piles->order[i] : i;
        if (piles->pile[picture] != index)
            continue;
        status = imp_interrupt_check(error);
        if (!status)
            status = links ? put_link(made, path, piles->gallery, picture, error)
                           : put_copy(made, path, piles->gallery, picture, error);
    }
    return status;
}

imp_status imp_sorted_folder(const imp_piles *piles, const char *folder, bool links,
                             imp_error *error)
{
    imp_trail made = {0};
    imp_status status = imp_trail_folder(&made, folder, error);
    for (size_t g = 0; g < piles->count && !status; g++)
        status = put_group(&made, piles, g, folder, links, error);
    imp_trail_end(&made, !status);
    return status;
}
