/*
 * words.h - options written as on a command line, "--task characters --way 20", read one by one.
 *
 * The tables say what they want in such words, so that what they say can be typed.
 */
#ifndef IMP_PAPER_WORDS_H
#define IMP_PAPER_WORDS_H

#include <stdbool.h>

typedef struct imp_words {
    const char *rest;
} imp_words;

typedef struct imp_option_words {
    char name[40], value[80]; /* the value of a flag, which none follows, is "yes" */
} imp_option_words;

static inline imp_words imp_words_of(const char *text)
{
    return (imp_words){.rest = text};
}

/* The next option; false after the last. */
bool imp_words_next(imp_words *words, imp_option_words *option);

#endif
