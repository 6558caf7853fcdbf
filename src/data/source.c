/*
 * source.c - the common part of folders and archives: a sorted list of names, and reading.
 */
#define _DEFAULT_SOURCE /* strcasecmp */

#include "data/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/bisect.h"
#include "base/error.h"
#include "base/memory.h"
#include "data/image.h"

bool imp_source_add(imp_source *source, const char *name, const imp_piece *piece)
{
    if (source->count == source->capacity) {
        size_t capacity = source->capacity > 0 ? 2 * source->capacity : 256;
        char **names = imp_enlarge(source->names, source->count, capacity, sizeof *names);
        imp_piece *pieces = imp_enlarge(source->pieces, source->count, capacity, sizeof *pieces);
        if (names == NULL || pieces == NULL) {
            imp_release(names);
            imp_release(pieces);
            return false;
        }
        imp_release(source->names);
        imp_release(source->pieces);
        source->names = names;
        source->pieces = pieces;
        source->capacity = capacity;
    }
    char *copy = imp_duplicate(name);
    if (copy == NULL)
        return false;
    source->pieces[source->count] = piece != NULL ? *piece : (imp_piece){0};
    source->names[source->count++] = copy;
    return true;
}

void imp_source_clear(imp_source *source)
{
    for (size_t i = 0; i < source->count; i++)
        imp_release(source->names[i]);
    imp_release(source->names);
    imp_release(source->members);
    imp_release(source->kept);
    imp_release(source->pieces);
    imp_release(source->path);
    imp_release(source->empty);
    *source = (imp_source){0};
}

/* ---- sorting ---- */

typedef struct numbered {
    char *name;
    uint32_t ordinal;
} numbered;

static int compare_numbered(const void *a, const void *b)
{
    return strcmp(((const numbered *)a)->name, ((const numbered *)b)->name);
}

/* Sorts the names and records, for archives, where the n-th file went. */
static imp_status sort_names(imp_source *source, imp_error *error)
{
    size_t count = source->count;
    numbered *order = imp_allocate(count, sizeof *order);
    source->members = imp_allocate(count, sizeof *source->members);
    if (order == NULL || source->members == NULL || count > UINT32_MAX) {
        imp_release(order);
        return imp_fail_memory(error, "a list of files");
    }
    for (size_t i = 0; i < count; i++)
        order[i] = (numbered){source->names[i], (uint32_t)i};
    qsort(order, count, sizeof *order, compare_numbered);
    for (size_t i = 0; i < count; i++) {
        source->names[i] = order[i].name;
        source->members[order[i].ordinal] = (uint32_t)i;
    }
    imp_release(order);

    for (size_t i = 1; i < count; i++)
        if (strcmp(source->names[i - 1], source->names[i]) == 0)
            return imp_fail(error, IMP_EFORMAT, "'%s' holds '%s' twice", source->path,
                            source->names[i]);
    return IMP_OK;
}

imp_status imp_source_open(imp_source *source, const char *path, imp_error *error)
{
    return imp_source_open_keeping(source, path, IMP_KEPT_LIMIT, error);
}

imp_status imp_source_open_keeping(imp_source *source, const char *path, size_t kept_limit,
                                   imp_error *error)
{
    *source = (imp_source){0};
    struct stat about;
    if (stat(path, &about) != 0)
        return imp_fail(error, IMP_EIO, "cannot read '%s': %s", path, strerror(errno));
    if (!S_ISDIR(about.st_mode) && !S_ISREG(about.st_mode))
        return imp_fail(error, IMP_EFORMAT, "'%s' is a device or a pipe, not a folder or archive",
                        path);
    source->path = imp_duplicate(path);
    if (source->path == NULL)
        return imp_fail_memory(error, "a path");

    source->archive = !S_ISDIR(about.st_mode);
    imp_status status = source->archive ? imp_source_list_archive(source, kept_limit, error)
                                        : imp_source_list_folder(source, error);
    if (!status)
        status = sort_names(source, error);
    if (status)
        imp_source_clear(source);
    return status;
}

imp_status imp_source_read(const imp_source *source, const bool *wanted, int threads,
                           imp_source_visit *visit, void *context, imp_error *error)
{
    return source->archive ? imp_source_read_archive(source, wanted, threads, visit, context, error)
                           : imp_source_read_folder(source, wanted, threads, visit, context, error);
}

