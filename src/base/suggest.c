/*
 * suggest.c - the edit distance behind "did you mean".
 *
 * Counts the letters to insert, remove or replace, and pairs of neighbours to swap, the slips that
 * fingers make. (The distance is "optimal string alignment": no letter is edited twice.)
 */
#include "base/suggest.h"

#include <string.h>

/* Nobody mistypes a word longer than this; it bounds the rows below. */
enum { LONGEST = 40 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Both words have at most LONGEST letters. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows = strlen(a), columns = strlen(b);
    /* Three rows of the table of distances between the first i letters of a and j letters of b. */
    size_t row[3][LONGEST + 1];
    for (size_t j = 0; j <= columns; j++)
        row[0][j] = j;

    for (size_t i = 1; i <= rows; i++) {
        size_t *now = row[i % 3], *above = row[(i + 2) % 3], *two_above = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t replace = above[j - 1] + (a[i - 1] != b[j - 1]);
            now[j] = smaller(replace, smaller(above[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smaller(now[j], two_above[j - 2] + 1);
        }
    }
    return row[rows % 3][columns];
}

imp_suggestion imp_suggestion_start(const char *word)
{
    /* One slip in a short word, two from four letters, three from eight, and more than half of the
     * longer word right: beyond that the words have nothing to do with each other. */
    size_t slips = 1 + smaller(strlen(word) / 4, 2);
    return (imp_suggestion){.word = word, .nearest = NULL, .distance = slips + 1};
}

void imp_suggestion_offer(imp_suggestion *suggestion, const char *candidate)
{
    if (strlen(suggestion->word) > LONGEST || strlen(candidate) > LONGEST)
        return;

    size_t distance = edit_distance(suggestion->word, candidate);
    size_t longer = larger(strlen(suggestion->word), strlen(candidate));
    if (distance < suggestion->distance && 2 * distance < longer) {
        suggestion->nearest = candidate;
        suggestion->distance = distance;
    }
}
