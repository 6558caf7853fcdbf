/*
 * sorted_folder.c - puts the pictures of each group into a folder of their own.
 *
 * Every file is created exclusively, so that nothing is overwritten even if somebody else writes to
 * the same folder.
 */
#define _DEFAULT_SOURCE /* realpath, symlink */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/cluster.h"
#include "cli/page.h"
#include "data/source.h"

static imp_status cannot(const char *what, const char *path, imp_error *error)
{
    return imp_fail(error, IMP_EIO, "cannot %s '%s': %s", what, path, strerror(errno));
}

/* Makes the folder, or takes an empty one. */
static imp_status make_folder(const char *path, imp_error *error)
{
    if (mkdir(path, 0777) == 0)
        return IMP_OK;
    if (errno != EEXIST)
        return cannot("make the folder", path, error);
    DIR *stream = opendir(path);
    if (!stream)
        return cannot("use the folder", path, error);
    size_t entries = 0;
    while (readdir(stream))
        entries++;
    closedir(stream);
    enum { SELF_AND_PARENT = 2 };
    if (entries > SELF_AND_PARENT)
        return imp_fail(error, IMP_EINVAL,
                        "the folder '%s' is not empty; name one that is new or empty", path);
    return IMP_OK;
}

/* ---- one file ---- */

static int write_whole(int descriptor, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(descriptor, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        bytes += written;
        size -= (size_t)written;
    }
    return 0;
}

/* Each of these returns 0, or -1 and errno, which is EEXIST where the name is taken. */
static int make_copy(const char *to, const unsigned char *bytes, size_t size)
{
    int descriptor = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return -1;
    int failed = write_whole(descriptor, bytes, size);
    int reason = errno;
    if (close(descriptor) != 0 && !failed) {
        failed = -1;
        reason = errno;
    }
    if (failed)
        unlink(to);
    errno = reason == EEXIST ? EIO : reason;
    return failed;
}

typedef struct content {
    const char *target; /* of a link; NULL: a copy of the bytes */
    const unsigned char *bytes;
    size_t size;
} content;

/* Puts it into the folder as "name.png" or, if that is taken, as "name-2.png" and so on. */
static imp_status put(const char *folder, const char *name, const content *what, imp_error *error)
{
    const char *dot = strrchr(name, '.');
    int stem = dot ? (int)(dot - name) : (int)strlen(name);
    for (size_t number = 1;; number++) {
        char to[PATH_MAX], suffix[24] = "";
        if (number > 1)
            snprintf(suffix, sizeof suffix, "-%zu", number);
        int length =
            snprintf(to, sizeof to, "%s/%.*s%s%s", folder, stem, name, suffix, dot ? dot : "");
        if (length < 0 || (size_t)length >= sizeof to)
            return imp_fail(error, IMP_EUNSUPPORTED, "the path '%s/%s' is too long", folder, name);
        int failed =
            what->target ? symlink(what->target, to) : make_copy(to, what->bytes, what->size);
        if (!failed)
            return IMP_OK;
        if (errno != EEXIST)
            return cannot("write", to, error);
    }
}

static imp_status put_link(const char *folder, const char *path, imp_error *error)
{
    char target[PATH_MAX];
    if (!realpath(path, target))
        return cannot("read", path, error);
    return put(folder, imp_page_name(path), &(content){.target = target}, error);
}

static imp_status put_copy(const char *folder, const char *path, imp_error *error)
{
    content what = {0};
    unsigned char *bytes;
    imp_status status = imp_file_read(path, IMP_FILE_LIMIT, &bytes, &what.size, error);
    if (status)
        return status;
    what.bytes = bytes;
    status = put(folder, imp_page_name(path), &what, error);
    imp_release(bytes);
    return status;
}

imp_status imp_sorted_folder(const imp_sorting *work, const char *folder, bool links,
                             imp_error *error)
{
    int digits = snprintf(NULL, 0, "%zu", work->group_count);
    imp_status status = make_folder(folder, error);
    for (size_t g = 0; g < work->group_count && !status; g++) {
        char path[PATH_MAX];
        const imp_group *group = &work->groups[g];
        int length = snprintf(path, sizeof path, "%s/group-%0*zu", folder, digits, g + 1);
        if (length < 0 || (size_t)length >= sizeof path)
            return imp_fail(error, IMP_EUNSUPPORTED, "the path '%s' is too long", folder);
        status = make_folder(path, error);
        for (size_t i = group->first; i < group->first + group->count && !status; i++) {
            const char *picture = work->pile.gallery.pictures[work->order[i]].path;
            status = links ? put_link(path, picture, error) : put_copy(path, picture, error);
        }
    }
    return status;
}
