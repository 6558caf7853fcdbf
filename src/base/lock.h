/*
 * lock.h - one at a time: whoever is about to change a file waits for whoever is changing it.
 *
 * For files that are replaced by what was read from them and more (imp_writer replaces them whole,
 * but the last one to do so would win). It holds among programs that ask, on one machine.
 */
#ifndef IMP_BASE_LOCK_H
#define IMP_BASE_LOCK_H

#include <imp/status.h>

typedef struct imp_lock {
    int descriptor; /* -1: nothing is locked */
} imp_lock;

/* Waits until nobody else has the file that `path` names, then has it until imp_lock_release() or
 * the end of the process. Read the file only afterwards: it may be another than before. Where there
 * is no file, nothing is locked. On failure (IMP_EIO) there is nothing to release. */
imp_status imp_lock_take(imp_lock *lock, const char *path, imp_error *error);

/* Harmless where nothing is locked. */
void imp_lock_release(imp_lock *lock);

#endif
