/*
 * file_writer.c - replaces a file atomically.
 *
 * A new file is written under a temporary name in the target's folder (a rename cannot cross file
 * systems), flushed, and renamed over the target. Opening the target at any moment, even after a
 * crash, gives the old file or the new one.
 *
 * A process that is killed leaves its temporary file behind. The process had locked it, and the
 * lock ended with the process, so the next process to write into the folder can tell that the file
 * is abandoned and removes it.
 */
#define _DEFAULT_SOURCE /* realpath, fchmod, getrandom, flock, link */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

static imp_status cannot_write(const char *path, imp_error *error)
{
    return imp_fail(error, IMP_EIO, "cannot write '%s': %s", path, strerror(errno));
}

/* The length of a path's folder, including the last slash; 0 for the working folder. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

/* Resolves `path`, which may be a symbolic link: the link stays and what it points to is replaced.
 * *mode is set only if that file *exists. */
static imp_status resolve(const char *path, char target[PATH_MAX], bool *exists, mode_t *mode,
                          imp_error *error)
{
    size_t length = strlen(path);
    if (length >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return cannot_write(path, error);
    }
    /* A temporary file could be created in the working folder, but never renamed to an empty name.
     */
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

/* ---- temporary names ---- */

/* ".imp-", 16 unpredictable digits, ".tmp". */
#define PREFIX ".imp-"
#define SUFFIX ".tmp"
enum { DIGITS = 16, TEMPORARY_LENGTH = sizeof PREFIX - 1 + DIGITS + sizeof SUFFIX - 1 };

static bool is_temporary(const char *name)
{
    return strlen(name) == TEMPORARY_LENGTH && strncmp(name, PREFIX, sizeof PREFIX - 1) == 0 &&
           strspn(name + sizeof PREFIX - 1, "0123456789abcdef") == DIGITS &&
           strcmp(name + TEMPORARY_LENGTH - (sizeof SUFFIX - 1), SUFFIX) == 0;
}

/* A new name in the target's folder; false with errno set if no random numbers are available. */
static bool name_beside(const char *target, char *temporary, size_t room)
{
    uint64_t nonce;
    if (getrandom(&nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce)
        return false;
    snprintf(temporary, room, "%.*s" PREFIX "%016" PRIx64 SUFFIX, (int)folder_length(target),
             target, nonce);
    return true;
}

static size_t name_room(const char *target)
{
    return folder_length(target) + TEMPORARY_LENGTH + 1;
}

/* Whether the open file still has this name. */
static bool has_name(int descriptor, int folder, const char *name)
{
    struct stat open_one, named;
    return fstat(descriptor, &open_one) == 0 &&
           fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

/* Creates a temporary file in the target's folder and locks it, if the file system supports locks.
 * `temporary` has room for its name. -1 with errno set on failure. */
static int create_beside(const char *target, char *temporary, size_t room, mode_t mode)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        if (!name_beside(target, temporary, room))
            return -1;
        int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (descriptor < 0 && errno != EEXIST)
            return -1;
        if (descriptor < 0)
            continue;
        /* Another process may have removed it before it was locked, or be about to. */
        bool locked = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
        if (locked ? has_name(descriptor, AT_FDCWD, temporary) : errno != EWOULDBLOCK)
            return descriptor;
        unlink(temporary);
        close(descriptor);
    }
    errno = EEXIST;
    return -1;
}

/* Removes a temporary file of ours unless its writer still holds the lock. Without locks it stays.
 */
static void sweep_one(int folder, const char *name)
{
    struct stat about;
    int descriptor = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return;
    if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
        flock(descriptor, LOCK_EX | LOCK_NB) == 0 && has_name(descriptor, folder, name))
        unlinkat(folder, name, 0);
    close(descriptor);
}

/* Removes partial files that killed processes left beside the target. */
static void sweep_beside(const char *target)
{
    char folder[PATH_MAX];
    size_t length = folder_length(target);
    memcpy(folder, target, length);
    memcpy(folder + length, ".", 2);
    DIR *stream = opendir(folder);
    if (stream == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;)
        if (is_temporary(entry->d_name))
            sweep_one(dirfd(stream), entry->d_name);
    closedir(stream);
}

/* ---- writing ---- */

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
    if (status)
        return status;

    sweep_beside(target);
    size_t room = name_room(target);
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

/* A failure here is not the caller's: the file is in place by now. Some file systems do not support
 * this, and some folders can be written to but not opened. */
void imp_flush_name(const char *path)
{
    char folder[PATH_MAX];
    size_t length = folder_length(path);
    if (length + 2 > sizeof folder)
        return;
    memcpy(folder, path, length);
    memcpy(folder + length, ".", 2);
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        (void)fsync(descriptor);
        close(descriptor);
    }
}

/* Flushes the file. It stays open, and therefore locked, until it has its final name. After a
 * failure the writer has abandoned itself. */
static imp_status settle(imp_writer *writer, imp_error *error)
{
    if (writer->temporary == NULL)
        return imp_fail(error, IMP_EINVAL, "cannot finish a file that was already closed");
    return fsync(writer->descriptor) == 0 ? IMP_OK : give_up(writer, error);
}

/* Gives the file `path` the second name `kept`, atomically. On file systems without hard links the
 * file is renamed instead and has only that name for a moment. It is not a failure if `path` does
 * not exist. */
static bool keep(const char *path, const char *kept)
{
    char name[PATH_MAX];
    if (strlen(kept) >= sizeof name - TEMPORARY_LENGTH - 1) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (int attempt = 0; attempt < 100; attempt++) {
        if (!name_beside(kept, name, sizeof name))
            return false;
        if (link(path, name) != 0)
            return errno == ENOENT || rename(path, kept) == 0;
        bool moved = rename(name, kept) == 0;
        int reason = errno;
        unlink(name); /* rename() leaves it if both were already the same file */
        errno = reason;
        if (moved ||
            errno != ENOENT) /* unless another process removed it, since it is not locked */
            return moved;
    }
    return false;
}

/* The last step; true if the target is now the new file. */
static bool take_place(const imp_writer *writer)
{
    return rename(writer->temporary, writer->path) == 0;
}

/* The same, but only if the name is free, without a race. */
static bool take_free_place(const imp_writer *writer)
{
    if (link(writer->temporary, writer->path) == 0) {
        unlink(writer->temporary);
        return true;
    }
    if (errno == EEXIST || access(writer->path, F_OK) == 0) {
        errno = EEXIST;
        return false;
    }
    return take_place(writer); /* a file system without links */
}

static imp_status conclude(imp_writer *writer)
{
    close(writer->descriptor); /* everything is flushed, so this cannot lose data */
    imp_flush_name(writer->path);
    forget(writer);
    return IMP_OK;
}

imp_status imp_writer_commit(imp_writer *writer, imp_error *error)
{
    return imp_writer_commit_keeping(writer, NULL, error);
}

imp_status imp_writer_commit_keeping(imp_writer *writer, const char *kept, imp_error *error)
{
    imp_status status = settle(writer, error);
    if (status)
        return status;
    if (kept != NULL && !keep(writer->path, kept)) {
        imp_fail(error, IMP_EIO, "cannot keep '%s' as '%s': %s", writer->path, kept,
                 strerror(errno));
        imp_writer_abandon(writer);
        return IMP_EIO;
    }
    return take_place(writer) ? conclude(writer) : give_up(writer, error);
}

imp_status imp_writer_commit_new(imp_writer *writer, imp_error *error)
{
    imp_status status = settle(writer, error);
    if (status)
        return status;
    return take_free_place(writer) ? conclude(writer) : give_up(writer, error);
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
