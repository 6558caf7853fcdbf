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

/* The progress of passes over many points, shown after some seconds. */
typedef struct imp_pass_line {
    imp_progress_line line;
    double begin; /* of the work, */
    double pass_begin;
    size_t pass; /* and of its present pass, by imp_clock() */
} imp_pass_line;

imp_pass_line imp_pass_start(void);

/* Of the points of pass number `pass`, from 1 of `passes` (0: not known), so many are done. `more`
 * is shown, too, such as ", 3 clusters". */
void imp_pass_show(imp_pass_line *own, size_t pass, size_t passes, size_t done, size_t points,
                   const char *more);

#endif
