/*
 * lock.h - lets one process at a time change a file.
 *
 * For read-modify-write: imp_writer replaces a file atomically, but without a lock the last of
 * several writers would win. The lock is advisory and local to the machine.
 */
#ifndef IMP_BASE_LOCK_H
#define IMP_BASE_LOCK_H

#include <imp/status.h>

typedef struct imp_lock {
    int descriptor; /* -1: nothing is locked */
} imp_lock;

/* Waits until no other process has locked the file at `path`, then holds the lock until
 * imp_lock_release() or the end of the process. Read the file only afterwards: it may have been
 * replaced meanwhile. If there is no file, nothing is locked. On failure (IMP_EIO) there is nothing
 * to release. */
imp_status imp_lock_take(imp_lock *lock, const char *path, imp_error *error);

/* Harmless if nothing is locked. */
void imp_lock_release(imp_lock *lock);

#endif
