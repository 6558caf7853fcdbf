/*
 * file.c - reading a file whole, and replacing a file in one step.
 *
 * A new file is written under a temporary name in the target's folder (a rename cannot cross file
 * systems), flushed, and renamed over the target. Whoever opens the target at any moment, also
 * after a crash, finds the old file or the new one.
 */
#define _DEFAULT_SOURCE /* realpath, fchmod, getrandom */

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

/* ---- reading ---- */

/* What to begin with where a file does not know its own size. */
enum { FIRST_CAPACITY = 64 << 10 };

static imp_status cannot_read(const char *path, imp_error *error)
{
    return imp_fail(error, IMP_EIO, "cannot read '%s': %s", path, strerror(errno));
}

static ssize_t read_some(int descriptor, void *data, size_t size)
{
    ssize_t got;
    do
        got = read(descriptor, data, size);
    while (got < 0 && errno == EINTR);
    return got;
}

/* A block twice as large, though never more than `most`, that begins with the `used` bytes of the
 * old one, which it replaces. */
static bool grow(unsigned char **data, size_t *capacity, size_t used, size_t most)
{
    size_t larger = *capacity <= most / 2 ? *capacity * 2 : most;
    unsigned char *fresh = imp_enlarge(*data, used, larger, 1);
    if (fresh == NULL)
        return false;
    imp_release(*data);
    *data = fresh;
    *capacity = larger;
    return true;
}

/* The size a file claims only sizes the first block: the end of the file is where read() says it
 * is, since pipes claim nothing, /proc claims zero, and a log may grow as it is read. */
static imp_status read_all(int descriptor, const char *path, size_t limit, unsigned char **data,
                           size_t *size, imp_error *error)
{
    struct stat about;
    if (fstat(descriptor, &about) != 0)
        return cannot_read(path, error);
    bool sized = S_ISREG(about.st_mode) && about.st_size > 0;
    if (sized && (uintmax_t)about.st_size > limit)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "cannot read '%s': it holds %jd bytes, and at most %zu are allowed", path,
                        (intmax_t)about.st_size, limit);

    /* One byte more than the limit tells "just full" from "too long" and holds the final zero. */
    size_t most = limit < SIZE_MAX ? limit + 1 : SIZE_MAX;
    size_t capacity = sized ? (size_t)about.st_size + 1 : FIRST_CAPACITY;
    if (capacity > most)
        capacity = most;

    unsigned char *buffer = imp_allocate(capacity, 1);
    if (buffer == NULL)
        return imp_fail(error, IMP_ENOMEM, "out of memory for the content of '%s'", path);

    size_t used = 0;
    for (;;) {
        ssize_t got = read_some(descriptor, buffer + used, capacity - used);
        if (got < 0) {
            cannot_read(path, error);
            imp_release(buffer);
            return IMP_EIO;
        }
        if (got == 0)
            break;
        used += (size_t)got;
        if (used > limit) {
            imp_release(buffer);
            return imp_fail(error, IMP_EUNSUPPORTED,
                            "cannot read '%s': it holds more than the %zu bytes allowed", path,
                            limit);
        }
        if (used == capacity && !grow(&buffer, &capacity, used, most)) {
            imp_release(buffer);
            return imp_fail(error, IMP_ENOMEM, "out of memory for the content of '%s'", path);
        }
    }

    buffer[used] = '\0';
    *data = buffer;
    *size = used;
    return IMP_OK;
}

imp_status imp_file_read(const char *path, size_t limit, unsigned char **data, size_t *size,
                         imp_error *error)
{
    *data = NULL;
    *size = 0;

    int descriptor;
    do
        descriptor = open(path, O_RDONLY | O_CLOEXEC); /* waits, and may be woken, on a pipe */
    while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0)
        return cannot_read(path, error);
    imp_status status = read_all(descriptor, path, limit, data, size, error);
    close(descriptor);
    return status;
}

/* ---- replacing ---- */

static imp_status cannot_write(const char *path, imp_error *error)
{
    return imp_fail(error, IMP_EIO, "cannot write '%s': %s", path, strerror(errno));
}

/* How much of a path is its folder: up to and with the last slash, 0 for the working folder. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

/* Finds the file that `path` stands for, which is elsewhere when `path` is a symbolic link: the
 * link stays and what it points to is replaced. *mode is set only when that file *exists. */
