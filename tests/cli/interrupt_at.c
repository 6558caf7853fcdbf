/*
 * interrupt_at.c - preloaded into the command, sends it a signal ($INTERRUPT_BY, a number) when it
 * has made the folder, or a file for scratch in the folder, that $INTERRUPT_AT names, so that a
 * test interrupts or stops it at a certain point of its work on a machine of any speed.
 */
#define _GNU_SOURCE /* O_TMPFILE */

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void interrupt_at(const char *path, size_t length)
{
    static int done; /* a second signal would end the command at once */
    const char *wanted = getenv("INTERRUPT_AT");
    if (wanted && strlen(wanted) == length && strncmp(path, wanted, length) == 0 && !done++)
        raise(atoi(getenv("INTERRUPT_BY")));
}

int mkdir(const char *path, mode_t mode)
{
    int result = mkdirat(AT_FDCWD, path, mode);
    if (result == 0)
        interrupt_at(path, strlen(path));
    return result;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    int nameless = (flags & O_TMPFILE) == O_TMPFILE;
    mode_t mode = nameless || flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    int result = openat(AT_FDCWD, path, flags, mode);
    if (result >= 0 && nameless)
        interrupt_at(path, strlen(path));
    return result;
}
