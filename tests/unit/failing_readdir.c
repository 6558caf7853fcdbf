/* failing_readdir.c - stands before the system's readdir(), which a program's own function hides.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include "failing_readdir.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

static unsigned calls_left; /* the last of them fails; 0: none does */

void failing_readdir_set(unsigned n)
{
    calls_left = n;
}

/* Visible, as a sanitizer's own is, which the linker misses otherwise. */
__attribute__((visibility("default"))) struct dirent *readdir(DIR *stream)
{
    if (calls_left == 1) {
        errno = EIO;
        return NULL;
    }
    if (calls_left > 1)
        calls_left--;
    struct dirent *(*next)(DIR *);
    *(void **)&next = dlsym(RTLD_NEXT, "readdir");
    return next(stream);
}
