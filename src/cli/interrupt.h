/*
 * interrupt.h - Ctrl-C: a command with nothing to undo ends at once and says so; one that must
 * clean up polls a flag.
 */
#ifndef IMP_CLI_INTERRUPT_H
#define IMP_CLI_INTERRUPT_H

#include <stdbool.h>

#include <imp/status.h>

/* A shell's exit status for a command ended by Ctrl-C. */
enum { IMP_EXIT_INTERRUPTED = 130 };

/* From now on SIGINT or SIGTERM ends the process as usual, but prints that `command` was
 * interrupted. Ignored signals stay ignored. */
void imp_interrupt_tell(const char *command);

/* From now on the first SIGINT or SIGTERM only sets the flag; a second one ends the process. */
void imp_interrupt_catch(void);

/* Whether there was one. */
bool imp_interrupted(void);

/* IMP_OK, or a failure if there was one: for work that cleans up after any failure. */
imp_status imp_interrupt_check(imp_error *error);

#endif
