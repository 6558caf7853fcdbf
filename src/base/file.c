/* file.c - reads a whole file, or only its beginning if that shows that it is of the wrong kind. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

/* The first buffer where a file does not report its size. */
enum { FIRST_CAPACITY = 64 << 10 };

/* Bytes that are enough to recognise the kind of a file. */
enum { BEGINNING = 64 };

static imp_status cannot_read(const char *path, imp_error *error)
{
    return imp_fail(error, IMP_EIO, "cannot read '%s': %s", path, strerror(errno));
}

static ssize_t read_some(int descriptor, void *data, size_t size)
{
    ssize_t got;
    do
        got = read(descriptor, data, size);
    while (got < 0 && errno == EINTR);
    return got;
}

/* A block of `larger` bytes that begins with the `used` bytes of the old one, which it replaces. */
static bool grow(unsigned char **data, size_t *capacity, size_t used, size_t larger)
{
    unsigned char *fresh = imp_enlarge(*data, used, larger, 1);
    if (fresh == NULL)
        return false;
    imp_release(*data);
    *data = fresh;
    *capacity = larger;
    return true;
}

/* The size a file claims only sizes the first block: the end of the file is where read() says it
 * is, since pipes claim nothing, /proc claims zero, and a log may grow as it is read. */
static imp_status read_all(int descriptor, const char *path, size_t limit, imp_file_begins *begins,
                           unsigned char **data, size_t *size, imp_error *error)
{
    struct stat about;
    if (fstat(descriptor, &about) != 0)
        return cannot_read(path, error);
    bool sized = S_ISREG(about.st_mode) && about.st_size > 0;
    if (sized && (uintmax_t)about.st_size > limit)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "cannot read '%s': it holds %jd bytes, and at most %zu are allowed", path,
                        (intmax_t)about.st_size, limit);

    /* One byte more than the limit tells "just full" from "too long" and holds the final zero. */
    size_t most = limit < SIZE_MAX ? limit + 1 : SIZE_MAX;
    size_t capacity = sized ? (size_t)about.st_size + 1 : FIRST_CAPACITY;
    if (capacity > most)
        capacity = most;
    /* Room for the rest is made once the kind is known to be right. */
    size_t whole = capacity;
    if (begins != NULL && capacity > BEGINNING + 1)
        capacity = BEGINNING + 1;

    unsigned char *buffer = imp_allocate(capacity, 1);
    if (buffer == NULL)
        return imp_fail(error, IMP_ENOMEM, "out of memory for the content of '%s'", path);

    size_t used = 0;
    for (;;) {
        size_t room = capacity - used;
        if (begins != NULL && used < BEGINNING && room > BEGINNING - used)
            room = BEGINNING - used;
        ssize_t got = read_some(descriptor, buffer + used, room);
        if (got < 0) {
            cannot_read(path, error);
            imp_release(buffer);
            return IMP_EIO;
        }
        if (got == 0)
            break;
        used += (size_t)got;
        if (begins != NULL && used <= BEGINNING && !begins(buffer, used))
            break;
        if (used > limit) {
            imp_release(buffer);
            return imp_fail(error, IMP_EUNSUPPORTED,
                            "cannot read '%s': it holds more than the %zu bytes allowed", path,
                            limit);
        }
        size_t larger = capacity;
        if (capacity < whole && used >= BEGINNING)
            larger = whole;
        else if (used == capacity)
            larger = capacity <= most / 2 ? capacity * 2 : most;
        if (larger > capacity && !grow(&buffer, &capacity, used, larger)) {
            imp_release(buffer);
            return imp_fail(error, IMP_ENOMEM, "out of memory for the content of '%s'", path);
        }
    }

    buffer[used] = '\0';
    *data = buffer;
    *size = used;
    return IMP_OK;
}

imp_status imp_file_read(const char *path, size_t limit, unsigned char **data, size_t *size,
                         imp_error *error)
{
    return imp_file_read_if(path, limit, NULL, data, size, error);
}

imp_status imp_file_read_if(const char *path, size_t limit, imp_file_begins *begins,
                            unsigned char **data, size_t *size, imp_error *error)
{
    *data = NULL;
    *size = 0;

    int descriptor;
    do
        descriptor =
            open(path, O_RDONLY | O_CLOEXEC); /* blocks on a pipe, and a signal may interrupt it */
    while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0)
        return cannot_read(path, error);
    imp_status status = read_all(descriptor, path, limit, begins, data, size, error);
    close(descriptor);
    return status;
}
