/* words.c - splits a string into options and their values. */
#include "paper/words.h"

#include <stdio.h>
#include <string.h>

/* Copies a word and returns the start of the next. */
static const char *take(const char *text, char *word, size_t size)
{
    size_t length = strcspn(text, " ");
    snprintf(word, size, "%.*s", (int)length, text);
    text += length;
    return text + strspn(text, " ");
}

bool imp_words_next(imp_words *words, imp_option_words *option)
{
    if (strncmp(words->rest, "--", 2) != 0)
        return false;
    words->rest = take(words->rest + 2, option->name, sizeof option->name);
    snprintf(option->value, sizeof option->value, "yes");
    if (words->rest[0] && strncmp(words->rest, "--", 2) != 0)
        words->rest = take(words->rest, option->value, sizeof option->value);
    return true;
}
