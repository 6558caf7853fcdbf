/*
 * progress.h - a line on stderr that says how far a command is.
 *
 * On a terminal the line is drawn over and over, at most ten times a second. Elsewhere whole lines
 * are written, and only those the command marks as worth keeping.
 */
#ifndef IMP_CLI_PROGRESS_H
#define IMP_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct imp_progress_line {
    bool quiet, terminal;
    bool drawn;  /* something stands on the terminal's current line */
    double last; /* when it was drawn, by imp_clock() */
} imp_progress_line;

imp_progress_line imp_progress_start(bool quiet);

/* Whether it is time to draw: false saves the caller the work of formatting. */
bool imp_progress_due(const imp_progress_line *line, bool keep);

/* Shows `text` behind a bar of done/total. `keep`: where there is no terminal, write it as a line.
 */
void imp_progress_show(imp_progress_line *line, size_t done, size_t total, bool keep,
                       const char *text);

/* Takes the bar off the terminal, so that something else can be printed. */
void imp_progress_end(imp_progress_line *line);

/* "1:02:03" or "2:03"; "?" for a number of seconds that is not known. */
typedef struct imp_duration {
    char text[24];
} imp_duration;
imp_duration imp_duration_of(double seconds);

#endif