char *imp_source_join(const char *folder, const char *name)
{
    size_t length = strlen(folder), room = length + strlen(name) + sizeof "/";
    while (length > 1 && folder[length - 1] == '/')
        length--;
    bool slash = length > 0 && folder[length - 1] == '/'; /* the root */
    char *path = imp_allocate(room, 1);
    if (path != NULL)
        snprintf(path, room, "%.*s%s%s", (int)length, folder, slash ? "" : "/", name);
    return path;
}

static bool is_named_before(const void *names, size_t index, const void *name)
{
    return strcmp(((char *const *)names)[index], name) < 0;
}

size_t imp_source_find(const imp_source *source, const char *name)
{
    size_t at = imp_bisect(source->names, source->count, is_named_before, name);
    return at < source->count && strcmp(source->names[at], name) == 0 ? at : source->count;
}

static bool ends_in_one_of(const char *name, const char *const *endings)
{
    const char *ending = strrchr(name, '.');
    for (size_t i = 0; ending != NULL && endings[i] != NULL; i++)
        if (strcasecmp(ending, endings[i]) == 0)
            return true;
    return false;
}

bool imp_source_is_picture(const char *name)
{
    for (const imp_image_format *format = imp_image_formats; format->name != NULL; format++)
        if (format->decode != NULL && ends_in_one_of(name, format->endings))
            return true;
    return false;
}

/* Appends to a string with enough room. */
static void add_text(char *text, size_t size, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", more);
}

imp_endings imp_source_picture_endings(void)
{
    imp_endings list = {""};
    for (const imp_image_format *format = imp_image_formats; format->name != NULL; format++)
        for (size_t i = 0; format->decode != NULL && format->endings[i] != NULL; i++) {
            if (list.text[0] != '\0')
                add_text(list.text, sizeof list.text, ", ");
            add_text(list.text, sizeof list.text, format->endings[i]);
        }
    return list;
}

imp_endings imp_source_absent_formats(void)
{
    imp_endings list = {""};
    for (const imp_image_format *format = imp_image_formats; format->name != NULL; format++)
        if (format->decode == NULL) {
            add_text(list.text, sizeof list.text,
                     list.text[0] == '\0' ? ", and this build lacks " : ", ");
            add_text(list.text, sizeof list.text, format->library);
        }
    return list;
}

bool imp_source_is_archive(const char *name)
{
    size_t length = strlen(name), tail = sizeof ".tar.gz" - 1;
    static const char *const endings[] = {".zip", ".tar", ".tgz", NULL};
    return ends_in_one_of(name, endings) ||
           (length > tail && strcasecmp(name + length - tail, ".tar.gz") == 0);
}

const char *imp_source_archive_endings(void)
{
    return ".zip, .tar, .tar.gz, .tgz";
}

bool imp_source_is_foreign_picture(const char *name)
{
    static const char *const endings[] = {
        ".svg", ".avif", ".jp2", ".jxl", ".dng", ".cr2", ".cr3", ".nef", ".arw", ".orf",  ".rw2",
        ".psd", ".ico",  ".pdf", ".eps", ".tga", ".ppm", ".pgm", ".pbm", ".pnm", ".jfif", NULL};
    for (const imp_image_format *format = imp_image_formats; format->name != NULL; format++)
        if (format->decode == NULL && ends_in_one_of(name, format->endings))
            return true;
    return ends_in_one_of(name, endings);
}

void imp_foreign_note(imp_foreign *foreign, const char *name)
{
    if (imp_source_is_foreign_picture(name) && foreign->count++ < IMP_FOREIGN_NAMES)
        snprintf(foreign->names[foreign->count - 1], sizeof *foreign->names, "%s", name);
}

size_t imp_source_common_folder(const imp_source *source, bool any)
{
    if (!source->archive || source->count == 0)
        return 0;
    const char *first = source->names[0], *slash = strchr(first, '/');
    size_t length = slash != NULL ? (size_t)(slash - first) + 1 : 0;
    bool deeper = false;
    for (size_t i = 0; i < source->count; i++) {
        const char *name = source->names[i];
        if (strncmp(name, first, length) != 0)
            return 0;
        deeper |= (any || imp_source_is_picture(name)) && strchr(name + length, '/') != NULL;
    }
    return deeper ? length : 0;
}

bool imp_source_is_unlabeled(const char *name)
{
    size_t length = strcspn(name, "/");
    return name[length] == '\0' || (length == strlen(IMP_UNLABELED_FOLDER) &&
                                    memcmp(name, IMP_UNLABELED_FOLDER, length) == 0);
}
