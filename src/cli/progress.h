/*
 * progress.h - a progress line on stderr.
 *
 * On a terminal the line is redrawn, at most ten times a second. Elsewhere whole lines are written,
 * and only those that the command marks as worth keeping.
 */
#ifndef IMP_CLI_PROGRESS_H
#define IMP_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct imp_progress_line {
    bool quiet, terminal;
    bool drawn;  /* the terminal's current line is in use */
    double last; /* when it was drawn, by imp_clock() */
} imp_progress_line;

imp_progress_line imp_progress_start(bool quiet);

/* Whether it is time to draw; false saves the caller the formatting. */
bool imp_progress_due(const imp_progress_line *line, bool keep);

/* Shows `text` after a bar of done/total. `keep`: without a terminal, write it as a line. */
void imp_progress_show(imp_progress_line *line, size_t done, size_t total, bool keep,
                       const char *text);

/* Clears the bar, so that something else can be printed. */
void imp_progress_end(imp_progress_line *line);

/* "1:02:03" or "2:03"; "?" if the number of seconds is unknown. */
typedef struct imp_duration {
    char text[24];
} imp_duration;
imp_duration imp_duration_of(double seconds);

#endif
