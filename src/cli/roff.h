/* roff.h - plain text as the language of man pages. */
#ifndef IMP_CLI_ROFF_H
#define IMP_CLI_ROFF_H

#include <stdio.h>

/* Writes running text, wrapped; every sentence begins a line, and an empty line a paragraph. Words
 * that begin with a dash are taken for options, whose dashes must survive being copied. */
void imp_roff_prose(const char *text, FILE *stream);

/* Writes text in which every letter is meant, such as a command line, without a line's end. */
void imp_roff_literal(const char *text, FILE *stream);

#endif
