/* mixture.h - what the commands on fitted mixtures share. */
#ifndef IMP_CLI_MIXTURE_H
#define IMP_CLI_MIXTURE_H

#include <stdbool.h>

#include <imp/mixture.h>

/* Reads a mixture; returns IMP_GO_ON, or the status to exit with after a sentence. */
int imp_mixture_read(const char *command, const char *path, imp_mixture **mixture);

/* Describes a mixture on stdout; returns the status to exit with. */
int imp_mixture_print(const char *command, const imp_mixture *mixture, bool json);

#endif
