/* roff.h - plain text as roff, the language of man pages. */
#ifndef IMP_CLI_ROFF_H
#define IMP_CLI_ROFF_H

#include <stdio.h>

/* Writes running text, wrapped; every sentence starts a line, and an empty line starts a paragraph.
 * Words that begin with a dash are options, whose dashes must survive copying. */
void imp_roff_prose(const char *text, FILE *stream);

/* Writes literal text, such as a command line, without a newline. */
void imp_roff_literal(const char *text, FILE *stream);

#endif
