/*
 * gallery.c - finds the pictures in files and folders, and reads them side by side.
 */
#include "data/gallery.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "data/source.h"

/* ---- finding ---- */

static bool reserve(imp_gallery *gallery)
{
    if (gallery->count < gallery->capacity)
        return true;
    size_t capacity = gallery->capacity > 0 ? 2 * gallery->capacity : 64;
    imp_gallery_picture *larger =
        imp_enlarge(gallery->pictures, gallery->count, capacity, sizeof *larger);
    if (larger == NULL)
        return false;
    imp_release(gallery->pictures);
    gallery->pictures = larger;
    gallery->capacity = capacity;
    return true;
}

/* Takes `path`, which may be NULL for lack of memory, over. */
static imp_status append(imp_gallery *gallery, char *path, int32_t class, imp_error *error)
{
    if (path == NULL || !reserve(gallery)) {
        imp_release(path);
        return imp_fail_memory(error, "a list of pictures");
    }
    gallery->pictures[gallery->count++] = (imp_gallery_picture){.path = path, .class = class};
    return IMP_OK;
}

/* The class that the first `length` characters of a picture's name say; since the names are sorted,
 * it is the newest one or the next. */
static imp_status find_class(imp_gallery *gallery, const char *name, size_t length, int32_t *class,
                             imp_error *error)
{
    size_t count = gallery->class_count;
    const char *last = count > 0 ? gallery->classes[count - 1] : "";
    if (strlen(last) != length || memcmp(last, name, length) != 0) {
        char *copy = imp_allocate(length + 1, 1);
        char **names = imp_enlarge(gallery->classes, count, count + 1, sizeof *names);
        if (copy == NULL || names == NULL) {
            imp_release(copy);
            imp_release(names);
            return imp_fail_memory(error, "a list of classes");
        }
        snprintf(copy, length + 1, "%s", name);
        names[count] = copy;
        imp_release(gallery->classes);
        gallery->classes = names;
        gallery->class_count++;
    }
    *class = (int32_t)gallery->class_count - 1;
    return IMP_OK;
}

static imp_status add_folder(imp_gallery *gallery, const char *folder, bool classes,
                             imp_error *error)
{
    imp_source source;
    imp_status status = imp_source_open(&source, folder, error);
    size_t before = gallery->count;
    for (size_t i = 0; i < source.count && status == IMP_OK; i++) {
        const char *name = source.names[i];
        int32_t class = -1;
        if (!imp_source_is_picture(name)) {
            gallery->passed_over += imp_source_is_foreign_picture(name);
            continue;
        }
        if (classes && !imp_source_is_unlabeled(name))
            status = find_class(gallery, name, strcspn(name, "/"), &class, error);
        if (status == IMP_OK)
            status = append(gallery, imp_source_join(folder, name), class, error);
    }
    if (classes) {
        gallery->empty_count = source.empty_count;
        gallery->empty = source.empty;
        source.empty = NULL;
    }
    imp_source_clear(&source);
    if (status == IMP_OK && gallery->count == before)
        status = imp_fail(error, IMP_EINVAL,
                          "there are no pictures (.png, .jpg, .jpeg) in the folder '%s'", folder);
    return status;
}

imp_status imp_gallery_add(imp_gallery *gallery, const char *path, imp_error *error)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return imp_fail(error, IMP_EIO, "cannot read '%s': %s", path, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return add_folder(gallery, path, false, error);
    return append(gallery, imp_duplicate(path), -1, error);
}

imp_status imp_gallery_add_classes(imp_gallery *gallery, const char *folder, imp_error *error)
{
    struct stat about;
    if (stat(folder, &about) != 0)
        return imp_fail(error, IMP_EIO, "cannot read '%s': %s", folder, strerror(errno));
    if (!S_ISDIR(about.st_mode))
        return imp_fail(error, IMP_EINVAL, "'%s' is no folder", folder);
    return add_folder(gallery, folder, true, error);
}

static void clear_picture(imp_gallery_picture *picture)
{
    imp_release(picture->path);
    imp_fault_release(picture->fault);
}

void imp_gallery_clear(imp_gallery *gallery)
{
    for (size_t i = 0; i < gallery->count; i++)
        clear_picture(&gallery->pictures[i]);
    for (size_t i = 0; i < gallery->class_count; i++)
        imp_release(gallery->classes[i]);
    imp_release(gallery->pictures);
    imp_release(gallery->classes);
    imp_release(gallery->empty);
    *gallery = (imp_gallery){0};
}

void imp_gallery_drop_broken(imp_gallery *gallery)
{
    size_t kept = 0;
    for (size_t i = 0; i < gallery->count; i++) {
        if (gallery->pictures[i].fault == NULL)
            gallery->pictures[kept++] = gallery->pictures[i];
        else
            clear_picture(&gallery->pictures[i]);
    }
    gallery->count = kept;
}

/* ---- reading ---- */

imp_status imp_gallery_open(const imp_gallery *gallery, size_t picture, imp_image *image,
                            imp_error *error)
{
    *image = (imp_image){0};
    const char *path = gallery->pictures[picture].path;
    unsigned char *bytes;
    size_t size;
    imp_status status = imp_file_read(path, IMP_FILE_LIMIT, &bytes, &size, error);
    if (status != IMP_OK)
        return status; /* the sentence names the path */
    status = imp_image_decode(bytes, size, IMP_PIXEL_LIMIT, image, error);
    if (status != IMP_OK)
        imp_error_prefix(error, path);
    imp_release(bytes);
    return status;
}

/* A picture belongs to the thread that reads it. */
typedef struct job {
    imp_gallery *gallery;
    size_t first;
    const imp_picture_format *format;
    uint8_t *planes;
} job;

static imp_status read_picture(const job *work, size_t index, imp_error *error)
{
    const imp_picture_format *format = work->format;
    imp_image image;
    imp_status status = imp_gallery_open(work->gallery, work->first + index, &image, error);
    if (status != IMP_OK)
        return status;
    work->gallery->pictures[work->first + index].coloured = imp_image_has_colour(&image);
    size_t room = (size_t)format->channels * format->size * format->size;
    bool invert = imp_image_inverts(&image, format->inversion);
    status = imp_image_prepare(&image, format->size, format->channels, invert,
                               work->planes + index * room, error);
    imp_image_clear(&image);
    return status;
}

static void read_block(size_t block, int worker, void *context)
{
    (void)worker;
    const job *work = context;
    imp_error fault;
    if (read_picture(work, block, &fault) != IMP_OK)
        work->gallery->pictures[work->first + block].fault = imp_fault_keep(NULL, &fault);
}

imp_status imp_gallery_read(imp_gallery *gallery, size_t first, size_t count,
                            const imp_picture_format *format, int threads, uint8_t *planes,
                            imp_error *error)
{
    job work = {gallery, first, format, planes};
    imp_parallel(count, imp_parallel_threads(threads), read_block, &work);
    for (size_t i = first; i < first + count; i++)
        if (imp_fault_is_memory(gallery->pictures[i].fault))
            return imp_fail_memory(error, "decoding pictures");
    return IMP_OK;
}

const imp_fault *imp_gallery_fault(const imp_gallery *gallery)
{
    for (size_t i = 0; i < gallery->count; i++)
        if (gallery->pictures[i].fault != NULL)
            return gallery->pictures[i].fault;
    return NULL;
}

size_t imp_gallery_coloured(const imp_gallery *gallery)
{
    size_t count = 0;
    for (size_t i = 0; i < gallery->count; i++)
        count += gallery->pictures[i].coloured;
    return count;
}
