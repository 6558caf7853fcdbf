/*
 * source_folder.c - a folder on disk as a source: listed recursively, each file read by its path.
 *
 * Symbolic links are followed; a depth limit stops cycles of links.
 */
#define _DEFAULT_SOURCE /* fstatat, fdopendir, openat */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "data/image.h"
#include "data/source.h"

enum { MOST_DEPTH = 16, PATH_ROOM = 4096 };

static imp_status cannot_read(const imp_source *source, const char *path, imp_error *error)
{
    return imp_fail(error, IMP_EIO, "cannot read '%s/%s': %s", source->path, path, strerror(errno));
}

static imp_status list(imp_source *source, int parent, const char *folder, char *path, int depth,
                       imp_error *error);

static imp_status add_entry(imp_source *source, DIR *stream, const char *name, char *path,
                            int depth, imp_error *error)
{
    size_t length = strlen(path);
    int written = snprintf(path + length, PATH_ROOM - length, "%s%s", length > 0 ? "/" : "", name);
    if (written < 0 || (size_t)written >= PATH_ROOM - length) {
        path[length] = '\0';
        return imp_fail(error, IMP_EUNSUPPORTED, "a path below '%s' is too long", source->path);
    }

    struct stat about;
    imp_status status = IMP_OK;
    /* A dangling link is listed too: reading it reports the fault. */
    bool known = fstatat(dirfd(stream), name, &about, 0) == 0;
    if (known && S_ISDIR(about.st_mode))
        status = list(source, dirfd(stream), name, path, depth + 1, error);
    else if ((!known || S_ISREG(about.st_mode)) && !imp_source_add(source, path, NULL))
        status = imp_fail_memory(error, "a list of files");
    path[length] = '\0';
    return status;
}

/* Records the folder `path` as empty if none of its files, those from `first` on, is a picture; it
 * replaces the `empty` folders inside it. */
static imp_status note_empty(imp_source *source, const char *path, size_t first, size_t empty,
                             imp_error *error)
{
    if (strcmp(path, IMP_UNLABELED_FOLDER) == 0)
        return IMP_OK; /* it would not be taken for a class */
    for (size_t i = first; i < source->count; i++)
        if (imp_source_is_picture(source->names[i]))
            return IMP_OK;
    source->empty_count = empty + 1;
    if (source->empty != NULL && strcmp(source->empty, path) < 0)
        return IMP_OK;
    imp_release(source->empty);
    source->empty = imp_duplicate(path);
    return source->empty != NULL ? IMP_OK : imp_fail_memory(error, "a list of files");
}

/* Adds all files of `folder` below the open folder `parent`; `path` is its name so far and is
 * restored. */
static imp_status list(imp_source *source, int parent, const char *folder, char *path, int depth,
                       imp_error *error)
{
    if (depth > MOST_DEPTH)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "'%s/%s' lies more than %d folders deep; does a symbolic link lead back to "
                        "a folder above it?",
                        source->path, path, MOST_DEPTH);
    int descriptor = openat(parent, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (stream == NULL) {
        cannot_read(source, path, error);
        if (descriptor >= 0)
            close(descriptor);
        return IMP_EIO;
    }

    imp_status status = IMP_OK;
    size_t first = source->count, empty = source->empty_count;
    while (!status) {
        errno = 0; /* which the end of the folder leaves as it is */
        const struct dirent *entry = readdir(stream);
        if (entry == NULL && errno != 0)
            status = cannot_read(source, path, error);
        if (entry == NULL)
            break;
        if (entry->d_name[0] != '.')
            status = add_entry(source, stream, entry->d_name, path, depth, error);
    }
    closedir(stream);
    return status || depth == 0 ? status : note_empty(source, path, first, empty, error);
}

imp_status imp_source_list_folder(imp_source *source, imp_error *error)
{
    char path[PATH_ROOM] = "";
    return list(source, AT_FDCWD, source->path, path, 0, error);
}

/* ---- reading ---- */

typedef struct job {
    const imp_source *source;
    const bool *wanted;
    imp_source_visit *visit;
    void *context;
} job;

enum { FILES_PER_BLOCK = 32 };

static void read_one(const job *work, size_t member)
{
    const imp_source *source = work->source;
    imp_error fault;
    char *path = imp_source_join(source->path, source->names[member]);
    if (path == NULL) {
        imp_fail_memory(&fault, "a path");
        work->visit(member, NULL, 0, &fault, work->context);
        return;
    }
    unsigned char *bytes;
    size_t size;
    if (!imp_file_read_if(path, IMP_FILE_LIMIT, imp_image_begins, &bytes, &size, &fault))
        work->visit(member, bytes, size, NULL, work->context);
    else
        work->visit(member, NULL, 0, &fault, work->context);
    imp_release(bytes);
    imp_release(path);
}

static void read_block(size_t block, int worker, void *context)
{
    (void)worker;
    const job *work = context;
    size_t end = (block + 1) * FILES_PER_BLOCK;
    if (end > work->source->count)
        end = work->source->count;
    for (size_t member = block * FILES_PER_BLOCK; member < end; member++)
        if (work->wanted[member])
            read_one(work, member);
}

imp_status imp_source_read_folder(const imp_source *source, const bool *wanted, int threads,
                                  imp_source_visit *visit, void *context, imp_error *error)
{
    (void)error; /* a file that cannot be read is reported through `visit` */
    job work = {source, wanted, visit, context};
    imp_parallel((source->count + FILES_PER_BLOCK - 1) / FILES_PER_BLOCK, threads, read_block,
                 &work);
    return IMP_OK;
}
