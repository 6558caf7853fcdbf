/*
 * words.h - parses options written as on a command line, "--task characters --way 20", one by one.
 *
 * The tables use this form, so their options can be typed.
 */
#ifndef IMP_PAPER_WORDS_H
#define IMP_PAPER_WORDS_H

#include <stdbool.h>

typedef struct imp_words {
    const char *rest;
} imp_words;

typedef struct imp_option_words {
    char name[40], value[80]; /* "yes" for a flag, which has no value */
} imp_option_words;

static inline imp_words imp_words_of(const char *text)
{
    return (imp_words){.rest = text};
}

/* The next option; false after the last. */
bool imp_words_next(imp_words *words, imp_option_words *option);

#endif
