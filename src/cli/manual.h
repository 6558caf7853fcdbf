/* manual.h - man pages, in roff, made from the tables that the parser reads. */
#ifndef IMP_CLI_MANUAL_H
#define IMP_CLI_MANUAL_H

#include "cli/cli.h"

/* Writes imp(1): what imp is, its commands, exit status, environment and files. */
void imp_manual_print_overview(FILE *stream);

/* Writes imp-COMMAND(1): every option with its values and default. */
void imp_manual_print(const imp_usage *usage, FILE *stream);

#endif
