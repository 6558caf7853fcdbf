/*
 * runs.h - the training runs that the paper's tables need, as plain data.
 *
 * A run is trained once per seed, exactly as
 *
 *     imp train --recipe RECIPE --data DATA [CHANGES] [SCHEDULE] --seed N --out RUNS/NAME-seedN
 *
 * would, so a run begun by hand is continued.
 */
#ifndef IMP_PAPER_RUNS_H
#define IMP_PAPER_RUNS_H

#include "settings/settings.h"

typedef struct imp_paper_run {
    const char *name;
    const char *recipe;
    const char *changes; /* to the recipe, as command-line options: "--method prototypes" */
    int64_t updates, halve_from, halve_every; /* its schedule */
    int seeds;                                /* seeds 1 .. seeds are trained */
} imp_paper_run;

/* Run number `index`; its name is NULL after the last. */
imp_paper_run imp_paper_run_at(size_t index);

/* The index of the run of that name, which must exist. */
size_t imp_paper_run_find(const char *name);

/* "alphabets-imp-seed1": the run's folder, and its result file without ".json". */
typedef struct imp_paper_name {
    char text[80];
} imp_paper_name;
imp_paper_name imp_paper_run_name(const imp_paper_run *run, int seed);

/* The settings of a run. `updates` requests another number of updates, to which the schedule is
 * scaled (the paper's whole one, if the run ends it early); 0: the run's own. `data` is not copied.
 * Clear *settings even on failure. */
imp_status imp_paper_settings(const imp_paper_run *run, int seed, const char *data, int64_t updates,
                              imp_settings *settings, imp_error *error);

/* The command line that trains it with these settings, truncated to fit. */
void imp_paper_train_command(const imp_paper_run *run, const imp_settings *settings, char *text,
                             size_t size);

/* The name of a setting in which an existing run differs from what the table needs, or NULL. The
 * path of its data and the intervals of log and checkpoints may differ. */
const char *imp_paper_disagreement(const imp_settings *there, const imp_settings *wanted);

/* The number of images per update. */
double imp_paper_images(const imp_settings *settings);

#endif
