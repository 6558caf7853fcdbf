/* npy_shards.c - several files read as one array of rows. */
#define _POSIX_C_SOURCE 200809L /* opendir */

#include "base/npy_shards.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bisect.h"
#include "base/error.h"
#include "base/memory.h"

/* ---- which files ---- */

bool imp_npy_is_shard(const char *name)
{
    static const char ending[] = ".npy";
    size_t length = strlen(name), tail = sizeof ending - 1;
    return name[0] != '.' && length > tail && strcmp(name + length - tail, ending) == 0;
}

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Paths of a folder's shards. */
typedef struct listing {
    char **paths;
    size_t count, capacity;
} listing;

static void clear_listing(listing *list)
{
    for (size_t i = 0; i < list->count; i++)
        imp_release(list->paths[i]);
    imp_release(list->paths);
}

static bool add_path(listing *list, const char *folder, const char *name)
{
    if (list->count == list->capacity) {
        size_t capacity = 2 * list->capacity + 16;
        char **paths = imp_allocate(capacity, sizeof *paths);
        if (!paths)
            return false;
        if (list->count > 0)
            memcpy(paths, list->paths, list->count * sizeof *paths);
        imp_release(list->paths);
        list->paths = paths;
        list->capacity = capacity;
    }
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = imp_allocate(size, 1);
    if (!path)
        return false;
    bool slash = folder[0] && folder[strlen(folder) - 1] == '/';
    snprintf(path, size, "%s%s%s", folder, slash ? "" : "/", name);
    list->paths[list->count++] = path;
    return true;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Opening a pipe would wait, perhaps forever, for somebody to write to it. */
static imp_status check_regular(const char *path, imp_error *error)
{
    struct stat about;
    if (stat(path, &about) != 0 || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))
        return IMP_OK; /* opening tells what is wrong */
    return imp_fail(error, IMP_EINVAL,
                    "'%s' is a device or a pipe; a folder of points is made of files", path);
}

static imp_status list_shards(const char *path, listing *list, imp_error *error)
{
    DIR *folder = opendir(path);
    if (!folder)
        return imp_fail(error, IMP_EIO, "cannot read the folder '%s': %s", path, strerror(errno));
    imp_status status = IMP_OK;
    struct dirent *entry;
    while (!status && (errno = 0, entry = readdir(folder)))
        if (imp_npy_is_shard(entry->d_name) && !add_path(list, path, entry->d_name))
            status = imp_fail(error, IMP_ENOMEM, "out of memory for the files of '%s'", path);
    if (!status && errno)
        status = imp_fail(error, IMP_EIO, "cannot read the folder '%s': %s", path, strerror(errno));
    closedir(folder);
    if (!status && list->count == 0)
        status = imp_fail(error, IMP_EINVAL,
                          "'%s' holds no .npy files; a folder of points is made of them", path);
    if (!status)
        qsort(list->paths, list->count, sizeof *list->paths, compare_paths);
    for (size_t i = 0; i < list->count && !status; i++)
        status = check_regular(list->paths[i], error);
    return status;
}

/* ---- opening ---- */

/* Whether the shape of file i matches those before it. */
static imp_status check_shape(const imp_npy_shards *shards, size_t i, imp_error *error)
{
    const imp_npy_file *file = &shards->files[i];
    const imp_array *layout = &file->layout;
    if (layout->rank != 2)
        return imp_fail(error, IMP_EINVAL,
                        "%s: its shape is %s; points are rows and columns, (points, dimensions)",
                        file->path, imp_shape_format(layout->rank, layout->shape).text);
    if (layout->shape[1] != shards->columns)
        return imp_fail(error, IMP_EINVAL,
                        "%s: its points have %zu dimensions, those of '%s' have %zu", file->path,
                        layout->shape[1], shards->files[0].path, shards->columns);
    return IMP_OK;
}

/* Records the file just opened, number shards->count. */
static imp_status take_shard(imp_npy_shards *shards, imp_error *error)
{
    size_t i = shards->count++;
    const imp_array *layout = &shards->files[i].layout;
    if (i == 0 && layout->rank == 2)
        shards->columns = layout->shape[1];
    imp_status status = check_shape(shards, i, error);
    if (status)
        return status;
    shards->first[i] = shards->rows;
    shards->rows += layout->shape[0]; /* each is below 2^63 bytes, and there are less than 2^32 */
    shards->first[i + 1] = shards->rows;
    return IMP_OK;
}

