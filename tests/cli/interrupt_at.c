/*
 * interrupt_at.c - preloaded into the command, sends it a signal ($INTERRUPT_BY, a number) when it
 * has made the folder, or a file for scratch in the folder, that $INTERRUPT_AT names, so that a
 * test interrupts or stops it at a certain point of its work on a machine of any speed.
 */
#include <fcntl.h>
#include <signal.h>
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

int mkstemp(char *path)
{
    static unsigned number;
    char digits[7];
    snprintf(digits, sizeof digits, "%06u", (number++ * 1000 + (unsigned)getpid()) % 1000000);
    memcpy(path + strlen(path) - 6, digits, 6);
    int result = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    const char *name = strrchr(path, '/');
    if (result >= 0 && name && strncmp(name, "/.imp-scratch-", 14) == 0)
        interrupt_at(path, (size_t)(name - path));
    return result;
}
