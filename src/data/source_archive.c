/*
 * source_archive.c - a zip or tar archive as a source, with libarchive.
 *
 * A small archive is unpacked into memory while its files are listed. A larger one is read again
 * from front to back by every thread: each visits all headers but unpacks only its share of the
 * files, so that memory holds only one file per thread.
 */
#define _DEFAULT_SOURCE /* newlocale, uselocale */

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "data/source.h"

enum {
    READ_SIZE = 64 << 10,
    FILES_PER_TURN = 16, /* consecutive files that one thread takes together */
    MOST_READERS = 8,    /* every reader of a tar.gz unpacks all of it */
    FILES_PER_BLOCK = 32 /* of an archive in memory, handled together */
};

/* Why libarchive failed: its error numbers are the system's if the system failed, and EILSEQ,
 * EINVAL or negative if the archive is invalid. For IMP_EFORMAT the caller writes the message. */
static imp_status blame(struct archive *archive, const char *path, imp_error *error)
{
    int number = archive_errno(archive);
    if (number == ENOMEM)
        return imp_fail_memory(error, "reading an archive");
    if (number <= 0 || number == EILSEQ || number == EINVAL)
        return IMP_EFORMAT;
    return imp_fail(error, IMP_EIO, "cannot read '%s': %s", path, strerror(number));
}

/* On failure *out is NULL. */
static imp_status open_archive(const char *path, struct archive **out, imp_error *error)
{
    *out = NULL;
    struct archive *archive = archive_read_new();
    if (archive == NULL)
        return imp_fail_memory(error, "reading an archive");
    archive_read_support_format_zip(archive);
    archive_read_support_format_tar(archive);
    archive_read_support_filter_gzip(archive);
    imp_status status = IMP_OK;
    if (archive_read_open_filename(archive, path, READ_SIZE) != ARCHIVE_OK) {
        status = blame(archive, path, error);
        if (status == IMP_EFORMAT)
            imp_fail(error, status, "cannot read '%s' as a zip or tar archive: %s", path,
                     archive_error_string(archive));
        archive_read_free(archive);
        archive = NULL;
    }
    *out = archive;
    return status;
}

/* libarchive gives names in the locale's encoding, and none if that cannot represent them. Names
 * must be the same bytes on every machine, so this thread switches to UTF-8. */
static int next_header(struct archive *archive, struct archive_entry **entry, const char **name)
{
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t before = utf8 != (locale_t)0 ? uselocale(utf8) : (locale_t)0;
    int result = archive_read_next_header(archive, entry);
    *name = NULL;
    if (result == ARCHIVE_OK || result == ARCHIVE_WARN)
        *name = archive_entry_pathname(*entry);
    if (utf8 != (locale_t)0) {
        uselocale(before);
        freelocale(utf8);
    }
    return result;
}

/* The normalised name, or NULL for a hidden file. */
static const char *visible_name(const char *name)
{
    while (name[0] == '/' || (name[0] == '.' && name[1] == '/'))
        name++;
    if (name[0] == '\0' || name[0] == '.' || strstr(name, "/.") != NULL ||
        strncmp(name, "__MACOSX/", 9) == 0)
        return NULL;
    return name;
}

/* Whether `unpacked` bytes came from so few bytes of the archive, read from `from` on, that this is
 * a decompression bomb: pictures are compressed already. Read-ahead counts in its favour, so that
 * small files with little content pass. */
static bool is_bomb(struct archive *archive, la_int64_t from, size_t unpacked)
{
    enum { RATIO = 100, FREE = 16 << 20 };
    size_t packed = (size_t)(archive_filter_bytes(archive, -1) - from) + READ_SIZE;
    return unpacked > FREE && (unpacked - FREE) / RATIO > packed;
}

/* Skips the rest of the current file, checking for bombs, since a compressed archive cannot be
 * skipped without unpacking it. */
