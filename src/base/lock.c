/*
 * lock.c - locks the file itself, so that no lock file can be left behind.
 *
 * Replacing a file makes a new file of the same name. So a process that waited for the lock checks
 * whether its file still has the name and, if not, waits for the new one.
 */
#define _DEFAULT_SOURCE /* flock */

#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static bool is_still(int descriptor, const char *path)
{
    struct stat locked, named;
    return fstat(descriptor, &locked) == 0 && stat(path, &named) == 0 &&
           locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
}

static imp_status cannot_lock(const char *path, imp_error *error)
{
    return imp_fail(error, IMP_EIO, "cannot lock '%s': %s", path, strerror(errno));
}

imp_status imp_lock_take(imp_lock *lock, const char *path, imp_error *error)
{
    lock->descriptor = -1;
    for (;;) {
        int descriptor =
            open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* does not block on a pipe */
        if (descriptor < 0)
            return errno == ENOENT ? IMP_OK : cannot_lock(path, error);
        while (flock(descriptor, LOCK_EX) != 0)
            if (errno != EINTR) {
                cannot_lock(path, error);
                close(descriptor);
                return IMP_EIO;
            }
        if (is_still(descriptor, path)) {
            lock->descriptor = descriptor;
            return IMP_OK;
        }
        close(descriptor);
    }
}

void imp_lock_release(imp_lock *lock)
{
    if (lock->descriptor >= 0)
        close(lock->descriptor);
    lock->descriptor = -1;
}
