/*
 * job.h - the ranks that run a command together, where it was started as one of several processes.
 *
 * `imp` is alone. `imp-mpi` says here whom it is one of before it runs a command, which all of them
 * do; what a command shares out it shares with these.
 */
#ifndef IMP_CLI_JOB_H
#define IMP_CLI_JOB_H

#include "base/ranks.h"

/* NULL: this process is alone. */
const imp_ranks *imp_job_ranks(void);
void imp_job_begin(const imp_ranks *ranks);

/* Whether this process writes files: the only one, or rank 0. */
bool imp_job_writes(void);

/* The command line from its first word on, as main() has it; returns the status to exit with, after
 * the last of the output is written. */
int imp_job_run(int argc, char **argv);

#endif
