/* journal.c - lines with checksums, appended and flushed one by one. */
#define _DEFAULT_SOURCE /* flock */

#include "label/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "data/checksum.h"

enum { DIGITS = 16, PREFIX = DIGITS + 1 };

/* The line for an object; free it with free(). */
static char *line_of(const json_t *object, size_t *size)
{
    char *text = imp_json_text(object), *line = NULL;
    if (text) {
        size_t length = strlen(text);
        line = malloc(PREFIX + length + 2);
        if (line) {
            *size = PREFIX + length + 1;
            snprintf(line, PREFIX + length + 2, "%016" PRIx64 " %s\n", imp_checksum(text, length),
                     text);
        }
    }
    imp_release(text);
    return line;
}

imp_status imp_journal_create(const char *path, const json_t *lines, imp_error *error)
{
    imp_writer writer;
    imp_status status = imp_writer_open(&writer, path, error);
    if (status)
        return status;
    size_t index;
    json_t *object;
    json_array_foreach(lines, index, object)
    {
        size_t size;
        char *line = line_of(object, &size);
        if (!line) {
            imp_writer_abandon(&writer);
            return imp_fail_memory(error, "a line of the project");
        }
        status = imp_writer_write(&writer, line, size, error);
        free(line);
        if (status)
            return status;
    }
    return imp_writer_commit_new(&writer, error);
}

/* ---- reading ---- */

static bool is_sound(const char *line, size_t size)
{
    char digits[PREFIX];
    if (size < PREFIX || line[DIGITS] != ' ')
        return false;
    snprintf(digits, sizeof digits, "%016" PRIx64, imp_checksum(line + PREFIX, size - PREFIX));
    return memcmp(digits, line, DIGITS) == 0;
}

imp_status imp_journal_parse(const char *text, size_t size, json_t **lines, size_t *whole,
                             imp_error *error)
{
    *lines = json_array();
    *whole = 0;
    if (!*lines)
        return imp_fail_memory(error, "the lines of a project");
    imp_status status = IMP_OK;
    for (size_t number = 1; *whole < size && !status; number++) {
        const char *line = text + *whole, *end = memchr(line, '\n', size - *whole);
        size_t length = end ? (size_t)(end - line) : size - *whole;
        bool last = !end || end + 1 == text + size;
        if (!end || !is_sound(line, length)) {
            if (!last)
                status = imp_fail(error, IMP_EFORMAT, "line %zu is damaged: its checksum is wrong",
                                  number);
            break; /* the last line was not finished */
        }
        json_t *object;
        status = imp_json_parse(line + PREFIX, length - PREFIX, &object, error);
        if (!status && json_array_append_new(*lines, object) != 0)
            status = imp_fail_memory(error, "the lines of a project");
        *whole += length + 1;
    }
    if (status) {
        json_decref(*lines);
        *lines = NULL;
    }
    return status;
}

static imp_status fail_at(const imp_journal *journal, const char *what, imp_error *error)
{
    return imp_fail(error, IMP_EIO, "cannot %s the project '%s': %s", what, journal->path,
                    strerror(errno));
}

static imp_status lock(imp_journal *journal, imp_error *error)
{
    journal->descriptor = open(journal->path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (journal->descriptor < 0)
        return fail_at(journal, "open", error);
    if (flock(journal->descriptor, LOCK_EX | LOCK_NB) == 0)
        return IMP_OK;
    if (errno != EWOULDBLOCK)
        return fail_at(journal, "lock", error);
    return imp_fail(error, IMP_EIO,
                    "the project '%s' is open in another 'imp label'; use its page, or end it "
                    "first",
                    journal->path);
}

imp_status imp_journal_open(imp_journal *journal, const char *path, json_t **lines, size_t *lost,
                            imp_error *error)
{
    *journal = (imp_journal){.descriptor = -1, .path = imp_duplicate(path)};
    *lines = NULL;
    if (!journal->path)
        return imp_fail_memory(error, "a path");
    unsigned char *text = NULL;
    size_t size = 0;
    imp_status status = lock(journal, error);
    if (!status)
        status = imp_file_read(path, IMP_JOURNAL_LIMIT, &text, &size, error);
    if (!status) {
        status = imp_journal_parse((const char *)text, size, lines, &journal->size, error);
        if (status)
            imp_error_prefix(error, path);
    }
    *lost = status ? 0 : size - journal->size;
    if (!status && *lost > 0 && ftruncate(journal->descriptor, (off_t)journal->size) != 0)
        status = fail_at(journal, "mend", error);
    imp_release(text);
    if (status) {
        json_decref(*lines);
        *lines = NULL;
        imp_journal_close(journal);
    }
    return status;
}

void imp_journal_close(imp_journal *journal)
{
    if (journal->descriptor >= 0)
        close(journal->descriptor);
    imp_release(journal->path);
    *journal = (imp_journal){.descriptor = -1};
}

/* ---- writing ---- */

static bool write_at(int descriptor, size_t offset, const char *data, size_t size)
{
    if (lseek(descriptor, (off_t)offset, SEEK_SET) < 0)
        return false;
    while (size > 0) {
        ssize_t done = write(descriptor, data, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        data += done;
        size -= (size_t)done;
    }
    return true;
}

imp_status imp_journal_append(imp_journal *journal, const json_t *object, imp_error *error)
{
    size_t size;
    char *line = line_of(object, &size);
    if (!line)
        return imp_fail_memory(error, "a line of the project");
    bool written = write_at(journal->descriptor, journal->size, line, size) &&
                   (journal->waits || fsync(journal->descriptor) == 0);
    free(line);
    if (!written) {
        imp_status status = fail_at(journal, "write to", error);
        if (ftruncate(journal->descriptor, (off_t)journal->size) != 0)
            errno = 0; /* the next opening removes the partial line */
        return status;
    }
    journal->size += size;
    return IMP_OK;
}

imp_status imp_journal_flush(imp_journal *journal, imp_error *error)
{
    journal->waits = false;
    return fsync(journal->descriptor) == 0 ? IMP_OK : fail_at(journal, "write to", error);
}
