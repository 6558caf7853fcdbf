/*
 * journal.h - a file that only grows, line by line, and never lies about what it holds.
 *
 * Each line is the checksum of a JSON object, a space and the object. A line is on the disk before
 * it counts as written. What a power cut leaves of the last line is recognised and taken off;
 * damage anywhere else is a fault, for what follows could not be trusted.
 */
#ifndef IMP_LABEL_JOURNAL_H
#define IMP_LABEL_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/status.h>

#include "base/json.h"

enum { IMP_JOURNAL_LIMIT = 1 << 30 }; /* bytes of a journal that is read */

typedef struct imp_journal {
    int descriptor; /* locked; -1: closed */
    char *path;
    size_t size; /* bytes of whole lines */
} imp_journal;

/* Makes the file with these lines, an array of objects. IMP_EIO if there is a file already. */
imp_status imp_journal_create(const char *path, const json_t *lines, imp_error *error);

/* Parses the text of a journal, whose bytes the caller has: *lines is a new array of the objects,
 * *whole how many bytes they take; what is behind that is a line that was not finished. */
imp_status imp_journal_parse(const char *text, size_t size, json_t **lines, size_t *whole,
                             imp_error *error);

/* Opens a journal for this process alone, reads it and takes off what was not finished, of which
 * *lost tells the bytes. Close with imp_journal_close(). After a failure there is nothing to close:
 * IMP_EIO, also if another process has it open; IMP_EFORMAT with the number of the line. */
imp_status imp_journal_open(imp_journal *journal, const char *path, json_t **lines, size_t *lost,
                            imp_error *error);
void imp_journal_close(imp_journal *journal);

/* Appends a line and waits until it is on the disk. After a failure (a full disk) the journal is as
 * it was before. */
imp_status imp_journal_append(imp_journal *journal, const json_t *line, imp_error *error);

#endif
