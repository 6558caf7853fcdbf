/*
 * interrupt_at.c - preloaded into the command, sends it a signal ($INTERRUPT_BY, a number) when it
 * has made the folder that $INTERRUPT_AT names, so that a test interrupts or stops it at a certain
 * point of its work on a machine of any speed.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int mkdir(const char *path, mode_t mode)
{
    int result = mkdirat(AT_FDCWD, path, mode);
    const char *wanted = getenv("INTERRUPT_AT");
    if (result == 0 && wanted && strcmp(path, wanted) == 0)
        raise(atoi(getenv("INTERRUPT_BY")));
    return result;
}