static bool skip(struct archive *archive)
{
    la_int64_t from = archive_filter_bytes(archive, -1);
    size_t unpacked = 0;
    if (archive_filter_count(archive) <= 1)
        return true; /* not compressed as a whole: nothing is unpacked */
    for (;;) {
        const void *block;
        size_t size;
        la_int64_t offset;
        if (archive_read_data_block(archive, &block, &size, &offset) != ARCHIVE_OK)
            return true; /* its end, or a fault that the next header reports again */
        unpacked += size;
        if (is_bomb(archive, from, unpacked))
            return false;
    }
}

/* Steps to the next visible file; false at the end, with *status set when that is a failure. Files
 * without a readable name are skipped and counted. */
static bool next_file(struct archive *archive, const char *path, const char **name,
                      size_t *nameless, imp_status *status, imp_error *error)
{
    for (;;) {
        struct archive_entry *entry;
        if (archive_file_count(archive) > 0 && !skip(archive)) {
            *status =
                imp_fail(error, IMP_EUNSUPPORTED,
                         "the archive '%s' unpacks to more than a hundred times its size", path);
            return false;
        }
        int result = next_header(archive, &entry, name);
        if (result == ARCHIVE_EOF)
            return false;
        if (result != ARCHIVE_OK && result != ARCHIVE_WARN) {
            *status = blame(archive, path, error);
            if (*status == IMP_EFORMAT)
                imp_fail(error, *status, "the archive '%s' is damaged: %s", path,
                         archive_error_string(archive));
            return false;
        }
        if (archive_entry_filetype(entry) != AE_IFREG)
            continue;
        if (*name == NULL) {
            ++*nameless;
            continue;
        }
        *name = visible_name(*name);
        if (*name != NULL)
            return true;
    }
}

/* ---- unpacking ---- */

/* A growing buffer. */
typedef struct buffer {
    uint8_t *bytes;
    size_t capacity;
} buffer;

/* Enlarges the buffer, up to `most`. */
static bool reserve(buffer *space, size_t used, size_t most)
{
    size_t capacity = space->capacity > 0 ? 2 * space->capacity : READ_SIZE;
    if (capacity > most)
        capacity = most;
    uint8_t *larger = imp_enlarge(space->bytes, used, capacity, 1);
    if (larger == NULL)
        return false;
    imp_release(space->bytes);
    *space = (buffer){larger, capacity};
    return true;
}

/* Unpacks the current file, of at most `limit` bytes, to `begin` of the buffer. The size in its
 * header is not trusted: it may be wrong or absent. */
static imp_status unpack(struct archive *archive, const imp_source *source, const char *name,
                         size_t limit, buffer *space, size_t begin, size_t *size, imp_error *fault)
{
    size_t end = begin;
    la_int64_t from = archive_filter_bytes(archive, -1);
    for (;;) {
        /* One byte more than the limit tells "just full" from "too long". */
        if (end == space->capacity && !reserve(space, end, begin + limit + 1))
            return imp_fail_memory(fault, "a file of an archive");
        la_ssize_t got = archive_read_data(archive, space->bytes + end, space->capacity - end);
        if (got == 0)
            break;
        if (got < 0) {
            imp_status status = blame(archive, source->path, fault);
            if (status == IMP_EFORMAT)
                imp_fail(fault, status, "cannot unpack '%s' from '%s': %s", name, source->path,
                         archive_error_string(archive));
            return status;
        }
        end += (size_t)got;
        if (end - begin > limit)
            return imp_fail(fault, IMP_EUNSUPPORTED, "'%s' in '%s' is larger than %zu bytes", name,
                            source->path, limit);
        if (is_bomb(archive, from, end - begin))
            return imp_fail(fault, IMP_EUNSUPPORTED,
                            "'%s' in '%s' unpacks to more than a hundred times its size", name,
                            source->path);
    }
    *size = end - begin;
    return IMP_OK;
}

/* ---- listing ---- */

