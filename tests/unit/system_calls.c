/* system_calls.c - what the linker puts in place of the system's calls on files. */
#define _GNU_SOURCE

#include "system_calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_size_t left; /* calls until one fails, that one included; 0: none does */
static const char *_Atomic failed;
static void (*listener)(const file_change *what, void *context);
static void *listener_context;

void system_calls_fail(size_t n)
{
    failed = NULL;
    left = n;
}

const char *system_calls_end(void)
{
    left = 0;
    return failed;
}

void system_calls_tell(void (*to)(const file_change *what, void *context), void *context)
{
    listener = to;
    listener_context = context;
}

/* Whether this call is to fail. */
static bool fails(const char *name)
{
    size_t now = left;
    while (now > 0 && !atomic_compare_exchange_weak(&left, &now, now - 1))
        ;
    if (now != 1)
        return false;
    failed = name;
    errno = EIO;
    return true;
}

int __real_fstat(int descriptor, struct stat *about);
int __real_lstat(const char *path, struct stat *about);

static size_t inode_of(int descriptor)
{
    struct stat about;
    return __real_fstat(descriptor, &about) == 0 ? (size_t)about.st_ino : 0;
}

static size_t inode_named(const char *path)
{
    struct stat about;
    return __real_lstat(path, &about) == 0 ? (size_t)about.st_ino : 0;
}

static void tell(file_change what)
{
    if (listener)
        listener(&what, listener_context);
}

#define WRAP(type, name, ...)        \
    type __real_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__)

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (fails("open"))
        return -1;
    bool fresh = flags & O_CREAT && listener && inode_named(path) == 0;
    int descriptor = __real_open(path, flags, mode);
    if (descriptor >= 0 && fresh)
        tell((file_change){.kind = CHANGE_CREATE, .path = path, .inode = inode_of(descriptor)});
    return descriptor;
}

int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);

/* Never used to create. */
int __wrap_openat(int folder, const char *path, int flags, ...)
{
    return fails("openat") ? -1 : __real_openat(folder, path, flags);
}

WRAP(ssize_t, read, int descriptor, void *data, size_t size)
{
    return fails("read") ? -1 : __real_read(descriptor, data, size);
}

WRAP(ssize_t, pread, int descriptor, void *data, size_t size, off_t offset)
{
    return fails("pread") ? -1 : __real_pread(descriptor, data, size, offset);
}

WRAP(off_t, lseek, int descriptor, off_t offset, int from)
{
    return fails("lseek") ? -1 : __real_lseek(descriptor, offset, from);
}

WRAP(ssize_t, write, int descriptor, const void *data, size_t size)
{
    if (fails("write"))
        return -1;
    off_t offset = listener ? __real_lseek(descriptor, 0, SEEK_CUR) : 0;
    ssize_t written = __real_write(descriptor, data, size);
    if (written > 0 && offset >= 0)
        tell((file_change){.kind = CHANGE_WRITE,
                           .inode = inode_of(descriptor),
                           .offset = (size_t)offset,
                           .data = data,
                           .size = (size_t)written});
    return written;
}

WRAP(int, ftruncate, int descriptor, off_t size)
{
    if (fails("ftruncate"))
        return -1;
    int result = __real_ftruncate(descriptor, size);
    if (result == 0)
        tell(
            (file_change){.kind = CHANGE_CUT, .inode = inode_of(descriptor), .size = (size_t)size});
    return result;
}

WRAP(int, fsync, int descriptor)
{
    if (fails("fsync"))
        return -1;
    if (listener) { /* which waits for no disk */
        char link[40], path[PATH_MAX];
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        ssize_t length = readlink(link, path, sizeof path - 1);
        path[length > 0 ? length : 0] = '\0';
        tell((file_change){.kind = CHANGE_SYNC, .path = path, .inode = inode_of(descriptor)});
        return 0;
    }
    return __real_fsync(descriptor);
}

WRAP(int, rename, const char *path, const char *to)
{
    if (fails("rename"))
        return -1;
    size_t inode = listener ? inode_named(path) : 0;
    int result = __real_rename(path, to);
    if (result == 0)
        tell((file_change){.kind = CHANGE_RENAME, .path = path, .to = to, .inode = inode});
    return result;
}

WRAP(int, link, const char *path, const char *to)
{
    if (fails("link"))
        return -1;
    int result = __real_link(path, to);
    if (result == 0 && listener)
        tell((file_change){.kind = CHANGE_LINK, .path = path, .to = to, .inode = inode_named(to)});
    return result;
}

WRAP(int, unlink, const char *path)
{
    if (fails("unlink"))
        return -1;
    int result = __real_unlink(path);
    if (result == 0)
        tell((file_change){.kind = CHANGE_UNLINK, .path = path});
    return result;
}

WRAP(int, mkdir, const char *path, mode_t mode)
{
    if (fails("mkdir"))
        return -1;
    int result = __real_mkdir(path, mode);
    if (result == 0)
        tell((file_change){.kind = CHANGE_FOLDER, .path = path});
    return result;
}

WRAP(int, flock, int descriptor, int operation)
{
    return fails("flock") ? -1 : __real_flock(descriptor, operation);
}

WRAP(int, fstat, int descriptor, struct stat *about)
{
    return fails("fstat") ? -1 : __real_fstat(descriptor, about);
}

WRAP(int, stat, const char *path, struct stat *about)
{
    return fails("stat") ? -1 : __real_stat(path, about);
}

WRAP(int, lstat, const char *path, struct stat *about)
{
    return fails("lstat") ? -1 : __real_lstat(path, about);
}

WRAP(int, fchmod, int descriptor, mode_t mode)
{
    return fails("fchmod") ? -1 : __real_fchmod(descriptor, mode);
}

WRAP(int, access, const char *path, int how)
{
    return fails("access") ? -1 : __real_access(path, how);
}

WRAP(DIR *, opendir, const char *path)
{
    return fails("opendir") ? NULL : __real_opendir(path);
}

WRAP(ssize_t, getrandom, void *data, size_t size, unsigned flags)
{
    return fails("getrandom") ? -1 : __real_getrandom(data, size, flags);
}

WRAP(void *, mmap, void *at, size_t size, int protection, int flags, int descriptor, off_t offset)
{
    return fails("mmap") ? MAP_FAILED
                         : __real_mmap(at, size, protection, flags, descriptor, offset);
}
