/*
 * interrupt.h - Ctrl-C: a command that has made nothing yet ends at once and says so; one that has
 * something to take back gets a flag to ask for.
 */
#ifndef IMP_CLI_INTERRUPT_H
#define IMP_CLI_INTERRUPT_H

#include <stdbool.h>

#include <imp/status.h>

/* What a shell says of a command that Ctrl-C ended. */
enum { IMP_EXIT_INTERRUPTED = 130 };

/* From now on SIGINT or SIGTERM ends the process as it would anyway, but with the sentence that
 * `command` was interrupted. A signal that is ignored stays so. */
void imp_interrupt_tell(const char *command);

/* From now on the first SIGINT or SIGTERM only sets the flag; a second one ends the process. */
void imp_interrupt_catch(void);

/* Whether there was one. */
bool imp_interrupted(void);

/* IMP_OK, or a failure if there was one: for work that takes back what is half made after any
 * failure. */
imp_status imp_interrupt_check(imp_error *error);

#endif