static imp_status resolve(const char *path, char target[PATH_MAX], bool *exists, mode_t *mode,
                          imp_error *error)
{
    size_t length = strlen(path);
    if (length >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return cannot_write(path, error);
    }
    /* A temporary file could be made in its folder, the working folder, but never renamed to it. */
    if (length == 0)
        return imp_fail(error, IMP_EIO, "cannot write a file whose name is empty");
    memcpy(target, path, length + 1);
    *exists = false;

    struct stat about;
    if (lstat(path, &about) != 0)
        return errno == ENOENT ? IMP_OK : cannot_write(path, error);
    if (S_ISLNK(about.st_mode)) {
        if (realpath(path, target) == NULL || stat(target, &about) != 0) {
            if (errno == ENOENT)
                return imp_fail(error, IMP_EIO,
                                "cannot write '%s': it is a symbolic link that points to nothing",
                                path);
            return cannot_write(path, error);
        }
    }
    /* A rename would replace a device or a pipe by a file instead of writing to it. */
    if (!S_ISREG(about.st_mode))
        return imp_fail(error, IMP_EINVAL, "cannot write '%s': it is %s, not a regular file", path,
                        S_ISDIR(about.st_mode) ? "a folder" : "a device or a pipe");
    *exists = true;
    *mode = about.st_mode & 0777;
    return IMP_OK;
}

/* Creates a file of a name nobody can guess in the target's folder. `temporary` has room for it.
 * -1 with errno set on failure. */
static int create_beside(const char *target, char *temporary, size_t room, mode_t mode)
{
    int folder = (int)folder_length(target);
    for (int attempt = 0; attempt < 100; attempt++) {
        uint64_t nonce;
        if (getrandom(&nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce)
            return -1;
        snprintf(temporary, room, "%.*s.imp-%016" PRIx64 ".tmp", folder, target, nonce);
        int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (descriptor >= 0 || errno != EEXIST)
            return descriptor;
    }
    return -1;
}

static void forget(imp_writer *writer)
{
    imp_release(writer->path);
    imp_release(writer->temporary);
    *writer = (imp_writer){.descriptor = -1};
}

imp_status imp_writer_open(imp_writer *writer, const char *path, imp_error *error)
{
    *writer = (imp_writer){.descriptor = -1};

    char target[PATH_MAX];
    bool exists;
    mode_t mode = 0666; /* less the umask */
    imp_status status = resolve(path, target, &exists, &mode, error);
    if (status != IMP_OK)
        return status;

    size_t room = folder_length(target) + sizeof ".imp-0123456789abcdef.tmp";
    writer->path = imp_duplicate(target);
    writer->temporary = imp_allocate(room, 1);
    if (writer->path == NULL || writer->temporary == NULL) {
        forget(writer);
        return imp_fail(error, IMP_ENOMEM, "out of memory for writing '%s'", path);
    }

    /* A file that replaces a private one must not be readable by others even for a moment. */
    writer->descriptor = create_beside(target, writer->temporary, room, exists ? 0600 : mode);
    if (writer->descriptor < 0) {
        cannot_write(path, error);
        forget(writer);
        return IMP_EIO;
    }
    if (exists && fchmod(writer->descriptor, mode) != 0) {
        cannot_write(path, error);
        imp_writer_abandon(writer);
        return IMP_EIO;
    }
    return IMP_OK;
}

imp_status imp_writer_probe(const char *path, imp_error *error)
{
    imp_writer writer;
    imp_status status = imp_writer_open(&writer, path, error);
    imp_writer_abandon(&writer);
    return status;
}

/* Gives up because of errno. */
static imp_status give_up(imp_writer *writer, imp_error *error)
{
    imp_status status = cannot_write(writer->path, error);
    imp_writer_abandon(writer);
    return status;
}

imp_status imp_writer_write(imp_writer *writer, const void *data, size_t size, imp_error *error)
{
    if (writer->temporary == NULL)
        return imp_fail(error, IMP_EINVAL, "cannot write to a file that was already closed");

    const unsigned char *next = data;
    while (size > 0) {
        ssize_t written = write(writer->descriptor, next, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return give_up(writer, error);
        next += written;
        size -= (size_t)written;
    }
    return IMP_OK;
}

/* Makes the rename itself survive a power cut. The new file stands by then, so that nothing here
 * can fail the commit; some file systems do not offer it, and some folders may be written to but
 * not opened. */
static void flush_folder(char *path)
{
    size_t length = folder_length(path);
    path[length] = '\0';
    int folder = open(length > 0 ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        (void)fsync(folder);
        close(folder);
    }
}

imp_status imp_writer_commit(imp_writer *writer, imp_error *error)
{
    if (writer->temporary == NULL)
        return imp_fail(error, IMP_EINVAL, "cannot finish a file that was already closed");

    if (fsync(writer->descriptor) != 0)
        return give_up(writer, error);
    int descriptor = writer->descriptor;
    writer->descriptor = -1; /* close() lets go of it even where it fails */
    if (close(descriptor) != 0 && errno != EINTR)
        return give_up(writer, error);
    if (rename(writer->temporary, writer->path) != 0)
        return give_up(writer, error);

    flush_folder(writer->path);
    forget(writer);
    return IMP_OK;
}

void imp_writer_abandon(imp_writer *writer)
{
    if (writer->temporary == NULL)
        return;
    if (writer->descriptor >= 0)
        close(writer->descriptor);
    unlink(writer->temporary);
    forget(writer);
}
