/* answer_counts.h - answers beside the truth: how many are right, and what is taken for what. */
#ifndef IMP_CLI_ANSWER_COUNTS_H
#define IMP_CLI_ANSWER_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

typedef struct imp_answer_counts {
    const char *const *names; /* (rows), the classes that can be answered first; the maker's */
    size_t rows, classes;
    bool none;           /* "none of these" is an answer, too: one more column */
    size_t *count;       /* (rows, classes + none) */
    size_t known, right; /* points whose truth is known, and those that were answered so */
} imp_answer_counts;

/* Truths and answers are classes or -1. A truth beyond the classes is answered rightly by none.
 * Returns IMP_GO_ON, or the status to exit with after a sentence; clear it in any case. */
int imp_answer_counts_make(const char *command, imp_answer_counts *confusion,
                           const char *const *names, size_t rows, size_t classes, bool none);
void imp_answer_counts_add(imp_answer_counts *confusion, const int32_t *truth,
                           const int32_t *answer, size_t count);
void imp_answer_counts_clear(imp_answer_counts *confusion);

/* Prints accuracy and matrix, or adds them to a report, where something is known; `which` says
 * whose truth that is: "that lie in folders named as classes". */
void imp_answer_counts_print(const imp_answer_counts *confusion, const char *which);
void imp_answer_counts_to_json(const imp_answer_counts *confusion, json_t *object);

#endif
