/* suggest.h - which known word was meant by a mistyped one. */
#ifndef IMP_BASE_SUGGEST_H
#define IMP_BASE_SUGGEST_H

#include <stddef.h>

/* A search for the known word nearest to `word`: start, offer every known word, read `nearest`. */
typedef struct imp_suggestion {
    const char *word;
    const char *nearest; /* NULL while nothing offered is near enough to have been meant */
    size_t distance;     /* of `nearest`; a later offer has to be nearer */
} imp_suggestion;

imp_suggestion imp_suggestion_start(const char *word);

/* Keeps the pointer to `candidate` if it is the nearest so far. */
void imp_suggestion_offer(imp_suggestion *suggestion, const char *candidate);

#endif
