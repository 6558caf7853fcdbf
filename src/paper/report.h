/*
 * report.h - the results' README.md: every row of the tables with the paper's figure and ours.
 */
#ifndef IMP_PAPER_REPORT_H
#define IMP_PAPER_REPORT_H

#include <imp/metrics.h>

#include "paper/tables.h"

/* The results of a row's seeds, in the row's units. */
typedef struct imp_paper_finding {
    size_t seeds; /* measured so far; 0: not run */
    imp_interval
        figure; /* means over the seeds, also of the intervals, because the episodes are the same */
    double least, most; /* of the seeds */
    int64_t fewest_updates, most_updates;
    double seconds; /* of training, on average per seed */

    size_t unstable;     /* seeds that diverged and have no figure, */
    int64_t unstable_at; /* the last of them at this update */

    /* If there may be unlabelled clusters, the figure is the open accuracy, and this is the closed
     * one. Older result files have only this; their seeds count only here. */
    imp_interval closed;
    size_t closed_seeds;
} imp_paper_finding;

/* Collects a row's results from the result files of a folder. IMP_EFORMAT for a damaged file. */
imp_status imp_paper_find(const imp_paper_row *row, const char *folder, imp_paper_finding *finding,
                          imp_error *error);

/* Whether a row's figure is a goal: IMP's are. Other methods are there for comparison, since a
 * better baseline achieves nothing, and so are ablations, whose runs are shorter than the
 * paper's. */
bool imp_paper_is_goal(const imp_paper_row *row);

/* Whether a figure meets the paper's: it is below it by no more than the paper's interval. Figures
 * are compared as printed, those from 0 to 1 with two decimals. */
bool imp_paper_is_met(const imp_paper_row *row, double figure);

/* Writes FOLDER/README.md, the report on a dataset, atomically from the result files and pictures
 * in the folder, followed by FOLDER/notes.md, which is written by hand. IMP_EINVAL if there is a
 * README.md that is not such a report. */
imp_status imp_paper_report(const char *folder, size_t dataset, imp_error *error);

#endif
