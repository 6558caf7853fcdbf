/*
 * runs.h - the trainings that the paper's tables take, as plain data.
 *
 * A run is trained once per seed, exactly as
 *
 *     imp train --recipe RECIPE --data DATA [CHANGES] [SCHEDULE] --seed N --out RUNS/NAME-seedN
 *
 * trains it, so that what somebody began by hand is taken up.
 */
#ifndef IMP_PAPER_RUNS_H
#define IMP_PAPER_RUNS_H

#include "settings/settings.h"

typedef struct imp_paper_run {
    const char *name;
    const char *recipe;
    const char *changes; /* of the recipe, as words of a command line: "--method prototypes" */
    int64_t updates, halve_from, halve_every; /* its schedule */
    int seeds;                                /* seeds 1 .. seeds are trained */
} imp_paper_run;

/* Run number `index`; its name is NULL after the last. */
imp_paper_run imp_paper_run_at(size_t index);

/* The number of the run of that name, which must be one. */
size_t imp_paper_run_find(const char *name);

/* "alphabets-imp-seed1": the run's folder, and its result file without ".json". */
typedef struct imp_paper_name {
    char text[80];
} imp_paper_name;
imp_paper_name imp_paper_run_name(const imp_paper_run *run, int seed);

/* The settings of a run. `updates` asks for another number of updates, to which the schedule is
 * scaled, the paper's whole one where the run's is that ended early; 0 for the run's own. `data` is
 * pointed to, not copied. *settings is to be cleared also on failure. */
imp_status imp_paper_settings(const imp_paper_run *run, int seed, const char *data, int64_t updates,
                              imp_settings *settings, imp_error *error);

/* The command line that trains it to these settings, cut to fit. */
void imp_paper_train_command(const imp_paper_run *run, const imp_settings *settings, char *text,
                             size_t size);

/* The name of a setting in which a run that is there disagrees with what the table asks for, or
 * NULL: where its data lies and how often it is logged or saved may differ. */
const char *imp_paper_disagreement(const imp_settings *there, const imp_settings *wanted);

/* How many images an update embeds. */
double imp_paper_images(const imp_settings *settings);

#endif
