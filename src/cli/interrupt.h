/* interrupt.h - Ctrl-C as a flag that a long command asks for. */
#ifndef IMP_CLI_INTERRUPT_H
#define IMP_CLI_INTERRUPT_H

#include <stdbool.h>

/* From now on the first SIGINT or SIGTERM only sets the flag; a second one ends the process. */
void imp_interrupt_catch(void);

/* Whether there was one. */
bool imp_interrupted(void);

#endif
