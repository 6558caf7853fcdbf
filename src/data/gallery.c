/*
 * gallery.c - finds the pictures in files and folders, and reads them in parallel.
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
#include "data/image.h"
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

/* Takes over `path`; NULL means that memory ran out. */
static imp_status append(imp_gallery *gallery, char *path, int32_t class, imp_error *error)
{
    if (path == NULL || !reserve(gallery)) {
        imp_release(path);
        return imp_fail_memory(error, "a list of pictures");
    }
    gallery->pictures[gallery->count++] = (imp_gallery_picture){.path = path, .class = class};
    return IMP_OK;
}

/* The class named by the first `length` characters of a picture's name; since names are sorted, it
 * is the last one or a new one. */
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

static imp_status note_passed_over(imp_gallery *gallery, const char *folder, const char *name,
                                   imp_error *error)
{
    size_t count = gallery->passed_count;
    if (count == gallery->passed_capacity) {
        size_t capacity = count > 0 ? 2 * count : 16;
        char **larger = imp_enlarge(gallery->passed_over, count, capacity, sizeof *larger);
        if (larger == NULL)
            return imp_fail_memory(error, "a list of pictures");
        imp_release(gallery->passed_over);
        gallery->passed_over = larger;
        gallery->passed_capacity = capacity;
    }
    gallery->passed_over[count] = imp_source_join(folder, name);
    if (gallery->passed_over[count] == NULL)
        return imp_fail_memory(error, "a path");
    gallery->passed_count++;
    return IMP_OK;
}

/* Adds the files of the source. The first `skip` characters of each name are a common folder. */
static imp_status add_names(imp_gallery *gallery, const imp_source *source, size_t skip,
                            bool classes, imp_unpacked *archive, bool *wanted, imp_error *error)
{
    imp_status status = IMP_OK;
    for (size_t i = 0; i < source->count && !status; i++) {
        const char *name = source->names[i] + skip;
        int32_t class = -1;
        if (!gallery->any && !imp_source_is_picture(name)) {
            if (imp_source_is_foreign_picture(name))
                status = note_passed_over(gallery, source->path, source->names[i], error);
            continue;
        }
        if (classes && !imp_source_is_unlabeled(name))
            status = find_class(gallery, name, strcspn(name, "/"), &class, error);
        if (!status)
            status = append(gallery, imp_source_join(source->path, source->names[i]), class, error);
        if (!status && archive != NULL) {
            gallery->pictures[gallery->count - 1].archive = archive;
            gallery->pictures[gallery->count - 1].member = i;
            wanted[i] = true;
        }
    }
    return status;
}

static imp_status no_pictures(const imp_gallery *gallery, const char *kind, const char *path,
                              imp_error *error)
{
    if (gallery->any)
        return imp_fail(error, IMP_EINVAL, "there are no files in the %s '%s'", kind, path);
    return imp_fail(error, IMP_EINVAL, "there are no pictures (%s) in the %s '%s'",
                    imp_source_picture_endings().text, kind, path);
}

static imp_status add_folder(imp_gallery *gallery, const char *folder, bool classes,
                             imp_error *error)
{
    imp_source source;
    imp_status status = imp_source_open(&source, folder, error);
    size_t before = gallery->count;
    if (!status)
        status = add_names(gallery, &source, 0, classes, NULL, NULL, error);
    if (classes && !gallery->any) {
        gallery->empty_count = source.empty_count;
        gallery->empty = source.empty;
        source.empty = NULL;
    }
    imp_source_clear(&source);
    return !status && gallery->count == before ? no_pictures(gallery, "folder", folder, error)
                                               : status;
}

/* Takes over the archive, even on failure. */
static imp_status keep_archive(imp_gallery *gallery, imp_unpacked *archive, imp_error *error)
{
    size_t count = gallery->archive_count;
    imp_unpacked **archives =
        imp_enlarge(gallery->archives, count, count + 1, sizeof(imp_unpacked *));
    if (archives == NULL) {
        imp_unpacked_free(archive);
        return imp_fail_memory(error, "a list of archives");
    }
    archives[count] = archive;
    imp_release(gallery->archives);
    gallery->archives = archives;
    gallery->archive_count++;
    return IMP_OK;
}

