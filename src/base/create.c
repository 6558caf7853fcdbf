/* create.c - making files and folders exclusively. */
#define _DEFAULT_SOURCE /* symlink */

#include "base/create.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

static imp_status cannot(const char *what, const char *path, imp_error *error)
{
    return imp_fail(error, errno == EEXIST ? IMP_EINVAL : IMP_EIO, "cannot %s '%s': %s", what, path,
                    strerror(errno));
}

/* Accepts an existing folder if it is empty and writable. */
static imp_status take_folder(const char *path, imp_error *error)
{
    DIR *stream = opendir(path);
    if (stream == NULL)
        return cannot("use the folder", path, error);
    enum { SELF_AND_PARENT = 2 };
    size_t entries = 0;
    for (;; entries++) {
        errno = 0; /* readdir() leaves it unchanged at the end of the folder */
        if (entries > SELF_AND_PARENT || readdir(stream) == NULL)
            break;
    }
    imp_status status = errno == 0 ? IMP_OK : cannot("read the folder", path, error);
    closedir(stream);
    if (status)
        return status;
    if (entries > SELF_AND_PARENT)
        return imp_fail(error, IMP_EINVAL,
                        "the folder '%s' is not empty; name one that is new or empty", path);
    return access(path, W_OK | X_OK) == 0 ? IMP_OK : cannot("write to the folder", path, error);
}

imp_status imp_create_folder(const char *path, imp_error *error)
{
    if (mkdir(path, 0777) == 0)
        return IMP_OK;
    return errno == EEXIST ? take_folder(path, error) : cannot("make the folder", path, error);
}

imp_status imp_create_folder_probe(const char *path, imp_error *error)
{
    bool absent = access(path, F_OK) != 0;
    imp_status status = imp_create_folder(path, error);
    if (!status && absent)
        rmdir(path);
    return status;
}

imp_status imp_make_folders(const char *path, imp_error *error)
{
    size_t length = strlen(path);
    if (length == 0)
        return imp_fail(error, IMP_EINVAL, "cannot make a folder whose name is empty");
    char *until = imp_allocate(length + 1, 1);
    if (until == NULL)
        return imp_fail_memory(error, "a path");
    imp_status status = IMP_OK;
    memcpy(until, path, length + 1);
    for (size_t i = 1; i <= length && !status; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        until[i] = '\0';
        if (mkdir(until, 0777) == 0)
            imp_flush_name(until);
        else if (errno != EEXIST)
            status = cannot("make the folder", until, error);
        until[i] = path[i];
    }
    imp_release(until);
    return status;
}

static bool write_all(int descriptor, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(descriptor, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

imp_status imp_create_file(const char *path, const void *data, size_t size, imp_error *error)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return cannot("write", path, error);
    imp_status status = IMP_OK;
    if (!write_all(descriptor, data, size))
        status = cannot("write", path, error);
    if (close(descriptor) != 0 && !status)
        status = cannot("write", path, error);
    if (status)
        unlink(path);
    return status;
}

imp_status imp_create_link(const char *path, const char *target, imp_error *error)
{
    return symlink(target, path) == 0 ? IMP_OK : cannot("write", path, error);
}