static imp_status open_all(imp_npy_shards *shards, char *const *paths, size_t count,
                           imp_error *error)
{
    shards->files = imp_allocate_zeroed(count, sizeof *shards->files);
    shards->first = imp_allocate_zeroed(count + 1, sizeof *shards->first);
    shards->current = imp_allocate_zeroed(1, sizeof *shards->current);
    shards->ahead = imp_allocate_zeroed(1, sizeof *shards->ahead);
    imp_status status = IMP_OK;
    if (!shards->files || !shards->first || !shards->current || !shards->ahead)
        status = imp_fail(error, IMP_ENOMEM, "out of memory to open %zu files", count);
    for (size_t i = 0; i < count && !status; i++) {
        if (i > 0)
            imp_npy_rest(&shards->files[i - 1]);
        status = imp_npy_open(paths[i], &shards->files[i], error);
        if (!status)
            status = take_shard(shards, error);
        *shards->current = i;
    }
    return status;
}

imp_status imp_npy_shards_open(const char *path, imp_npy_shards *shards, imp_error *error)
{
    *shards = (imp_npy_shards){0};
    listing list = {0};
    imp_status status = IMP_OK;
    if (is_folder(path))
        status = list_shards(path, &list, error);
    if (!status)
        status = list.count > 0 ? open_all(shards, list.paths, list.count, error)
                                : open_all(shards, (char *[]){(char *)path}, 1, error);
    clear_listing(&list);
    if (status)
        imp_npy_shards_close(shards);
    else
        shards->once = shards->files[0].stream;
    return status;
}

void imp_npy_shards_close(imp_npy_shards *shards)
{
    if (shards->ahead)
        imp_npy_ahead_release(shards->ahead);
    imp_release(shards->ahead);
    for (size_t i = 0; i < shards->count; i++)
        imp_npy_close(&shards->files[i]);
    imp_release(shards->files);
    imp_release(shards->first);
    imp_release(shards->current);
    *shards = (imp_npy_shards){0};
}

/* ---- reading ---- */

static bool begins_by(const void *first, size_t index, const void *row)
{
    return ((const size_t *)first)[index] <= *(const size_t *)row;
}

/* The file that holds a row. */
static size_t shard_of(const imp_npy_shards *shards, size_t row)
{
    return imp_bisect(shards->first, shards->count, begins_by, &row) - 1;
}

static imp_status read_rows(const void *where, size_t begin, size_t count, float *rows,
                            imp_error *error)
{
    const imp_npy_shards *shards = where;
    imp_status status = IMP_OK;
    for (size_t i = count > 0 ? shard_of(shards, begin) : 0; count > 0 && !status; i++) {
        size_t here = begin - shards->first[i], left = shards->first[i + 1] - begin;
        size_t part = left < count ? left : count;
        if (*shards->current != i) {
            imp_npy_rest(&shards->files[*shards->current]);
            *shards->current = i;
            status = imp_npy_wake(&shards->files[i], error);
        }
        if (!status)
            status = imp_npy_read_rows(&shards->files[i], here, part, rows, error);
        rows += part * shards->columns;
        begin += part;
        count -= part;
    }
    return status;
}

imp_status imp_npy_shards_read(const imp_npy_shards *shards, size_t begin, size_t count,
                               float *rows, imp_error *error)
{
    imp_npy_ahead_wait(shards->ahead);
    return read_rows(shards, begin, count, rows, error);
}

imp_status imp_npy_shards_read_ahead(const imp_npy_shards *shards, size_t begin, size_t count,
                                     float *room, const float **rows, imp_error *error)
{
    const imp_row_array array = {
        .rows = shards->rows, .columns = shards->columns, .read = read_rows, .where = shards};
    *rows = room;
    return shards->once
               ? read_rows(shards, begin, count, room, error)
               : imp_npy_ahead_read(shards->ahead, &array, begin, count, room, rows, error);
}
