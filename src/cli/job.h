/*
 * job.h - the ranks that run a command together, if it was started as several processes.
 *
 * `imp` runs alone. `imp-mpi` sets its ranks here before it runs a command, which all of them run;
 * commands distribute their work among these.
 */
#ifndef IMP_CLI_JOB_H
#define IMP_CLI_JOB_H

#include "base/ranks.h"

/* NULL: this process is alone. */
const imp_ranks *imp_job_ranks(void);
void imp_job_begin(const imp_ranks *ranks);

/* Whether this process writes files: it is the only one, or rank 0. */
bool imp_job_writes(void);

/* Whether all ranks have the same file, or folder of files, at `path`; IMP_GO_ON, or the exit
 * status after a message. Every rank must ask, after it has opened the file: one that cannot says
 * why. A NULL path, for a file that was not named, is the same everywhere. */
int imp_job_agree(const char *command, const char *path);

/* Without one of the standard streams, the first file that is opened would get its number, and
 * messages would be written into that file. In their places are files after this that, like a
 * closed stream, can be neither read from nor written to, as the case may be. imp_job_run() does
 * it, but a program that opens something before has to call it first. */
void imp_job_fill_closed_streams(void);

/* Runs main()'s command line; returns the exit status after all output is written. */
int imp_job_run(int argc, char **argv);

#endif