imp_status imp_source_list_archive(imp_source *source, size_t kept_limit, imp_error *error)
{
    struct archive *archive;
    imp_status status = open_archive(source->path, &archive, error);
    if (status)
        return status;
    const char *name;
    buffer space = {0};
    bool keep = kept_limit > 0;
    size_t used = 0, nameless = 0;
    while (next_file(archive, source->path, &name, &nameless, &status, error)) {
        imp_piece piece = {.begin = used};
        /* A file that cannot be unpacked now is reported when it is read. */
        if (keep)
            keep = unpack(archive, source, name, kept_limit - used, &space, used, &piece.size,
                          NULL) == IMP_OK;
        used += piece.size;
        if (!keep) {
            imp_release(space.bytes);
            space = (buffer){0};
        }
        if (!imp_source_add(source, name, &piece)) {
            status = imp_fail_memory(error, "a list of files");
            break;
        }
    }
    source->kept = space.bytes;
    archive_read_free(archive);
    if (!status && nameless > 0)
        status = imp_fail(error, IMP_EFORMAT,
                          "the archive '%s' holds %zu file%s whose name%s cannot be read; make it "
                          "again with names in UTF-8",
                          source->path, nameless, nameless > 1 ? "s" : "", nameless > 1 ? "s" : "");
    if (!status && source->count == 0)
        status = imp_fail(error, IMP_EFORMAT, "the archive '%s' holds no files", source->path);
    return status;
}

/* ---- reading ---- */

typedef struct job {
    const imp_source *source;
    const bool *wanted;
    size_t readers;
    imp_source_visit *visit;
    void *context;
    imp_status status[MOST_READERS];
    imp_error error[MOST_READERS];
} job;

static void read_share(size_t share, int worker, void *context)
{
    (void)worker;
    job *work = context;
    const imp_source *source = work->source;
    imp_error *error = &work->error[share];
    struct archive *archive;
    work->status[share] = open_archive(source->path, &archive, error);
    if (work->status[share] != IMP_OK)
        return;

    buffer space = {0};
    const char *name;
    size_t ordinal = 0, nameless = 0;
    bool same = true;
    while (next_file(archive, source->path, &name, &nameless, &work->status[share], error)) {
        same =
            ordinal < source->count && strcmp(name, source->names[source->members[ordinal]]) == 0;
        if (!same)
            break;
        size_t member = source->members[ordinal];
        bool mine = ordinal / FILES_PER_TURN % work->readers == share;
        ordinal++;
        if (!mine || !work->wanted[member])
            continue;
        imp_error fault;
        size_t size;
        if (unpack(archive, source, name, IMP_FILE_LIMIT, &space, 0, &size, &fault) == IMP_OK)
            work->visit(member, space.bytes, size, NULL, work->context);
        else
            work->visit(member, NULL, 0, &fault, work->context);
    }
    if (work->status[share] == IMP_OK && (!same || ordinal != source->count || nameless > 0))
        work->status[share] =
            imp_fail(error, IMP_EIO, "the archive '%s' changed while it was read", source->path);
    imp_release(space.bytes);
    archive_read_free(archive);
}

static void visit_kept(size_t block, int worker, void *context)
{
    (void)worker;
    const job *work = context;
    const imp_source *source = work->source;
    size_t end = (block + 1) * FILES_PER_BLOCK;
    if (end > source->count)
        end = source->count;
    for (size_t ordinal = block * FILES_PER_BLOCK; ordinal < end; ordinal++) {
        size_t member = source->members[ordinal];
        const imp_piece *piece = &source->pieces[ordinal];
        if (work->wanted[member])
            work->visit(member, source->kept + piece->begin, piece->size, NULL, work->context);
    }
}

imp_status imp_source_read_archive(const imp_source *source, const bool *wanted, int threads,
                                   imp_source_visit *visit, void *context, imp_error *error)
{
    job work = {.source = source, .wanted = wanted, .visit = visit, .context = context};
    if (source->kept != NULL) {
        imp_parallel((source->count + FILES_PER_BLOCK - 1) / FILES_PER_BLOCK, threads, visit_kept,
                     &work);
        return IMP_OK;
    }
    work.readers = threads < MOST_READERS ? (size_t)threads : MOST_READERS;
    imp_parallel(work.readers, threads, read_share, &work);
    for (size_t share = 0; share < work.readers; share++)
        if (work.status[share] != IMP_OK)
            return imp_fail(error, work.status[share], "%s", work.error[share].message);
    return IMP_OK;
}
