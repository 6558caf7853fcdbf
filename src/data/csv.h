/* csv.h - the rows of a comma-separated file (RFC 4180). */
#ifndef IMP_DATA_CSV_H
#define IMP_DATA_CSV_H

#include <stddef.h>

#include <imp/status.h>

enum { IMP_CSV_COLUMNS = 32 };

/* A file being read. The text is changed in place: fields are unquoted and terminated. */
typedef struct imp_csv {
    char *next, *end;
    size_t line; /* where the last row began, from 1 */
    size_t next_line;
    char *fields[IMP_CSV_COLUMNS];
    size_t count;
} imp_csv;

/* Starts reading `size` bytes of text followed by a zero byte, as from imp_file_read(). A byte
 * order mark is skipped. */
imp_csv imp_csv_start(char *text, size_t size);

/* Reads the next row that is not empty into `fields`. At the end `count` is 0. IMP_EFORMAT, with
 * the line, for an unclosed quote, text after a closing one or too many columns. */
imp_status imp_csv_next(imp_csv *csv, imp_error *error);

#endif
