/* interrupt.h - Ctrl-C as a flag that a long command asks for. */
#ifndef IMP_CLI_INTERRUPT_H
#define IMP_CLI_INTERRUPT_H

#include <stdbool.h>

#include <imp/status.h>

/* What a shell says of a command that Ctrl-C ended. */
enum { IMP_EXIT_INTERRUPTED = 130 };

/* From now on the first SIGINT or SIGTERM only sets the flag; a second one ends the process. */
void imp_interrupt_catch(void);

/* Whether there was one. */
bool imp_interrupted(void);

/* IMP_OK, or a failure if there was one: for work that takes back what is half made after any
 * failure. */
imp_status imp_interrupt_check(imp_error *error);

#endif
