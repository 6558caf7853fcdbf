/*
 * report.h - README.md of the results: every row of the tables with the paper's figure and ours.
 */
#ifndef IMP_PAPER_REPORT_H
#define IMP_PAPER_REPORT_H

#include <imp/metrics.h>

#include "paper/tables.h"

/* What the seeds of a row's run gave, in the row's units. */
typedef struct imp_paper_finding {
    size_t seeds;        /* measured so far; 0: not run */
    imp_interval figure; /* means over the seeds, of the intervals too: the episodes are the same */
    double least, most;  /* of the seeds */
    int64_t fewest_updates, most_updates;
    double seconds; /* of training a seed, on average */

    size_t unstable;     /* seeds whose loss ended them, which have no figure; */
    int64_t unstable_at; /* the last of these at that update */

    /* Where clusters without a label may come about, the figure is the open accuracy; this is the
     * closed one. Older result files have no other: their seeds count here alone. */
    imp_interval closed;
    size_t closed_seeds;
} imp_paper_finding;

/* Collects a row's findings from the result files of a folder. IMP_EFORMAT for a damaged file. */
imp_status imp_paper_find(const imp_paper_row *row, const char *folder, imp_paper_finding *finding,
                          imp_error *error);

/* Whether a row is IMP's, whose figure is to be reached. Those of the other methods are to compare
 * with: a baseline that does better than in the paper reaches nothing. Nor are rows of ablations
 * goals, whose runs are shorter than the paper's. */
bool imp_paper_is_goal(const imp_paper_row *row);

/* Whether a figure reaches the paper's: it is no further below than the paper's interval. Figures
 * are as good as they are printed, those from 0 to 1 with two decimals. */
bool imp_paper_is_met(const imp_paper_row *row, double figure);

/* Writes FOLDER/README.md, the report on a dataset, atomically from the result files and pictures
 * in the folder, with FOLDER/notes.md, which is written by hand, at its end. IMP_EINVAL if there is
 * a README.md that is no such report. */
imp_status imp_paper_report(const char *folder, size_t dataset, imp_error *error);

#endif
