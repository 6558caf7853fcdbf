/*
 * journal.h - an append-only file of checksummed lines.
 *
 * Each line is the checksum of a JSON object, a space and the object. A line is on disk before it
 * counts as written. A partial last line, left by a power cut, is detected and removed; damage
 * anywhere else is an error, because nothing after it could be trusted.
 */
#ifndef IMP_LABEL_JOURNAL_H
#define IMP_LABEL_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/status.h>

#include "base/json.h"

enum { IMP_JOURNAL_LIMIT = 1 << 30 }; /* most bytes of a journal */

typedef struct imp_journal {
    int descriptor; /* locked; -1: closed */
    char *path;
    size_t size; /* bytes of complete lines */
    bool waits;  /* lines are flushed together, by imp_journal_flush() */
} imp_journal;

/* Creates the file with these lines, an array of objects. IMP_EIO if there is a file already. */
imp_status imp_journal_create(const char *path, const json_t *lines, imp_error *error);

/* Parses a journal in memory: *lines is a new array of the objects, *whole the number of bytes they
 * occupy; the rest is a partial line. */
imp_status imp_journal_parse(const char *text, size_t size, json_t **lines, size_t *whole,
                             imp_error *error);

/* Opens a journal for this process alone, reads it and removes a partial line, whose size is *lost.
 * Close with imp_journal_close(). After a failure there is nothing to close: IMP_EIO, also if
 * another process has it open; IMP_EFORMAT with the number of the line. */
imp_status imp_journal_open(imp_journal *journal, const char *path, json_t **lines, size_t *lost,
                            imp_error *error);
void imp_journal_close(imp_journal *journal);

/* Appends a line and, unless the journal waits, waits until it is on disk. After a failure (a full
 * disk) the journal is unchanged. */
imp_status imp_journal_append(imp_journal *journal, const json_t *line, imp_error *error);

/* Waits until all lines are on disk; the journal no longer waits. */
imp_status imp_journal_flush(imp_journal *journal, imp_error *error);

#endif