static imp_status add_archive(imp_gallery *gallery, const char *path, bool classes,
                              imp_error *error)
{
    imp_unpacked *archive;
    imp_status status = imp_unpacked_open(path, IMP_KEPT_LIMIT, &archive, error);
    if (!status)
        status = keep_archive(gallery, archive, error);
    if (status)
        return status;
    const imp_source *source = imp_unpacked_source(archive);
    size_t before = gallery->count;
    bool *wanted = imp_allocate_zeroed(source->count, sizeof *wanted);
    if (wanted == NULL)
        return imp_fail_memory(error, "a list of files");
    status =
        add_names(gallery, source, classes ? imp_source_common_folder(source, gallery->any) : 0,
                  classes, archive, wanted, error);
    if (!status && gallery->count == before)
        status = no_pictures(gallery, "archive", path, error);
    if (!status)
        status = imp_unpacked_take(archive, wanted, 0, error);
    imp_release(wanted);
    return status;
}

static imp_status look_at(const char *path, struct stat *about, imp_error *error)
{
    return stat(path, about) == 0
               ? IMP_OK
               : imp_fail(error, IMP_EIO, "cannot read '%s': %s", path, strerror(errno));
}

imp_status imp_gallery_add(imp_gallery *gallery, const char *path, imp_error *error)
{
    struct stat about;
    imp_status status = look_at(path, &about, error);
    if (status)
        return status;
    if (S_ISDIR(about.st_mode))
        return add_folder(gallery, path, false, error);
    if (imp_source_is_archive(path))
        return add_archive(gallery, path, false, error);
    return append(gallery, imp_duplicate(path), -1, error);
}

imp_status imp_gallery_add_classes(imp_gallery *gallery, const char *folder, imp_error *error)
{
    struct stat about;
    imp_status status = look_at(folder, &about, error);
    if (status)
        return status;
    if (S_ISDIR(about.st_mode))
        return add_folder(gallery, folder, true, error);
    if (imp_source_is_archive(folder))
        return add_archive(gallery, folder, true, error);
    return imp_fail(error, IMP_EINVAL, "'%s' is neither a folder nor an archive (%s)", folder,
                    imp_source_archive_endings());
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
    for (size_t i = 0; i < gallery->archive_count; i++)
        imp_unpacked_free(gallery->archives[i]);
    imp_release(gallery->archives);
    for (size_t i = 0; i < gallery->passed_count; i++)
        imp_release(gallery->passed_over[i]);
    imp_release(gallery->passed_over);
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

imp_status imp_gallery_bytes(const imp_gallery *gallery, size_t picture, uint8_t **bytes,
                             size_t *size, imp_error *error)
{
    const imp_gallery_picture *found = &gallery->pictures[picture];
    if (found->archive != NULL) /* its errors name the archive and the member */
        return imp_unpacked_read(found->archive, found->member, bytes, size, error);
    return imp_file_read(found->path, IMP_FILE_LIMIT, bytes, size, error);
}

imp_status imp_gallery_open(const imp_gallery *gallery, size_t picture, imp_image *image,
                            imp_error *error)
{
    *image = (imp_image){0};
    uint8_t *bytes;
    size_t size;
    const imp_gallery_picture *found = &gallery->pictures[picture];
    imp_status status =
        found->archive != NULL
            ? imp_gallery_bytes(gallery, picture, &bytes, &size, error)
            : imp_file_read_if(found->path, IMP_FILE_LIMIT, imp_image_begins, &bytes, &size, error);
    if (status)
        return status;
    status = imp_image_decode(bytes, size, IMP_PIXEL_LIMIT, image, error);
    if (status)
        imp_error_prefix(error, gallery->pictures[picture].path);
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
    if (status)
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
    if (read_picture(work, block, &fault))
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
