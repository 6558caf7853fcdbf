/*
 * roff.c - escapes text for roff.
 *
 * A backslash begins an escape, a dot or an apostrophe at the start of a line begins a request, and
 * a plain dash is typeset as a hyphen, which a shell does not accept as a dash.
 */
#include "cli/roff.h"

#include <stdbool.h>
#include <string.h>

enum { WIDTH = 78 };

static void put_letter(char letter, bool exact, FILE *stream)
{
    if (letter == '\\')
        fputs("\\e", stream);
    else if (letter == '-' && exact)
        fputs("\\-", stream);
    else
        fputc(letter, stream);
}

/* Whether a word is an option, whose dashes must stay dashes. */
static bool is_exact(const char *word)
{
    return word[strspn(word, "'\"(")] == '-';
}

/* The printed width of a word. */
static size_t width_of(const char *word, size_t length)
{
    size_t width = length;
    for (size_t i = 0; i < length; i++)
        width += word[i] == '\\' || (word[i] == '-' && is_exact(word));
    return width;
}

static void put_word(const char *word, size_t length, FILE *stream)
{
    bool exact = is_exact(word);
    for (size_t i = 0; i < length; i++)
        put_letter(word[i], exact, stream);
}

void imp_roff_prose(const char *text, FILE *stream)
{
    size_t column = 0;
    bool sentence_ended = false;
    while (*text) {
        size_t length = strcspn(text, " \n"), width = width_of(text, length);
        if (column > 0 && (sentence_ended || column + 1 + width > WIDTH)) {
            fputc('\n', stream);
            column = 0;
        }
        if (column > 0)
            fputc(' ', stream);
        else if (text[0] == '.' || text[0] == '\'')
            fputs("\\&", stream);
        put_word(text, length, stream);
        column += 1 + width;
        sentence_ended = length > 0 && text[length - 1] == '.';
        text += length;
        if (strncmp(text, "\n\n", 2) == 0) {
            fputs("\n.PP\n", stream);
            column = 0;
        }
        text += strspn(text, " \n");
    }
    fputc('\n', stream);
}

void imp_roff_literal(const char *text, FILE *stream)
{
    for (bool begins = true; *text; begins = *text++ == '\n') {
        if (begins && (*text == '.' || *text == '\''))
            fputs("\\&", stream);
        put_letter(*text, true, stream);
    }
}
