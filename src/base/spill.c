/* spill.c - keeps arrays larger than memory in unnamed mapped files. */
#define _GNU_SOURCE /* O_TMPFILE, madvise */

#include "base/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

/* Opens a new unnamed file in a folder; negative on failure. File systems that cannot make one get
 * a file whose name is removed at once. */
static int open_nameless(const char *folder, imp_error *error)
{
    char path[4096];
    int used = snprintf(path, sizeof path, "%s/.imp-scratch-XXXXXX", folder);
    int descriptor = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor >= 0)
        return descriptor;
    if (used < 0 || (size_t)used >= sizeof path)
        errno = ENAMETOOLONG;
    else
        descriptor = mkstemp(path);
    if (descriptor < 0)
        imp_fail(error, IMP_EIO, "cannot make a file for scratch in '%s': %s", folder,
                 strerror(errno));
    else
        unlink(path);
    return descriptor;
}

static imp_status map(imp_spill *spill, const char *folder, size_t bytes, imp_error *error)
{
    int descriptor = open_nameless(folder, error);
    if (descriptor < 0)
        return IMP_EIO;
    /* Disk space is reserved at once: a mapped file that runs out of it later would end the
     * process. */
    int failed = posix_fallocate(descriptor, 0, (off_t)bytes);
    if (!failed) {
        spill->values = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        failed = spill->values == MAP_FAILED ? errno : 0;
    }
    close(descriptor);
    if (failed) {
        *spill = (imp_spill){0};
        return imp_fail(error, IMP_EIO, "cannot make a file of %zu bytes for scratch in '%s': %s",
                        bytes, folder, strerror(failed));
    }
    spill->mapped = true;
    return IMP_OK;
}

imp_status imp_spill_create(imp_spill *spill, const imp_spill_place *place, size_t count,
                            size_t size, imp_error *error)
{
    *spill = (imp_spill){.count = count, .size = size};
    size_t bytes;
    if (!imp_multiply(count, size, &bytes) || bytes > PTRDIFF_MAX)
        return imp_fail_memory(error, "numbers of the points");
    if (place && place->folder && bytes > place->memory)
        return map(spill, place->folder, bytes, error);
    spill->values = imp_allocate(count, size);
    return spill->values ? IMP_OK : imp_fail_memory(error, "numbers of the points");
}

void imp_spill_leave(const imp_spill *spill, size_t begin, size_t end)
{
    if (!spill->mapped)
        return;
    /* whole pages, including those shared with neighbours, which are simply read again */
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t from = begin * spill->size / page * page, to = end * spill->size;
    madvise((char *)spill->values + from, to - from, MADV_DONTNEED);
}

void imp_spill_release(imp_spill *spill)
{
    if (spill->mapped)
        munmap(spill->values, spill->count * spill->size);
    else
        imp_release(spill->values);
    *spill = (imp_spill){0};
}
