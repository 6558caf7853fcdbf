/*
 * completion.h - what shells offer when Tab is pressed, made from the tables that the parser reads.
 *
 * The script holds all commands, actions, options, choices and names, so that completion starts no
 * program.
 */
#ifndef IMP_CLI_COMPLETION_H
#define IMP_CLI_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/cli.h"

/* Which files a value may name. */
typedef enum imp_paths { IMP_PATHS_NONE, IMP_PATHS_FILES, IMP_PATHS_FOLDERS } imp_paths;

/* What may be offered for an option's value or for operands. */
typedef struct imp_offer {
    imp_paths paths;
    char words[1500]; /* separated by spaces; may be empty */
} imp_offer;

/* For the value of an option that takes one. */
imp_offer imp_offer_value(const imp_option *option);

/* For the operands of a command or an action: "MIXTURE POINTS.npy", or NULL if there are none. */
imp_offer imp_offer_operands(const char *operands);

/* The part of an option's help that fits beside its name: up to the first semicolon. */
size_t imp_offer_length(const char *help);

void imp_completion_print_bash(FILE *stream);
void imp_completion_print_zsh(FILE *stream);
void imp_completion_print_fish(FILE *stream);

#endif
