/*
 * file.h - reading a file whole, and replacing a file so that no reader ever sees half of it.
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

/* Whether a file that begins with these bytes, at least one, may be of the kind that is wanted. */
typedef bool imp_file_begins(const unsigned char *bytes, size_t size);

/* The same, but of a file that does not begin as it should only the beginning is read, which might
 * else go on for ever: its parser will tell what is wrong. */
imp_status imp_file_read_if(const char *path, size_t limit, imp_file_begins *begins,
                            unsigned char **data, size_t *size, imp_error *error);

/* A file being written beside its target under a temporary name. */
typedef struct imp_writer {
    int descriptor;
    char *path;      /* the target, with a symbolic link followed */
    char *temporary; /* what is being written */
} imp_writer;

/* Begins to replace `path`, or what it points to when it is a symbolic link. A file already there
 * keeps its mode; a folder, a device or a pipe is refused. What killed processes left half written
 * in that folder is removed. After a failure there is nothing to abandon. */
imp_status imp_writer_open(imp_writer *writer, const char *path, imp_error *error);

/* Whether imp_writer_open() would succeed now; leaves nothing behind. For commands that work long
 * before they write. */
imp_status imp_writer_probe(const char *path, imp_error *error);

/* Appends. After a failure the writer has abandoned itself: the target is as it was and nothing is
 * left over. */
imp_status imp_writer_write(imp_writer *writer, const void *data, size_t size, imp_error *error);

/* Flushes to disk, renames over the target and flushes the folder (that last step only where the
 * file system offers it: the new file stands by then). After a failure the target is as it was and
 * nothing is left over. Either way the writer is closed. */
imp_status imp_writer_commit(imp_writer *writer, imp_error *error);

/* The same, and what was the target before is then called `kept`, in the same folder, in the place
 * of what was called so; NULL: it is not kept. */
imp_status imp_writer_commit_keeping(imp_writer *writer, const char *kept, imp_error *error);

/* The same where there must be nothing of the target's name; IMP_EIO if there is by now. */
imp_status imp_writer_commit_new(imp_writer *writer, imp_error *error);

/* Makes the name of a file or a folder survive a power cut, as far as the file system offers it. */
void imp_flush_name(const char *path);

/* Removes what was written; the target is as it was. Harmless on a closed or zeroed writer. */
void imp_writer_abandon(imp_writer *writer);

#endif
