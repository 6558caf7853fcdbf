/*
 * file.h - reads whole files, and replaces files atomically.
 */
#ifndef IMP_BASE_FILE_H
#define IMP_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/status.h>

/* Reads all of `path` (a regular file or a pipe, at most `limit` bytes; IMP_EUNSUPPORTED when it
 * holds more). On success *data holds
 * *size bytes followed by one zero byte; release it with imp_release(). On failure *data is NULL.
 */
imp_status imp_file_read(const char *path, size_t limit, unsigned char **data, size_t *size,
                         imp_error *error);

/* Whether a file that begins with these bytes, at least one, may be of the expected kind. */
typedef bool imp_file_begins(const unsigned char *bytes, size_t size);

/* The same, but if the file does not begin as it should, only its beginning is read, since the file
 * may be endless; its parser then says what is wrong. */
imp_status imp_file_read_if(const char *path, size_t limit, imp_file_begins *begins,
                            unsigned char **data, size_t *size, imp_error *error);

/* A file being written beside its target under a temporary name. */
typedef struct imp_writer {
    int descriptor;
    char *path;      /* the target, with a symbolic link followed */
    char *temporary; /* the file being written */
} imp_writer;

/* Begins to replace `path`, or what it points to when it is a symbolic link. A file already there
 * keeps its mode; a folder, a device or a pipe is refused. Partial files that killed processes left
 * in that folder are removed. After a failure there is nothing to abandon. */
imp_status imp_writer_open(imp_writer *writer, const char *path, imp_error *error);

/* Whether imp_writer_open() would succeed now; leaves nothing behind. For commands that compute for
 * long before they write. */
imp_status imp_writer_probe(const char *path, imp_error *error);

/* Appends. After a failure the writer has abandoned itself: the target is as it was and nothing is
 * left over. */
imp_status imp_writer_write(imp_writer *writer, const void *data, size_t size, imp_error *error);

/* Flushes to disk, renames over the target and flushes the folder (the last step only if the file
 * system supports it: the new file is in place by then). After a failure the target is as it was
 * and nothing is left over. Either way the writer is closed. */
imp_status imp_writer_commit(imp_writer *writer, imp_error *error);

/* The same, and the previous target is renamed to `kept`, in the same folder, replacing any file of
 * that name; NULL: it is not kept. */
imp_status imp_writer_commit_keeping(imp_writer *writer, const char *kept, imp_error *error);

/* The same for a new file: IMP_EIO if the target exists by now. */
imp_status imp_writer_commit_new(imp_writer *writer, imp_error *error);

/* Makes the name of a file or folder survive a power cut, as far as the file system supports it. */
void imp_flush_name(const char *path);

/* Removes what was written; the target is as it was. Harmless on a closed or zeroed writer. */
void imp_writer_abandon(imp_writer *writer);

#endif
