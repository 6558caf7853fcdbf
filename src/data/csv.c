/*
 * csv.c - reads comma-separated rows: quotes, doubled quotes, line ends of either kind.
 */
#include "data/csv.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"

imp_csv imp_csv_start(char *text, size_t size)
{
    size_t skip = size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    return (imp_csv){.next = text + skip, .end = text + size, .next_line = 1};
}

/* Unquotes the field that begins with the quote at `from`, in place, since the result is never
 * longer. Returns where it ends, or NULL for a quote that is never closed. */
static char *read_quoted(imp_csv *csv, char *from)
{
    char *to = from;
    for (char *at = from + 1; at < csv->end; at++) {
        if (*at == '\n')
            csv->next_line++;
        if (*at == '"') {
            if (at + 1 < csv->end && at[1] == '"') {
                at++;
            } else {
                *to = '\0';
                return at + 1;
            }
        }
        *to++ = *at;
    }
    return NULL;
}

static char *read_plain(const imp_csv *csv, char *from)
{
    while (from < csv->end && *from != ',' && *from != '\n' && *from != '\r')
        from++;
    return from;
}

/* Reads one row, which may be a single empty field. */
static imp_status read_row(imp_csv *csv, imp_error *error)
{
    csv->line = csv->next_line;
    csv->count = 0;
    char *at = csv->next;
    for (;;) {
        if (csv->count == IMP_CSV_COLUMNS)
            return imp_fail(error, IMP_EFORMAT, "line %zu has more than %d columns", csv->line,
                            IMP_CSV_COLUMNS);
        csv->fields[csv->count++] = at;
        char *end = at < csv->end && *at == '"' ? read_quoted(csv, at) : read_plain(csv, at);
        if (end == NULL)
            return imp_fail(error, IMP_EFORMAT, "line %zu opens a quote that is never closed",
                            csv->line);
        char stop = end < csv->end ? *end : '\n';
        if (stop != ',' && stop != '\n' && stop != '\r')
            return imp_fail(error, IMP_EFORMAT, "line %zu has text after a closing quote",
                            csv->line);
        bool carriage = stop == '\r' && end + 1 < csv->end && end[1] == '\n';
        *end = '\0'; /* at the very end this is the zero byte after the text */
        at = end + 1 + carriage;
        if (stop != ',')
            break;
    }
    csv->next = at < csv->end ? at : csv->end;
    csv->next_line++;
    return IMP_OK;
}

imp_status imp_csv_next(imp_csv *csv, imp_error *error)
{
    csv->count = 0;
    while (csv->next < csv->end) {
        char *begin = csv->next;
        imp_status status = read_row(csv, error);
        if (status)
            return status;
        if (csv->count == 1 && csv->fields[0][0] == '\0' && *begin == '\0') {
            csv->count = 0;
            continue; /* an empty line */
        }
        return IMP_OK;
    }
    return IMP_OK;
}
