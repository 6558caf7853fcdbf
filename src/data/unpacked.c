/*
 * unpacked.c - unpacks an archive for random access.
 */
#define _GNU_SOURCE /* O_TMPFILE */

#include "data/unpacked.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "data/fault.h"

struct imp_unpacked {
    imp_source source;
    imp_piece *pieces;  /* (count): position in memory or in the temporary file */
    imp_fault **faults; /* (count): why it could not be unpacked, otherwise NULL */
    int descriptor;     /* of the temporary file; -1: all in memory, or nothing unpacked yet */
    size_t end;         /* of the space used in it */
    pthread_mutex_t mutex;
};

imp_status imp_unpacked_open(const char *path, size_t kept_limit, imp_unpacked **out,
                             imp_error *error)
{
    *out = NULL;
    imp_unpacked *archive = imp_allocate_zeroed(1, sizeof *archive);
    if (archive == NULL)
        return imp_fail_memory(error, "an archive");
    archive->descriptor = -1;
    pthread_mutex_init(&archive->mutex, NULL);
    imp_status status = imp_source_open_keeping(&archive->source, path, kept_limit, error);
    if (!status) {
        archive->pieces = imp_allocate_zeroed(archive->source.count, sizeof *archive->pieces);
        archive->faults = imp_allocate_zeroed(archive->source.count, sizeof(imp_fault *));
        if (archive->pieces == NULL || archive->faults == NULL)
            status = imp_fail_memory(error, "an archive");
    }
    if (status)
        imp_unpacked_free(archive);
    else
        *out = archive;
    return status;
}

void imp_unpacked_free(imp_unpacked *archive)
{
    if (archive == NULL)
        return;
    for (size_t i = 0; archive->faults != NULL && i < archive->source.count; i++)
        imp_fault_release(archive->faults[i]);
    if (archive->descriptor >= 0)
        close(archive->descriptor);
    imp_release(archive->pieces);
    imp_release(archive->faults);
    imp_source_clear(&archive->source);
    pthread_mutex_destroy(&archive->mutex);
    imp_release(archive);
}

const imp_source *imp_unpacked_source(const imp_unpacked *archive)
{
    return &archive->source;
}

/* ---- unpacking ---- */

/* An unnamed file, or one that is unlinked at once if the file system does not support that. */
static imp_status open_temporary(int *descriptor, imp_error *error)
{
    const char *folder = getenv("TMPDIR");
    if (folder == NULL || folder[0] == '\0')
        folder = "/tmp";
    *descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (*descriptor < 0) {
        char *name = imp_source_join(folder, "imp-XXXXXX");
        if (name == NULL)
            return imp_fail_memory(error, "a path");
        *descriptor = mkostemp(name, O_CLOEXEC);
        if (*descriptor >= 0)
            unlink(name);
        imp_release(name);
    }
    if (*descriptor < 0)
        return imp_fail(error, IMP_EIO, "cannot make a temporary file in '%s': %s", folder,
                        strerror(errno));
    return IMP_OK;
}

static imp_status write_at(int descriptor, const uint8_t *bytes, size_t size, size_t at,
                           imp_error *error)
{
    while (size > 0) {
        ssize_t done = pwrite(descriptor, bytes, size, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return imp_fail(error, IMP_EIO, "cannot unpack to a temporary file: %s",
                            strerror(errno));
        bytes += done;
        size -= (size_t)done;
        at += (size_t)done;
    }
    return IMP_OK;
}

static void keep(size_t member, const uint8_t *bytes, size_t size, const imp_error *fault,
                 void *context)
{
    imp_unpacked *archive = context;
    imp_piece *piece = &archive->pieces[member];
    if (fault != NULL) {
        archive->faults[member] = imp_fault_keep(NULL, fault);
        return;
    }
    piece->size = size;
    if (archive->source.kept != NULL) {
        piece->begin = (size_t)(bytes - archive->source.kept);
        return;
    }
    pthread_mutex_lock(&archive->mutex);
    piece->begin = archive->end;
    archive->end += size;
    pthread_mutex_unlock(&archive->mutex);
    imp_error error;
    if (write_at(archive->descriptor, bytes, size, piece->begin, &error))
        archive->faults[member] = imp_fault_keep(NULL, &error);
}

imp_status imp_unpacked_take(imp_unpacked *archive, const bool *wanted, int threads,
                             imp_error *error)
{
    imp_status status = IMP_OK;
    if (archive->source.kept == NULL)
        status = open_temporary(&archive->descriptor, error);
    return status ? status
                  : imp_source_read(&archive->source, wanted, imp_parallel_threads(threads), keep,
                                    archive, error);
}

/* ---- reading ---- */

static imp_status read_at(int descriptor, uint8_t *bytes, size_t size, size_t at, imp_error *error)
{
    while (size > 0) {
        ssize_t got = pread(descriptor, bytes, size, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return imp_fail(error, IMP_EIO, "cannot read a temporary file: %s",
                            got < 0 ? strerror(errno) : "it is too short");
        bytes += got;
        size -= (size_t)got;
        at += (size_t)got;
    }
    return IMP_OK;
}

imp_status imp_unpacked_read(const imp_unpacked *archive, size_t member, uint8_t **bytes,
                             size_t *size, imp_error *error)
{
    *bytes = NULL;
    const imp_fault *fault = archive->faults[member];
    if (fault != NULL)
        return imp_fail(error, fault->status, "%s", fault->sentence);
    const imp_piece *piece = &archive->pieces[member];
    uint8_t *copy = imp_allocate(piece->size + 1, 1);
    if (copy == NULL)
        return imp_fail_memory(error, "a file of an archive");
    imp_status status = IMP_OK;
    if (archive->source.kept != NULL)
        memcpy(copy, archive->source.kept + piece->begin, piece->size);
    else
        status = read_at(archive->descriptor, copy, piece->size, piece->begin, error);
    if (status) {
        imp_release(copy);
        return status;
    }
    copy[piece->size] = 0;
    *bytes = copy;
    *size = piece->size;
    return IMP_OK;
}
